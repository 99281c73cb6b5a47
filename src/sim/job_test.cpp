// SPDX-License-Identifier: Apache-2.0
#include "sim/job.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace negawatt::sim {
namespace {

struct Waits {
  std::uint64_t id;
  int priority;
};

Job job_of(Waits waits) {
  Job job{.id = waits.id};
  job.request.priority = static_cast<std::int16_t>(waits.priority);
  return job;
}

std::vector<std::uint64_t> ids_of(WaitingLine line) {
  std::vector<std::uint64_t> ids;
  for (; !line.empty(); line.pop_front()) ids.push_back(line.front().id);
  return ids;
}

TEST(WaitingLine, TheHighestPriorityComesFirstAndThenWhoCameFirst) {
  WaitingLine line;
  line.push_back(job_of({1, 0}));
  line.push_back(job_of({2, 5}));
  line.push_back(job_of({3, -5}));
  line.push_back(job_of({4, 5}));
  line.push_front(job_of({5, 0}));
  EXPECT_EQ(line.size(), 5U);
  EXPECT_EQ(ids_of(line), (std::vector<std::uint64_t>{2, 4, 5, 1, 3}));
}

TEST(WaitingLine, ForgetsThePriorityOfThoseWhoLeft) {
  WaitingLine line;
  line.push_back(job_of({1, 5}));
  line.pop_front();
  EXPECT_TRUE(line.empty());
  line.push_back(job_of({2, -5}));
  line.push_back(job_of({3, 0}));
  EXPECT_EQ(ids_of(line), (std::vector<std::uint64_t>{3, 2}));
}

/// The same line as a list that is searched from end to end.
class PlainLine {
 public:
  void push_back(const Job& job) {
    jobs_.insert(
        std::ranges::find_if(
            jobs_, [&](const Job& other) { return other.request.priority < job.request.priority; }),
        job);
  }
  void push_front(const Job& job) {
    jobs_.insert(std::ranges::find_if(jobs_,
                                      [&](const Job& other) {
                                        return other.request.priority <= job.request.priority;
                                      }),
                 job);
  }
  void pop_front() { jobs_.erase(jobs_.begin()); }
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }

 private:
  std::vector<Job> jobs_;
};

RC_GTEST_PROP(WaitingLine, IsThatOfAListSearchedFromEndToEnd, ()) {
  WaitingLine line;
  PlainLine plain;
  const auto moves = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 16));
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto job = job_of({i, moves[i] % 4});
    if (moves[i] < 4) {
      line.push_front(job);
      plain.push_front(job);
    } else if (moves[i] < 8) {
      line.push_back(job);
      plain.push_back(job);
    } else if (!line.empty()) {
      line.pop_front();
      plain.pop_front();
    }
    RC_ASSERT(line.size() == plain.jobs().size());
    if (!line.empty()) RC_ASSERT(line.front().id == plain.jobs().front().id);
  }
}

}  // namespace
}  // namespace negawatt::sim
