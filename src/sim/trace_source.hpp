// SPDX-License-Identifier: Apache-2.0
//
// Requests that are in memory as a source, and any source at another speed. Nothing fails.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "trace/request.hpp"

namespace negawatt::sim {

class TraceSource final : public trace::RequestSource {
 public:
  /// `requests` outlive it.
  explicit TraceSource(std::span<const trace::Request> requests) : requests_(requests) {}

  std::optional<trace::Request> next() override {
    if (at_ == requests_.size()) return std::nullopt;
    return requests_[at_++];
  }

 private:
  std::span<const trace::Request> requests_;
  std::size_t at_ = 0;
};

/// The same requests, as many of them, so many times as fast: a day, its rhythm and what ends it
/// become shorter with the intervals.
class SpedUp final : public trace::RequestSource {
 public:
  /// `speed` 2: twice as many a second.
  SpedUp(std::unique_ptr<trace::RequestSource> source, double speed)
      : source_(std::move(source)), speed_(speed) {}

  std::optional<trace::Request> next() override {
    auto request = source_->next();
    if (request) request->arrival = request->arrival / speed_;
    return request;
  }

 private:
  std::unique_ptr<trace::RequestSource> source_;
  double speed_;
};

}  // namespace negawatt::sim
