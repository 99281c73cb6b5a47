// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_all.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace negawatt::cli {
namespace {

/// What the threads share.
class Simulations {
 public:
  Simulations(const SimulateInputs& inputs, const std::vector<SimulateCase>& cases,
              std::size_t done_before, const KeepResult& keep)
      : inputs_(inputs), cases_(cases), keep_(keep), done_before_(done_before) {}

  /// Takes the next case until there is none or one has failed.
  void work() {
    for (std::size_t at = next_++; at < cases_.size() && !failed_.load(); at = next_++)
      take(at, simulate_case(inputs_, cases_[at]));
  }
  [[nodiscard]] Status status() const { return status_; }

 private:
  void take(std::size_t at, Result<sim::SimulationResult> result) {
    const std::lock_guard lock(mutex_);
    if (!status_) return;
    if (result) {
      say(cases_[at], *result);
      status_ = keep_(at, *std::move(result));
    } else {
      status_ = tl::unexpected(std::move(result).error());
    }
    failed_ = !status_.has_value();
  }
  void say(const SimulateCase& one, const sim::SimulationResult& result) {
    std::fprintf(stderr, "negawatt: %zu of %zu: %s, speed %g, seed %llu: %.4g J, %.2g s\n",
                 done_before_ + ++finished_, done_before_ + cases_.size(), one.policy.c_str(),
                 one.speed, static_cast<unsigned long long>(one.seed),
                 result.energy.total().in_si(), result.wall.in_si());
  }

  const SimulateInputs& inputs_;
  const std::vector<SimulateCase>& cases_;
  const KeepResult& keep_;
  std::size_t done_before_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  // Guarded by mutex_ while threads run:
  std::mutex mutex_;
  std::size_t finished_ = 0;
  Status status_;
};

}  // namespace

Status simulate_each(const SimulateInputs& inputs, const std::vector<SimulateCase>& cases,
                     const Workers& workers, const KeepResult& keep) {
  Simulations simulations(inputs, cases, workers.done_before, keep);
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto count = std::min<std::size_t>(workers.jobs > 0 ? workers.jobs : cores, cases.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&simulations] { simulations.work(); });
  }
  return simulations.status();
}

Result<std::vector<sim::SimulationResult>> simulate_all(const SimulateInputs& inputs,
                                                        const std::vector<SimulateCase>& cases,
                                                        unsigned jobs) {
  std::vector<std::optional<sim::SimulationResult>> kept(cases.size());
  NW_CHECK(simulate_each(inputs, cases, {.jobs = jobs},
                         [&kept](std::size_t at, sim::SimulationResult result) -> Status {
                           kept[at] = std::move(result);
                           return {};
                         }));
  std::vector<sim::SimulationResult> results;
  results.reserve(kept.size());
  for (auto& result : kept) {
    NW_ASSERT(result.has_value());
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace negawatt::cli
