// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "sim/result.hpp"
#include "sim/result_interval.hpp"

namespace negawatt::sim {
namespace {

constexpr std::size_t kMostInstanceLines = 40;

/// Seconds with a unit that a person reads.
std::string time_text(double seconds) {
  if (seconds < 1.0) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 1000.0) return fmt::format("{:.3g} s", seconds);
  return seconds < 1e5 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.3g} h", seconds / 3600);
}

std::string energy_text(Joules energy) {
  const double joules = energy.in_si();
  if (joules < 1e3) return fmt::format("{:.4g} J", joules);
  if (joules < 1e6) return fmt::format("{:.4g} kJ", joules / 1e3);
  return joules < 1e9 ? fmt::format("{:.4g} MJ", joules / 1e6)
                      : fmt::format("{:.4g} GJ", joules / 1e9);
}

/// "12.3 %"; "-" of nothing.
std::string share_text(double of, double by, int digits = 1) {
  return by > 0.0 ? fmt::format("{:.{}f} %", 100.0 * of / by, digits) : "-";
}

/// "1 request was", "12 requests were"
std::string requests_text(std::uint64_t count) {
  return fmt::format("{} request{}", count, count == 1 ? " was" : "s were");
}

std::string quantile_line(std::string_view what, const QuantileSketch& sketch) {
  if (sketch.count() == 0) return "";
  return fmt::format("{:<22}{:>11}{:>11}{:>11}{:>11}\n", what, time_text(sketch.mean()),
                     time_text(sketch.quantile(0.5)), time_text(sketch.quantile(0.9)),
                     time_text(sketch.quantile(0.99)));
}

std::string energy_lines(const SimulationResult& result) {
  const auto& energy = result.energy;
  const double total = energy.total().in_si();
  const double ended = result.outcome.ended.in_si();
  std::string text = fmt::format("Energy        {:>10}", energy_text(energy.total()));
  if (result.outcome.output_tokens > 0)
    text += fmt::format("   {:.4g} J an output token",
                        total / static_cast<double>(result.outcome.output_tokens));
  if (ended > 0.0)
    text += fmt::format("   mean {:.4g} W, peak {:.4g} W", total / ended, energy.peak().in_si());
  text += fmt::format("\n  while no step ran {:>10}   {}: idle, asleep, starting\n",
                      energy_text(energy.without_work()),
                      share_text(energy.without_work().in_si(), total));
  text += fmt::format("  no policy below   {:>10}   {} of it\n", energy_text(result.bound),
                      share_text(result.bound.in_si(), total));
  if (const auto interval = energy_interval(result))
    text += fmt::format("  as devices err    {:>10}   to {} (90 % of their checks)\n",
                        energy_text(Joules(interval->low)), energy_text(Joules(interval->high)));
  else
    text += "  no interval: the errors of a device are not known\n";
  return text;
}

std::string latency_lines(const Outcome& outcome) {
  if (outcome.completed == 0) return "";
  std::string text =
      fmt::format("{:<22}{:>11}{:>11}{:>11}{:>11}\n", "Latency", "mean", "p50", "p90", "p99");
  text += quantile_line("  to the first token", outcome.latencies.ttft);
  text += quantile_line("  between tokens", outcome.between_tokens);
  text += quantile_line("  to the last token", outcome.latencies.e2e);
  return text;
}

std::string slo_lines(const SimulationResult& result) {
  const auto attainment = result.outcome.slo_attainment();
  if (!attainment) return "No class of requests has an SLO.\n";
  std::string text = fmt::format("SLO attained {:.2f} %\n", 100.0 * *attainment);
  for (std::size_t i = 0; i < result.outcome.classes.size() && i < result.classes.size(); ++i) {
    const auto& of_class = result.outcome.classes[i];
    if (!of_class.has_slo || of_class.requests == 0) continue;
    const auto pct = [&](std::uint64_t met) {
      return share_text(static_cast<double>(met), static_cast<double>(of_class.requests), 2);
    };
    text += fmt::format("  {:<20.20}{:>10}  TTFT {:>8}  TBT {:>8}  e2e {:>8}\n", result.classes[i],
                        pct(of_class.met_all), pct(of_class.met_ttft), pct(of_class.met_tbt),
                        pct(of_class.met_e2e));
  }
  return text;
}

