// SPDX-License-Identifier: Apache-2.0
//
// The cost model of the follow-up of the hybrid-cluster paper (Wilkins, Keshav, Mortier 2024,
// arXiv 2407.04014): joules = a0 in + a1 out + a2 in out, seconds likewise, by least squares on
// absolute errors without intercept. It is here to be compared with, and its errors with it: the
// published R2 is the uncentred one, which says little of a model without intercept.
//
// Fails when the runs cannot tell the three terms apart.
#pragma once

#include <array>
#include <cstdint>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "trace/system_table.hpp"

namespace negawatt::plan {

/// Of `in`, `out` and `in * out`.
using BilinearCoefficients = std::array<double, 3>;

/// How a fit does on the runs it was made from.
struct FitErrors {
  double r2_uncentred = 0.0;  ///< 1 - squared errors / squared values
  double r2_centred = 0.0;    ///< 1 - squared errors / squared deviations from the mean
  double mean_pct = 0.0;      ///< mean of |error| / value
  double median_pct = 0.0;
  std::uint64_t negative = 0;  ///< runs whose prediction is below 0
};

struct BilinearFit {
  BilinearCoefficients joules{};
  BilinearCoefficients seconds{};
  FitErrors energy;
  FitErrors time;

  /// May be negative.
  [[nodiscard]] Cost at(trace::RequestSize size) const;
};

[[nodiscard]] Result<BilinearFit> fit_bilinear(const trace::MeasuredSystem& system);

}  // namespace negawatt::plan
