// SPDX-License-Identifier: Apache-2.0
#include "inspect/energy_tally.hpp"

namespace negawatt::inspect {
namespace {

// The counter moves in steps of about this, so that a step may hold the energy of one more.
constexpr Seconds kCounterStep{0.2};
// Above the limit for as long as the driver needs to react (a GEMM on an H200: 950 W of 700 W).
constexpr double kMargin = 1.5;

}  // namespace

std::string_view name_of(EnergySource source) {
  switch (source) {
    case EnergySource::counter:
      return "counter";
    case EnergySource::integrated:
      return "integrated";
    case EnergySource::none:
      break;
  }
  return "unavailable";
}

void EnergyTally::add(const Reading& reading) {
  counter_power_.reset();
  if (reading.energy) {
    source_ = EnergySource::counter;
    add_count(*reading.energy, reading.most_power);
    return;
  }
  // A counter that once answered and does not now is not replaced by another source midway.
  if (source_ == EnergySource::counter) return;
  const auto power = reading.power_average   ? reading.power_average
                     : reading.power_instant ? reading.power_instant
                                             : reading.power_unspecified;
  if (!power) return;
  source_ = EnergySource::integrated;
  integral_.add(reading.at, to_si(*power));
}

void EnergyTally::add_count(const gpu::EnergyReading& count,
                            std::optional<gpu::Milliwatts> most_power) {
  const auto before = last_;
  last_ = count;
  if (!before) return;
  if (count.counter < before->counter) {
    ++resets_;
    return;
  }
  const Joules step = to_si(gpu::Millijoules{count.counter.count - before->counter.count});
  const Seconds time = count.at - before->at;
  if (most_power && step > to_si(*most_power) * (time + kCounterStep) * kMargin) {
    ++implausible_;
    return;
  }
  counted_ += step;
  any_step_ = true;
  if (time > Seconds(0)) counter_power_ = step / time;
}

std::optional<Joules> EnergyTally::energy() const {
  if (source_ == EnergySource::counter && any_step_) return counted_;
  if (source_ == EnergySource::integrated && integral_.covered() > Seconds(0)) {
    return integral_.energy();
  }
  return std::nullopt;
}

}  // namespace negawatt::inspect
