// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/escape.hpp"
#include "report/html_tables.hpp"
#include "report/iteration.hpp"
#include "report/lanes.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/page_data.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

constexpr std::size_t kMostPairRows = 16;

std::string promise_row(const plan::ClockPlan& plan, std::string_view name, const Cost& cost) {
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
      "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
      name, typographic(change(change_pct(plan.baseline.energy, cost.energy))),
      typographic(change(change_pct(plan.baseline.time, cost.time))),
      typographic(quantity(cost.energy, 4)), typographic(quantity(cost.time, 4)));
}

std::string promise_html(const plan::ClockPlan& plan) {
  if (!plan.promise) return {};
  const auto& promise = *plan.promise;
  return fmt::format(
             "<h3>What may be promised</h3>\n<p>With {} % confidence an iteration takes at most "
             "{}. The pairs that look best in a table look a little better than they are; the "
             "expected values are free of that.</p>\n",
             significant(100.0 * promise.confidence),
             typographic(quantity(promise.time_at_confidence, 4))) +
         "<div class=\"scroll\"><table class=\"numbers\"><thead><tr><th scope=\"col\">This plan"
         "</th><th scope=\"col\" class=\"n\">Energy change</th><th scope=\"col\" class=\"n\">"
         "Time change</th><th scope=\"col\" class=\"n\">Energy</th><th scope=\"col\" class=\"n\">"
         "Time</th></tr></thead><tbody>\n" +
         promise_row(plan, "expected", promise.expected) +
         promise_row(plan, "as searched in the table", promise.searched) +
         fmt::format(
             "<tr><th scope=\"row\">standard deviation of the expectation</th><td></td>"
             "<td></td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n"
             "</tbody></table></div>\n",
             typographic(quantity(promise.expected_sd.energy)),
             typographic(quantity(promise.expected_sd.time)));
}

std::string switching_note(const plan::ClockPlan& plan) {
  if (plan.switches == 0) return "The plan changes no clock within an iteration.";
  if (!changes_are_free(plan))
    return "Each change takes its latency, during which the old clocks hold, and its energy; both "
           "are part of the plan.";
  return fmt::format(
      "This plan takes its {} as free and instant. On a GPU a change takes milliseconds: ask for "
      "<code>--granularity schedule --switch-latency</code> to get a plan that pays for them.",
      counted(plan.switches, "clock change"));
}

std::string method_html(const ClockReport& report) {
  const auto& plan = report.plan;
  std::string out = "<dl class=\"notes\">\n";
  out += note_html("Asked for", html_escaped(task(plan.request)) + ".");
  out +=
      note_html("Optimality",
                fmt::format("The plan is {}: its energy is {}, and no plan of this granularity and "
                            "budget uses less than {}.",
                            html_escaped(proof(plan)), typographic(quantity(plan.total.energy, 4)),
                            typographic(quantity(plan.bound, 4))));
  if (plan.budget && plan.price > Watts(0.0))
    out += note_html(
        "Price of time",
        fmt::format("One more second of budget would save {} more: a kernel gives up time "
                    "only for more energy than that.",
                    typographic(quantity(Joules(plan.price.in_si())))));
  out += note_html("Clock changes", switching_note(plan));
  out += note_html("Fixed setting",
                   "The best that a single locked pair can do under the same objective, the honest "
                   "comparison for any plan that changes clocks.");
  out += note_html(
      "Local and global",
      "Local: every kernel keeps the slowdown by itself. Global: only the iteration does, "
      "so that one kernel may spend the time another one saves. Both take clock changes "
      "as free.");
  out +=
      note_html("Auto", "The driver decides. Auto and locked at the maximum are different states.");
  out += note_html("Evidence", evidence_html(report.table.evidence));
  return out + "</dl>\n";
}

std::string frontier_note(const plan::ClockPlan& plan) {
  if (plan.frontier.empty())
    return "The frontier was not asked for; <code>--frontier</code> adds it.";
  return changes_are_free(plan)
             ? "The line is the least energy for every slowdown, with free clock changes."
             : "The line joins schedules for evenly spaced budgets; their clock changes are paid "
               "for.";
}

