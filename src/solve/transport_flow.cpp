// SPDX-License-Identifier: Apache-2.0
#include "solve/transport_flow.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace negawatt::solve {
namespace {

/// Makes a heap whose front is the cheapest move. Equal costs are told apart, so that the result
/// does not depend on how a library breaks ties.
constexpr auto kDearer = [](const auto& a, const auto& b) {
  return a.cost != b.cost ? a.cost > b.cost : a.parcel > b.parcel;
};
constexpr auto kCheaper = [](const auto& a, const auto& b) { return kDearer(b, a); };

}  // namespace

IntegerCosts::IntegerCosts(const TransportProblem& problem) : problem_(&problem) {
  double largest = 0.0;
  for (const double cost : problem.cost)
    if (std::isfinite(cost)) largest = std::max(largest, std::abs(cost));
  if (largest > 0.0) scale_ = std::exp2(std::min(kBits - 1 - std::ilogb(largest), 1000));
}

TransportFlow::TransportFlow(const IntegerCosts& costs, std::size_t stride,
                             std::vector<std::uint64_t> room, std::vector<std::int64_t> prices)
    : costs_(&costs),
      systems_(costs.problem().systems),
      stride_(stride),
      groups_(static_cast<std::uint32_t>((costs.problem().items.size() + stride - 1) / stride)),
      prices_(std::move(prices)),
      excess_(systems_),
      queues_(systems_ * systems_) {
  std::uint64_t free_room = 0;
  for (std::size_t s = 0; s < systems_; ++s) {
    excess_[s] = -static_cast<std::int64_t>(room[s]);
    free_room += room[s];
  }
  const auto& items = costs.problem().items;
  for (std::size_t g = 0; g < items.size(); g += stride) free_room -= items[g];
  place_all(free_room);
  fill_queues();
}

void TransportFlow::place_all(std::uint64_t free_room) {
  parcels_.reserve(groups_ + 1U + 2U * systems_);
  for (std::uint32_t group = 0; group <= groups_; ++group) {
    std::uint32_t best = 0;
    std::int64_t best_cost = kInfinite;
    for (std::uint32_t s = 0; s < systems_; ++s) {
      const auto cost = cost_at(group, s) + prices_[s];
      if (cost < best_cost) {
        best_cost = cost;
        best = s;
      }
    }
    const auto items = group == groups_ ? free_room : costs_->problem().items[group * stride_];
    parcels_.push_back({.items = items, .group = group, .system = best});
    excess_[best] += static_cast<std::int64_t>(items);
  }
}

void TransportFlow::offer(Queue& queue, Move move) {
  if (move.cost > queue.known_to) return;
  auto& moves = queue.moves;
  moves.push_back(move);
  if (moves.size() < 2 * queue.keep) return;
  const auto last = moves.begin() + static_cast<std::ptrdiff_t>(queue.keep) - 1;
  std::ranges::nth_element(moves, last, kCheaper);
  queue.known_to = last->cost;
  moves.resize(queue.keep);
}

void TransportFlow::fill_queues() {
  for (std::uint32_t p = 0; p < parcels_.size(); ++p) {
    const auto& parcel = parcels_[p];
    if (parcel.items == 0) continue;
    const auto here = cost_at(parcel.group, parcel.system);
    for (std::size_t to = 0; to < systems_; ++to)
      if (to != parcel.system)
        offer(queue(parcel.system, to), {cost_at(parcel.group, to) - here, p});
  }
  for (auto& queue : queues_) std::ranges::make_heap(queue.moves, kDearer);
}

void TransportFlow::refill(std::size_t from, std::size_t to) {
  auto& filled = queue(from, to);
  filled.known_to = kInfinite;
  filled.keep *= 2;  // so that a queue is filled a logarithmic number of times
  for (std::uint32_t p = 0; p < parcels_.size(); ++p) {
    const auto& parcel = parcels_[p];
    if (parcel.items == 0 || parcel.system != from) continue;
    offer(filled, {cost_at(parcel.group, to) - cost_at(parcel.group, from), p});
  }
  std::ranges::make_heap(filled.moves, kDearer);
}

std::optional<TransportFlow::Move> TransportFlow::cheapest(std::size_t from, std::size_t to) {
  auto& moves = queue(from, to).moves;
  while (true) {
    while (!moves.empty()) {
      const auto& parcel = parcels_[moves.front().parcel];
      if (parcel.system == from && parcel.items > 0) return moves.front();
      std::ranges::pop_heap(moves, kDearer);
      moves.pop_back();
    }
    if (queue(from, to).known_to == kInfinite) return std::nullopt;
    refill(from, to);
  }
}

