// SPDX-License-Identifier: Apache-2.0
//
// Learns a device's factors from measured times and energies of serving, on relative error. No
// factor becomes what cannot be: nothing is faster than the sheet, no byte and no operation is
// free. Factors about which the measurements say nothing stay where the fit begins. Deterministic;
// nothing fails. How wrong a fit is on what it has not seen: model/held_out.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/architecture.hpp"
#include "model/device.hpp"
#include "model/roofline_fit.hpp"
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

inline constexpr double kLeastCorrection = 0.3;
inline constexpr double kMostCorrection = 3.0;

struct DeviceFitOptions {
  std::vector<std::string> held;  ///< keys of the device's TOML that stay as they are
  double prior_weight = 0.01;     ///< see Prior
};

/// The device of its sheet alone, as a fit to `samples` begins: typical factors and no
/// calibrations, so that nothing of an earlier fit is in it. Held factors stay, and so do those of
/// time or of energy where the samples measure none of it.
[[nodiscard]] Device unfitted(const Device& device, std::span<const Sample> samples,
                              const DeviceFitOptions& options);

/// Samples worked out once, for fits to many parts of them. The samples outlive it.
class SampleFits {
 public:
  SampleFits(const Device& device, std::span<const Sample> samples);

  /// `device` with factors from the samples at `seen`, without calibrations.
  [[nodiscard]] Device fit(const Device& device, std::span<const std::size_t> seen,
                           const DeviceFitOptions& options) const;

 private:
  struct Prepared {
    const Sample* sample = nullptr;
    RooflineSample time;
    std::vector<double> energy_shares;  ///< joules by energy factor; that of `active` is left 0
  };
  static Prepared prepare(const Device& zero, const Sample& sample);

  std::vector<Prepared> samples_;
};

/// The same, from all samples.
[[nodiscard]] Device fit_device(const Device& device, std::span<const Sample> samples,
                                const DeviceFitOptions& options);

/// Corrections for the one architecture and number of devices that all samples have, on a device
/// without any for it:
/// each between kLeastCorrection and kMostCorrection, beyond which it would not be the same device.
[[nodiscard]] Calibration fit_calibration(const Device& device, std::span<const Sample> samples);
/// fit_calibration for each architecture and number of devices of the samples.
void calibrate(Device& device, std::span<const Sample> samples);

}  // namespace negawatt::model
