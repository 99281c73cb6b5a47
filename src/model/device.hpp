// SPDX-License-Identifier: Apache-2.0
//
// A device that serves language models: what its sheet says, and factors that say how a serving
// engine really gets on with it. Read from TOML (docs/formats.md, data/devices). Factors that are
// not given have typical values, from rules of thumb; `checked` says what they were checked
// against. Everything is in SI units: seconds, bytes, operations, watts, joules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "model/architecture.hpp"

namespace negawatt::model {

/// How long things take. Ratios are times of what the sheet's peak would take.
struct TimeFactors {
  double step = 1e-3;             ///< engine and launches, a step
  double layer = 3e-5;            ///< the same, a layer
  double expert_layer = 5e-5;     ///< added, a layer with routed experts
  double quantised_layer = 7e-5;  ///< added, a layer whose weights have less than two bytes
  double sequence = 4e-5;         ///< engine, a decoding sequence
  double collective = 1.5e-5;     ///< two a layer, times log2 of the devices
  double weights = 1.25;          ///< ratio to the memory bandwidth; likewise the next three
  double experts = 1.4;
  double kv = 1.5;
  double state = 1.7;
  double compute = 1.4;         ///< ratio to the peak of the model's precision
  double expert_compute = 1.4;  ///< added for arithmetic in routed experts
  double attention = 2.8;       ///< ratio to the 16-bit peak
  double unhidden = 0.5;        ///< arithmetic that does not hide behind memory, ratio to the peak
  double link = 1.3;            ///< ratio to the link bandwidth
};

/// What things take in energy, above idle power.
struct EnergyFactors {
  double active = 0;   ///< watts, while a step runs
  double weights = 0;  ///< joules a byte; likewise the next three
  double experts = 0;
  double kv = 0;
  double state = 0;
  double compute = 0;         ///< joules an operation at 16 bits; others by the ratio of the peaks
  double expert_compute = 0;  ///< added for arithmetic in routed experts
  double link = 0;            ///< joules a byte that a device sends
  double sequence = 0;        ///< joules, a decoding sequence
};

/// Corrections for one architecture on so many of this device, learned from measurements of just
/// that.
struct Calibration {
  std::string model;
  std::uint32_t devices = 0;  ///< 0: any number
  double step_time = 1;       ///< of what a step takes whatever its batch
  double sequence_time = 1;   ///< of what grows with the batch
  double step_energy = 1;     ///< likewise
  double sequence_energy = 1;
};

/// Ratio of what was measured to what is predicted, from measurements that the fit had not seen.
struct ErrorBand {
  double median_pct = 0;  ///< of the absolute relative errors; 0: not known
  double low = 1;         ///< 5 % of the ratios are less
  double high = 1;        ///< 5 % are more
};

struct Device {
  std::string name;
  std::string source;           ///< of the sheet and of the factors
  std::string checked;          ///< against what, or that it is unchecked
  double memory = 0;            ///< bytes
  double memory_bandwidth = 0;  ///< bytes a second
  double link_bandwidth = 0;    ///< bytes a second and direction; 0: cannot work with another one
  std::array<double, kPrecisions> peak{};  ///< operations a second; 0: not in hardware
  double idle_power = 0;
  double max_power = 0;
  double least_mhz = 0;          ///< of the core clock; 0: not known, then it cannot be set
  double most_mhz = 0;           ///< known where least_mhz is
  double clock_exponent = 0.87;  ///< arithmetic takes (most / clock) to this power as long
  double voltage_slope = 0.4;    ///< voltage is 1 - slope (1 - clock / most) of the highest
  double cap_slowdown = 0.38;    ///< see StepCoefficients
  TimeFactors time;
  EnergyFactors energy;
  std::vector<Calibration> calibrations;
  ErrorBand time_error;
  ErrorBand energy_error;

  /// Peak for arithmetic in `precision`: the next wider one that the hardware has, where the two of
  /// 16 bits stand in for each other. 0 where there is none.
  [[nodiscard]] double peak_of(Precision precision) const;
  /// Corrections for a model on so many devices; those of the nearest number (by ratio, of two
  /// equally near ones the smaller) stand in for others. None are ones.
  [[nodiscard]] Calibration calibration_of(std::string_view model, std::uint32_t devices) const;
};

/// Energies by rule of thumb from idle and highest power, for devices that nobody measured: at full
/// memory bandwidth a device draws about two thirds of the range, at full arithmetic nine tenths.
[[nodiscard]] EnergyFactors typical_energies(const Device& device);

[[nodiscard]] Result<Device> parse_device(std::string_view bytes, std::string_view file);
/// What parse_device reads, if its texts are printable and its numbers what a device can have.
[[nodiscard]] std::string to_toml(const Device& device);

}  // namespace negawatt::model
