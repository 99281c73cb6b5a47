// SPDX-License-Identifier: Apache-2.0
//
// Fulkerson 1961 and Kelley 1961: the dual of the trade-off at a given price of time is a flow from
// source to sink. Every activity is a stack of parallel arcs, one per option; the arc of the
// slowest is the longest and the first to fill. Raising the price means augmenting along longest
// paths, which is the primal-dual (successive shortest path) method for minimum-cost flow with
// event times as potentials: Dijkstra on reduced lengths that stops at the sink, then a blocking
// flow (Dinic 1970) on the tight arcs. See also Phillips and Dessouky 1977.
#include "solve/time_cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/result.hpp"
#include "solve/hull.hpp"

namespace negawatt::solve {
namespace {

// Sums over a whole project stay below 2^kIntegerBits, so that nothing overflows.
constexpr int kIntegerBits = 60;
constexpr std::int64_t kUnbounded = std::int64_t{1} << 61;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

constexpr bool is_back(std::uint32_t arc) { return arc % 2 != 0; }

/// The power of two that makes `largest_sum` an integer of kIntegerBits bits. A power of two, so
/// that equal and exactly representable numbers stay so.
double unit_for(double largest_sum) {
  if (!(largest_sum > 0.0)) return 1.0;
  return std::ldexp(1.0, std::ilogb(largest_sum) + 1 - kIntegerBits);
}

}  // namespace

TimeCostWalk::TimeCostWalk(const Project& project)
    : source_(project.source), sink_(project.sink), activities_(project.activities.size()) {
  double all_time = 0.0;
  double all_price = 0.0;
  for (const auto& activity : project.activities) {
    const auto& options = activity.options;
    NW_ASSERT(!options.empty());
    all_time += options.back().time.in_si();
    if (options.size() > 1) all_price += saving_rate(options[0], options[1]).in_si();
  }
  time_unit_ = unit_for(all_time);
  price_unit_ = unit_for(all_price);

  for (const auto& activity : project.activities)
    add_arc(activity.from, activity.to, activity.options);
  static constexpr Cost kNothing;
  for (const auto& precedence : project.precedences)
    add_arc(precedence.before, precedence.after, {&kNothing, 1});
  time_.resize(project.events);
  shift_.resize(project.events);
  index_arcs();
  set_slowest_times();
  step();
}

void TimeCostWalk::add_arc(std::uint32_t from, std::uint32_t to, std::span<const Cost> options) {
  const auto ticks = [&](const Cost& cost) {
    return static_cast<Ticks>(std::llround(cost.time.in_si() / time_unit_));
  };
  Arc arc{.from = from, .to = to, .slowest = static_cast<std::uint32_t>(vertex_time_.size())};
  arc.vertex = arc.slowest;
  vertex_cost_.insert(vertex_cost_.end(), options.begin(), options.end());
  Flow filled = 0;
  for (auto k = options.size() - 1; k > 0; --k) {
    const auto until = static_cast<Flow>(
        std::llround(saving_rate(options[k - 1], options[k]).in_si() / price_unit_));
    // A vertex whose time or price range is below the resolution is never the only best one.
    if (until <= filled || ticks(options[k]) <= ticks(options[k - 1])) continue;
    vertex_time_.push_back(ticks(options[k]));
    vertex_room_.push_back(until - filled);
    filled = until;
  }
  vertex_time_.push_back(ticks(options[0]));
  vertex_room_.push_back(kUnbounded);
  arcs_.push_back(arc);
  cost_end_.push_back(vertex_cost_.size());
}

void TimeCostWalk::index_arcs() {
  first_half_arc_.assign(time_.size() + 1, 0);
  for (const auto& arc : arcs_) {
    ++first_half_arc_[arc.from + 1];
    ++first_half_arc_[arc.to + 1];
  }
  for (std::size_t v = 1; v < first_half_arc_.size(); ++v)
    first_half_arc_[v] += first_half_arc_[v - 1];
  half_arcs_.resize(first_half_arc_.back());
  auto at = first_half_arc_;
  for (std::uint32_t a = 0; a < arcs_.size(); ++a) {
    auto& arc = arcs_[a];
    arc.forward = at[arc.from]++;
    arc.back = at[arc.to]++;
    half_arcs_[arc.forward] = {.head = arc.to, .arc = 2 * a};
    half_arcs_[arc.back] = {.head = arc.from, .arc = 2 * a + 1};
    refresh(arc);
  }
}

void TimeCostWalk::set_slowest_times() {
  std::vector<std::uint32_t> missing(time_.size(), 0);
  for (const auto& arc : arcs_) ++missing[arc.to];
  queue_.assign(1, source_);
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const auto event = queue_[done];
    for (const auto& half : out_of(event)) {
      if (is_back(half.arc)) continue;
      time_[half.head] = std::max(time_[half.head], time_[event] - half.offset);
      if (--missing[half.head] == 0) queue_.push_back(half.head);
    }
  }
  NW_ASSERT(queue_.size() == time_.size());  // acyclic, and all events are reached
}

void TimeCostWalk::advance() {
  NW_ASSERT(!at_end_);
  step();
}

void TimeCostWalk::step() {
  longest_ = time_[sink_];
  if (saturate()) {
    shorten();
  } else {
    at_end_ = true;
    std::ranges::fill(shift_, 0);
  }
}

std::uint32_t TimeCostWalk::tail_of(const HalfArc& half) const {
  const auto& arc = arcs_[half.arc / 2];
  return is_back(half.arc) ? arc.to : arc.from;
}

