// SPDX-License-Identifier: Apache-2.0
//
// Fits of times that are a sum, over parts of the work, of rest + max(memory, compute), each linear
// in the same parameters, each of which has a least, 0 by itself, and a most. Least relative
// errors, squared up to 30 % and in proportion beyond, with a pull towards given values for what
// the measurements say little about. Deterministic; nothing fails.
#pragma once

#include <limits>
#include <span>
#include <vector>

namespace negawatt::model {

/// Seconds by parameter. All three are as long as there are parameters.
struct RooflinePart {
  std::vector<double> rest;
  std::vector<double> memory;
  std::vector<double> compute;
};

struct RooflineSample {
  std::vector<RooflinePart> parts;
  double seconds = 0;  ///< measured, above 0
};

/// What parameters are without measurements, and how much that counts: moving one by `scale` costs
/// as much as a relative error of sqrt(weight) in one sample.
struct Prior {
  std::vector<double> values;
  std::vector<double> scale;  ///< 0: held at its value
  double weight = 0.01;
  // What those that are not held may be.
  std::vector<double> least = std::vector<double>(values.size(), 0.0);
  std::vector<double> most =
      std::vector<double>(values.size(), std::numeric_limits<double>::infinity());
};

[[nodiscard]] double roofline_seconds(const RooflineSample& sample,
                                      std::span<const double> parameters);

/// Which of memory and compute binds follows from the parameters, and these from what binds: a
/// fixed-point search that starts at the prior and keeps the best it has seen; a local optimum.
[[nodiscard]] std::vector<double> fit_roofline(std::span<const RooflineSample* const> samples,
                                               const Prior& prior);

/// A value that is linear in the parameters, of which a part may be known beforehand.
struct LinearSample {
  std::vector<double> shares;
  double known = 0;
  double value = 0;  ///< measured, above 0
};

[[nodiscard]] std::vector<double> fit_linear(std::span<const LinearSample> samples,
                                             const Prior& prior);

}  // namespace negawatt::model
