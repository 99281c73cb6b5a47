// SPDX-License-Identifier: Apache-2.0
#include "report/html_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "report/escape.hpp"
#include "report/numbers.hpp"
#include "report/page.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

/// Less is good, where it is visible at all.
std::string_view tone(double percent) {
  return percent <= -0.005 ? "good" : percent >= 0.005 ? "bad" : "";
}

Tile energy_tile(const plan::ClockPlan& plan) {
  const double percent = change_pct(plan.baseline.energy, plan.total.energy);
  const auto saved = plan.baseline.energy - plan.total.energy;
  return {"Energy", change(percent),
          typographic(quantity(saved)) + " of " + typographic(quantity(plan.baseline.energy)) +
              " saved an iteration",
          tone(percent)};
}

Tile time_tile(const plan::ClockPlan& plan) {
  const double percent = change_pct(plan.baseline.time, plan.total.time);
  const auto allowed =
      plan.budget ? typographic(change(change_pct(plan.baseline.time, *plan.budget))) + " allowed"
                  : std::string("no limit set");
  return {"Time", change(percent),
          typographic(quantity(plan.total.time)) + " an iteration, " + allowed,
          percent >= 0.005 && !plan.budget ? "bad" : ""};
}

Tile static_tile(const plan::ClockPlan& plan) {
  const std::string name = "Against one fixed setting";
  if (!plan.best_static) return {name, "none", "no pair fits all kernels and the time", ""};
  const double percent = change_pct(plan.best_static->total.energy, plan.total.energy);
  return {name, change(percent), "best is " + html_escaped(clocks_name(plan.best_static->clocks)),
          tone(percent)};
}

Tile switches_tile(const plan::ClockPlan& plan) {
  const auto value = counted(plan.switches, "");
  if (plan.switches == 0) return {"Clock changes", value, "the clocks stay as they are set", ""};
  const auto mean = plan.total.time / static_cast<double>(plan.switches);
  return {"Clock changes", value,
          "an iteration, one every " + typographic(quantity(mean)) +
              (changes_are_free(plan) ? "; taken as free" : "; paid for in the plan"),
          ""};
}

Tile proof_tile(const ClockReport& report) {
  const auto& plan = report.plan;
  const double gap = gap_pct(plan.total.energy, plan.bound);
  const auto value = gap < 1e-7 ? std::string("0 %") : significant(gap, 2) + " %";
  return {"Gap to the lower bound", value,
          html_escaped(proof(plan)) + ", solved in " + typographic(quantity(report.solve_time)),
          ""};
}

std::string change_cell(double percent, std::string_view tone_of_cell = {}) {
  return fmt::format("<td class=\"n {}\" data-v=\"{}\">{}</td>", tone_of_cell, percent,
                     typographic(change(percent)));
}

std::string number_cell(std::string number) {
  return fmt::format("<td class=\"n\">{}</td>", typographic(std::move(number)));
}

/// Less energy is good; less time is only a fact, as long as the budget holds.
std::string energy_change_cell(double percent) { return change_cell(percent, tone(percent)); }

/// A share with a bar as long as it is of the `largest` in its column.
std::string share_cell(double share, double largest) {
  return fmt::format("<td class=\"n share\" style=\"--v:{:.1f}\" data-v=\"{:.6g}\">{}</td>",
                     100.0 * share / largest, 100.0 * share,
                     typographic(fmt::format("{:.1f} %", 100.0 * share)));
}

std::string clock_cell(trace::Clock clock, bool is_mixed) {
  return fmt::format("<td class=\"n\" data-v=\"{}\">{}{}</td>", clock.mhz(), to_string(clock),
                     is_mixed ? " +" : "");
}

std::string why_cell(const KernelUse& use) {
  const auto pairs = use.kernel->options.size();
  std::string text(reason_in_words(use.reason));
  if (use.pairs_used > 1)
    text = fmt::format("runs at {} pairs; the longest is shown", use.pairs_used);
  if (pairs > 1) text += fmt::format("; {} of {} pairs dominated", use.dominated, pairs);
  return fmt::format("<td class=\"wide\">{}</td>", text);
}

/// What the shares of the rows refer to.
struct Shares {
  Cost total;
  Cost largest;
};

