// SPDX-License-Identifier: Apache-2.0
//
// A device learned from measurements: factors and corrections from all of them, and how wrong such
// a fit is on a measurement, and on a whole curve, that it has not seen.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/device.hpp"
#include "model/device_fit.hpp"

namespace negawatt::model {

struct HeldOutError {
  FitError time;
  FitError energy;  ///< all zeroes without measured energies
};

struct LearnedDevice {
  Device device;
  std::size_t samples = 0;
  std::size_t curves = 0;
  HeldOutError row;    ///< corrected for by the rest of the row's curve
  HeldOutError curve;  ///< uncorrected; all zeroes with one curve only
};

/// The error bands of the device are those of whole curves, or of rows where there is one curve.
[[nodiscard]] LearnedDevice learn_device(const Device& device, std::span<const Sample> samples,
                                         const DeviceFitOptions& options);

/// The errors, for a person: a few lines.
[[nodiscard]] std::string errors_text(const LearnedDevice& learned);
/// The same in one line, as it stands in the device's `checked`.
[[nodiscard]] std::string errors_line(const LearnedDevice& learned);

}  // namespace negawatt::model
