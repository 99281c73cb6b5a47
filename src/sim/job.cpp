// SPDX-License-Identifier: Apache-2.0
#include "sim/job.hpp"

#include <algorithm>

namespace negawatt::sim {

std::deque<Job>& WaitingLine::level_of(const Job& job) {
  const auto priority = job.request.priority;
  auto level =
      std::ranges::find_if(levels_, [&](const Level& l) { return l.priority <= priority; });
  if (level == levels_.end() || level->priority != priority)
    level = levels_.insert(level, Level{.priority = priority, .jobs = {}});
  return level->jobs;
}

}  // namespace negawatt::sim
