// SPDX-License-Identifier: Apache-2.0
#include "gpusim/segment.hpp"

#include <cmath>

namespace negawatt::gpusim {

Segment::Segment(const GpuModel& model, const GpuState& state) : anchor_ns_(state.anchor.at_ns) {
  const auto& thermal = model.thermal;
  const auto& now = state.conditions;
  const double k = now.leakage_w_per_k;
  const double resistance = thermal.kelvin_per_watt;
  const double damping = 1.0 - resistance * k;  // above 0: the description is refused otherwise
  rate_per_s_ = damping / thermal.time_constant.in_si();
  final_c_ =
      (thermal.ambient_c + resistance * (now.power_w - k * model.power.reference_c)) / damping;
  above_c_ = state.anchor.temperature_c - final_c_;
  final_power_w_ = now.power_w + k * (final_c_ - model.power.reference_c);
  above_w_ = k * above_c_;
  filter_s_ = model.governor.filter.in_si();
  filter_gain_ = 1.0 / (1.0 - rate_per_s_ * filter_s_);  // the filter is the faster of the two
  filter_above_w_ = state.anchor.filtered_power.in_si() - final_power_w_ - filter_gain_ * above_w_;
}

double Segment::seconds_to(std::int64_t at_ns) const {
  return static_cast<double>(at_ns - anchor_ns_) * 1e-9;
}

Joules Segment::energy_since_anchor(std::int64_t at_ns) const {
  const double t = seconds_to(at_ns);
  return Joules(final_power_w_ * t - above_w_ * std::expm1(-rate_per_s_ * t) / rate_per_s_);
}

Watts Segment::power(std::int64_t at_ns) const {
  return Watts(final_power_w_ + above_w_ * std::exp(-rate_per_s_ * seconds_to(at_ns)));
}

double Segment::temperature_c(std::int64_t at_ns) const {
  return final_c_ + above_c_ * std::exp(-rate_per_s_ * seconds_to(at_ns));
}

Watts Segment::filtered_power(std::int64_t at_ns) const {
  if (filter_s_ <= 0.0) return power(at_ns);
  const double t = seconds_to(at_ns);
  return Watts(final_power_w_ + filter_gain_ * above_w_ * std::exp(-rate_per_s_ * t) +
               filter_above_w_ * std::exp(-t / filter_s_));
}

Joules energy_at(const Segment& segment, const GpuState& state, std::int64_t at_ns) {
  return state.anchor.energy + segment.energy_since_anchor(at_ns);
}

}  // namespace negawatt::gpusim
