// SPDX-License-Identifier: Apache-2.0
//
// The closed form between two events. While conditions are constant, power is linear in temperature
// and temperature follows power:
//   P(T) = P_ref + k (T - T_ref)        dT/dt = (T_ambient + R P(T) - T) / tau
// so temperature, power and the governor's first-order filter are sums of exponentials, and energy
// is their integral. Raw SI numbers; times are seconds from the anchor.
#pragma once

#include <cstdint>

#include "core/units.hpp"
#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"

namespace negawatt::gpusim {

class Segment {
 public:
  Segment(const GpuModel& model, const GpuState& state);

  [[nodiscard]] Joules energy_since_anchor(std::int64_t at_ns) const;
  [[nodiscard]] Watts power(std::int64_t at_ns) const;
  [[nodiscard]] double temperature_c(std::int64_t at_ns) const;
  [[nodiscard]] Watts filtered_power(std::int64_t at_ns) const;

  /// Where power and temperature would end if conditions stayed.
  [[nodiscard]] Watts final_power() const { return Watts(final_power_w_); }
  [[nodiscard]] double final_temperature_c() const { return final_c_; }

 private:
  [[nodiscard]] double seconds_to(std::int64_t at_ns) const;

  std::int64_t anchor_ns_;
  double rate_per_s_;  // of the temperature's approach
  double final_c_;
  double above_c_;  // temperature at the anchor minus the final one
  double final_power_w_;
  double above_w_;  // power at the anchor minus the final one
  double filter_s_;
  double filter_gain_;     // of the thermal exponential in the filtered power
  double filter_above_w_;  // amplitude of the filter's own exponential
};

/// The true energy at a time not before the last event.
[[nodiscard]] Joules energy_at(const Segment& segment, const GpuState& state, std::int64_t at_ns);

}  // namespace negawatt::gpusim
