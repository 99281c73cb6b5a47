// SPDX-License-Identifier: Apache-2.0
//
// Less energy than this no policy can serve the completed requests with on this cluster: not one
// that knows the future, nor one that is late for everybody. Watches a simulation to learn which
// requests there were; how they were served does not enter. docs/simulator.md has the proof. In
// short: an instance draws its idle power (that of sleep, if it may sleep) until the last request
// can have ended; a request draws what its tokens cost wherever that is least, and of what a step
// costs whatever its batch the smallest share that memory and the batch limit allow; a price on
// the time of each kind of instance keeps it from doing more than there is time for. Memory
// depends on how different requests are, not on how many there are. Joules and seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "sim/request_floor.hpp"

namespace negawatt::sim {

/// How often there was each key: a hash table with open addressing, in one piece of memory.
class KeyCounts {
 public:
  using Cell = std::pair<std::uint64_t, std::uint64_t>;  ///< key and count
  void count(std::uint64_t key);
  [[nodiscard]] std::vector<Cell> sorted() const;

 private:
  static Cell& cell_of(std::vector<Cell>& cells, std::uint64_t key);

  std::vector<Cell> cells_ = std::vector<Cell>(1024);  ///< a power of two; count 0: empty
  std::size_t used_ = 0;
};

class EnergyBound final : public Observer {
 public:
  /// `cluster` outlives it.
  explicit EnergyBound(const Cluster& cluster);

  void drew(const Draw& draw) override;
  void draws(std::uint32_t instance, Seconds now, Watts power) override;
  void moved(Seconds now, Joules energy) override;
  void completed(const RequestRecord& record) override;

  /// Of the requests that have completed.
  [[nodiscard]] Joules joules() const;

 private:
  [[nodiscard]] double shortest_service(const trace::Request& request) const;

  const Cluster* cluster_;
  /// Instances that differ in nothing that matters here, and how many there are of each.
  struct Kind {
    std::size_t instance = 0;  ///< the first of them
    std::uint32_t count = 0;
  };
  std::vector<Kind> kinds_;
  std::vector<RequestFloor> alone_;  ///< of each kind, with no other sequence in its steps
  double shortest_end_ = 0.0;        ///< no policy can be done earlier
  /// How many requests there were by input and output tokens, both rounded down by less than 1 %.
  KeyCounts requests_;
};

}  // namespace negawatt::sim