std::string instance_lines(const SimulationResult& result) {
  std::string text = fmt::format("{:<18}{:>10}{:>11}{:>9}{:>9}{:>10}{:>11}\n", "Instance",
                                 "requests", "energy", "busy", "asleep", "tok/step", "sent back");
  const auto& instances = result.cluster->instances;
  const double ended = result.outcome.ended.in_si();
  for (std::size_t i = 0; i < std::min(instances.size(), kMostInstanceLines); ++i) {
    const auto& outcome = result.outcome.instances[i];
    const auto per_step = outcome.steps == 0
                              ? std::string("-")
                              : fmt::format("{:.1f}", static_cast<double>(outcome.output_tokens) /
                                                          static_cast<double>(outcome.steps));
    text += fmt::format("{:<18.18}{:>10}{:>11}{:>9}{:>9}{:>10}{:>11}\n", instances[i].name,
                        outcome.completed, energy_text(result.energy.of(i)),
                        share_text(outcome.busy.in_si(), ended),
                        share_text(result.energy.of(i, Activity::asleep).time.in_si(), ended),
                        per_step, outcome.preemptions);
  }
  if (instances.size() > kMostInstanceLines)
    text +=
        fmt::format("... and {} more (--json has all)\n", instances.size() - kMostInstanceLines);
  return text;
}

std::string notes(const SimulationResult& result) {
  const auto& outcome = result.outcome;
  std::string text;
  if (outcome.refused_by_policy > 0)
    text += fmt::format("{} refused: no instance can serve what is so large.\n",
                        requests_text(outcome.refused_by_policy));
  if (outcome.too_large > 0)
    text += fmt::format("{} refused: larger than the KV memory at the place chosen.\n",
                        requests_text(outcome.too_large));
  std::uint64_t room = 0;
  for (const auto& spec : result.cluster->instances) room += spec.limits.most_sequences;
  if (outcome.overloaded(room))
    text += fmt::format(
        "Overloaded: {} waiting when the last one arrived; serving them took\n{} more.\n",
        requests_text(outcome.waiting_at_last_arrival),
        time_text((outcome.ended - outcome.last_arrival).in_si()));
  return text;
}

std::string times_text(const QuantileSketch& sketch) {
  return sketch.count() == 0 ? "-" : time_text(sketch.quantile(0.99));
}

}  // namespace

std::string to_text(const SimulationResult& result) {
  const auto& outcome = result.outcome;
  std::string text =
      fmt::format("{:.60}: {} of {} requests in {}, seed {}\n\n", result.policy, outcome.completed,
                  outcome.requests, time_text(outcome.ended.in_si()), result.seed);
  text += energy_lines(result) + "\n" + latency_lines(outcome) + "\n" + slo_lines(result) + "\n" +
          instance_lines(result);
  if (const auto more = notes(result); !more.empty()) text += "\n" + more;
  text += fmt::format("\nSimulated from modelled devices: {} events, {} steps, {:.3g} s of work.\n",
                      outcome.events, outcome.steps(), result.wall.in_si());
  return text;
}

std::string comparison_text(std::span<const SimulationResult> results) {
  std::string text = fmt::format("{:<24}{:>11}{:>9}{:>9}{:>9}{:>10}{:>8}\n", "Policy", "energy",
                                 "J/token", "TTFT p99", "e2e p99", "SLO", "idle");
  for (const auto& result : results) {
    const auto& outcome = result.outcome;
    const double total = result.energy.total().in_si();
    const auto attainment = outcome.slo_attainment();
    text +=
        fmt::format("{:<24.24}{:>11}{:>9}{:>9}{:>9}{:>10}{:>8}\n", result.policy,
                    energy_text(result.energy.total()),
                    outcome.output_tokens == 0
                        ? std::string("-")
                        : fmt::format("{:.3g}", total / static_cast<double>(outcome.output_tokens)),
                    times_text(outcome.latencies.ttft), times_text(outcome.latencies.e2e),
                    attainment ? fmt::format("{:.2f} %", 100.0 * *attainment) : std::string("-"),
                    share_text(result.energy.without_work().in_si(), total));
  }
  return text;
}

}  // namespace negawatt::sim
