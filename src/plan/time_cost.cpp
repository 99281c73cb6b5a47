// SPDX-License-Identifier: Apache-2.0
//
// Fulkerson 1961 and Kelley 1961: the dual of the trade-off at a given price of time is a flow from
// source to sink. Every activity is a stack of parallel arcs, one per option; the arc of the
// slowest is the longest and the first to fill. Raising the price means augmenting along longest
// paths, which is the primal-dual (successive shortest path) method for minimum-cost flow with
// event times as potentials: Dijkstra on reduced lengths that stops at the sink, then a blocking
// flow (Dinic 1970) on the tight arcs. See also Phillips and Dessouky 1977.
#include "plan/time_cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/result.hpp"
#include "plan/hull.hpp"

namespace negawatt::plan {
namespace {

// Sums over a whole project stay below 2^kIntegerBits, so that nothing overflows.
constexpr int kIntegerBits = 60;
constexpr std::int64_t kUnbounded = std::int64_t{1} << 61;
constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint32_t arc_of(std::uint32_t half_arc) { return half_arc >> 1U; }
constexpr bool is_back(std::uint32_t half_arc) { return (half_arc & 1U) != 0; }

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
  if (saturate()) {
    find_shifts();
  } else {
    at_end_ = true;
  }
}

void TimeCostWalk::add_arc(std::uint32_t from, std::uint32_t to, std::span<const Cost> options) {
  const auto ticks = [&](const Cost& cost) {
    return static_cast<Ticks>(std::llround(cost.time.in_si() / time_unit_));
  };
  Arc arc{.from = from, .to = to, .first = static_cast<std::uint32_t>(vertex_time_.size())};
  arc.vertex = arc.first;
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
  refresh(arc);
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
    half_arcs_[at[arcs_[a].from]++] = 2 * a;
    half_arcs_[at[arcs_[a].to]++] = 2 * a + 1;
  }
}

void TimeCostWalk::set_slowest_times() {
  std::vector<std::uint32_t> missing(time_.size(), 0);
  for (const auto& arc : arcs_) ++missing[arc.to];
  queue_.assign(1, source_);
  for (std::size_t done = 0; done < queue_.size(); ++done) {
    const auto event = queue_[done];
    for (auto h = first_half_arc_[event]; h < first_half_arc_[event + 1]; ++h) {
      if (is_back(half_arcs_[h])) continue;
      const auto& arc = arcs_[arc_of(half_arcs_[h])];
      time_[arc.to] = std::max(time_[arc.to], time_[event] + arc.length);
      if (--missing[arc.to] == 0) queue_.push_back(arc.to);
    }
  }
  NW_ASSERT(queue_.size() == time_.size());  // acyclic, and all events are reached
  longest_ = time_[sink_];
}

void TimeCostWalk::advance() {
  NW_ASSERT(!at_end_);
  longest_ = time_[sink_];
  if (saturate()) {
    find_shifts();
  } else {
    at_end_ = true;
    std::ranges::fill(shift_, 0);
  }
}

std::uint32_t TimeCostWalk::head(std::uint32_t half_arc) const {
  const auto& arc = arcs_[arc_of(half_arc)];
  return is_back(half_arc) ? arc.from : arc.to;
}

TimeCostWalk::Ticks TimeCostWalk::slack(std::uint32_t half_arc) const {
  const auto& arc = arcs_[arc_of(half_arc)];
  const auto duration = time_[arc.to] - time_[arc.from];
  return is_back(half_arc) ? arc.back_length - duration : duration - arc.length;
}

TimeCostWalk::Flow TimeCostWalk::room(std::uint32_t half_arc) const {
  const auto& arc = arcs_[arc_of(half_arc)];
  return is_back(half_arc) ? arc.back_room : arc.room;
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
    for (auto h = first_half_arc_[event]; h < first_half_arc_[event + 1]; ++h) {
      const auto half_arc = half_arcs_[h];
      const auto to = head(half_arc);
      if (level_[to] != kUnreached || room(half_arc) == 0 || slack(half_arc) != 0) continue;
      level_[to] = level_[event] + 1;
      queue_.push_back(to);
    }
  }
  next_half_arc_.assign(first_half_arc_.begin(), first_half_arc_.end() - 1);
  return level_[sink_] != kUnreached;
}

TimeCostWalk::Flow TimeCostWalk::augment() {
  path_.clear();
  auto event = source_;
  while (event != sink_) {
    auto& h = next_half_arc_[event];
    while (h < first_half_arc_[event + 1]) {
      const auto half_arc = half_arcs_[h];
      if (level_[head(half_arc)] == level_[event] + 1 && room(half_arc) != 0 &&
          slack(half_arc) == 0)
        break;
      ++h;
    }
    if (h < first_half_arc_[event + 1]) {
      path_.push_back(half_arcs_[h]);
      event = head(half_arcs_[h]);
    } else {
      if (path_.empty()) return 0;
      event = head(path_.back() ^ 1U);
      path_.pop_back();
      ++next_half_arc_[event];
    }
  }
  Flow amount = kUnbounded;
  for (const auto half_arc : path_) amount = std::min(amount, room(half_arc));
  if (amount < kUnbounded)
    for (const auto half_arc : path_) push(half_arc, amount);
  return amount;
}

void TimeCostWalk::push(std::uint32_t half_arc, Flow amount) {
  auto& arc = arcs_[arc_of(half_arc)];
  if (is_back(half_arc)) {
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

void TimeCostWalk::refresh(Arc& arc) const {
  const auto all = vertex_room_[arc.vertex];
  arc.length = vertex_time_[arc.vertex];
  arc.room = all == kUnbounded ? kUnbounded : all - arc.used;
  const bool is_slowest = arc.vertex == arc.first;
  arc.back_room = arc.used > 0 || is_slowest ? arc.used : vertex_room_[arc.vertex - 1];
  arc.back_length = arc.used > 0 || is_slowest ? arc.length : vertex_time_[arc.vertex - 1];
}

void TimeCostWalk::find_shifts() {
  constexpr auto kFar = std::numeric_limits<Ticks>::max();
  std::ranges::fill(shift_, kFar);
  heap_.assign(1, {0, source_});
  shift_[source_] = 0;
  Ticks reached = 0;
  while (!heap_.empty()) {
    std::ranges::pop_heap(heap_, std::greater<>{});
    const auto [distance, event] = heap_.back();
    heap_.pop_back();
    if (distance > shift_[event]) continue;
    reached = distance;
    if (event == sink_) break;
    for (auto h = first_half_arc_[event]; h < first_half_arc_[event + 1]; ++h) {
      const auto half_arc = half_arcs_[h];
      if (room(half_arc) == 0) continue;
      const auto to = head(half_arc);
      const auto through = distance + slack(half_arc);
      if (through >= shift_[to] || through >= shift_[sink_]) continue;
      shift_[to] = through;
      heap_.emplace_back(through, to);
      std::ranges::push_heap(heap_, std::greater<>{});
    }
  }
  NW_ASSERT(reached == shift_[sink_] && reached > 0);
  for (std::size_t event = 0; event < time_.size(); ++event) {
    shift_[event] = std::min(shift_[event], reached);
    time_[event] -= shift_[event];
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
  return {Watts(static_cast<double>(flow_) * price_unit_), Joules(at_zero)};
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

}  // namespace negawatt::plan
