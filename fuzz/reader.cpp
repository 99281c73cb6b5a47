// SPDX-License-Identifier: Apache-2.0
#include "fuzz/reader.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/text.hpp"

namespace negawatt::fuzz {

void require(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "broken property: %.*s\n", static_cast<int>(property.size()),
               property.data());
  std::abort();
}

bool refused(const Error& error, std::string_view file) {
  require(error.code == Code::invalid, "a reader blames the input");
  require(error.message.starts_with(file), "a message starts with the file's name");
  require(is_printable(error.message), "a message is one printable line");
  return false;
}

void require_positive(Seconds time, Joules energy) {
  require(time.is_finite() && time > Seconds(0), "a time is finite and more than 0");
  require(energy.is_finite() && energy > Joules(0), "an energy is finite and more than 0");
}

}  // namespace negawatt::fuzz
