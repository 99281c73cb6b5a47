// SPDX-License-Identifier: Apache-2.0
#include "gpu/capabilities.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gpu/energy_window.hpp"

namespace negawatt::gpu {
namespace {

// A sensor that sees 25 ms of every 100 ms is off by some percent, boards differ by five (Yang,
// Adamek, Armour, SC24); a wrong unit, a halved or a standing counter is off by far more.
constexpr double kTolerance = 0.2;
constexpr double kSteady = 0.2;
constexpr std::size_t kFewestSamples = 10;

/// Asks one query and puts the answer into words.
template <class T, class Words>
void ask(Capabilities& capabilities, std::string_view name, const Answer<T>& answer, Words words) {
  if (answer) {
    capabilities.queries.push_back({name, std::nullopt, words(*answer)});
  } else {
    capabilities.queries.push_back({name, answer.error(), ""});
  }
}

std::string power_words(Milliwatts power) { return to_string(power); }

std::string limits_words(const PowerLimits& limits) {
  const auto text = [](const std::optional<Milliwatts>& limit) {
    return limit ? to_string(*limit) : "not told";
  };
  return fmt::format("requested {}, enforced {}, default {}, settable {} to {}",
                     text(limits.requested), text(limits.enforced), text(limits.factory),
                     text(limits.least), text(limits.most));
}

std::string clocks_words(const std::vector<Megahertz>& clocks) {
  if (clocks.empty()) return "none";
  return fmt::format("{}, {} to {} MHz", clocks.size(), clocks.back().count, clocks.front().count);
}

void ask_sensors(Capabilities& into, const Device& device) {
  ask(into, "energy counter", device.energy(), [](const EnergyReading& reading) {
    return fmt::format("{:.3f} J, read in {:.2f} ms", to_si(reading.counter).in_si(),
                       reading.read_cost.in_si() * 1e3);
  });
  ask(into, "instant power", device.power_instant(), power_words);
  ask(into, "average power", device.power_average(), power_words);
  ask(into, "power of unstated window", device.power_unspecified(), power_words);
  ask(into, "temperature", device.temperature_c(),
      [](std::int32_t degrees) { return fmt::format("{} C", degrees); });
  ask(into, "clocks", device.clocks(), [](const Clocks& clocks) {
    return fmt::format("core {}, memory {}", to_string(clocks.core), to_string(clocks.memory));
  });
  const auto reasons = [](EventReasons bits) { return to_string(bits); };
  ask(into, "clock event reasons", device.event_reasons(), reasons);
  ask(into, "supported clock event reasons", device.supported_event_reasons(), reasons);
  ask(into, "utilisation", device.utilisation(),
      [](const Utilisation& use) { return fmt::format("{} %", use.gpu_pct); });
  ask(into, "performance state", device.performance_state(),
      [](std::uint32_t state) { return fmt::format("P{}", state); });
}

void ask_the_rest(Capabilities& into, const Device& device) {
  const auto memory_clocks = device.memory_clocks();
  ask(into, "memory clocks", memory_clocks, clocks_words);
  if (memory_clocks && !memory_clocks->empty()) {
    ask(into, "core clocks", device.core_clocks(memory_clocks->front()), clocks_words);
  }
  ask(into, "power limits", device.power_limits(), limits_words);
  ask(into, "memory", device.memory(), [](const MemoryUse& use) {
    return fmt::format("{} of {} MiB used", use.used_bytes >> 20U, use.total_bytes >> 20U);
  });
  ask(into, "persistence mode", device.persistence(),
      [](bool on) { return std::string(on ? "on" : "off"); });
  ask(into, "compute processes", device.compute_processes(),
      [](const auto& processes) { return fmt::format("{}", processes.size()); });
  ask(into, "MIG mode", device.mig_mode(),
      [](MigMode mode) { return std::string(mode.enabled ? "on" : "off"); });
}

/// Mean, spread and integral of the power over the time of a counter window.
struct PowerSamples {
  PowerIntegral integral;
  double sum = 0;  // W
  double sum_of_squares = 0;
  std::size_t count = 0;

  void add(TimePoint at, Watts power) {
    integral.add(at, power);
    sum += power.in_si();
    sum_of_squares += power.in_si() * power.in_si();
    ++count;
  }
  [[nodiscard]] double spread() const {
    const double mean = sum / static_cast<double>(count);
    const double variance = sum_of_squares / static_cast<double>(count) - mean * mean;
    return std::sqrt(std::max(0.0, variance)) / mean;
  }
};

}  // namespace

bool Capabilities::has(std::string_view name) const {
  const auto found = std::ranges::find(queries, name, &Capability::name);
  return found != queries.end() && !found->error;
}

Capabilities probe(const Device& device) {
  Capabilities capabilities;
  ask_sensors(capabilities, device);
  ask_the_rest(capabilities, device);
  return capabilities;
}

Result<CrossCheck> cross_check(const Device& device, const SensorRefreshes& refreshes,
                               Seconds time) {
  const auto& [energy, power] = refreshes;
  const DeviceClock clock = device.clock();
  EnergyMeter meter(device, energy, {});
  PowerSamples samples{.integral = PowerIntegral(power.period * 4.0)};
  const bool instant = device.power_instant().has_value();
  NW_TRY(const EnergyWindow window, meter.begin_aligned());
  const TimePoint until = window.counted_at + std::max(time, meter.shortest());
  do {
    const TimePoint now = clock.now();
    NW_TRY(const Milliwatts sample, instant ? device.power_instant() : device.power_average());
    samples.add(now, to_si(sample));
    clock.sleep_until(now + power.period * 0.5);
  } while (clock.now() < until);
  NW_TRY(const EnergyUse use, meter.end(window, WhenShort::extend));

  // Power at the mean of its samples over the counter's own stretch of time.
  const Watts mean = samples.integral.covered() > Seconds(0)
                         ? samples.integral.energy() / samples.integral.covered()
                         : Watts(0);
  CrossCheck check{.counter = use.energy,
                   .integrated = mean * use.time,
                   .time = use.time,
                   .spread = samples.spread()};
  if (samples.count < kFewestSamples || mean <= Watts(0)) return check;
  const double ratio = check.counter / check.integrated;
  if (ratio > 1.0 - kTolerance && ratio < 1.0 / (1.0 - kTolerance)) {
    check.verdict = CrossCheck::Verdict::agrees;
  } else if (check.spread < kSteady) {
    check.verdict = CrossCheck::Verdict::disagrees;
  }
  return check;
}

}  // namespace negawatt::gpu
