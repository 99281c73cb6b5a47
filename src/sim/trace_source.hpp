// SPDX-License-Identifier: Apache-2.0
//
// Requests that are in memory, as a source; at another speed if asked. Nothing fails.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trace/request.hpp"

namespace negawatt::sim {

class TraceSource final : public trace::RequestSource {
 public:
  /// `requests` outlive it. `speed` 2: twice as many a second.
  explicit TraceSource(std::span<const trace::Request> requests, double speed = 1.0)
      : requests_(requests), speed_(speed) {}

  std::optional<trace::Request> next() override {
    if (at_ == requests_.size()) return std::nullopt;
    auto request = requests_[at_++];
    request.arrival = request.arrival / speed_;
    return request;
  }

 private:
  std::span<const trace::Request> requests_;
  double speed_;
  std::size_t at_ = 0;
};

}  // namespace negawatt::sim
