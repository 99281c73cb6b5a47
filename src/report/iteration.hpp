// SPDX-License-Identifier: Apache-2.0
//
// One planned iteration as it runs: every invocation with its start and the option it runs at, and
// what that adds up to by kernel and by group. Shared by all outputs, so that they agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "plan/clock_plan.hpp"
#include "report/report.hpp"

namespace negawatt::report {

/// One invocation: `position` in the sequence, at the clocks of `segment`.
struct Invocation {
  std::uint32_t position = 0;
  std::uint32_t kernel = 0;
  Seconds start;
  const trace::KernelOption* option = nullptr;
};

/// Looks up the option of a kernel at a pair; remembers the last answer of every kernel, because
/// a plan asks for the same pair again and again.
class OptionLookup {
 public:
  explicit OptionLookup(const trace::KernelTable& table)
      : table_(table), last_(table.kernels.size(), nullptr) {}
  /// The kernel must have been measured at `clocks`.
  const trace::KernelOption& at(std::uint32_t kernel, trace::ClockPair clocks) {
    auto& last = last_[kernel];
    if (last == nullptr || last->clocks != clocks) last = table_.kernels[kernel].at(clocks);
    NW_ASSERT(last != nullptr);
    return *last;
  }

 private:
  const trace::KernelTable& table_;
  std::vector<const trace::KernelOption*> last_;
};

/// Visits the invocations of the iteration in order. Returns the time it takes.
template <class Visit>
Seconds for_each_invocation(const ClockReport& report, Visit visit) {
  OptionLookup lookup(report.table);
  Seconds start;
  std::uint32_t position = 0;
  for (const auto& segment : report.plan.segments) {
    NW_ASSERT(segment.first == position && segment.last < report.sequence.size());
    for (; position <= segment.last; ++position) {
      const auto kernel = report.sequence[position];
      const auto& option = lookup.at(kernel, segment.clocks);
      visit(Invocation{position, kernel, start, &option});
      start += option.time;
    }
  }
  NW_ASSERT(position == report.sequence.size());
  return start;
}

/// What a kernel costs in one iteration (all calls), before and after.
struct KernelUse {
  const trace::Kernel* kernel = nullptr;
  Cost baseline;
  Cost planned;
  trace::ClockPair clocks;       ///< the pair most of its calls run at
  std::uint32_t pairs_used = 0;  ///< more than 1 in a schedule only
  plan::Reason reason = plan::Reason::shared;
  std::uint32_t dominated = 0;  ///< pairs that another pair beats in time and energy
};

struct GroupUse {
  std::string name;
  std::uint32_t kernels = 0;
  Cost baseline;
  Cost planned;
};

/// In table order.
[[nodiscard]] std::vector<KernelUse> kernel_uses(const ClockReport& report);
/// In order of first appearance.
[[nodiscard]] std::vector<GroupUse> group_uses(const std::vector<KernelUse>& kernels);

/// What the plan is judged by, in the order people read it. `time` is absent for a bound.
struct Yardstick {
  std::string key;      ///< for programs: "baseline", "static", "local", "global", "plan", "bound"
  std::string name;     ///< for people
  std::string meaning;  ///< one sentence
  std::optional<trace::ClockPair> clocks;
  std::optional<Seconds> time;
  Joules energy;
};
[[nodiscard]] std::vector<Yardstick> yardsticks(const plan::ClockPlan& plan);

}  // namespace negawatt::report
