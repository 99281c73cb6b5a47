// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <algorithm>

#include "core/result.hpp"

namespace negawatt::report {

std::string filled(std::string_view page, std::initializer_list<Filling> fillings) {
  std::string out;
  while (true) {
    const auto open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    page.remove_prefix(open + 2);
    const auto close = page.find("}}");
    NW_ASSERT(close != std::string_view::npos);
    const auto* filling = std::ranges::find(fillings, page.substr(0, close), &Filling::first);
    NW_ASSERT(filling != fillings.end());
    out += filling->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace negawatt::report
