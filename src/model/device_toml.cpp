// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "model/device.hpp"
#include "model/device_keys.hpp"

namespace negawatt::model {
namespace {

/// A TOML basic string; names and sources are printable.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void put(std::string& out, std::string_view key, double value) {
  out += fmt::format("{} = {:.6g}\n", key, value);
}

void put_sheet(std::string& out, const Device& device) {
  out += "\n[sheet]\n";
  put(out, "memory_gib", device.memory / (1024.0 * 1024.0 * 1024.0));
  put(out, "memory_bandwidth_gb_per_s", device.memory_bandwidth / 1e9);
  if (device.link_bandwidth > 0) put(out, "link_bandwidth_gb_per_s", device.link_bandwidth / 1e9);
  for (std::size_t i = 0; i < kPrecisions; ++i)
    if (device.peak[i] > 0)
      put(out, fmt::format("{}_tflops", name_of(static_cast<Precision>(i))), device.peak[i] / 1e12);
  put(out, "idle_w", device.idle_power);
  put(out, "max_w", device.max_power);
  if (device.most_mhz <= 0) return;
  put(out, "least_mhz", device.least_mhz);
  put(out, "most_mhz", device.most_mhz);
}

template <class Factors, std::size_t N>
void put_factors(std::string& out, const std::array<FactorKey<Factors>, N>& keys,
                 const Factors& factors) {
  for (const auto& key : keys) put(out, key.key, factors.*key.member / key.unit);
}

void put_band(std::string& out, std::string_view name, const ErrorBand& band) {
  if (band.median_pct <= 0) return;
  out += fmt::format("\n[error.{}]\nmedian_pct = {:.3g}\nlow = {:.4g}\nhigh = {:.4g}\n", name,
                     band.median_pct, band.low, band.high);
}

}  // namespace

std::string to_toml(const Device& device) {
  std::string out = fmt::format("name = {}\nsource = {}\nchecked = {}\n", quoted(device.name),
                                quoted(device.source), quoted(device.checked));
  put_sheet(out, device);
  out += "\n[clock]\n";
  put(out, "exponent", device.clock_exponent);
  put(out, "voltage_slope", device.voltage_slope);
  put(out, "cap_slowdown", device.cap_slowdown);
  out += "\n[time]\n";
  put_factors(out, kTimeKeys, device.time);
  out += "\n[energy]\n";
  put_factors(out, kEnergyKeys, device.energy);
  put_band(out, "time", device.time_error);
  put_band(out, "energy", device.energy_error);
  for (const auto& calibration : device.calibrations) {
    out += fmt::format("\n[[calibration]]\nmodel = {}\n", quoted(calibration.model));
    if (calibration.devices > 0) out += fmt::format("devices = {}\n", calibration.devices);
    put(out, "step_time", calibration.step_time);
    put(out, "sequence_time", calibration.sequence_time);
    put(out, "step_energy", calibration.step_energy);
    put(out, "sequence_energy", calibration.sequence_energy);
  }
  return out;
}

}  // namespace negawatt::model
