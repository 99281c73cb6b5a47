// SPDX-License-Identifier: Apache-2.0
//
// A table with measurement errors as linear algebra: the value and the covariance of weighted
// differences between a plan and the baseline. Internal to planning under noise (robust.hpp).
// Numbers are plain doubles here: seconds for times, joules for energies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost.hpp"
#include "solve/gaussian.hpp"
#include "solve/robust.hpp"

namespace negawatt::solve {

enum class Dimension : unsigned char { time, energy };

/// on_plan * (total of the plan) + on_baseline * (total of the baseline), of time or energy.
struct Form {
  std::span<const std::uint32_t> plan;
  double on_plan = 0.0;
  double on_baseline = 0.0;
  Dimension quantity = Dimension::time;
};

/// A problem as flat arrays. Refers to it: it must outlive this.
class Measured {
 public:
  explicit Measured(const RobustProblem& problem);

  [[nodiscard]] std::size_t items() const { return first_.size(); }
  [[nodiscard]] std::size_t flat(std::size_t item, std::uint32_t option) const {
    return first_[item] + option;
  }
  [[nodiscard]] std::size_t baseline(std::size_t item) const {
    return flat(item, problem_.baseline[item]);
  }
  [[nodiscard]] const std::vector<Cost>& costs() const { return costs_; }

  /// Of a form, when options cost `costs`.
  [[nodiscard]] double value(const Form& form, const std::vector<Cost>& costs) const;
  /// Between the errors of two forms in the whole table.
  [[nodiscard]] double covariance(const Form& a, const Form& b) const;

 private:
  [[nodiscard]] double covariance(std::size_t option, Dimension a, Dimension b) const;

  const RobustProblem& problem_;
  std::vector<std::size_t> first_;
  std::vector<Cost> costs_;
};

/// The joint errors of several forms.
[[nodiscard]] CorrelatedGaussian errors_of(const Measured& table, std::span<const Form> forms);

}  // namespace negawatt::solve
