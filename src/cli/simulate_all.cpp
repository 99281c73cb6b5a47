// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_all.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
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
  Simulations(const SimulateInputs& inputs, const std::vector<SimulateCase>& cases)
      : inputs_(inputs), cases_(cases), results_(cases.size()) {}

  /// Takes the next case until there is none or one has failed.
  void work() {
    for (std::size_t at = next_++; at < cases_.size() && !failed_.load(); at = next_++)
      keep(at, simulate_case(inputs_, cases_[at]));
  }
  [[nodiscard]] Result<std::vector<sim::SimulationResult>> results() && {
    NW_CHECK(status_);
    std::vector<sim::SimulationResult> results;
    results.reserve(results_.size());
    for (auto& result : results_) {
      NW_ASSERT(result.has_value());
      results.push_back(*std::move(result));
    }
    return results;
  }

 private:
  void keep(std::size_t at, Result<sim::SimulationResult> result) {
    const std::lock_guard lock(mutex_);
    if (!result) {
      if (status_) status_ = tl::unexpected(std::move(result).error());
      failed_ = true;
      return;
    }
    const auto& one = cases_[at];
    std::fprintf(stderr, "negawatt: %zu of %zu: %s, speed %g, seed %llu: %.4g J, %.2g s\n",
                 ++finished_, cases_.size(), one.policy.c_str(), one.speed,
                 static_cast<unsigned long long>(one.seed), result->energy.total().in_si(),
                 result->wall.in_si());
    results_[at] = *std::move(result);
  }

  const SimulateInputs& inputs_;
  const std::vector<SimulateCase>& cases_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  // Guarded by mutex_ while threads run:
  std::mutex mutex_;
  std::size_t finished_ = 0;
  std::vector<std::optional<sim::SimulationResult>> results_;
  Status status_;
};

}  // namespace

Result<std::vector<sim::SimulationResult>> simulate_all(const SimulateInputs& inputs,
                                                        const std::vector<SimulateCase>& cases,
                                                        unsigned jobs) {
  Simulations simulations(inputs, cases);
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto threads = std::min<std::size_t>(jobs > 0 ? jobs : cores, cases.size());
  {
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i)
      workers.emplace_back([&simulations] { simulations.work(); });
  }
  return std::move(simulations).results();
}

}  // namespace negawatt::cli