/// Dijkstra 1959 on the systems, from all that hold too much to the nearest that has room. Reduced
/// by the prices no arc is negative.
TransportFlow::Paths TransportFlow::shortest_paths() {
  Paths paths{.length = std::vector<std::int64_t>(systems_, kInfinite),
              .from = std::vector<std::uint32_t>(systems_, kNone),
              .parcel = std::vector<std::uint32_t>(systems_, kNone)};
  for (std::size_t s = 0; s < systems_; ++s)
    if (excess_[s] > 0) paths.length[s] = 0;
  std::vector<bool> done(systems_, false);
  while (true) {
    auto nearest = kNone;
    for (std::uint32_t s = 0; s < systems_; ++s)
      if (!done[s] && paths.length[s] < (nearest == kNone ? kInfinite : paths.length[nearest]))
        nearest = s;
    // Some system has room, and any other has an arc to it.
    NW_ASSERT(nearest != kNone);
    done[nearest] = true;
    if (excess_[nearest] < 0) {
      paths.target = nearest;
      return paths;
    }
    for (std::uint32_t to = 0; to < systems_; ++to) {
      if (done[to]) continue;
      const auto step = cheapest(nearest, to);
      if (!step) continue;
      const auto length = paths.length[nearest] + step->cost + prices_[to] - prices_[nearest];
      if (length >= paths.length[to]) continue;
      paths.length[to] = length;
      paths.from[to] = nearest;
      paths.parcel[to] = step->parcel;
    }
  }
}

void TransportFlow::raise_prices(const Paths& paths) {
  const auto whole = paths.length[paths.target];
  for (std::size_t s = 0; s < systems_; ++s) prices_[s] += whole - std::min(paths.length[s], whole);
}

void TransportFlow::send_along(const Paths& paths) {
  auto start = paths.target;
  auto items = static_cast<std::uint64_t>(-excess_[paths.target]);
  while (paths.from[start] != kNone) {
    items = std::min(items, parcels_[paths.parcel[start]].items);
    start = paths.from[start];
  }
  items = std::min(items, static_cast<std::uint64_t>(excess_[start]));
  for (auto system = paths.target; system != start; system = paths.from[system])
    move(paths.parcel[system], system, items);
  excess_[start] -= static_cast<std::int64_t>(items);
  excess_[paths.target] += static_cast<std::int64_t>(items);
  ++paths_;
}

/// Enters a parcel that is new on its system into the queues away from there.
void TransportFlow::announce(std::uint32_t parcel) {
  const auto group = parcels_[parcel].group;
  const auto from = parcels_[parcel].system;
  for (std::size_t to = 0; to < systems_; ++to) {
    auto& into = queue(from, to);
    const auto cost = cost_at(group, to) - cost_at(group, from);
    if (to == from || cost > into.known_to) continue;
    into.moves.push_back({cost, parcel});
    std::ranges::push_heap(into.moves, kDearer);
  }
}

void TransportFlow::move(std::uint32_t parcel, std::uint32_t to, std::uint64_t items) {
  const auto group = parcels_[parcel].group;
  auto target = group;  // the group's parcel there, if it has one
  while (target != kNone && parcels_[target].system != to) target = parcels_[target].next;
  const bool is_new = target == kNone || parcels_[target].items == 0;
  if (target == kNone && parcels_[parcel].items == items) {
    parcels_[parcel].system = to;
    target = parcel;
  } else {
    if (target == kNone) {
      target = static_cast<std::uint32_t>(parcels_.size());
      parcels_.push_back({.group = group, .next = parcels_[group].next, .system = to});
      parcels_[group].next = target;
    }
    parcels_[parcel].items -= items;
    parcels_[target].items += items;
  }
  if (is_new) announce(target);
}

void TransportFlow::balance() {
  while (std::ranges::any_of(excess_, [](auto excess) { return excess > 0; })) {
    const auto paths = shortest_paths();
    raise_prices(paths);
    send_along(paths);
  }
}

void TransportFlow::append_shipments(std::uint32_t group, std::vector<Shipment>& to) const {
  const auto first = static_cast<std::ptrdiff_t>(to.size());
  for (auto p = group; p != kNone; p = parcels_[p].next)
    if (parcels_[p].items > 0) to.push_back({group, parcels_[p].system, parcels_[p].items});
  std::sort(to.begin() + first, to.end(),
            [](const auto& a, const auto& b) { return a.system < b.system; });
}

}  // namespace negawatt::solve
