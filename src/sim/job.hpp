// SPDX-License-Identifier: Apache-2.0
//
// A request on its way through the cluster, and the line of those that wait at an instance: first
// come first served within a priority. Times in seconds since the start of the trace.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

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

class WaitingLine {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const Job& front() const { return levels_[first_].jobs.front(); }

  void push_back(const Job& job) { level_of(job).push_back(job), count_in(); }
  /// Before all of its priority: one that ran already.
  void push_front(const Job& job) { level_of(job).push_front(job), count_in(); }
  void pop_front() {
    levels_[first_].jobs.pop_front();
    --size_;
    find_first();
  }

 private:
  struct Level {
    std::int16_t priority = 0;
    std::deque<Job> jobs;
  };

  std::deque<Job>& level_of(const Job& job);
  void count_in() {
    ++size_;
    find_first();
  }
  void find_first() {
    for (first_ = 0; first_ < levels_.size() && levels_[first_].jobs.empty();) ++first_;
  }

  std::vector<Level> levels_;  ///< the highest priority first
  std::size_t first_ = 0;      ///< the first level that has a job
  std::uint64_t size_ = 0;
};

}  // namespace negawatt::sim
