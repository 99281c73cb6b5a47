// SPDX-License-Identifier: Apache-2.0
#include "trace/recording.hpp"

#include <variant>

namespace negawatt::trace {
namespace {

template <class E>
Instant began(const E& event) {
  if constexpr (requires { event.start; }) {
    return event.start;
  } else if constexpr (requires { event.from; }) {
    return event.from;
  } else {
    return event.at;
  }
}

}  // namespace

Instant time_of(const Event& event) {
  return std::visit([](const auto& of_kind) { return began(of_kind); }, event);
}

}  // namespace negawatt::trace
