// SPDX-License-Identifier: Apache-2.0
//
// A sum of many doubles whose error does not grow with their number, so that totals of the same
// costs agree to the last digits in whatever order they were added.
#pragma once

#include <cmath>

namespace negawatt::solve {

/// Neumaier 1974, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen".
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    const bool sum_is_larger = std::abs(sum_) >= std::abs(term);
    lost_ += sum_is_larger ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

}  // namespace negawatt::solve
