// SPDX-License-Identifier: Apache-2.0
#include "trace/clocks.hpp"

#include <fmt/core.h>

namespace negawatt::trace {

std::string to_string(Clock clock) {
  return clock.is_automatic() ? std::string("auto") : fmt::format("{}", clock.mhz());
}

std::string to_string(ClockPair clocks) {
  return fmt::format("core {}, memory {}", to_string(clocks.core), to_string(clocks.memory));
}

}  // namespace negawatt::trace
