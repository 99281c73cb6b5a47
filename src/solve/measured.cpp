// SPDX-License-Identifier: Apache-2.0
#include "solve/measured.hpp"

#include <utility>

namespace negawatt::solve {
namespace {

double number(const Cost& cost, Dimension quantity) {
  return quantity == Dimension::time ? cost.time.in_si() : cost.energy.in_si();
}

}  // namespace

Measured::Measured(const RobustProblem& problem) : problem_(problem) {
  for (std::size_t item = 0; item < problem.options.items(); ++item) {
    const auto options = problem.options.options(item);
    first_.push_back(costs_.size());
    costs_.insert(costs_.end(), options.begin(), options.end());
  }
}

double Measured::value(const Form& form, const std::vector<Cost>& costs) const {
  double sum = 0.0;
  for (std::size_t item = 0; item < items(); ++item)
    sum += form.on_plan * number(costs[flat(item, form.plan[item])], form.quantity) +
           form.on_baseline * number(costs[baseline(item)], form.quantity);
  return sum;
}

double Measured::covariance(std::size_t option, Dimension a, Dimension b) const {
  const Deviation& deviation = problem_.deviations[option];
  const Cost sd{deviation.time, deviation.energy};
  return number(sd, a) * number(sd, b) * (a == b ? 1.0 : deviation.correlation);
}

double Measured::covariance(const Form& a, const Form& b) const {
  double sum = 0.0;
  for (std::size_t item = 0; item < items(); ++item) {
    const std::size_t stay = baseline(item);
    const std::size_t to_a = flat(item, a.plan[item]);
    const std::size_t to_b = flat(item, b.plan[item]);
    // A plan that keeps the baseline's option shares its error: both weights are on one number.
    const double stay_a = a.on_baseline + (to_a == stay ? a.on_plan : 0.0);
    const double stay_b = b.on_baseline + (to_b == stay ? b.on_plan : 0.0);
    sum += stay_a * stay_b * covariance(stay, a.quantity, b.quantity);
    if (to_a == to_b && to_a != stay)
      sum += a.on_plan * b.on_plan * covariance(to_a, a.quantity, b.quantity);
  }
  return sum;
}

CorrelatedGaussian errors_of(const Measured& table, std::span<const Form> forms) {
  std::vector<double> covariance;
  for (const Form& a : forms)
    for (const Form& b : forms) covariance.push_back(table.covariance(a, b));
  return CorrelatedGaussian(std::move(covariance), forms.size());
}

}  // namespace negawatt::solve