std::string time_note(const ClockReport& report, const Iteration& iteration) {
  const auto& plan = report.plan;
  auto out =
      fmt::format("{} in {}, {} of fixed clocks.", counted(report.sequence.size(), "kernel call"),
                  typographic(quantity(iteration.time)), counted(plan.segments.size(), "segment"));
  const bool is_sliced = std::ranges::any_of(iteration.lanes, &Lane::sliced);
  if (is_sliced)
    out += fmt::format(
        " Too many to draw one by one: lanes with more than {} runs are cut into slices of {}, "
        "each showing one of what holds in it; shares of time are kept.",
        counted(kMostRuns, ""),
        typographic(quantity(iteration.time / static_cast<double>(kMostRuns))));
  return out;
}

std::string kernels_note(const ClockReport& report) {
  const auto kernels = report.table.kernels.size();
  std::string out =
      "Shares are of the baseline; changes are those of the kernel itself. A dominated pair is "
      "beaten by another one in both time and energy.";
  if (kernels > kMostKernelRows)
    out += fmt::format(" Shown are the {} that save most of {}; the CSV output has them all.",
                       kMostKernelRows, counted(kernels, "kernel"));
  return out;
}

std::string pairs_note(const std::vector<PairUse>& pairs) {
  if (pairs.size() <= kMostPairRows) return {};
  return fmt::format("<p class=\"note\">And {}.</p>",
                     counted(pairs.size() - kMostPairRows, "more pair"));
}

std::string joules_note(const std::vector<KernelUse>& uses) {
  if (!std::ranges::any_of(uses, [](const KernelUse& use) {
        return use.planned.energy > 1.00005 * use.baseline.energy;
      }))
    return {};
  return "Some kernels use more than before, to gain time that others spend better.";
}

/// For readers who do not see the charts: what each shows and where its numbers stand.
std::string frontier_alt(const plan::ClockPlan& plan) {
  std::string out = "Chart of energy change against time change.";
  for (const auto& row : yardsticks(plan))
    out += fmt::format(" {}: energy {}.", html_escaped(row.name),
                       typographic(change(change_pct(plan.baseline.energy, row.energy))));
  return out + " The table below has the values.";
}

std::string groups_alt(const std::vector<KernelUse>& uses) {
  std::string out = "Bar chart of energy by group, baseline and plan.";
  std::size_t shown = 0;
  for (const auto& group : group_uses(uses)) {
    if (++shown > 12) break;
    out += fmt::format(" {}: {} to {}.", html_escaped(group.name),
                       typographic(quantity(group.baseline.energy)),
                       typographic(quantity(group.planned.energy)));
  }
  return out;
}

std::string main_html(const ClockReport& report, const std::vector<KernelUse>& uses,
                      const Iteration& iteration) {
  const auto& plan = report.plan;
  const auto pairs = pair_uses(plan);
  return filled(
      plan_body(),
      {{"frontier",
        frontier_html(html_escaped(baseline_name(plan)), frontier_note(plan), frontier_alt(plan))},
       {"yardsticks", yardsticks_html(plan)},
       {"promise", promise_html(plan)},
       {"joules_note", joules_note(uses)},
       {"groups_alt", groups_alt(uses)},
       {"kernels_alt",
        "Bar chart of energy by kernel, baseline and plan. The table of kernels has the values."},
       {"time_note", time_note(report, iteration)},
       {"time_alt",
        "Time axis of one iteration with group, kernel, core clock and memory clock. The table of "
        "clock pairs sums it up."},
       {"pairs", pairs_html(pairs, kMostPairRows)},
       {"pairs_note", pairs_note(pairs)},
       {"kernels_note", kernels_note(report)},
       {"kernels", kernels_html(uses)},
       {"method", method_html(report)}});
}

}  // namespace

std::string plan_html(const ClockReport& report) {
  const auto& plan = report.plan;
  const auto uses = kernel_uses(report);
  const auto iteration = iteration_lanes(report);
  return page_html({.kind = "clock plan",
                    .file = html_escaped(report.table.name),
                    .headline = html_escaped(headline(plan)),
                    .lede = html_escaped(against_static(plan)),
                    .evidence_kind = std::string(name_of(report.table.evidence.kind)),
                    .evidence = evidence_html(report.table.evidence),
                    .tiles = tiles_html(report),
                    .main = main_html(report, uses, iteration),
                    .data = page_data(report, uses, iteration),
                    .script = plan_js(),
                    .command = html_escaped(report.command),
                    .version = html_escaped(report.version)});
}

}  // namespace negawatt::report
