// SPDX-License-Identifier: Apache-2.0
//
// How wrong fits of a device are on measurements that they have not seen: each sample is predicted
// by a fit to the others. Measurements of the same configuration (repeats) are always held out
// together, for one of them would tell the fit the others. Deterministic; nothing fails.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/device.hpp"
#include "model/device_fit.hpp"

namespace negawatt::model {

/// Measured to predicted; 0 where nothing was measured.
struct Ratio {
  double time = 0;
  double energy = 0;
};

/// What a sample's prediction may not know.
enum class HeldOut : std::uint8_t {
  none,   ///< nothing: the error of the fit itself
  row,    ///< the sample's configuration; beyond kMostFits of them, also some others
  curve,  ///< its curve, and what has the configuration of one of the curve's samples
};

/// Fits that errors of rows take at most: what they cost grows with the samples, not their square.
inline constexpr std::size_t kMostFits = 256;

struct Trial {
  HeldOut held_out = HeldOut::row;
  bool calibrated = true;  ///< architectures are corrected for by the samples that are seen
};

/// Ratio of every sample. Fits begin at `device`, so that nothing of the samples may be in it: see
/// unfitted().
[[nodiscard]] std::vector<Ratio> held_out_ratios(const Device& device,
                                                 std::span<const Sample> samples,
                                                 const DeviceFitOptions& options, Trial trial);

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
