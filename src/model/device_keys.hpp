// SPDX-License-Identifier: Apache-2.0
//
// The factors of a device by their keys in TOML: what reads, writes and fits them goes through
// these tables. A key's unit is its member's SI unit times `unit`.
#pragma once

#include <array>
#include <string_view>

#include "model/device.hpp"
#include "model/quantity.hpp"

namespace negawatt::model {

template <class Factors>
struct FactorKey {
  std::string_view key;
  double Factors::* member;
  double unit;
  Plausible plausible;
};

inline constexpr Plausible kMicroseconds{0, 1e6, "microseconds"};
inline constexpr Plausible kRatio{0, 1e4, "times what the sheet says"};
inline constexpr Plausible kPicojoules{0, 1e5, "picojoules a byte"};
inline constexpr Plausible kPicojoulesFlop{0, 1e3, "picojoules an operation"};

inline constexpr std::array<FactorKey<TimeFactors>, 15> kTimeKeys{{
    {"step_us", &TimeFactors::step, 1e-6, kMicroseconds},
    {"layer_us", &TimeFactors::layer, 1e-6, kMicroseconds},
    {"expert_layer_us", &TimeFactors::expert_layer, 1e-6, kMicroseconds},
    {"quantised_layer_us", &TimeFactors::quantised_layer, 1e-6, kMicroseconds},
    {"sequence_us", &TimeFactors::sequence, 1e-6, kMicroseconds},
    {"collective_us", &TimeFactors::collective, 1e-6, kMicroseconds},
    {"weights", &TimeFactors::weights, 1, kRatio},
    {"experts", &TimeFactors::experts, 1, kRatio},
    {"kv", &TimeFactors::kv, 1, kRatio},
    {"state", &TimeFactors::state, 1, kRatio},
    {"compute", &TimeFactors::compute, 1, kRatio},
    {"expert_compute", &TimeFactors::expert_compute, 1, kRatio},
    {"attention", &TimeFactors::attention, 1, kRatio},
    {"unhidden", &TimeFactors::unhidden, 1, kRatio},
    {"link", &TimeFactors::link, 1, kRatio},
}};

inline constexpr std::array<FactorKey<EnergyFactors>, 9> kEnergyKeys{{
    {"active_w", &EnergyFactors::active, 1, {0, 1e4, "watts"}},
    {"weights_pj_per_byte", &EnergyFactors::weights, 1e-12, kPicojoules},
    {"experts_pj_per_byte", &EnergyFactors::experts, 1e-12, kPicojoules},
    {"kv_pj_per_byte", &EnergyFactors::kv, 1e-12, kPicojoules},
    {"state_pj_per_byte", &EnergyFactors::state, 1e-12, kPicojoules},
    {"compute_pj_per_flop", &EnergyFactors::compute, 1e-12, kPicojoulesFlop},
    {"expert_compute_pj_per_flop", &EnergyFactors::expert_compute, 1e-12, kPicojoulesFlop},
    {"link_pj_per_byte", &EnergyFactors::link, 1e-12, kPicojoules},
    {"sequence_mj", &EnergyFactors::sequence, 1e-3, {0, 1e5, "millijoules"}},
}};

}  // namespace negawatt::model
