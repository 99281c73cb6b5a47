// SPDX-License-Identifier: Apache-2.0
//
// Standard normal numbers that are the same on every machine and in every order of evaluation:
// the n-th number of a stream is a function of (seed, stream, n), nothing is carried along.
// (std::normal_distribution differs between standard libraries.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace negawatt::solve {

/// The z with P(N(0, 1) <= z) = probability; 0 < probability < 1. Relative error about 1e-15.
[[nodiscard]] double normal_quantile(double probability);

class GaussianStream {
 public:
  GaussianStream(std::uint64_t seed, std::uint64_t stream);
  /// The n-th number of the stream.
  [[nodiscard]] double at(std::uint64_t n) const;

 private:
  std::uint64_t key_;
};

/// Draws Gaussian vectors with mean zero and a given covariance. Components may determine each
/// other (the matrix may be singular); it must be symmetric and have no negative eigenvalue.
class CorrelatedGaussian {
 public:
  /// `covariance` by rows; size x size.
  explicit CorrelatedGaussian(std::vector<double> covariance, std::size_t size);
  /// The n-th vector made from `source`; independent of every other n.
  void draw(const GaussianStream& source, std::uint64_t n, std::vector<double>& into) const;

 private:
  [[nodiscard]] double& at(std::size_t row, std::size_t column) {
    return factor_[row * size_ + column];
  }

  std::size_t size_;
  std::vector<double> factor_;  ///< lower triangle L with L * transpose(L) = covariance
};

}  // namespace negawatt::solve
