// SPDX-License-Identifier: Apache-2.0
#include "model/roofline_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/nonnegative.hpp"

namespace negawatt::model {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The parameters that are not held, as unknowns of a least-squares problem.
class Unknowns {
 public:
  explicit Unknowns(const Prior& prior) : prior_(&prior) {
    for (std::size_t i = 0; i < prior.values.size(); ++i)
      if (prior.scale[i] > 0.0) free_.push_back(i);
  }

  [[nodiscard]] LeastSquares start() const {
    LeastSquares squares(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const double pull = std::sqrt(prior_->weight) / prior_->scale[free_[k]];
      std::vector<double> row(free_.size(), 0.0);
      row[k] = pull;
      squares.add(row, pull * prior_->values[free_[k]]);
    }
    return squares;
  }

  /// Adds that `known` + shares . parameters should be `value`, in relative terms.
  void add(LeastSquares& squares, std::span<const double> shares, double known, double value,
           double weight) const {
    std::vector<double> row(free_.size());
    double held = dot(shares, prior_->values);
    const double scale = std::sqrt(weight) / value;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      row[k] = shares[free_[k]] * scale;
      held -= shares[free_[k]] * prior_->values[free_[k]];
    }
    squares.add(row, (value - known - held) * scale);
  }

  [[nodiscard]] std::vector<double> solve(const LeastSquares& squares) const {
    std::vector<double> parameters = prior_->values;
    std::vector<double> least;
    std::vector<double> most;
    for (const std::size_t i : free_) {
      least.push_back(prior_->least[i]);
      most.push_back(prior_->most[i]);
    }
    const auto solution = squares.within(least, most);
    for (std::size_t k = 0; k < free_.size(); ++k) parameters[free_[k]] = solution[k];
    return parameters;
  }

  [[nodiscard]] double pull_of(std::span<const double> parameters) const {
    double sum = 0.0;
    for (const std::size_t i : free_) {
      const double moved = (parameters[i] - prior_->values[i]) / prior_->scale[i];
      sum += prior_->weight * moved * moved;
    }
    return sum;
  }

 private:
  const Prior* prior_;
  std::vector<std::size_t> free_;
};

/// Relative errors beyond this count linearly, not squared (Huber, Robust Estimation of a Location
/// Parameter, 1964): a measurement gone wrong should not bend the fit.
constexpr double kOutlier = 0.3;

double loss(double error) {
  const double size = std::abs(error);
  return size <= kOutlier ? size * size : kOutlier * (2.0 * size - kOutlier);
}

/// With this weight, squares have the slope of the loss at `error`.
double weight_at(double error) {
  const double size = std::abs(error);
  return size <= kOutlier ? 1.0 : kOutlier / size;
}

double error_of(const RooflineSample& sample, std::span<const double> parameters) {
  return roofline_seconds(sample, parameters) / sample.seconds - 1.0;
}

double error_of(const LinearSample& sample, std::span<const double> parameters) {
  return (sample.known + dot(sample.shares, parameters)) / sample.value - 1.0;
}

/// What a sample's parts cost by parameter, given which side binds at `parameters`.
std::vector<double> shares_at(const RooflineSample& sample, std::span<const double> parameters) {
  std::vector<double> shares(parameters.size(), 0.0);
  for (const auto& part : sample.parts) {
    const bool binds = dot(part.compute, parameters) > dot(part.memory, parameters);
    const auto& longer = binds ? part.compute : part.memory;
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += part.rest[i] + longer[i];
  }
  return shares;
}

constexpr int kPasses = 25;  // of reweighting; a handful is enough, and what is best is kept

/// Repeats `improve` from the prior's values on, and keeps the parameters of least `objective`.
template <class Objective, class Improve>
std::vector<double> best_of_passes(const Prior& prior, Objective objective, Improve improve) {
  std::vector<double> parameters = prior.values;
  std::vector<double> best = parameters;
  double least = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto next = improve(parameters);
    if (next == parameters) break;
    parameters = next;
    const double sum = objective(parameters);
    if (sum >= least) continue;
    least = sum;
    best = parameters;
  }
  return best;
}

}  // namespace

double roofline_seconds(const RooflineSample& sample, std::span<const double> parameters) {
  double sum = 0.0;
  for (const auto& part : sample.parts)
    sum += dot(part.rest, parameters) +
           std::max(dot(part.memory, parameters), dot(part.compute, parameters));
  return sum;
}

std::vector<double> fit_roofline(std::span<const RooflineSample* const> samples,
                                 const Prior& prior) {
  const Unknowns unknowns(prior);
  const auto objective = [&](std::span<const double> parameters) {
    double sum = unknowns.pull_of(parameters);
    for (const auto* sample : samples) sum += loss(error_of(*sample, parameters));
    return sum;
  };
  return best_of_passes(prior, objective, [&](std::span<const double> parameters) {
    LeastSquares squares = unknowns.start();
    for (const auto* sample : samples)
      unknowns.add(squares, shares_at(*sample, parameters), 0.0, sample->seconds,
                   weight_at(error_of(*sample, parameters)));
    return unknowns.solve(squares);
  });
}

std::vector<double> fit_linear(std::span<const LinearSample> samples, const Prior& prior) {
  const Unknowns unknowns(prior);
  const auto objective = [&](std::span<const double> parameters) {
    double sum = unknowns.pull_of(parameters);
    for (const auto& sample : samples) sum += loss(error_of(sample, parameters));
    return sum;
  };
  return best_of_passes(prior, objective, [&](std::span<const double> parameters) {
    LeastSquares squares = unknowns.start();
    for (const auto& sample : samples)
      unknowns.add(squares, sample.shares, sample.known, sample.value,
                   weight_at(error_of(sample, parameters)));
    return unknowns.solve(squares);
  });
}

}  // namespace negawatt::model