bool TimeCostWalk::saturate() {
  while (number_levels()) {
    while (const auto amount = augment()) {
      if (amount >= kUnbounded) return false;
      flow_ += amount;
    }
  }
  return true;
}

bool TimeCostWalk::number_levels() {
  level_.assign(time_.size(), kUnreached);
  level_[source_] = 0;
  queue_.assign(1, source_);
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const auto event = queue_[done];
    for (const auto& half : out_of(event)) {
      if (level_[half.head] != kUnreached || !is_tight(event, half)) continue;
      level_[half.head] = level_[event] + 1;
      queue_.push_back(half.head);
    }
  }
  if (level_[sink_] == kUnreached) return false;
  next_half_arc_.assign(first_half_arc_.begin(), first_half_arc_.end() - 1);
  return true;
}

TimeCostWalk::Flow TimeCostWalk::augment() {
  path_.clear();
  auto event = source_;
  while (event != sink_) {
    auto& next = next_half_arc_[event];
    const auto is_onward = [&](const HalfArc& half) {
      return level_[half.head] == level_[event] + 1 && is_tight(event, half);
    };
    while (next < first_half_arc_[event + 1] && !is_onward(half_arcs_[next])) ++next;
    if (next < first_half_arc_[event + 1]) {
      path_.push_back(next);
      event = half_arcs_[next].head;
    } else {
      if (path_.empty()) return 0;
      event = tail_of(half_arcs_[path_.back()]);
      path_.pop_back();
      ++next_half_arc_[event];
    }
  }
  Flow amount = kUnbounded;
  for (const auto half_arc : path_) amount = std::min(amount, half_arcs_[half_arc].room);
  if (amount < kUnbounded)
    for (const auto half_arc : path_) push(half_arcs_[half_arc], amount);
  return amount;
}

void TimeCostWalk::push(const HalfArc& half, Flow amount) {
  const auto which = half.arc;
  auto& arc = arcs_[which / 2];
  if (is_back(which)) {
    if (arc.used == 0) arc.used = vertex_room_[--arc.vertex];
    arc.used -= amount;
    arc.flow -= amount;
  } else {
    arc.used += amount;
    arc.flow += amount;
    if (arc.used == vertex_room_[arc.vertex]) {
      ++arc.vertex;
      arc.used = 0;
    }
  }
  refresh(arc);
}

void TimeCostWalk::refresh(const Arc& arc) {
  const auto all = vertex_room_[arc.vertex];
  auto& forward = half_arcs_[arc.forward];
  forward.offset = -vertex_time_[arc.vertex];
  forward.room = all == kUnbounded ? kUnbounded : all - arc.used;
  auto& back = half_arcs_[arc.back];
  // The last unit of flow lies in this vertex or, when that is empty, in the next slower one.
  const bool is_here = arc.used > 0 || arc.vertex == arc.slowest;
  back.offset = vertex_time_[is_here ? arc.vertex : arc.vertex - 1];
  back.room = is_here ? arc.used : vertex_room_[arc.vertex - 1];
}

void TimeCostWalk::shorten() {
  std::ranges::fill(shift_, kFar);
  heap_.clear();
  // What saturate() reached last is at distance 0 and need not pass through the heap.
  for (const auto event : queue_) shift_[event] = 0;
  for (const auto event : queue_) relax(event, 0);
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, std::greater<>{});
    const auto [distance, event] = heap_.back();
    heap_.pop_back();
    if (event == sink_) break;
    if (distance == shift_[event]) relax(event, distance);
  }
  const auto shorter = shift_[sink_];
  NW_ASSERT(0 < shorter && shorter < kFar);
  for (std::size_t event = 0; event < time_.size(); ++event) {
    shift_[event] = std::min(shift_[event], shorter);
    time_[event] -= shift_[event];
  }
}

void TimeCostWalk::relax(std::uint32_t event, Ticks distance) {
  for (const auto& half : out_of(event)) {
    if (half.room == 0) continue;
    const auto through = distance + time_[half.head] - time_[event] + half.offset;
    if (through >= shift_[half.head] || through >= shift_[sink_]) continue;
    shift_[half.head] = through;
    heap_.emplace_back(through, half.head);
    std::ranges::push_heap(heap_, std::greater<>{});
  }
}

BoundLine TimeCostWalk::bound() const {
  double at_zero = 0.0;
  std::size_t k = 0;
  for (std::size_t a = 0; a < activities_; ++a) {
    const double price = static_cast<double>(arcs_[a].flow) * price_unit_;
    double least = std::numeric_limits<double>::infinity();
    for (; k < cost_end_[a]; ++k) {
      const auto& cost = vertex_cost_[k];
      least = std::min(least, cost.energy.in_si() + price * cost.time.in_si());
    }
    at_zero += least;
  }
  return {price(), Joules(at_zero)};
}

Watts TimeCostWalk::price_of(std::size_t activity) const {
  return Watts(static_cast<double>(arcs_[activity].flow) * price_unit_);
}

void TimeCostWalk::event_times(Seconds duration, std::span<double> seconds) const {
  const auto earlier =
      static_cast<Ticks>(std::llround((longest() - duration).in_si() / time_unit_));
  for (std::size_t event = 0; event < time_.size(); ++event) {
    const auto time = time_[event] + shift_[event] - std::clamp(earlier, Ticks{0}, shift_[event]);
    seconds[event] = static_cast<double>(time) * time_unit_;
  }
}

}  // namespace negawatt::solve
