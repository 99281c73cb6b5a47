// SPDX-License-Identifier: Apache-2.0
#include "report/compare_wording.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "report/numbers.hpp"

namespace negawatt::report {
namespace {

// Tables of one workload agree to the digits a file holds.
constexpr double kSameCost = 1e-6;
constexpr std::string_view kGoodEnding = "exit code 0";

/// What is said to be "within" a number is rounded away from zero; 1e-6 takes up the rounding of
/// differences of doubles.
std::string within(double value) {
  return fmt::format("{:.2f} points", std::max(0.01, std::ceil(100.0 * value - 1e-6) / 100.0));
}

std::string joined(std::string first, const std::string& second,
                   std::string_view separator = ", ") {
  if (!first.empty() && !second.empty()) first += separator;
  return first + second;
}

/// "0.50 points more energy", where that is too much; and what its standard error says of it.
std::string miss(std::optional<double> difference, const std::optional<Change>& change,
                 std::string_view what) {
  if (!difference || *difference <= kPromiseTolerance) return {};
  const bool is_noise = change && change->error && *difference < 2.0 * *change->error;
  return fmt::format("{:.2f} points more {}{}", *difference, what,
                     is_noise ? " (less than two standard errors)" : "");
}

std::string missed(const RunView& view) {
  return "misses its promise: " + joined(miss(view.energy_difference, view.energy, "energy"),
                                         miss(view.time_difference, view.time, "time"));
}

/// A promise may only seem kept when the measurement cannot tell.
std::string coarseness(const RunView& view) {
  double error = 0.0;
  for (const auto& change : {view.energy, view.time})
    if (change) error = std::max(error, change->error.value_or(0.0));
  if (2.0 * error <= kPromiseTolerance) return {};
  return fmt::format(" (as far as a standard error of {:.2f} points can tell)", error);
}

std::string kept(const RunView& view) {
  const double energy = view.energy_difference.value_or(0.0);
  const double time = view.time_difference.value_or(0.0);
  const double farthest = std::max(std::abs(energy), std::abs(time));
  if (farthest <= kPromiseTolerance) return "holds its promise within " + within(farthest);
  std::string better;
  if (energy < -kPromiseTolerance) better = fmt::format("{:.2f} points less energy", -energy);
  if (time < -kPromiseTolerance)
    better = joined(better, fmt::format("{:.2f} points less time", -time));
  return "does better than promised: " + better;
}

std::string static_clause(const RunView& view) {
  if (!view.against_static) return {};
  const double above = *view.against_static;
  if (std::abs(above) <= kStaticTolerance) return "; level with the best static pair";
  return fmt::format("; {:.2f} points {} than the best static pair", std::abs(above),
                     above > 0.0 ? "worse" : "better");
}

bool is_close(double a, double b) { return std::abs(a - b) <= kSameCost * std::abs(a); }

bool share_baseline(const ComparedRun& a, const ComparedRun& b) {
  return a.baseline_clocks == b.baseline_clocks &&
         is_close(a.baseline.time.in_si(), b.baseline.time.in_si()) &&
         is_close(a.baseline.energy.in_si(), b.baseline.energy.in_si());
}

}  // namespace

std::string verdict(const RunView& view) {
  const auto& run = view.run;
  if (view.standing == Standing::baseline) return "the measured baseline";
  if (!view.time) return "cannot be judged: no iteration was measured";
  if (!run.governed) return run.note.empty() ? "was only watched" : "ran without clock changes";
  if (run.was_off_plan) return "cannot be judged: it ran another iteration than the plan's";
  auto words = view.standing == Standing::misses ? missed(view) : kept(view) + coarseness(view);
  if (!view.energy) words += "; its energy was not measured";
  return words + static_clause(view);
}

std::string compare_headline(const Comparison& comparison) {
  const auto judged = std::ranges::count_if(comparison.runs, is_judged);
  const auto missed = std::ranges::count(comparison.runs, Standing::misses, &RunView::standing);
  if (judged == 0) return "No run was governed and measured: there is no promise to judge.";
  if (judged == 1) {
    const auto& view = *std::ranges::find_if(comparison.runs, is_judged);
    return fmt::format("Run {} {}.", view.run.label, verdict(view));
  }
  const auto& worst = *worst_by(comparison, shortfall);
  const double most = shortfall(worst).value_or(0.0);
  if (missed == 0) {
    const auto all = judged == 2 ? std::string("Both runs") : fmt::format("All {} runs", judged);
    if (most < kShownChange) return all + " hold their promise.";
    return fmt::format("{} hold their promise: none is more than {} above it.", all, within(most));
  }
  if (missed == 1)
    return fmt::format("{} misses its promise by {:.2f} points; the other {} kept.",
                       worst.run.label, most,
                       judged == 2 ? "one is" : fmt::format("{} are", judged - 1));
  return fmt::format("{} of {} runs miss their promise; {} by most, {:.2f} points.", missed, judged,
                     worst.run.label, most);
}

std::string baseline_sentence(const Comparison& comparison) {
  const auto measured =
      comparison.baseline == nullptr ? AchievedCost{} : comparison.baseline->achieved;
  if (!measured.time || !measured.energy)
    return "No run measured automatic clocks: achieved changes are against the baseline of the "
           "plan's table. A run with --watch adds a measured one.";
  auto text = fmt::format(
      "Achieved changes are against automatic clocks as measured in {}: {} and "
      "{} an iteration",
      comparison.baseline->label, quantity(*measured.energy, 4), quantity(*measured.time, 4));
  if (measured.energy_error && measured.time_error)
    text += fmt::format(" (standard errors {:.2f} % and {:.2f} %)",
                        100.0 * (*measured.energy_error / *measured.energy),
                        100.0 * (*measured.time_error / *measured.time));
  return text + ".";
}

std::vector<std::string> cautions(const Comparison& comparison) {
  std::vector<std::string> found;
  const auto& first = comparison.runs.front().run;
  const auto any = [&comparison](auto differs) {
    return std::ranges::any_of(comparison.runs, differs);
  };
  if (any([&](const RunView& view) { return !share_baseline(view.run, first); }))
    found.emplace_back(
        "The plans do not share one baseline: what was promised is against each plan's own.");
  if (comparison.baseline != nullptr &&
      any([](const RunView& view) { return !view.is_against_measured; }))
    found.emplace_back(
        "Runs whose plan starts from locked clocks are compared with their table's baseline, not "
        "with the measured one.");
  if (any([&](const RunView& view) { return view.run.gpu != first.gpu; }))
    found.emplace_back("The runs were not made on the same GPU.");
  if (any([&](const RunView& view) { return view.run.evidence != first.evidence; }))
    found.emplace_back("Some runs were measured and some simulated.");
  return found;
}

std::string reasons(const ComparedRun& run) {
  std::string text;
  const auto add = [&text](const std::string& reason) { text = joined(text, reason, "; "); };
  if (run.late > 0)
    add(fmt::format("{} of {} late, by at most {}", counted(run.late, ""),
                    counted(run.changes, "clock change"), quantity(run.most_late)));
  if (run.refused > 0)
    add(fmt::format("{} of {} refused, the last: {}", counted(run.refused, ""),
                    counted(run.requests, "request"), run.last_refusal));
  if (run.missed_iterations > 0)
    add(counted(run.missed_iterations, "iteration") + " went by unseen");
  if (run.ending != kGoodEnding) add("the program ended with " + run.ending);
  add(run.note);
  add(run.energy_note);
  return text;
}

std::string points(double value) {
  return fmt::format("{:+.2f}", std::abs(value) < kShownChange ? 0.0 : value);
}

}  // namespace negawatt::report
