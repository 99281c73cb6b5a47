// SPDX-License-Identifier: Apache-2.0
#include "sim/energy_meter.hpp"

#include <algorithm>

namespace negawatt::sim {

EnergyMeter::EnergyMeter(const Cluster& cluster)
    : totals_(cluster.instances.size()), power_(cluster.instances.size()) {
  for (const auto& spec : cluster.instances) idle_power_.push_back(spec.model.idle_power());
}

void EnergyMeter::drew(const Draw& draw) {
  auto& totals = totals_[draw.instance][static_cast<std::size_t>(draw.activity)];
  totals.time += draw.to - draw.from;
  totals.energy += draw.energy;
}

void EnergyMeter::draws(std::uint32_t instance, Seconds /*now*/, Watts power) {
  sum_ += power - power_[instance];
  power_[instance] = power;
  peak_ = std::max(peak_, sum_);
}

void EnergyMeter::moved(Seconds /*now*/, Joules energy) { transfers_ += energy; }

void EnergyMeter::completed(const RequestRecord& /*record*/) {}

Joules EnergyMeter::of(std::size_t instance) const {
  Joules sum;
  for (const auto& totals : totals_[instance]) sum += totals.energy;
  return sum;
}

Joules EnergyMeter::of(Activity activity) const {
  Joules sum;
  for (std::size_t i = 0; i < totals_.size(); ++i) sum += of(i, activity).energy;
  return sum;
}

Joules EnergyMeter::total() const {
  Joules sum = transfers_;
  for (std::size_t i = 0; i < totals_.size(); ++i) sum += of(i);
  return sum;
}

Joules EnergyMeter::without_work() const {
  return of(Activity::idle) + of(Activity::asleep) + of(Activity::starting);
}

Joules EnergyMeter::above_idle() const {
  Joules sum = transfers_;
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    const auto& busy = of(i, Activity::busy);
    sum += busy.energy - idle_power_[i] * busy.time;
  }
  return sum;
}

}  // namespace negawatt::sim
