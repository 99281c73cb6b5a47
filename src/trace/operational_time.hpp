// SPDX-License-Identifier: Apache-2.0
//
// The integral of a rate over time, and its inverse: from the time in which a process runs evenly
// to the time on the clock. Both are exact but for rounding, and the same on every machine. Nothing
// here fails.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/generator.hpp"

namespace negawatt::trace {

class OperationalTime {
 public:
  /// `rate` must have passed check().
  explicit OperationalTime(const Rate& rate);

  /// Requests expected from time 0 to `seconds`.
  [[nodiscard]] double at(double seconds) const;
  /// The time up to which `requests` are expected; the least, where the rate is 0.
  [[nodiscard]] double inverse(double requests) const;

 private:
  /// Of less than one period, from its start.
  [[nodiscard]] double sine_at(double part) const;
  [[nodiscard]] double sine_inverse(double requests) const;
  [[nodiscard]] double table_at(double part) const;
  [[nodiscard]] double table_inverse(double requests) const;

  Rate rate_;
  double period_;
  double per_period_;            ///< requests
  std::vector<double> reached_;  ///< requests at the start of each part of the table, and the end
};

}  // namespace negawatt::trace
