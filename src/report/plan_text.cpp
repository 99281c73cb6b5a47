// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "report/escape.hpp"
#include "report/iteration.hpp"
#include "report/numbers.hpp"
#include "report/report.hpp"
#include "report/text_lines.hpp"
#include "report/wording.hpp"

namespace negawatt::report {
namespace {

// With the widths below a line has at most 80 characters, and with this many kernels and two
// wrapped sentences the report stays within 40 lines.
constexpr std::size_t kTopKernels = 10;

std::string short_clocks(trace::ClockPair clocks) {
  return fmt::format("{}/{}", to_string(clocks.core), to_string(clocks.memory));
}

void write_yardsticks(const plan::ClockPlan& plan, TextLines& lines) {
  constexpr std::string_view kRow = "{:<32} {:>9} {:>9}  {:>11}  {:>13}";
  lines.add(fmt::format(kRow, "one iteration", "time", "energy", "time change", "energy change"));
  for (const auto& row : yardsticks(plan)) {
    const auto name = row.clocks ? row.name + ", " + short_clocks(*row.clocks) : row.name;
    const auto time = row.time ? quantity(*row.time, 4) : "";
    const auto time_change = row.time ? change(change_pct(plan.baseline.time, *row.time)) : "";
    const auto line =
        fmt::format(kRow, shortened(name, 32), time, quantity(row.energy, 4), time_change,
                    change(change_pct(plan.baseline.energy, row.energy)));
    row.key == "plan" ? lines.strong(line) : lines.add(line);
  }
}

/// A kernel's name and group share one column.
std::string kernel_label(const trace::Kernel& kernel, std::size_t width) {
  const auto name = ascii_only(kernel.name);
  const auto group = ascii_only(kernel.group);
  return shortened(group.empty() ? name : fmt::format("{}: {}", group, name), width);
}

constexpr std::string_view kKernelRow = "{:<29} {:>6} {:>11} {:>9} {:>10} {:>9}";

std::string kernel_row(std::string_view label, std::string_view calls, std::string_view clocks,
                       const Cost& before, const Cost& after) {
  return fmt::format(kKernelRow, label, calls, clocks, change(change_pct(before.time, after.time)),
                     change(change_pct(before.energy, after.energy)),
                     quantity(before.energy - after.energy));
}

/// The kernels that save most, if any saves, and the others in one line.
void write_kernels(const ClockReport& report, TextLines& lines) {
  auto uses = kernel_uses(report);
  const auto added = [](const KernelUse& use) { return use.planned.energy - use.baseline.energy; };
  std::ranges::stable_sort(uses, {}, added);
  const auto saving = std::ranges::count_if(uses, [&](auto& u) { return added(u) < Joules(0.0); });
  const auto shown = std::min(kTopKernels, static_cast<std::size_t>(saving));
  if (shown == 0) return;
  lines.add(fmt::format(kKernelRow, "kernels that save most", "calls", "core/mem", "time", "energy",
                        "saved"));
  for (std::size_t k = 0; k < shown; ++k) {
    const auto& use = uses[k];
    lines.add(kernel_row(kernel_label(*use.kernel, 29), std::to_string(use.kernel->calls),
                         short_clocks(use.clocks) + (use.pairs_used > 1 ? "+" : ""), use.baseline,
                         use.planned));
  }
  if (shown < uses.size()) {
    Cost before;
    Cost after;
    for (std::size_t k = shown; k < uses.size(); ++k) {
      before += uses[k].baseline;
      after += uses[k].planned;
    }
    lines.add(kernel_row(counted(uses.size() - shown, "other kernel"), "", "", before, after));
  }
  lines.add("");
}

void write_promise(const plan::ClockPlan& plan, TextLines& lines) {
  if (!plan.promise) return;
  const auto& promise = *plan.promise;
  lines.wrapped(fmt::format(
      "Promise: at most {} an iteration with {} % confidence; expected {} of energy and {} of "
      "time, free of the optimism of having searched (the table promises {}).",
      quantity(promise.time_at_confidence, 4), significant(100.0 * promise.confidence),
      change(change_pct(plan.baseline.energy, promise.expected.energy)),
      change(change_pct(plan.baseline.time, promise.expected.time)),
      change(change_pct(plan.baseline.energy, promise.searched.energy))));
}

}  // namespace

std::string plan_text(const ClockReport& report, bool colour) {
  const auto& plan = report.plan;
  const auto& evidence = report.table.evidence;
  TextLines lines(colour);
  lines.strong_wrapped(headline(plan));
  if (const auto more = against_static(plan); !more.empty()) lines.wrapped(more);
  lines.add("");
  write_yardsticks(plan, lines);
  lines.add("");
  write_kernels(report, lines);
  lines.wrapped(fmt::format("{}: {}; {}, solved in {}; {} an iteration{}.", "Plan",
                            task(plan.request), proof(plan), quantity(report.solve_time),
                            counted(plan.switches, "clock change"),
                            changes_are_free(plan) ? ", taken as free" : ""));
  write_promise(plan, lines);
  lines.add(shortened(fmt::format("Evidence: {}{}{}", name_of(evidence.kind),
                                  evidence.source.empty() ? "" : ", ", ascii_only(evidence.source)),
                      TextLines::kWidth));
  return std::move(lines).text();
}

}  // namespace negawatt::report
