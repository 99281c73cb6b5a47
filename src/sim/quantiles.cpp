// SPDX-License-Identifier: Apache-2.0
#include "sim/quantiles.hpp"

#include <algorithm>
#include <cmath>

namespace negawatt::sim {

void QuantileSketch::merge(const QuantileSketch& other) {
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  greatest_ = std::max(greatest_, other.greatest_);
}

double QuantileSketch::mean() const {
  return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
}

double QuantileSketch::middle_of(std::size_t bucket) {
  if (bucket == 0) return 0.0;
  const std::uint64_t part = kFirst + bucket - 1;
  const auto low = std::bit_cast<double>(part << kDroppedBits);
  const auto high = std::bit_cast<double>((part + 1) << kDroppedBits);
  return 0.5 * (low + high);
}

double QuantileSketch::quantile(double q) const {
  if (count_ == 0) return 0.0;
  const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (static_cast<double>(seen) >= rank) return std::min(middle_of(bucket), greatest_);
  }
  return greatest_;
}

}  // namespace negawatt::sim
