// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "gpu/energy_window.hpp"

namespace negawatt::sweep {
namespace {

// Warm when it has not become hotter by this within one look.
constexpr Seconds kWarmUpLook(15.0);
constexpr int kWarmDegrees = 1;
// So many failures of one row on end are no accident.
constexpr std::size_t kMostFailures = 3;

class Sweeper {
 public:
  Sweeper(const SweepRequest& request, KernelRunner& runner, const gpu::Device& device,
          const AskClocks& ask)
      : request_(request),
        runner_(runner),
        device_(device),
        ask_(ask),
        itinerary_(runner.kernels().size(), request.pairs, request.rule, request.seed),
        start_(device.clock().now()) {}

  Result<SweepOutcome> run(std::vector<Visit> earlier, const OnVisit& on_visit) {
    outcome_.visits = std::move(earlier);
    for (const auto& visit : outcome_.visits) itinerary_.note(visit);
    already_ = itinerary_.noted();
    if (itinerary_.left() == 0) return std::move(outcome_);
    NW_CHECK(warm_up());
    NW_TRY(auto meter, gpu::EnergyMeter::open(device_));
    measuring_since_ = device_.clock().now();
    while (const auto stop = itinerary_.next()) {
      if (is_over()) {
        outcome_.out_of_time = true;
        break;
      }
      NW_CHECK(make(*stop, meter, on_visit));
    }
    outcome_.passed = device_.clock().now() - start_;
    if (outcome_.visits.empty() && last_error_) return tl::unexpected(*std::move(last_error_));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    return request_.budget && device_.clock().now() - start_ >= *request_.budget;
  }

  /// With the kernel that is called most, at the clocks the driver chooses or, where these cannot
  /// be asked for, at those that hold.
  Status warm_up() {
    if (auto automatic = go_to({}); !automatic && automatic.error().code != Code::infeasible)
      return automatic;
    NW_CHECK(start_busiest());
    outcome_.warm_up = run_until_warm();
    return runner_.stop_kernel();
  }

  /// Of those that can be started.
  Status start_busiest() {
    auto kernels = runner_.kernels();
    std::ranges::stable_sort(kernels, std::greater<>(), &RunnableKernel::calls);
    Status started;
    for (const auto& kernel : kernels) {
      started = runner_.start_kernel(kernel.name);
      if (started || runner_.is_broken()) break;
    }
    return started;
  }

  WarmUp run_until_warm() {
    const auto clock = device_.clock();
    const auto deadline = clock.now() + request_.warm_up_limit;
    auto before = device_.temperature_c();
    while (clock.now() < deadline && !is_over()) {
      clock.sleep_for(kWarmUpLook);
      const auto after = device_.temperature_c();
      if (before && after && std::abs(*after - *before) <= kWarmDegrees) return WarmUp::held;
      before = after;
    }
    return before ? WarmUp::still_heating : WarmUp::unreadable;
  }

  Status go_to(trace::ClockPair clocks) {
    if (clocks_ == clocks) return {};
    clocks_.reset();
    NW_CHECK(ask_(clocks));
    wait_for_clocks(device_, clocks, request_.clock_patience);
    clocks_ = clocks;
    return {};
  }

  Status make(const Stop& stop, gpu::EnergyMeter& meter, const OnVisit& on_visit) {
    if (auto there = go_to(stop.clocks); !there) {
      if (there.error().code == Code::internal) return fail(stop, std::move(there).error());
      if (there.error().code != Code::infeasible) return there;
      outcome_.dropped.push_back({stop.clocks, there.error().message});
      last_error_ = std::move(there).error();
      itinerary_.give_up(stop.clocks);
      return {};
    }
    auto visit = measure(runner_, device_, meter, request_.window, stop.kernel, stop.clocks);
    if (!visit) return fail(stop, std::move(visit).error());
    failures_.erase({stop.kernel, stop.clocks});
    itinerary_.note(*visit);
    outcome_.visits.push_back(*visit);
    return on_visit(*visit, progress());
  }

  /// One row less is no reason to lose the others, unless none of them can be measured any more.
  Status fail(const Stop& stop, Error error) {
    ++outcome_.failed;
    (void)runner_.stop_kernel();
    if (runner_.is_broken() || is_lost()) return tl::unexpected(std::move(error));
    auto& failures = failures_[{stop.kernel, stop.clocks}];
    // Too short a window will be too short again.
    if (error.code == Code::infeasible || ++failures >= kMostFailures) {
      outcome_.given_up.push_back({stop.kernel, stop.clocks, error.message});
      itinerary_.give_up(stop);
    }
    last_error_ = std::move(error);
    return {};
  }

  [[nodiscard]] bool is_lost() const {
    const auto energy = device_.energy();
    return !energy && energy.error().obstacle == gpu::Obstacle::lost;
  }

  [[nodiscard]] SweepProgress progress() const {
    const auto now = device_.clock().now();
    SweepProgress progress{
        .visits = itinerary_.noted(), .left = itinerary_.left(), .passed = now - start_};
    const auto done = static_cast<double>(progress.visits - already_);
    if (done > 0.0)
      progress.time_left = (now - measuring_since_) * (static_cast<double>(progress.left) / done);
    if (progress.time_left && request_.budget)
      progress.time_left = std::min(*progress.time_left, *request_.budget - progress.passed);
    return progress;
  }

  const SweepRequest& request_;
  KernelRunner& runner_;
  const gpu::Device& device_;
  const AskClocks& ask_;
  Itinerary itinerary_;
  gpu::TimePoint start_;
  gpu::TimePoint measuring_since_;
  std::size_t already_ = 0;
  std::optional<trace::ClockPair> clocks_;
  /// On end, of a row.
  std::map<std::pair<std::uint32_t, trace::ClockPair>, std::size_t> failures_;
  std::optional<Error> last_error_;
  SweepOutcome outcome_;
};

}  // namespace

Result<SweepOutcome> sweep(const SweepRequest& request, KernelRunner& runner,
                           const gpu::Device& device, const AskClocks& ask,
                           std::vector<Visit> earlier, const OnVisit& on_visit) {
  return Sweeper(request, runner, device, ask).run(std::move(earlier), on_visit);
}

}  // namespace negawatt::sweep
