// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/device.hpp"
#include "model/device_keys.hpp"

namespace negawatt::model {
namespace {

/// The character that `text`, which is UTF-8, starts with and that is not ASCII; takes it off.
std::uint32_t take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t character = lead & (0xFFU >> (length + 1));
  for (const char c : text.substr(1, length - 1))
    character = character << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  text.remove_prefix(std::min(length, text.size()));
  return character;
}

/// Printable text as a TOML basic string of ASCII alone, as the reader wants it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    if ((c & 0x80) != 0) {
      out += fmt::format("\\U{:08X}", take_character(text));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    text.remove_prefix(1);
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
