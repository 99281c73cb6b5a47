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
#include "model/held_out.hpp"

namespace negawatt::model {

struct HeldOutError {
  FitError time;
  FitError energy;  ///< all zeroes without measured energies
};

struct LearnedDevice {
  Device device;
  std::size_t samples = 0;
  std::size_t curves = 0;
  bool calibrated = true;
  HeldOutError row;    ///< of fits like that of the device, which saw the rest of the row's curve
  HeldOutError curve;  ///< uncorrected; all zeroes with one curve only
};

/// Begins at the sheet of `device`, whatever was fitted before; see unfitted(). With `calibrated`,
/// architectures are corrected for, in the device and in the errors of rows. The error bands of the
/// device are those of whole curves, or of rows where there is one curve.
[[nodiscard]] LearnedDevice learn_device(const Device& device, std::span<const Sample> samples,
                                         const DeviceFitOptions& options, bool calibrated = true);

/// The errors, for a person: a few lines.
[[nodiscard]] std::string errors_text(const LearnedDevice& learned);
/// The same in one line, as it stands in the device's `checked`.
[[nodiscard]] std::string errors_line(const LearnedDevice& learned);

}  // namespace negawatt::model
