// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors.hpp"

namespace negawatt::daemon {
namespace {

// A counter is refreshed every 100 ms or so: a step may hold the energy of one period more.
constexpr Seconds kCounterPeriod{0.2};
constexpr double kMargin = 1.5;
constexpr Watts kCeiling{5000};  // for a GPU that does not tell its limit

template <class T>
std::optional<T> value_of(const gpu::Answer<T>& answer) {
  return answer ? std::optional(*answer) : std::nullopt;
}

std::optional<Watts> power_of(const gpu::Device& device) {
  if (const auto average = device.power_average()) return gpu::to_si(*average);
  if (const auto unspecified = device.power_unspecified()) return gpu::to_si(*unspecified);
  return std::nullopt;
}

}  // namespace

void EnergySum::add(gpu::Millijoules counter, Seconds at, Watts ceiling) {
  const Point now{counter.count, at};
  if (last_ && now.millijoules < last_->millijoules) {
    ++epochs_;  // what was used since the last reading is not known
  } else if (last_) {
    const auto step = gpu::to_si(gpu::Millijoules{now.millijoules - last_->millijoules});
    if (step <= ceiling * kMargin * (at - last_->at + kCounterPeriod))
      sum_ += step;
    else
      ++implausible_;
  }
  last_ = now;
}

Sensors SensorReader::read(const gpu::Device& device) {
  Sensors sensors;
  const auto limits = value_of(device.power_limits()).value_or(gpu::PowerLimits{});
  if (limits.enforced) sensors.power_limit = gpu::to_si(*limits.enforced);
  if (const auto energy = device.energy()) {
    const auto ceiling = limits.most ? gpu::to_si(*limits.most) : kCeiling;
    energy_.add(energy->counter, Seconds(static_cast<double>(energy->at.nanoseconds()) * 1e-9),
                ceiling);
    sensors.energy = energy_.sum();
  }
  sensors.energy_epochs = energy_.epochs();
  sensors.energy_implausible = energy_.implausible();
  sensors.power = power_of(device);
  sensors.clocks = value_of(device.clocks());
  sensors.temperature_c = value_of(device.temperature_c());
  sensors.reasons = value_of(device.event_reasons());
  return sensors;
}

}  // namespace negawatt::daemon
