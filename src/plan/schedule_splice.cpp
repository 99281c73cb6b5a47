// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_splice.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "solve/choice.hpp"

namespace negawatt::plan {
namespace {

constexpr std::int64_t kWholeCycle = std::numeric_limits<std::int64_t>::max() / 4;
// Most instances need a few thousand; a hard one is not worth more here.
constexpr std::size_t kMostStates = 200'000;

/// For every invocation: the picoseconds from its start to the next change, and the latency that
/// this change needs. A schedule that never changes rests for ever and needs nothing.
struct Rest {
  explicit Rest(const ScheduleTables& tables, const Assignment& assignment)
      : until_change(assignment.size(), kWholeCycle), needed(assignment.size(), 0) {
    const auto n = tables.invocations();
    std::uint32_t last = 0;
    while (last < n && assignment[last] == assignment[(last + 1) % n]) ++last;
    if (last == n) return;
    std::int64_t rest = 0, latency = 0;
    for (std::uint32_t step = 0; step < n; ++step) {
      const auto i = (last + n - step) % n;
      const auto next = (i + 1) % n;
      if (assignment[next] != assignment[i]) {
        rest = 0;
        latency = tables.latency(assignment[i], assignment[next]);
      }
      rest += tables.ticks()[tables.cell(i, assignment[i])];
      until_change[i] = rest;
      needed[i] = latency;
    }
  }
  [[nodiscard]] bool is_enough(std::uint32_t i) const { return until_change[i] >= needed[i]; }

  std::vector<std::int64_t> until_change;
  std::vector<std::int64_t> needed;
};

/// Invocations before which the two schedules may be cut and joined crosswise: where a common
/// stretch begins that lasts, in both, long enough for the change that ends it.
std::vector<std::uint32_t> joints(const ScheduleTables& tables, const Assignment& a,
                                  const Assignment& b) {
  const Rest rest_a(tables, a), rest_b(tables, b);
  const auto n = tables.invocations();
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto before = i == 0 ? n - 1 : i - 1;
    const bool continues = a[i] == b[i] && a[before] == a[i] && b[before] == b[i];
    if (a[i] != b[i] || continues) continue;
    if (rest_a.is_enough(i) && rest_b.is_enough(i)) found.push_back(i);
  }
  return found;
}

Cost block_cost(const ScheduleTables& tables, const Assignment& assignment, std::uint32_t first,
                std::uint32_t length) {
  const auto n = tables.invocations();
  double time = 0.0, energy = 0.0;
  for (std::uint32_t step = 0; step < length; ++step) {
    const auto i = (first + step) % n;
    const auto next = (i + 1) % n;
    time += tables.times()[tables.cell(i, assignment[i])];
    energy += tables.energies()[tables.cell(i, assignment[i])];
    if (assignment[next] != assignment[i])
      energy += tables.change(assignment[i], assignment[next]).energy;
  }
  return {Seconds(time), Joules(energy)};
}

struct Block {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
  Cost base;  ///< of the cheaper in energy, so that every option's energy is not negative
};

}  // namespace

std::optional<Assignment> splice(const ScheduleTables& tables, const Assignment& incumbent,
                                 const Assignment& other, double longest) {
  const auto n = tables.invocations();
  const auto cuts = joints(tables, incumbent, other);
  std::vector<Block> blocks;
  solve::ChoiceProblem choice;
  double slack = longest - tables.assess(incumbent).time;
  for (std::size_t at = 0; at < cuts.size(); ++at) {
    const auto first = cuts[at];
    const auto end = at + 1 < cuts.size() ? cuts[at + 1] : cuts[0] + n;
    bool differs = false;
    for (auto i = first; i < end && !differs; ++i) differs = incumbent[i % n] != other[i % n];
    if (!differs) continue;
    const Block block{first, end - first, block_cost(tables, incumbent, first, end - first)};
    const std::array<Cost, 2> options = {block.base,
                                         block_cost(tables, other, first, block.length)};
    choice.add_item(options);
    slack += block.base.time.in_si();
    blocks.push_back(block);
  }
  if (blocks.empty()) return std::nullopt;
  const auto chosen = solve::least_energy_within(choice, Seconds(slack), {.states = kMostStates});
  if (!chosen) return std::nullopt;
  auto joined = incumbent;
  bool changed = false;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (chosen->option[at] == 0) continue;
    changed = true;
    for (std::uint32_t step = 0; step < blocks[at].length; ++step) {
      const auto i = (blocks[at].first + step) % n;
      joined[i] = other[i];
    }
  }
  if (!changed) return std::nullopt;
  const auto cost = tables.assess(joined);
  const auto known = tables.assess(incumbent);
  NW_ASSERT(cost.broken.empty());
  if (cost.time > longest || cost.energy >= known.energy) return std::nullopt;
  return joined;
}

}  // namespace negawatt::plan
