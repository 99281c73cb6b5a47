// SPDX-License-Identifier: Apache-2.0
#include "plan/schedule_delay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plan/schedule_cycle.hpp"

namespace negawatt::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Point {
  double time = 0.0;
  double energy = 0.0;
};

/// Every schedule has weights.energy * energy + weights.time * time >= least.
struct Support {
  Weights weights;
  double least = 0.0;
};

/// The part of the hull between two vertices, each with a line that no schedule lies below.
struct Arc {
  Point fast;
  Support fast_support;
  Point slow;
  Support slow_support;
};

Point corner(const Support& a, const Support& b) {
  const double determinant = a.weights.energy * b.weights.time - b.weights.energy * a.weights.time;
  return {(a.weights.energy * b.least - b.weights.energy * a.least) / determinant,
          (a.least * b.weights.time - b.least * a.weights.time) / determinant};
}

class HullWalk {
 public:
  HullWalk(const ScheduleTables& tables, int exponent, const ScheduleLimits& limits)
      : tables_(tables), exponent_(exponent), solver_(tables, limits), gap_(limits.gap) {
    best_.value = kNever;
  }

  std::optional<DelayOptimum> run() {
    const auto fast = vertex({.energy = 0.0, .time = 1.0}, kNever);
    const auto slow = vertex({.energy = 1.0, .time = 0.0}, kNever);
    if (!fast.point || !slow.point) return std::nullopt;
    best_.bound = kNever;
    open_.push_back({*fast.point, fast.support, *slow.point, slow.support});
    while (!open_.empty()) {
      const auto arc = open_.back();
      open_.pop_back();
      split(arc);
    }
    best_.bound = std::min(best_.bound, best_.value);
    return best_;
  }

 private:
  struct Vertex {
    std::optional<Point> point;
    Support support;
  };

  [[nodiscard]] double product(Point at) const {
    return std::max(at.energy, 0.0) * std::pow(std::max(at.time, 0.0), exponent_);
  }

  Vertex vertex(Weights weights, double known) {
    const auto found = solver_.minimise(weights, known, Closing::exact);
    Vertex result{.point = std::nullopt, .support = {weights, found.bound}};
    if (!found.assignment) return result;
    const auto cost = tables_.assess(*found.assignment);
    result.point = {cost.time, cost.energy};
    if (product(*result.point) < best_.value) {
      best_.value = product(*result.point);
      best_.assignment = *found.assignment;
    }
    return result;
  }

  void split(const Arc& arc) {
    const double width = arc.slow.time - arc.fast.time;
    const double height = arc.fast.energy - arc.slow.energy;
    const double reachable = product(corner(arc.fast_support, arc.slow_support));
    const bool is_settled = reachable >= best_.value * (1.0 - gap_);
    if (is_settled || width <= 0.0 || height <= 0.0 || !solver_.has_steps()) {
      best_.bound = std::min(best_.bound, reachable);
      return;
    }
    const Weights weights{.energy = width, .time = height};
    const double chord = width * arc.fast.energy + height * arc.fast.time;
    const auto between = vertex(weights, chord);
    const bool is_below =
        between.point &&
        width * between.point->energy + height * between.point->time < chord * (1.0 - 1e-12);
    if (!is_below) {
      for (const auto* side : {&arc.fast_support, &arc.slow_support})
        best_.bound = std::min(best_.bound, product(corner(*side, between.support)));
      return;
    }
    open_.push_back({arc.fast, arc.fast_support, *between.point, between.support});
    open_.push_back({*between.point, between.support, arc.slow, arc.slow_support});
  }

  const ScheduleTables& tables_;
  int exponent_;
  CycleSolver solver_;
  double gap_;
  DelayOptimum best_;
  std::vector<Arc> open_;
};

}  // namespace

std::optional<DelayOptimum> least_energy_delay_product(const ScheduleTables& tables, int exponent,
                                                       const ScheduleLimits& limits) {
  return HullWalk(tables, exponent, limits).run();
}

}  // namespace negawatt::plan
