// SPDX-License-Identifier: Apache-2.0
#include "model/deployment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace negawatt::model {
namespace {

/// What a device of `count` that share a model has of it.
struct Share {
  const Architecture& architecture;
  const Device& device;
  double count;

  [[nodiscard]] double dense_bytes() const {
    return architecture.dense_parameters() * architecture.weight_bytes / count;
  }
  [[nodiscard]] double expert_bytes() const {
    return architecture.expert_parameters() * architecture.weight_bytes / count;
  }
  /// Heads cannot be cut: with more devices than KV heads, some hold the same ones.
  [[nodiscard]] double kv_bytes_per_token() const {
    return architecture.kv_bytes_per_token / std::min(count, 1.0 * architecture.kv_heads);
  }
  /// Read and written.
  [[nodiscard]] double state_bytes() const {
    return 2.0 * architecture.state_bytes_per_sequence / count;
  }
  [[nodiscard]] double expert_flop() const {
    if (architecture.experts == 0) return 0.0;
    return 2.0 * architecture.expert_parameters() * architecture.experts_per_token /
           architecture.experts / count;
  }
  /// Of a token, routed experts included.
  [[nodiscard]] double flop() const {
    return 2.0 * architecture.dense_parameters() / count + expert_flop();
  }
  [[nodiscard]] double attention_flop() const { return architecture.attention_flop / count; }
  /// Each layer adds up what the devices have after its attention and after its feed-forward part
  /// (Shoeybi et al., Megatron-LM, 2019).
  [[nodiscard]] double collectives() const {
    return count > 1.0 ? 1.0 * architecture.collectives_per_layer * architecture.layers : 0.0;
  }
  /// Sent by a device for a token: activations of two bytes, as a ring sends them.
  [[nodiscard]] double link_bytes() const {
    return collectives() * 2.0 * architecture.hidden * 2.0 * (count - 1.0) / count;
  }
};

void set_times(const Share& share, StepCoefficients& c) {
  const Architecture& a = share.architecture;
  const Device& device = share.device;
  const TimeFactors& time = device.time;
  const double peak = device.peak_of(a.precision);
  const double bandwidth = device.memory_bandwidth;
  c.overhead = time.step + a.layers * time.layer;
  if (a.experts > 0) c.overhead += a.expert_layers * time.expert_layer;
  if (a.weight_bytes < 2.0) c.overhead += a.layers * time.quantised_layer;
  c.overhead_per_sequence = time.sequence;
  c.compute_per_token =
      (time.compute * share.flop() + time.expert_compute * share.expert_flop()) / peak;
  c.compute_per_attended =
      time.attention * share.attention_flop() / device.peak_of(Precision::bf16);
  c.memory_weights = time.weights * share.dense_bytes() / bandwidth;
  c.memory_experts = time.experts * share.expert_bytes() / bandwidth;
  c.memory_per_context = time.kv * share.kv_bytes_per_token() / bandwidth;
  c.memory_per_sequence = time.state * share.state_bytes() / bandwidth;
  c.memory_per_token = time.unhidden * share.flop() / peak;
  c.link = share.collectives() * std::log2(share.count) * time.collective;
  if (share.count > 1.0) c.link_per_token = time.link * share.link_bytes() / device.link_bandwidth;
}

void set_energies(const Share& share, StepCoefficients& c) {
  const Device& device = share.device;
  const EnergyFactors& energy = device.energy;
  const double peaks =
      device.peak_of(Precision::bf16) / device.peak_of(share.architecture.precision);
  const double n = share.count;
  c.idle_power = n * device.idle_power;
  c.active_power = n * energy.active;
  c.energy_per_token =
      n * peaks * (energy.compute * share.flop() + energy.expert_compute * share.expert_flop()) +
      n * energy.link * share.link_bytes();
  c.energy_per_attended = n * energy.compute * share.attention_flop();
  c.energy_weights = n * energy.weights * share.dense_bytes();
  c.energy_experts = n * energy.experts * share.expert_bytes();
  c.energy_per_context = n * energy.kv * share.kv_bytes_per_token();
  c.energy_per_sequence = n * energy.state * share.state_bytes() + energy.sequence;
  c.power_cap = n * device.max_power;
  c.cap_slowdown = device.cap_slowdown;
}

void calibrate(const Calibration& calibration, StepCoefficients& c) {
  for (double* step : {&c.overhead, &c.memory_weights, &c.memory_experts, &c.link})
    *step *= calibration.step_time;
  for (double* sequence :
       {&c.overhead_per_sequence, &c.compute_per_token, &c.compute_per_attended,
        &c.memory_per_context, &c.memory_per_sequence, &c.memory_per_token, &c.link_per_token})
    *sequence *= calibration.sequence_time;
  for (double* step : {&c.energy_weights, &c.energy_experts}) *step *= calibration.step_energy;
  for (double* sequence :
       {&c.energy_per_token, &c.energy_per_attended, &c.energy_per_context, &c.energy_per_sequence})
    *sequence *= calibration.sequence_energy;
}

/// At `clock` times the highest clock: arithmetic takes longer; its energy falls with the square of
/// the voltage, and what flows while a step runs with the clock as well. Memory keeps its own
/// clock.
void slow_down(const Device& device, double clock, StepCoefficients& c) {
  const double slower = std::pow(clock, -device.clock_exponent);
  const double voltage = 1.0 - device.voltage_slope * (1.0 - clock);
  for (double* time : {&c.compute_per_token, &c.compute_per_attended, &c.memory_per_token})
    *time *= slower;
  for (double* energy : {&c.energy_per_token, &c.energy_per_attended}) *energy *= voltage * voltage;
  c.active_power *= clock * voltage * voltage;
}

Status set_clock(const Device& device, double mhz, StepCoefficients& c) {
  if (device.most_mhz <= 0.0)
    return failure(Code::infeasible,
                   fmt::format("{}: its clocks are not known, so that none can be "
                               "set (least_mhz and most_mhz of its sheet)",
                               device.name));
  if (mhz < device.least_mhz || mhz > device.most_mhz)
    return failure(Code::infeasible,
                   fmt::format("{}: a core clock of {:g} MHz, expected {:g} to {:g}", device.name,
                               mhz, device.least_mhz, device.most_mhz));
  slow_down(device, mhz / device.most_mhz, c);
  return {};
}

Status set_cap(const Device& device, const EngineLimits& limits, StepCoefficients& c) {
  if (limits.power_cap && limits.power_cap->in_si() > device.max_power)
    return failure(Code::infeasible,
                   fmt::format("{}: a power cap of {:g} W, expected at most its max_w, {:g} W",
                               device.name, limits.power_cap->in_si(), device.max_power));
  if (limits.power_cap) c.power_cap = limits.devices * limits.power_cap->in_si();
  const double base = c.idle_power + c.active_power;
  if (c.power_cap > base) return {};
  return failure(Code::infeasible,
                 fmt::format("{}: a power cap of {:.4g} W, expected more than the {:.4g} W of idle "
                             "and active power in the fit at this clock: how steps slow down below "
                             "that is not modelled (a lower core_mhz is)",
                             device.name, c.power_cap / limits.devices, base / limits.devices));
}

/// Tokens that the KV cache of all devices together holds.
Result<double> kv_capacity(const Share& share, const EngineLimits& limits) {
  const Architecture& a = share.architecture;
  const double embedding = 1.0 * a.vocabulary * a.hidden * a.weight_bytes / share.count;
  const double weights =
      share.dense_bytes() + share.expert_bytes() + (a.tied_embeddings ? 0.0 : embedding);
  const double state = 0.5 * share.state_bytes() * limits.most_sequences;
  const double left =
      limits.memory_share * share.device.memory - limits.reserve_bytes - weights - state;
  const double tokens = a.kv_bytes_per_token > 0.0 ? left / share.kv_bytes_per_token() : 1e12;
  if (left > 0.0 && tokens >= 1.0) return tokens;
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  return failure(
      Code::infeasible,
      fmt::format("{} does not fit on {} x {}: {:.1f} GiB of weights and state a device, "
                  "of {:.1f} GiB",
                  a.name, limits.devices, share.device.name, (weights + state) / kGibibyte,
                  share.device.memory / kGibibyte));
}

}  // namespace

