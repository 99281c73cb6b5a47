// SPDX-License-Identifier: Apache-2.0
#include "sim/job.hpp"

#include <utility>

namespace negawatt::sim {

WaitingLine::Level& WaitingLine::level_of(const Job& job) {
  const auto priority = job.request.priority;
  if (!levels_.empty()) {
    const auto first = levels_.begin();
    if (first->first == priority) return first->second;
    if (size_ == 0) {  // the one that was kept
      auto kept = levels_.extract(first);
      kept.key() = priority;
      return levels_.insert(std::move(kept)).position->second;
    }
  }
  return levels_[priority];
}

}  // namespace negawatt::sim
