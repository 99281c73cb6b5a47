// SPDX-License-Identifier: Apache-2.0
#include "solve/choice_front.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "solve/choice_core.hpp"

namespace negawatt::solve {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool is_faster(const Partial& a, const Partial& b) {
  return a.time != b.time ? a.time < b.time : a.reduced < b.reduced;
}

}  // namespace

CompletionBound::CompletionBound(const Front& other, Rest rest, double price)
    : other_(other),
      price_(price),
      slower_{std::min(rest.slower.rate, price), rest.slower.reach},
      faster_(rest.faster),
      best_fitting_(other.size()),
      best_late_(other.size()),
      fitting_(other.size()) {
  double best = kNever;
  for (std::size_t i = 0; i < other.size(); ++i) {
    best = std::min(best, other[i].reduced - slower_.rate * other[i].time);
    best_fitting_[i] = best;
  }
  if (faster_.reach == 0.0) return;  // when_late() is never asked for best_late_
  best = kNever;
  for (std::size_t i = other.size(); i-- > 0;) {
    best = std::min(best, other[i].reduced + faster_.rate * other[i].time);
    best_late_[i] = best;
  }
}

double CompletionBound::at(double left) {
  while (fitting_ > 0 && other_[fitting_ - 1].time > left) --fitting_;
  return std::min(when_fitting(left), when_late(left));
}

// The rest fills time at its best rate as far as it reaches; what it does not reach stays unused.
// The cost of filling is convex, so each of the two lines below bounds it for every partner. On
// the second, the slowest partner is the best: a front's energy falls with time.
double CompletionBound::when_fitting(double left) const {
  if (fitting_ == 0) return kNever;
  const Partial& slowest = other_[fitting_ - 1];
  const double filled = best_fitting_[fitting_ - 1] + slower_.rate * left;
  const double unused =
      slowest.reduced + price_ * (left - slowest.time) - (price_ - slower_.rate) * slower_.reach;
  return std::max(filled, unused);
}

double CompletionBound::when_late(double left) const {
  if (fitting_ == other_.size()) return kNever;
  const double lateness = other_[fitting_].time - left;
  return lateness > faster_.reach ? kNever : best_late_[fitting_] - faster_.rate * left;
}

void merge_runs(std::vector<Partial>& partials, std::vector<std::size_t> runs) {
  std::vector<Partial> merged(partials.size());
  while (runs.size() > 1) {
    std::vector<std::size_t> longer;
    for (std::size_t r = 0; r < runs.size(); r += 2) {
      const auto at = [&](std::size_t run) {
        return partials.begin() +
               static_cast<std::ptrdiff_t>(run < runs.size() ? runs[run] : partials.size());
      };
      std::merge(at(r), at(r + 1), at(r + 1), at(r + 2),
                 merged.begin() + static_cast<std::ptrdiff_t>(runs[r]), is_faster);
      longer.push_back(runs[r]);
    }
    partials.swap(merged);
    runs = std::move(longer);
  }
}

void keep_undominated(std::vector<Partial>& in_time_order, EnergyOrder order) {
  double least_energy = kNever;
  std::size_t kept = 0;
  for (const Partial& partial : in_time_order) {
    const double energy = partial.reduced - order.price * partial.time;
    if (energy >= least_energy - order.tolerance) continue;
    least_energy = energy;
    in_time_order[kept++] = partial;
  }
  in_time_order.resize(kept);
}

void MoveHistory::record(Front& front) {
  for (Partial& partial : front) {
    if (partial.move == kNoMove) continue;
    nodes_.push_back({partial.node, partial.move});
    partial.node = static_cast<std::uint32_t>(nodes_.size() - 1);
    partial.move = kNoMove;
  }
}

}  // namespace negawatt::solve
