// SPDX-License-Identifier: Apache-2.0
#include "solve/choice_core.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "solve/choice.hpp"

namespace negawatt::solve {
namespace {

/// Calls `visit(move)` for every option that beats the relaxed one of its item in time or energy.
template <class Visit>
void for_each_move(const ChoiceProblem& problem, const RelaxedChoice& relaxed, const Visit& visit) {
  for (std::uint32_t i = 0; i < problem.items(); ++i) {
    const auto options = problem.options(i);
    const double base_time = options[relaxed.option[i]].time.in_si();
    const double base_energy = options[relaxed.option[i]].energy.in_si();
    for (std::uint32_t j = 0; j < options.size(); ++j) {
      const double time = options[j].time.in_si() - base_time;
      const double energy = options[j].energy.in_si() - base_energy;
      if (time >= 0 && energy >= 0) continue;
      visit(Move{time, std::max(0.0, energy + relaxed.price * time), i, j});
    }
  }
}

/// Items of `moves`, which come item by item.
std::vector<CoreItem> group_by_item(std::span<const Move> moves) {
  std::vector<CoreItem> items;
  for (std::uint32_t m = 0; m < moves.size(); ++m) {
    const double rate = moves[m].reduced / std::abs(moves[m].time);
    if (m == 0 || moves[m].item != moves[m - 1].item) items.push_back({m, m, rate});
    items.back().end_move = m + 1;
    items.back().rate = std::min(items.back().rate, rate);
  }
  return items;
}

Rest with_item(Rest rest, std::span<const Move> moves) {
  double most_slower = 0.0;
  double most_faster = 0.0;
  for (const Move& move : moves) {
    Leeway& leeway = move.time > 0 ? rest.slower : rest.faster;
    leeway.rate = std::min(leeway.rate, move.reduced / std::abs(move.time));
    most_slower = std::max(most_slower, move.time);
    most_faster = std::max(most_faster, -move.time);
  }
  rest.slower.reach += most_slower;
  rest.faster.reach += most_faster;
  return rest;
}

}  // namespace

SingleMove best_single_move(const ChoiceProblem& problem, const RelaxedChoice& relaxed) {
  SingleMove best{.gap = relaxed.gap()};
  for_each_move(problem, relaxed, [&](const Move& move) {
    const double gap = move.reduced + relaxed.price * (relaxed.slack - move.time);
    if (move.time <= relaxed.slack && gap < best.gap) best = {gap, true, move};
  });
  return best;
}

Core collect_core(const ChoiceProblem& problem, const RelaxedChoice& relaxed, double gap) {
  Core core;
  for_each_move(problem, relaxed, [&](const Move& move) {
    if (move.reduced < gap && move.time != 0) core.moves.push_back(move);
  });
  core.items = group_by_item(core.moves);
  std::sort(core.items.begin(), core.items.end(), [](const CoreItem& a, const CoreItem& b) {
    return a.rate != b.rate ? a.rate < b.rate : a.first_move < b.first_move;
  });
  core.rest.resize(core.items.size() + 1);
  for (std::size_t k = core.items.size(); k-- > 0;) {
    core.rest[k] = with_item(core.rest[k + 1], core.moves_of(core.items[k]));
  }
  return core;
}

}  // namespace negawatt::solve