std::string kernel_row(const KernelUse& use, std::size_t number, const Shares& shares) {
  const auto& kernel = *use.kernel;
  const auto saved = use.baseline.energy - use.planned.energy;
  return fmt::format("<tr><td class=\"n\" data-v=\"{0}\">{0}</td>", number) +
         fmt::format("<th scope=\"row\" class=\"name\"><bdi>{}</bdi></th>",
                     html_escaped(kernel.name)) +
         fmt::format("<td class=\"group\"><bdi>{}</bdi></td>", html_escaped(kernel.group)) +
         fmt::format("<td class=\"n\" data-v=\"{}\">{}</td>", kernel.calls,
                     counted(kernel.calls, "")) +
         share_cell(use.baseline.time / shares.total.time,
                    shares.largest.time / shares.total.time) +
         share_cell(use.baseline.energy / shares.total.energy,
                    shares.largest.energy / shares.total.energy) +
         clock_cell(use.clocks.core, use.pairs_used > 1) +
         clock_cell(use.clocks.memory, use.pairs_used > 1) +
         change_cell(change_pct(use.baseline.time, use.planned.time)) +
         energy_change_cell(change_pct(use.baseline.energy, use.planned.energy)) +
         fmt::format("<td class=\"n\" data-v=\"{}\">{}</td>", saved.in_si(),
                     typographic(quantity(saved))) +
         why_cell(use) + "</tr>\n";
}

}  // namespace

std::string tiles_html(const ClockReport& report) {
  const auto& plan = report.plan;
  return tile_html(energy_tile(plan)) + tile_html(time_tile(plan)) + tile_html(static_tile(plan)) +
         tile_html(switches_tile(plan)) + tile_html(proof_tile(report));
}

std::string yardsticks_html(const plan::ClockPlan& plan) {
  std::string out;
  for (const auto& row : yardsticks(plan)) {
    const auto clocks =
        row.clocks ? fmt::format("<span class=\"clocks\">{}</span>", clocks_name(*row.clocks))
                   : std::string();
    out += fmt::format("<tr class=\"{}\"><th scope=\"row\">{}{}</th>", row.key,
                       html_escaped(row.name), clocks);
    const auto energy = quantity(row.energy, 4);
    const auto energy_change = energy_change_cell(change_pct(plan.baseline.energy, row.energy));
    const auto time_change =
        row.time ? change_cell(change_pct(plan.baseline.time, *row.time)) : "<td></td>";
    out += energy_change + time_change + number_cell(energy) +
           number_cell(row.time ? quantity(*row.time, 4) : "") +
           number_cell(row.time ? quantity(row.energy / *row.time) : "");
    out += fmt::format("<td class=\"wide\">{}</td></tr>\n", html_escaped(row.meaning));
  }
  return out;
}

std::string kernels_html(const std::vector<KernelUse>& uses) {
  Shares shares;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    shares.total += uses[k].baseline;
    shares.largest = {std::max(shares.largest.time, uses[k].baseline.time),
                      std::max(shares.largest.energy, uses[k].baseline.energy)};
    order.push_back(k);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t k) {
    return uses[k].baseline.energy - uses[k].planned.energy;
  });
  std::string out;
  for (std::size_t i = 0; i < std::min(order.size(), kMostKernelRows); ++i)
    out += kernel_row(uses[order[i]], order[i] + 1, shares);
  return out;
}

std::vector<PairUse> pair_uses(const plan::ClockPlan& plan) {
  std::vector<PairUse> pairs;
  for (const auto& segment : plan.segments) {
    auto found = std::ranges::find(pairs, segment.clocks, &PairUse::clocks);
    if (found == pairs.end()) found = pairs.insert(pairs.end(), {.clocks = segment.clocks});
    found->cost += segment.cost;
    ++found->segments;
  }
  std::ranges::stable_sort(pairs, std::greater{}, [](const auto& use) { return use.cost.time; });
  return pairs;
}

std::string pairs_html(const std::vector<PairUse>& pairs, std::size_t most) {
  Cost total;
  for (const auto& use : pairs) total += use.cost;
  std::string out;
  for (std::size_t i = 0; i < std::min(pairs.size(), most); ++i) {
    const auto& use = pairs[i];
    out += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td>{}<td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        typographic(clock_name(use.clocks.core)), typographic(clock_name(use.clocks.memory)),
        share_cell(use.cost.time / total.time, pairs.front().cost.time / total.time),
        typographic(quantity(use.cost.time)), typographic(quantity(use.cost.energy)),
        counted(use.segments, ""),
        typographic(quantity(use.cost.time / static_cast<double>(use.segments))));
  }
  return out;
}

}  // namespace negawatt::report
