// SPDX-License-Identifier: Apache-2.0
#include "sweep/measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace negawatt::sweep {
namespace {

// A driver rounds to its own steps: half of the widest (15 MHz core, more for memory) is no lie.
constexpr std::uint32_t kClockStep = 15;
constexpr Seconds kClockPoll(0.005);
constexpr Seconds kCallPoll(0.1);

struct ClockSamples {
  std::vector<std::uint32_t> core;
  std::vector<std::uint32_t> memory;
  bool power_or_heat = false;  ///< the driver named one of them as the reason for lower clocks
};

void sample(const gpu::Device& device, ClockSamples& samples) {
  if (const auto clocks = device.clocks()) {
    samples.core.push_back(clocks->core.count);
    samples.memory.push_back(clocks->memory.count);
  }
  if (const auto reasons = device.event_reasons())
    samples.power_or_heat |= reasons->power_cap() || reasons->thermal();
}

std::uint32_t median(std::vector<std::uint32_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

bool follows(trace::Clock asked, std::uint32_t actual) {
  if (asked.is_automatic()) return true;
  return std::max(asked.mhz(), actual) - std::min(asked.mhz(), actual) <= kClockStep;
}

Obedience obedience_of(trace::ClockPair asked, const Visit& visit, const ClockSamples& samples) {
  if (samples.core.empty()) return Obedience::unknown;
  if (!follows(asked.memory, visit.actual_memory_mhz)) return Obedience::ignored;
  if (follows(asked.core, visit.actual_core_mhz)) return Obedience::as_asked;
  const bool is_slower = visit.actual_core_mhz < asked.core.mhz();
  return is_slower && samples.power_or_heat ? Obedience::capped : Obedience::ignored;
}

/// The open window and what was counted when it opened.
struct Opening {
  gpu::EnergyWindow window;
  CallCount count;
};

/// The time of the last call means nothing before there is one, and cannot open a window.
Status wait_for_first_call(KernelRunner& runner, const gpu::Device& device,
                           const WindowOptions& options, const std::string& kernel) {
  const auto clock = device.clock();
  const auto deadline = clock.now() + options.longest;
  while (true) {
    NW_TRY(const auto count, runner.count());
    if (count.calls > 0) return {};
    if (clock.now() >= deadline)
      return failure(Code::internal, fmt::format("kernel '{}' completed no call in {:.3g} s",
                                                 kernel, options.longest.in_si()));
    clock.sleep_for(kCallPoll);
  }
}

Result<Opening> open_window(KernelRunner& runner, gpu::EnergyMeter& meter) {
  NW_TRY(auto window, meter.begin_aligned());
  NW_TRY(const auto count, runner.count());
  return Opening{window, count};
}

ClockSamples watch_clocks(const gpu::Device& device, const WindowOptions& options) {
  ClockSamples samples;
  const auto clock = device.clock();
  const auto start = clock.now();
  for (int i = 0; i < options.clock_samples; ++i) {
    clock.sleep_until(start + options.window * ((i + 0.5) / options.clock_samples));
    sample(device, samples);
  }
  clock.sleep_until(start + options.window);
  return samples;
}

/// Slow kernels at low clocks take seconds a call. Returns when the window holds enough of them.
Status wait_for_calls(KernelRunner& runner, const gpu::Device& device, const Opening& opening,
                      const WindowOptions& options) {
  const auto clock = device.clock();
  const auto deadline = clock.now() + options.longest;
  while (clock.now() < deadline) {
    NW_TRY(const auto count, runner.count());
    if (count.calls >= opening.count.calls + options.least_calls) break;
    clock.sleep_for(options.window);
  }
  return {};
}

struct CallTime {
  std::uint64_t calls = 0;
  Seconds mean;
};

/// From the last call before the window to the last one in it. Fails when the two counts cannot be
/// of one run of the kernel, and (`infeasible`) when they are less than two calls apart.
Result<CallTime> time_between(const CallCount& first, const CallCount& last,
                              const std::string& kernel) {
  if (last.calls < first.calls || (last.calls > first.calls && last.device_ns <= first.device_ns))
    return failure(Code::internal,
                   fmt::format("kernel '{}': the runner counted {} calls up to {} ns, then {} up "
                               "to {} ns",
                               kernel, first.calls, first.device_ns, last.calls, last.device_ns));
  const auto calls = last.calls - first.calls;
  if (calls < 2)
    return failure(
        Code::infeasible,
        fmt::format("kernel '{}' completed {} calls: make the window longer", kernel, calls));
  return CallTime{calls, Seconds(static_cast<double>(last.device_ns - first.device_ns) * 1e-9 /
                                 static_cast<double>(calls))};
}

}  // namespace

void wait_for_clocks(const gpu::Device& device, trace::ClockPair asked, Seconds patience) {
  const auto clock = device.clock();
  const auto deadline = clock.now() + patience;
  while (clock.now() < deadline) {
    const auto clocks = device.clocks();
    // An automatic clock says nothing of when it was reached: only patience helps.
    const bool is_telling = !asked.core.is_automatic() && !asked.memory.is_automatic();
    if (!clocks || (is_telling && follows(asked.core, clocks->core.count) &&
                    follows(asked.memory, clocks->memory.count)))
      return;
    clock.sleep_for(kClockPoll);
  }
}

Result<Visit> measure(KernelRunner& runner, const gpu::Device& device, gpu::EnergyMeter& meter,
                      const WindowOptions& options, std::uint32_t kernel, trace::ClockPair asked) {
  const auto& name = runner.kernels()[kernel].name;
  NW_CHECK(runner.start_kernel(name));
  device.clock().sleep_for(options.settle);
  NW_CHECK(wait_for_first_call(runner, device, options, name));
  NW_TRY(const auto opening, open_window(runner, meter));
  const auto samples = watch_clocks(device, options);
  NW_CHECK(wait_for_calls(runner, device, opening, options));
  NW_TRY(const auto use, meter.end(opening.window, gpu::WhenShort::extend));
  NW_TRY(const auto count, runner.count());
  NW_CHECK(runner.stop_kernel());
  NW_TRY(const auto call, time_between(opening.count, count, name));

  Visit visit{.kernel = kernel, .clocks = asked, .time = call.mean, .calls = call.calls};
  visit.energy = use.power() * visit.time;
  visit.energy_deviation = use.deviation * (visit.time / use.time);
  visit.actual_core_mhz = median(samples.core);
  visit.actual_memory_mhz = median(samples.memory);
  visit.obedience = obedience_of(asked, visit, samples);
  if (const auto temperature = device.temperature_c()) visit.temperature_c = *temperature;
  return visit;
}

}  // namespace negawatt::sweep