Status check_sharing(const Architecture& a, const Device& device, std::uint32_t devices) {
  const bool even = devices > 0 && std::has_single_bit(devices) && a.heads % devices == 0 &&
                    (a.kv_heads % devices == 0 || devices % a.kv_heads == 0);
  if (!even)
    return failure(
        Code::infeasible,
        fmt::format("{} on {} devices, expected 1, 2, 4, ... that share its {} heads and "
                    "{} KV heads evenly",
                    a.name, devices, a.heads, a.kv_heads));
  if (devices > 1 && device.link_bandwidth <= 0.0)
    return failure(
        Code::infeasible,
        fmt::format("{}: {} of them cannot work together, for no link_bandwidth_gb_per_s is given",
                    device.name, devices));
  if (device.peak_of(a.precision) <= 0.0)
    return failure(Code::infeasible,
                   fmt::format("{0} computes in {1}, for which {2} has no peak ({1}_tflops or that "
                               "of a wider precision)",
                               a.name, name_of(a.precision), device.name));
  return {};
}

StepCoefficients coefficients_of(const Architecture& architecture, const Device& device,
                                 std::uint32_t devices) {
  const Share share{architecture, device, 1.0 * devices};
  StepCoefficients c;
  set_times(share, c);
  set_energies(share, c);
  if (architecture.experts > 0)
    c.expert_share = 1.0 * architecture.experts_per_token / architecture.experts;
  calibrate(device.calibration_of(architecture.name, devices), c);
  return c;
}

Result<Deployment> deploy(const Architecture& architecture, const Device& device,
                          const EngineLimits& limits) {
  NW_CHECK(check_sharing(architecture, device, limits.devices));
  NW_TRY(const double tokens, kv_capacity({architecture, device, 1.0 * limits.devices}, limits));
  StepCoefficients c = coefficients_of(architecture, device, limits.devices);
  if (limits.core_mhz) NW_CHECK(set_clock(device, *limits.core_mhz, c));
  NW_CHECK(set_cap(device, limits, c));
  return Deployment{ServingModel(c), static_cast<std::uint64_t>(tokens), limits.most_sequences,
                    limits.most_step_tokens};
}

}  // namespace negawatt::model
