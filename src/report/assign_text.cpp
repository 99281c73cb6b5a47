// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "report/assign_report.hpp"
#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/text_lines.hpp"

namespace negawatt::report {
namespace {

// With as many systems the report stays within 40 lines.
constexpr std::size_t kMostSingles = 8;
constexpr std::size_t kMostShares = 8;

std::uint64_t requests_of(const plan::Assignment& assignment) {
  std::uint64_t requests = 0;
  for (const auto count : assignment.requests) requests += count;
  return requests;
}

double objective_change(const plan::Assignment& from, const plan::Assignment& to) {
  return from.objective == 0.0 ? 0.0 : 100.0 * (to.objective / from.objective - 1.0);
}

std::string what_is_least(const plan::AssignRequest& request) {
  if (request.lambda == 1.0) return "energy";
  if (request.lambda == 0.0) return "runtime";
  return fmt::format("{} * {} + {} * {}", significant(request.lambda),
                     request.normalise ? "energy share" : "joules",
                     significant(1.0 - request.lambda),
                     request.normalise ? "runtime share" : "seconds");
}

/// The answer in one sentence, against the best single system.
std::string headline(const plan::AssignPlan& plan) {
  const auto requests = counted(requests_of(plan.chosen), "request");
  const auto* single = plan.best_single();
  if (single == nullptr)
    return fmt::format("{}: {} and {} for {}; no single system can take them all.",
                       ascii_only(plan.chosen.name), quantity(plan.chosen.total.energy, 4),
                       quantity(plan.chosen.total.time, 4), requests);
  const auto name = ascii_only(single->name.substr(4));
  const double gained = objective_change(*single, plan.chosen);
  if (std::abs(gained) < kShownChange)
    return fmt::format("Nothing to gain: {} saves less than {} % of {} against {} for all {}.",
                       plan.chosen.name == single->name ? "this" : ascii_only(plan.chosen.name),
                       kShownChange, what_is_least(plan.request), name, requests);
  return fmt::format("{} for {}, {}, against {} for all of them (energy {}).",
                     change(gained) + " of " + what_is_least(plan.request), requests,
                     time_clause(change_pct(single->total.time, plan.chosen.total.time)), name,
                     change(change_pct(single->total.energy, plan.chosen.total.energy)));
}

std::string label(const plan::AssignPlan& plan, const plan::Assignment& assignment) {
  auto text = ascii_only(assignment.name);
  if (const auto& threshold = assignment.threshold) {
    if (threshold->input_tokens) text += fmt::format(" in<={}", *threshold->input_tokens);
    if (threshold->output_tokens) text += fmt::format(" out<={}", *threshold->output_tokens);
    text += ":" + ascii_only(plan.systems[threshold->small]);
  }
  if (!assignment.keeps_capacities) text += " (over)";
  return shortened(text, 36);
}

constexpr std::string_view kRow = "{:<36} {:>9} {:>10}  {:>9} {:>10}";

void write_row(const plan::AssignPlan& plan, const plan::Assignment& assignment,
               const plan::Assignment& against, bool is_chosen, TextLines& lines) {
  const auto line = fmt::format(kRow, label(plan, assignment), quantity(assignment.total.energy, 4),
                                change(change_pct(against.total.energy, assignment.total.energy)),
                                quantity(assignment.total.time, 4),
                                change(change_pct(against.total.time, assignment.total.time)));
  is_chosen ? lines.strong(line) : lines.add(line);
}

/// The chosen assignment, then all others, the best objective first.
void write_assignments(const plan::AssignPlan& plan, TextLines& lines) {
  const auto* single = plan.best_single();
  const auto& against = single == nullptr ? plan.chosen : *single;
  lines.add(fmt::format(kRow, "policy", "energy", "change", "runtime", "change"));
  write_row(plan, plan.chosen, against, true, lines);
  std::vector<const plan::Assignment*> others;
  for (const auto& assignment : plan.baselines) others.push_back(&assignment);
  std::ranges::stable_sort(others, {}, [](const auto* a) { return a->objective; });
  std::size_t singles = 0;
  for (const auto* other : others)
    if (!other->name.starts_with("all:") || ++singles <= kMostSingles)
      write_row(plan, *other, against, false, lines);
  if (singles > kMostSingles)
    lines.add(fmt::format("... and {}", counted(singles - kMostSingles, "more single system")));
  lines.add("");
}

std::string shares(const plan::AssignPlan& plan) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < plan.systems.size(); ++s)
    if (plan.chosen.requests[s] > 0) order.push_back(s);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t s) { return plan.chosen.requests[s]; });
  const auto all = static_cast<double>(requests_of(plan.chosen));
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kMostShares); ++i) {
    const auto requests = static_cast<double>(plan.chosen.requests[order[i]]);
    text += fmt::format("{}{} {} %", i == 0 ? "" : ", ", ascii_only(plan.systems[order[i]]),
                        significant(100.0 * requests / all));
  }
  if (order.size() > kMostShares) text += fmt::format(" and {} more", order.size() - kMostShares);
  return text;
}

void write_caveats(const plan::AssignPlan& plan, TextLines& lines) {
  if (!plan.chosen.keeps_capacities)
    lines.wrapped("This policy knows no capacities, and exceeds one.");
  if (plan.chosen.extrapolated > 0)
    lines.wrapped(fmt::format(
        "{} of the requests lie beyond the measured sizes: their costs go on with the slope at the "
        "edge (--outside refuse keeps them off such systems).",
        counted(plan.chosen.extrapolated, "")));
  if (plan.follow_up && plan.chosen.name == "follow-up")
    lines.wrapped(fmt::format(
        "The follow-up's model promised {} and {}; it names the right system at {} of {} sizes.",
        quantity(plan.follow_up->promised.energy, 4), quantity(plan.follow_up->promised.time, 4),
        plan.follow_up->winners.right, plan.follow_up->winners.sizes));
  lines.wrapped(
      "Each request is priced by itself: a serving system also has batches, queues and idle power, "
      "which negawatt simulate counts.");
}

}  // namespace

std::string assign_text(const AssignReport& report, bool colour) {
  const auto& plan = report.plan;
  TextLines lines(colour);
  lines.strong_wrapped(headline(plan));
  lines.add("");
  write_assignments(plan, lines);
  lines.wrapped(fmt::format("Requests by system: {}.", shares(plan)));
  const double gap =
      plan.bound == 0.0 ? 0.0 : 100.0 * (plan.chosen.objective - plan.bound) / std::abs(plan.bound);
  lines.wrapped(fmt::format("Least {} over {}: {}, solved in {}.", what_is_least(plan.request),
                            counted(plan.sizes, "different size"), proof_of_gap(gap),
                            quantity(report.solve_time)));
  write_caveats(plan, lines);
  lines.add(shortened(
      fmt::format("Evidence: {}{}{}", name_of(plan.evidence.kind),
                  plan.evidence.source.empty() ? "" : ", ", ascii_only(plan.evidence.source)),
      TextLines::kWidth));
  return std::move(lines).text();
}

}  // namespace negawatt::report
