// SPDX-License-Identifier: Apache-2.0
//
// Learns a device's factors from measured times and energies of serving, on relative error, with no
// factor below 0, and says how wrong the result is on measurements it has not seen. Factors about
// which the measurements say nothing stay at the device's own. Deterministic; nothing fails.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/architecture.hpp"
#include "model/device.hpp"
#include "model/serving.hpp"

namespace negawatt::model {

/// A measurement of steps of one kind, or of several: all their time, all their energy.
struct Sample {
  const Architecture* architecture = nullptr;
  std::uint32_t devices = 1;
  std::vector<std::pair<StepLoad, double>> steps;  ///< a mean load, and how many such steps
  double seconds = 0;                              ///< 0: not measured
  double joules = 0;                               ///< likewise
  std::uint32_t curve = 0;                         ///< samples of one curve have the same
};

/// What the model says of all steps of a sample.
[[nodiscard]] Cost predicted(const Device& device, const Sample& sample);

struct DeviceFitOptions {
  std::vector<std::string> held;  ///< keys of the device's TOML that stay as they are
  double prior_weight = 0.01;     ///< see Prior
};

/// `device` with factors from the samples, without calibrations.
[[nodiscard]] Device fit_device(const Device& device, std::span<const Sample> samples,
                                const DeviceFitOptions& options);

/// Corrections for the one architecture that all samples have, on a device without any for it.
[[nodiscard]] Calibration fit_calibration(const Device& device, std::span<const Sample> samples);
/// fit_calibration for each architecture of the samples.
void calibrate(Device& device, std::span<const Sample> samples);

/// Measured to predicted; 0 where nothing was measured.
struct Ratio {
  double time = 0;
  double energy = 0;
};

/// What a sample's prediction may know.
enum class HeldOut : std::uint8_t {
  none,   ///< everything: the error of the fit itself
  row,    ///< all but the sample
  curve,  ///< all but the samples of its curve
};

/// Ratio of every sample, predicted by a fit that has not seen what is held out. With `calibrated`,
/// architectures are corrected for by the samples that are left of their curve.
[[nodiscard]] std::vector<Ratio> held_out_ratios(const Device& device,
                                                 std::span<const Sample> samples,
                                                 const DeviceFitOptions& options, HeldOut held_out,
                                                 bool calibrated);

struct FitError {
  double median_pct = 0;
  double mean_pct = 0;  ///< of the absolute relative errors
  double p95_pct = 0;
  ErrorBand band;
};

/// Errors relative to what was measured. Zeroes among the ratios do not count.
[[nodiscard]] FitError error_of(std::vector<double> ratios);
[[nodiscard]] FitError time_error_of(std::span<const Ratio> ratios);
[[nodiscard]] FitError energy_error_of(std::span<const Ratio> ratios);

}  // namespace negawatt::model
