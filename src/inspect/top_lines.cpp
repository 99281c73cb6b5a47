// SPDX-License-Identifier: Apache-2.0
// A snapshot on a terminal.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "inspect/top.hpp"
#include "inspect/words.hpp"

namespace negawatt::inspect {
namespace {

constexpr std::string_view kUnknown = "-";

template <class T, class Words>
std::string or_dash(const std::optional<T>& value, Words words) {
  return value ? std::string(words(*value)) : std::string(kUnknown);
}

std::string joules(Joules energy) {
  const double j = energy.in_si();
  if (j < 1e5) return fmt::format("{:.1f} J", j);
  return j < 1e8 ? fmt::format("{:.1f} kJ", j * 1e-3) : fmt::format("{:.1f} MJ", j * 1e-6);
}

std::string duration(Seconds time) {
  const auto s = static_cast<long long>(time.in_si());
  return s < 60     ? fmt::format("{:.1f} s", time.in_si())
         : s < 3600 ? fmt::format("{}:{:02} min", s / 60, s % 60)
                    : fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
}

/// Without the maker's name, which would fill the column.
std::string short_name(std::string_view name) {
  for (const std::string_view prefix : {"NVIDIA ", "GeForce ", "Tesla "}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return cut(name, 14);
}

std::string asked(lease::Clock clock) {
  return clock.is_automatic() ? "auto" : fmt::format("{}", clock.mhz());
}

std::string clocks(const GpuLine& gpu, lease::Clock lease::ClockPair::* domain,
                   gpu::Megahertz gpu::Clocks::* actual) {
  return fmt::format(
      "{}/{}", or_dash(gpu.asked, [&](const auto& pair) { return asked(pair.*domain); }),
      or_dash(gpu.clocks, [&](const auto& now) { return fmt::format("{}", (now.*actual).count); }));
}

constexpr std::string_view kColumns = "{:>3}  {:<14} {:>7} {:<8} {:>6} {:>10} {:>10} {:>5} {:>5}";

std::string first_line(const GpuLine& gpu) {
  const auto whole = [](auto number) { return fmt::format("{}", number); };
  return fmt::format(
      kColumns, gpu.display_index, short_name(gpu.name),
      or_dash(gpu.power.watts, [](Watts power) { return fmt::format("{:.1f}", power.in_si()); }),
      gpu.power.watts ? name_of(gpu.power.source) : kUnknown,
      or_dash(gpu.limit, [](Watts limit) { return fmt::format("{:.0f}", limit.in_si()); }),
      clocks(gpu, &lease::ClockPair::core, &gpu::Clocks::core),
      clocks(gpu, &lease::ClockPair::memory, &gpu::Clocks::memory),
      or_dash(gpu.temperature_c, whole), or_dash(gpu.busy_pct, whole));
}

std::string energy_words(const GpuLine& gpu) {
  std::string text = or_dash(gpu.energy, joules);
  if (gpu.energy && gpu.energy_source == EnergySource::integrated) text += " (from power)";
  if (gpu.counter_resets > 0) text += fmt::format(" ({} counter resets)", gpu.counter_resets);
  if (gpu.implausible_steps > 0) text += fmt::format(" ({} wild steps)", gpu.implausible_steps);
  return text;
}

std::string process_words(const std::vector<ProcessLine>& processes) {
  std::string text =
      fmt::format("{} process{}", processes.size(), processes.size() == 1 ? "" : "es");
  const char* separator = ": ";
  for (const auto& process : processes) {
    text += fmt::format("{}{} {}", separator, process.command.empty() ? "pid" : process.command,
                        process.pid);
    separator = ", ";
  }
  return text;
}

std::string second_line(const GpuLine& gpu) {
  std::string text = energy_words(gpu);
  if (gpu.silent) {
    return fmt::format("{}; the driver has not answered for {}", text, duration(*gpu.silent));
  }
  if (!gpu.trouble.empty()) return fmt::format("{}; {}", text, gpu.trouble);
  text += "; limited by: " +
          or_dash(gpu.reasons, [](gpu::EventReasons reasons) { return to_string(reasons); });
  if (gpu.lease) {
    text +=
        fmt::format("; lease: {} {} (user {})", gpu.lease->command, gpu.lease->pid, gpu.lease->uid);
  }
  text += "; " + (gpu.processes ? process_words(*gpu.processes) : "processes -");
  return text;
}

/// Sums over the GPUs that tell, and how many do when not all do.
template <class Unit, class Of, class Words>
std::string sum_words(const std::vector<GpuLine>& gpus, Of of, Words words) {
  Unit sum{};
  std::size_t known = 0;
  for (const auto& gpu : gpus) {
    const std::optional<Unit> part = of(gpu);
    if (!part) continue;
    sum += *part;
    ++known;
  }
  if (known == 0) return std::string(kUnknown);
  std::string text = words(sum);
  if (known < gpus.size()) text += fmt::format(" ({} of {})", known, gpus.size());
  return text;
}

std::string daemon_words(const Snapshot& snapshot) {
  if (!snapshot.daemon.reachable) return "no negawattd";
  if (snapshot.daemon.observe_only) return "negawattd observes";
  std::size_t leases = 0;
  for (const auto& gpu : snapshot.gpus) leases += gpu.lease ? 1 : 0;
  return fmt::format("negawattd: {} lease{}", leases, leases == 1 ? "" : "s");
}

/// With the driver's version where there is room.
std::string title(const Snapshot& snapshot) {
  const auto watts = sum_words<Watts>(
      snapshot.gpus, [](const GpuLine& gpu) { return gpu.power.watts; },
      [](Watts power) { return fmt::format("{:.1f} W", power.in_si()); });
  const auto energy =
      sum_words<Joules>(snapshot.gpus, [](const GpuLine& gpu) { return gpu.energy; }, joules);
  const auto text =
      fmt::format("{}{}  {} in {}  {}", snapshot.simulated ? "SIMULATED  " : "", watts, energy,
                  duration(snapshot.since_start), daemon_words(snapshot));
  const auto longer = fmt::format("{}  driver {}", text, snapshot.driver_version);
  return longer.size() <= kScreenWidth ? longer : text;
}

}  // namespace

std::string_view name_of(PowerSource source) {
  switch (source) {
    case PowerSource::instant:
      return "instant";
    case PowerSource::average:
      return "average";
    case PowerSource::unstated:
      return "unstated";
    case PowerSource::counter:
      return "counter";
    case PowerSource::none:
      break;
  }
  return "unavailable";
}

std::vector<std::string> top_lines(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string_view line) { lines.push_back(cut(line, kScreenWidth)); };
  add(title(snapshot));
  add(fmt::format(kColumns, "GPU", "", "watts", "sensor", "limit", "core MHz", "mem. MHz", "C",
                  "busy%"));
  for (const auto& gpu : snapshot.gpus) {
    add(first_line(gpu));
    add("     " + second_line(gpu));
  }
  return lines;
}

}  // namespace negawatt::inspect
