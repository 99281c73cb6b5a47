// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "gpu/energy_window.hpp"

namespace negawatt::sweep {
namespace {

// Warm when it has not become hotter by this within one look.
constexpr Seconds kWarmUpLook(15.0);
constexpr int kWarmDegrees = 1;
// So many failures in a row are no accident.
constexpr std::size_t kMostFailures = 5;

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
      NW_CHECK(go_to(stop->clocks));
      NW_CHECK(visit(*stop, meter, on_visit));
    }
    outcome_.passed = device_.clock().now() - start_;
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    return request_.budget && device_.clock().now() - start_ >= *request_.budget;
  }

  /// With the kernel that is called most, at the clocks the driver chooses.
  Status warm_up() {
    NW_CHECK(go_to({}));
    const auto& kernels = runner_.kernels();
    const auto busiest = std::ranges::max_element(kernels, {}, &RunnableKernel::calls);
    NW_CHECK(runner_.start_kernel(busiest->name));
    auto before = device_.temperature_c();
    const auto deadline = device_.clock().now() + request_.warm_up_limit;
    while (before && device_.clock().now() < deadline && !is_over()) {
      device_.clock().sleep_for(kWarmUpLook);
      const auto after = device_.temperature_c();
      if (!after || std::abs(*after - *before) <= kWarmDegrees) break;
      before = after;
    }
    return runner_.stop_kernel();
  }

  Status go_to(trace::ClockPair clocks) {
    if (clocks_ == clocks) return {};
    NW_CHECK(ask_(clocks));
    wait_for_clocks(device_, clocks, request_.clock_patience);
    clocks_ = clocks;
    return {};
  }

  Status visit(const Stop& stop, gpu::EnergyMeter& meter, const OnVisit& on_visit) {
    auto visit = measure(runner_, device_, meter, request_.window, stop.kernel, stop.clocks);
    if (!visit) {
      ++outcome_.failed;
      if (visit.error().code == Code::infeasible || ++failures_ >= kMostFailures)
        return tl::unexpected(std::move(visit).error());
      return runner_.stop_kernel();
    }
    failures_ = 0;
    itinerary_.note(*visit);
    outcome_.visits.push_back(*visit);
    return on_visit(*visit, progress());
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
  std::size_t failures_ = 0;
  SweepOutcome outcome_;
};

}  // namespace

Result<SweepOutcome> sweep(const SweepRequest& request, KernelRunner& runner,
                           const gpu::Device& device, const AskClocks& ask,
                           std::vector<Visit> earlier, const OnVisit& on_visit) {
  return Sweeper(request, runner, device, ask).run(std::move(earlier), on_visit);
}

}  // namespace negawatt::sweep
