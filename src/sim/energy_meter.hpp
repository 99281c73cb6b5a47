// SPDX-License-Identifier: Apache-2.0
//
// The energy of a simulation, by instance and activity. Peak power is the highest sum over all
// instances of the mean power of the stretch of steps that each is in: what a meter slower than a
// step and faster than a stretch would show.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "sim/cluster.hpp"
#include "sim/observer.hpp"

namespace negawatt::sim {

struct ActivityTotals {
  Seconds time;
  Joules energy;
};

class EnergyMeter final : public Observer {
 public:
  explicit EnergyMeter(const Cluster& cluster);

  void drew(const Draw& draw) override;
  void draws(std::uint32_t instance, Seconds now, Watts power) override;
  void moved(Seconds now, Joules energy) override;
  void completed(const RequestRecord& record) override;

  [[nodiscard]] const ActivityTotals& of(std::size_t instance, Activity activity) const {
    return totals_[instance][static_cast<std::size_t>(activity)];
  }
  [[nodiscard]] Joules of(std::size_t instance) const;
  [[nodiscard]] Joules of(Activity activity) const;
  [[nodiscard]] Joules transfers() const { return transfers_; }
  /// Everything.
  [[nodiscard]] Joules total() const;
  /// Drawn while no step ran: idle, asleep, starting.
  [[nodiscard]] Joules without_work() const;
  /// What busy instances drew above their idle power, and links.
  [[nodiscard]] Joules above_idle() const;
  [[nodiscard]] Watts peak() const { return peak_; }

 private:
  std::vector<std::array<ActivityTotals, 4>> totals_;  ///< by instance, by activity
  std::vector<Watts> idle_power_;
  std::vector<Watts> power_;  ///< of each instance now
  Watts sum_;
  Watts peak_;
  Joules transfers_;
};

}  // namespace negawatt::sim
