// SPDX-License-Identifier: Apache-2.0
//
// A request on its way through the cluster, and the line of those that wait at an instance: first
// come first served within a priority. Times in seconds since the start of the trace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "trace/request.hpp"

namespace negawatt::sim {

struct Job {
  trace::Request request;
  std::uint64_t id = 0;            ///< the how manieth request of the source, from 0
  double expected_output = 0;      ///< tokens, as the policy expected them
  double first_token = 0;          ///< when it was produced
  double last_token = 0;           ///< when the newest was produced
  std::uint32_t produced = 0;      ///< output tokens
  std::uint32_t told = 0;          ///< of those, the policy was told of
  std::uint32_t prefill_at = 0;    ///< instance
  std::uint32_t decode_at = 0;     ///< instance
  bool memory_came_along = false;  ///< its prompt was computed on another instance
};

/// Every operation takes constant time at the highest priority that waits, and the logarithm of the
/// priorities that wait at any other.
class WaitingLine {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const Job& front() const { return levels_.begin()->second.front(); }

  void push_back(const Job& job) { level_of(job).push_back(job), ++size_; }
  /// Before all of its priority: one that ran already.
  void push_front(const Job& job) { level_of(job).push_front(job), ++size_; }
  void pop_front() {
    const auto first = levels_.begin();
    first->second.pop_front();
    --size_;
    if (first->second.empty() && size_ > 0) levels_.erase(first);
  }

 private:
  using Level = std::deque<Job>;  ///< of one priority

  Level& level_of(const Job& job);

  /// The highest priority first. None is empty, but that an empty line keeps the last one: a line
  /// that fills and empties all the time, as most do, then allocates nothing.
  std::map<std::int16_t, Level, std::greater<>> levels_;
  std::uint64_t size_ = 0;
};

}  // namespace negawatt::sim
