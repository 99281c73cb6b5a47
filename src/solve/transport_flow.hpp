// SPDX-License-Identifier: Apache-2.0
//
// The flow inside transport(): every n-th group of a problem, in integer costs, with each group
// where the prices make it cheapest at first; balance() then moves items along shortest paths until
// no system holds more than its room. Room that stays free is a group of its own, whose items cost
// nothing anywhere, so that in the end every system is exactly full. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "solve/transport.hpp"

namespace negawatt::solve {

/// A problem with the costs as integers.
class IntegerCosts {
 public:
  static constexpr int kBits = 45;
  /// More than moves around 64 systems can gain, and small enough for sums of them.
  static constexpr std::int64_t kForbidden = std::int64_t{1} << 53;

  explicit IntegerCosts(const TransportProblem& problem);
  [[nodiscard]] std::int64_t at(std::size_t group, std::size_t system) const {
    const double cost = problem_->cost_of(group, system);
    if (cost == std::numeric_limits<double>::infinity()) return kForbidden;
    return static_cast<std::int64_t>(cost * scale_);
  }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] const TransportProblem& problem() const { return *problem_; }

 private:
  const TransportProblem* problem_;
  double scale_ = 1.0;  ///< a power of two
};

class TransportFlow {
 public:
  /// Groups 0, stride, 2 * stride, ...; `room` is what each system may hold of their items, in all
  /// at least as much as there are. The costs must outlive the flow.
  TransportFlow(const IntegerCosts& costs, std::size_t stride, std::vector<std::uint64_t> room,
                std::vector<std::int64_t> prices);

  void balance();

  [[nodiscard]] const std::vector<std::int64_t>& prices() const { return prices_; }
  [[nodiscard]] std::uint64_t paths() const { return paths_; }
  /// Where the items of the flow's group are (its index in the sample), by system.
  void append_shipments(std::uint32_t group, std::vector<Shipment>& to) const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();

  /// The items of one group on one system. Parcel g is the first of group g.
  struct Parcel {
    std::uint64_t items = 0;
    std::uint32_t group = 0;
    std::uint32_t next = kNone;  ///< of the same group
    std::uint32_t system = 0;
  };
  /// What it costs to move an item of a parcel.
  struct Move {
    std::int64_t cost = 0;
    std::uint32_t parcel = 0;
  };
  /// The cheapest moves from one system to another, as a heap; those of parcels that have gone are
  /// still in it. It holds all moves of at most `known_to`.
  struct Queue {
    std::vector<Move> moves;
    std::int64_t known_to = kInfinite;
    std::size_t keep = 1024;
  };
  /// The shortest path to each system from one that holds too much.
  struct Paths {
    std::vector<std::int64_t> length;
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> parcel;
    std::uint32_t target = kNone;
  };

  [[nodiscard]] std::int64_t cost_at(std::uint32_t group, std::size_t system) const {
    return group == groups_ ? 0 : costs_->at(group * stride_, system);
  }
  [[nodiscard]] Queue& queue(std::size_t from, std::size_t to) {
    return queues_[from * systems_ + to];
  }

  void place_all(std::uint64_t free_room);
  void fill_queues();
  void refill(std::size_t from, std::size_t to);
  static void offer(Queue& queue, Move move);
  /// The cheapest move; none when no item is on `from`.
  std::optional<Move> cheapest(std::size_t from, std::size_t to);
  Paths shortest_paths();
  void raise_prices(const Paths& paths);
  void send_along(const Paths& paths);
  void move(std::uint32_t parcel, std::uint32_t to, std::uint64_t items);
  void announce(std::uint32_t parcel);

  const IntegerCosts* costs_;
  std::size_t systems_;
  std::size_t stride_;
  std::uint32_t groups_;  ///< of the sample; also the index of the group of free room
  std::vector<std::int64_t> prices_;
  std::vector<std::int64_t> excess_;  ///< items above a system's room
  std::vector<Parcel> parcels_;
  std::vector<Queue> queues_;
  std::uint64_t paths_ = 0;
};

}  // namespace negawatt::solve
