// SPDX-License-Identifier: Apache-2.0
//
// The surface under construction: the logarithms of time (s) and power (W) of one call, per kernel
// and pair, in one flat array whose positions are the variables of a least-squares step.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate_gpt3_xl/facts.hpp"

namespace negawatt::calibrate {

struct Surface {
  std::vector<double> logs;

  explicit Surface(std::size_t kernels) : logs(2 * kernels * kPairs) {}
  [[nodiscard]] std::size_t kernels() const { return logs.size() / (2 * kPairs); }

  [[nodiscard]] static constexpr std::uint32_t time_at(std::size_t kernel, std::size_t pair) {
    return static_cast<std::uint32_t>(2 * (kernel * kPairs + pair));
  }
  [[nodiscard]] static constexpr std::uint32_t power_at(std::size_t kernel, std::size_t pair) {
    return time_at(kernel, pair) + 1;
  }
  [[nodiscard]] Point at(std::size_t kernel, std::size_t pair) const {
    const double log_time = logs[time_at(kernel, pair)];
    return {std::exp(log_time), std::exp(log_time + logs[power_at(kernel, pair)])};
  }
};

/// The surface as a kernel table (docs/formats.md), kernels and pairs in their order.
[[nodiscard]] std::string table_of(const Facts& facts, const Surface& surface);

}  // namespace negawatt::calibrate
