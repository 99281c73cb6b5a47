// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>

#include "gpusim/description_gpu.hpp"
#include "gpusim/gpu_state.hpp"

namespace negawatt::gpusim {
namespace {

// Far beyond any GPU, and small enough that no sum of them leaves its type.
constexpr NumberRange kClock{1, 100'000};
constexpr NumberRange kWatts{0, 100'000};
constexpr std::size_t kMostClocks = 4096;

template <class Unit>
void need_unit(TomlTable& table, std::string_view key, Unit& value, NumberRange range) {
  double number = 0;
  table.need(key, number, range);
  value = Unit(number);
}

/// A list of clocks, or {from, to, step}.
void read_clock_list(TomlTable& table, std::string_view key, std::vector<std::uint32_t>& clocks) {
  if (table.kind(key) == TomlTable::Kind::table) {
    auto grid = table.table(key);
    std::uint32_t from = 1;
    std::uint32_t to = 1;
    std::uint32_t step = 1;
    grid.need("from", from, kClock);
    grid.need("to", to, {1.0 * from, kClock.most});
    grid.need("step", step, kClock);
    grid.finish();
    if ((to - from) / step >= kMostClocks) return table.refuse(key, "at most 4096 clocks");
    for (auto mhz = from; mhz <= to; mhz += step) clocks.push_back(mhz);
    return;
  }
  std::vector<double> listed;
  table.take(key, listed, kClock);
  for (const double mhz : listed) clocks.push_back(static_cast<std::uint32_t>(mhz));
  const bool ascending = std::ranges::adjacent_find(clocks, std::greater_equal()) == clocks.end();
  if (clocks.empty() || clocks.size() > kMostClocks || !ascending)
    table.refuse(key, "1 to 4096 ascending clocks in MHz, or {from, to, step}");
}

void read_voltage(TomlTable& table, std::vector<VoltagePoint>& points) {
  for (auto& entry : table.tables("voltage")) {
    auto& point = points.emplace_back();
    entry.need("mhz", point.mhz, kClock);
    entry.need("volts", point.volts, {0.1, 10});
    entry.finish();
  }
  const auto not_ascending = [](VoltagePoint a, VoltagePoint b) { return a.mhz >= b.mhz; };
  if (points.empty() || std::ranges::adjacent_find(points, not_ascending) != points.end())
    table.refuse("voltage", "points {mhz, volts} in ascending order");
}

void read_holds(TomlTable& table, ClockModel& clocks) {
  for (auto& entry : table.tables("memory_holds")) {
    auto& hold = clocks.memory_holds.emplace_back();
    entry.need("memory_mhz", hold.memory_mhz, kClock);
    entry.need("core_at_most_mhz", hold.core_at_most_mhz, kClock);
    entry.need("otherwise_mhz", hold.otherwise_mhz, kClock);
    entry.finish();
    const auto supported = [&](std::uint32_t mhz) {
      return std::ranges::find(clocks.memory_mhz, mhz) != clocks.memory_mhz.end();
    };
    if (!supported(hold.memory_mhz) || !supported(hold.otherwise_mhz))
      table.refuse("memory_holds", "supported memory clocks");
  }
}

void read_clocks(TomlTable table, ClockModel& clocks) {
  read_clock_list(table, "core", clocks.core_mhz);
  read_clock_list(table, "memory", clocks.memory_mhz);
  if (!table.status()) return;
  const NumberRange core{1.0 * clocks.core_mhz.front(), 1.0 * clocks.core_mhz.back()};
  const NumberRange memory{1.0 * clocks.memory_mhz.front(), 1.0 * clocks.memory_mhz.back()};
  table.need("auto_core_mhz", clocks.auto_core_mhz, core);
  table.need("auto_memory_mhz", clocks.auto_memory_mhz, memory);
  table.need("idle_core_mhz", clocks.idle_core_mhz, core);
  table.need("idle_memory_mhz", clocks.idle_memory_mhz, memory);
  read_holds(table, clocks);
  read_voltage(table, clocks.voltage);
  table.finish();
}

/// A duration for everything, or a table {otherwise, to_auto, targets}.
void read_domain_latency(TomlTable& table, std::string_view key, SwitchLatency& latency) {
  if (table.kind(key) != TomlTable::Kind::table) {
    take_duration(table, key, latency.otherwise_ns);
    latency.to_auto_ns = latency.otherwise_ns;
    latency.targets.clear();
    return;
  }
  auto inner = table.table(key);
  need_duration(inner, "otherwise", latency.otherwise_ns);
  latency.to_auto_ns = latency.otherwise_ns;
  take_duration(inner, "to_auto", latency.to_auto_ns);
  for (auto& entry : inner.tables("targets")) {
    auto& target = latency.targets.emplace_back();
    entry.need("mhz", target.mhz, kClock);
    need_duration(entry, "latency", target.latency_ns);
    entry.finish();
  }
  inner.finish();
}

void read_latency(TomlTable& table, ClockModel& clocks) {
  constexpr std::string_view kKey = "switch_latency";
  if (table.kind(kKey) == TomlTable::Kind::table) {
    auto domains = table.table(kKey);
    read_domain_latency(domains, "core", clocks.core_latency);
    read_domain_latency(domains, "memory", clocks.memory_latency);
    domains.finish();
    return;
  }
  need_duration(table, kKey, clocks.core_latency.otherwise_ns);
  clocks.core_latency.to_auto_ns = clocks.core_latency.otherwise_ns;
  clocks.memory_latency = clocks.core_latency;
}

void read_power(TomlTable table, PowerModel& power) {
  need_unit(table, "without_context_w", power.without_context, kWatts);
  need_unit(table, "with_context_w", power.with_context, kWatts);
  need_unit(table, "static_w", power.static_power, kWatts);
  need_unit(table, "clock_w", power.clock_power, kWatts);
  table.take("leakage_w_per_k", power.leakage_w_per_k, {0, 100});
  table.need("reference_c", power.reference_c, {0, 150});
  take_duration(table, "settle_s", power.settle_ns);
  table.finish();
}

void read_thermal(TomlTable table, const GpuModel& gpu, ThermalModel& thermal) {
  table.need("kelvin_per_watt", thermal.kelvin_per_watt, {0, 10});
  need_unit(table, "time_constant_s", thermal.time_constant, {0.1, 1e6});
  table.need("ambient_c", thermal.ambient_c, {0, 100});
  table.need("slowdown_c", thermal.slowdown_c, {thermal.ambient_c, 200});
  table.need("shutdown_c", thermal.shutdown_c, {thermal.slowdown_c, 300});
  need_duration(table, "period_s", thermal.period_ns);
  table.need("step_mhz", thermal.step_mhz, kClock);
  if (thermal.period_ns < 1'000'000) table.refuse("period_s", "a millisecond at least");
  // Otherwise each kelvin would add more power than it takes to hold it.
  if (thermal.kelvin_per_watt * gpu.power.leakage_w_per_k >= 0.9)
    table.refuse("kelvin_per_watt", "less than 0.9 / leakage_w_per_k");
  table.finish();
}

void read_limits(TomlTable table, PowerLimits& limits) {
  need_unit(table, "least_w", limits.least, {1, kWatts.most});
  need_unit(table, "most_w", limits.most, {limits.least.in_si(), kWatts.most});
  const NumberRange settable{limits.least.in_si(), limits.most.in_si()};
  need_unit(table, "default_w", limits.standard, settable);
  double initial = limits.standard.in_si();
  table.take("initial_w", initial, settable);
  limits.initial = Watts(initial);
  table.finish();
}

void read_governor(TomlTable table, const GpuModel& gpu, Governor& governor) {
  std::string kind;
  table.need("kind", kind);
  if (kind != "equilibrium" && kind != "feedback")
    return table.refuse("kind", "'equilibrium' or 'feedback'");
  if (kind == "feedback") {
    governor.kind = Governor::Kind::feedback;
    need_duration(table, "period_s", governor.period_ns);
    if (governor.period_ns < 100'000) table.refuse("period_s", "100 us at least");
    // The closed form needs the two time constants apart.
    need_unit(table, "filter_s", governor.filter, {0, gpu.thermal.time_constant.in_si() / 10});
    table.need("gain", governor.gain, {0.01, 10});
    need_unit(table, "slack_w", governor.slack, kWatts);
    table.need("rise_mhz", governor.rise_mhz, kClock);
  }
  table.finish();
}

void read_sensors(TomlTable table, SensorModel& sensors) {
  need_duration(table, "period_s", sensors.period_ns);
  sensors.instant_window_ns = sensors.average_window_ns = sensors.period_ns;
  take_duration(table, "phase_s", sensors.phase_ns);
  take_duration(table, "instant_window_s", sensors.instant_window_ns);
  take_duration(table, "average_window_s", sensors.average_window_ns);
  auto cost = table.table("read_cost");
  take_duration(cost, "energy_s", sensors.costs.energy_ns);
  take_duration(cost, "power_s", sensors.costs.power_ns);
  take_duration(cost, "clock_s", sensors.costs.clock_ns);
  take_duration(cost, "set_s", sensors.costs.set_ns);
  take_duration(cost, "other_s", sensors.costs.other_ns);
  cost.finish();
  table.finish();
  if (sensors.period_ns < 100'000) return table.refuse("period_s", "100 us at least");
  if (sensors.instant_window_ns < 1 || sensors.instant_window_ns > sensors.period_ns)
    table.refuse("instant_window_s", "at most period_s");
  const auto periods = sensors.average_window_ns / sensors.period_ns;
  if (sensors.average_window_ns % sensors.period_ns != 0 || periods < 1 ||
      periods > static_cast<std::int64_t>(kSensorHistory) - 2)
    table.refuse("average_window_s", "1 to 62 times period_s");
}

}  // namespace

void read_physics(TomlTable& table, GpuModel& gpu) {
  read_clocks(table.table("clocks"), gpu.clocks);
  if (!table.status()) return;  // what follows needs clocks
  read_latency(table, gpu.clocks);
  read_power(table.table("power"), gpu.power);
  read_thermal(table.table("thermal"), gpu, gpu.thermal);
  read_limits(table.table("limits"), gpu.limits);
  read_governor(table.table("governor"), gpu, gpu.governor);
  read_sensors(table.table("sensors"), gpu.sensors);
}

}  // namespace negawatt::gpusim
