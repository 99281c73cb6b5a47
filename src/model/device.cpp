// SPDX-License-Identifier: Apache-2.0
#include "model/device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/toml_reader.hpp"
#include "model/device_keys.hpp"
#include "model/quantity.hpp"

namespace negawatt::model {
namespace {

void need_scaled(TomlTable& table, std::string_view key, double& value, Plausible plausible,
                 double unit) {
  double read = 0.0;
  need_quantity(table, key, read, plausible);
  value = read * unit;
}

void take_scaled(TomlTable& table, std::string_view key, double& value, Plausible plausible,
                 double unit) {
  double read = 0.0;
  if (take_quantity(table, key, read, plausible)) value = read * unit;
}

void read_peaks(TomlTable& sheet, Device& device) {
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    const auto key = fmt::format("{}_tflops", name_of(static_cast<Precision>(i)));
    take_scaled(sheet, key, device.peak[i], {0.1, 1e5, "10^12 operations a second"}, 1e12);
  }
  // Attention works in 16 bits whatever the weights have, and typical energies are of that peak.
  if (device.peak_of(Precision::bf16) <= 0.0)
    sheet.refuse("bf16_tflops", "a peak of 16 or 32 bits");
}

void read_sheet(TomlTable sheet, Device& device) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  need_scaled(sheet, "memory_gib", device.memory, {1, 4096, "GiB"}, kGibibyte);
  need_scaled(sheet, "memory_bandwidth_gb_per_s", device.memory_bandwidth, {10, 1e5, "GB/s"}, 1e9);
  take_scaled(sheet, "link_bandwidth_gb_per_s", device.link_bandwidth, {1, 1e4, "GB/s"}, 1e9);
  read_peaks(sheet, device);
  need_scaled(sheet, "idle_w", device.idle_power, {0, 2000, "watts"}, 1);
  need_scaled(sheet, "max_w", device.max_power, {1, 10000, "watts"}, 1);
  if (device.max_power <= device.idle_power) sheet.refuse("max_w", "more than idle_w");
  take_scaled(sheet, "least_mhz", device.least_mhz, {50, 10000, "MHz"}, 1);
  take_scaled(sheet, "most_mhz", device.most_mhz, {50, 10000, "MHz"}, 1);
  if ((device.most_mhz > 0.0) != (device.least_mhz > 0.0))
    sheet.refuse(device.most_mhz > 0.0 ? "least_mhz" : "most_mhz", "both ends or neither");
  if (device.most_mhz < device.least_mhz) sheet.refuse("most_mhz", "at least least_mhz");
  sheet.finish();
}

void read_clock(TomlTable clock, Device& device) {
  clock.take("exponent", device.clock_exponent, {0, 2});
  clock.take("voltage_slope", device.voltage_slope, {0, 1});
  clock.take("cap_slowdown", device.cap_slowdown, {0, 1});
  clock.finish();
}

template <class Factors, std::size_t N>
void read_factors(TomlTable table, const std::array<FactorKey<Factors>, N>& keys,
                  Factors& factors) {
  for (const auto& key : keys)
    take_scaled(table, key.key, factors.*key.member, key.plausible, key.unit);
  table.finish();
}

Calibration read_calibration(TomlTable table) {
  constexpr Plausible kFactor{0, 20, "times the device's own"};
  Calibration calibration;
  table.need("model", calibration.model);
  table.take("devices", calibration.devices, {1, 4096});
  take_quantity(table, "step_time", calibration.step_time, kFactor);
  take_quantity(table, "sequence_time", calibration.sequence_time, kFactor);
  take_quantity(table, "step_energy", calibration.step_energy, kFactor);
  take_quantity(table, "sequence_energy", calibration.sequence_energy, kFactor);
  table.finish();
  return calibration;
}

void read_band(TomlTable table, ErrorBand& band) {
  constexpr double kMost = 1e9;  // a fit to nonsense is that wrong, and says so
  table.take("median_pct", band.median_pct, {0, kMost});
  table.take("low", band.low, {0, 1});
  table.take("high", band.high, {1, kMost});
  table.finish();
}

void read_calibrations(TomlTable& root, Device& device) {
  for (auto& table : root.tables("calibration")) {
    device.calibrations.push_back(read_calibration(table));
    const auto& last = device.calibrations.back();
    const auto same = [&](const Calibration& other) {
      return other.model == last.model && other.devices == last.devices;
    };
    if (std::ranges::count_if(device.calibrations, same) > 1)
      table.refuse("model", "each model and number of devices once");
  }
}

}  // namespace

double Device::peak_of(Precision precision) const {
  const auto bf16 = static_cast<std::size_t>(Precision::bf16);
  const auto fp16 = static_cast<std::size_t>(Precision::fp16);
  if (precision == Precision::fp16 && peak[fp16] <= 0.0 && peak[bf16] > 0.0) return peak[bf16];
  for (auto i = static_cast<std::size_t>(precision) + 1; i-- > 0;)
    if (peak[i] > 0.0) return peak[i];
  return 0.0;
}

Calibration Device::calibration_of(std::string_view model, std::uint32_t devices) const {
  const auto distance = [&](const Calibration& one) {
    if (one.devices == 0) return std::numeric_limits<double>::max();
    return std::abs(std::log2(1.0 * one.devices / devices));
  };
  const Calibration* nearest = nullptr;
  for (const auto& one : calibrations) {
    if (one.model != model) continue;
    const bool nearer = nearest == nullptr || distance(one) < distance(*nearest) ||
                        (distance(one) == distance(*nearest) && one.devices < nearest->devices);
    if (nearer) nearest = &one;
  }
  return nearest == nullptr ? Calibration{} : *nearest;
}

EnergyFactors typical_energies(const Device& device) {
  const double range = device.max_power - device.idle_power;
  const double byte = range / device.memory_bandwidth;
  const double flop = range / device.peak_of(Precision::bf16);
  EnergyFactors energy;
  energy.active = 0.2 * range;
  energy.weights = 0.45 * byte;
  energy.experts = 0.45 * byte;
  energy.kv = 0.9 * byte;
  energy.state = 0.9 * byte;
  energy.compute = 0.7 * flop;
  energy.expert_compute = 0.7 * flop;
  energy.link = 10e-12;
  energy.sequence = 5e-3;
  return energy;
}

Result<Device> parse_device(std::string_view bytes, std::string_view file) {
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  auto root = document.root();
  Device device;
  root.need("name", device.name);
  root.need("source", device.source);
  root.need("checked", device.checked);
  read_sheet(root.table("sheet"), device);
  NW_CHECK(root.status());
  device.energy = typical_energies(device);
  read_clock(root.table("clock"), device);
  read_factors(root.table("time"), kTimeKeys, device.time);
  auto energy = root.table("energy");
  read_factors(energy, kEnergyKeys, device.energy);
  if (device.idle_power + device.energy.active >= device.max_power)
    energy.refuse("active_w", "less than max_w without idle_w");
  auto error = root.table("error");
  read_band(error.table("time"), device.time_error);
  read_band(error.table("energy"), device.energy_error);
  error.finish();
  read_calibrations(root, device);
  root.finish();
  NW_CHECK(root.status());
  return device;
}

}  // namespace negawatt::model
