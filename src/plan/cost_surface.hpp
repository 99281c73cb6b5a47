// SPDX-License-Identifier: Apache-2.0
//
// What a request of any size costs on a system of which single sizes were measured. A measured size
// costs the mean of its runs. Between sizes the logarithms of energy and time are interpolated
// bilinearly in (log input, log output). A size that is missing in the grid is interpolated, or
// extrapolated with the slope at the edge, along the output axis; beyond the grid both axes go on
// with that slope. It is taken between sizes that are at least a factor of 1.5 apart where there
// are such, and kept between 0 and 2, so that the noise of neighbours does not grow into a price.
// How a value came about is told with it.
//
// Fails when the sizes give no slope: some input was measured at one output only, while others were
// measured at several. An axis with one value does not matter to the cost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost.hpp"
#include "core/result.hpp"
#include "trace/system_table.hpp"

namespace negawatt::plan {

/// From strong to weak.
enum class Reach : std::uint8_t { measured, interpolated, extrapolated };

struct Estimate {
  Cost cost;
  Reach reach = Reach::measured;
};

class CostSurface {
 public:
  /// A value on an axis: between its entries `low` and `high`, `part` of the way in logarithms.
  struct Position {
    std::size_t low = 0;
    std::size_t high = 0;
    double part = 0.0;
    double width = 0.0;  ///< log(high / low)
    Reach reach = Reach::measured;
  };

  [[nodiscard]] static Result<CostSurface> of(const trace::MeasuredSystem& system);

  [[nodiscard]] Estimate at(trace::RequestSize size) const {
    return at(input_at(size.input_tokens), output_at(size.output_tokens));
  }
  /// The same in steps, for those who ask for many sizes of few inputs and outputs.
  [[nodiscard]] Position input_at(std::uint32_t tokens) const { return locate(inputs_, tokens); }
  [[nodiscard]] Position output_at(std::uint32_t tokens) const { return locate(outputs_, tokens); }
  [[nodiscard]] Estimate at(const Position& input, const Position& output) const;
  /// The sizes that were measured, sorted.
  [[nodiscard]] const std::vector<trace::RequestSize>& measured() const { return measured_; }

 private:
  struct Node {
    double log_energy = 0.0;  ///< of joules
    double log_time = 0.0;    ///< of seconds
    Reach reach = Reach::extrapolated;
    Cost cost;  ///< as measured
  };
  CostSurface() = default;
  static Position locate(const std::vector<std::uint32_t>& axis, std::uint32_t value);
  Status fill_row(std::size_t input, const trace::MeasuredSystem& system);
  [[nodiscard]] const Node& node(std::size_t input, std::size_t output) const {
    return nodes_[input * outputs_.size() + output];
  }

  std::vector<std::uint32_t> inputs_;   ///< sorted
  std::vector<std::uint32_t> outputs_;  ///< sorted
  std::vector<Node> nodes_;             ///< by inputs
  std::vector<trace::RequestSize> measured_;
};

}  // namespace negawatt::plan
