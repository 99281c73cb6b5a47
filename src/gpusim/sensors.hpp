// SPDX-License-Identifier: Apache-2.0
//
// What the sensors remember: the true energy at every refresh and at the beginning of every instant
// window, taken in closed form when time moves past them. Only the last kSensorHistory are kept, so
// a long quiet time costs no more than a short one.
#pragma once

#include <cstdint>

#include "core/units.hpp"
#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/segment.hpp"

namespace negawatt::gpusim {

/// Takes the samples due up to `at_ns`, which no event precedes.
void take_samples(const GpuModel& model, const Segment& segment, GpuState& state,
                  std::int64_t at_ns);

/// Energy at the last refresh before or at `now_ns`; none when there has been no refresh yet.
[[nodiscard]] Joules refreshed_energy(const GpuModel& model, const GpuState& state,
                                      std::int64_t now_ns);

/// What the counter shows for a true energy.
[[nodiscard]] Joules reported(const CounterMap& counter, Joules true_energy);

}  // namespace negawatt::gpusim
