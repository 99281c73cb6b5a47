// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of a stream in fixed memory. A value is counted in one of 256 equal parts of its power
// of two, so that every quantile is known to 0.2 % of itself (half a part, 1/512); count and
// greatest value are exact. Buckets come from the bits of the double: no logarithm, the same on
// every machine. Sketches can be merged. From 1 microsecond to 3e10; what is below counts as 0.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace negawatt::sim {

class QuantileSketch {
 public:
  /// `value` is finite and at least 0.
  void add(double value, std::uint64_t times = 1) {
    const auto bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    counts_[bucket] += times;
    count_ += times;
    sum_ += value * static_cast<double>(times);
    if (value > greatest_) greatest_ = value;
  }
  void merge(const QuantileSketch& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double greatest() const { return greatest_; }
  /// Of what was added, up to rounding; 0 when nothing was.
  [[nodiscard]] double mean() const;
  /// The value that at least the share `q` of all values does not exceed; 0 when there is none.
  [[nodiscard]] double quantile(double q) const;

  /// Values of one bucket cannot be told apart.
  [[nodiscard]] static std::size_t bucket_of(double value) {
    const auto part = std::bit_cast<std::uint64_t>(value) >> kDroppedBits;
    return part < kFirst ? 0 : static_cast<std::size_t>(part - kFirst) + 1;
  }

 private:
  static constexpr unsigned kPartBits = 8;
  static constexpr unsigned kDroppedBits = 52 - kPartBits;
  static constexpr std::uint64_t kFirst = std::uint64_t{1023 - 20} << kPartBits;  // 2^-20

  [[nodiscard]] static double middle_of(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0.0;
  double greatest_ = 0.0;
};

}  // namespace negawatt::sim
