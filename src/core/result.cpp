// SPDX-License-Identifier: Apache-2.0
#include "core/result.hpp"

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace negawatt {

void assertion_failed(std::string_view condition, std::source_location where) {
  std::fprintf(stderr, "negawatt: broken invariant '%.*s' at %s:%u\n",
               static_cast<int>(condition.size()), condition.data(), where.file_name(),
               static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace negawatt
