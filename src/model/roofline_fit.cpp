// SPDX-License-Identifier: Apache-2.0
#include "model/roofline_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

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

  /// Adds that shares . parameters should be `value`, in relative terms.
  void add(LeastSquares& squares, std::span<const double> shares, double known,
           double value) const {
    std::vector<double> row(free_.size());
    double held = dot(shares, prior_->values);
    for (std::size_t k = 0; k < free_.size(); ++k) {
      row[k] = shares[free_[k]] / value;
      held -= shares[free_[k]] * prior_->values[free_[k]];
    }
    squares.add(row, (value - known - held) / value);
  }

  [[nodiscard]] std::vector<double> solve(const LeastSquares& squares) const {
    std::vector<double> parameters = prior_->values;
    const auto solution = squares.nonnegative();
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

bool compute_binds(const RooflinePart& part, std::span<const double> parameters) {
  return dot(part.compute, parameters) > dot(part.memory, parameters);
}

std::vector<bool> bindings(std::span<const RooflineSample* const> samples,
                           std::span<const double> parameters) {
  std::vector<bool> binds;
  for (const auto* sample : samples)
    for (const auto& part : sample->parts) binds.push_back(compute_binds(part, parameters));
  return binds;
}

/// The fit when it is given what binds, part by part.
std::vector<double> fit_bound(std::span<const RooflineSample* const> samples,
                              const Unknowns& unknowns, const std::vector<bool>& binds) {
  LeastSquares squares = unknowns.start();
  std::size_t at = 0;
  for (const auto* sample : samples) {
    std::vector<double> shares(sample->parts.front().rest.size(), 0.0);
    for (const auto& part : sample->parts) {
      const auto& longer = binds[at++] ? part.compute : part.memory;
      for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += part.rest[i] + longer[i];
    }
    unknowns.add(squares, shares, 0.0, sample->seconds);
  }
  return unknowns.solve(squares);
}

double objective(std::span<const RooflineSample* const> samples, const Unknowns& unknowns,
                 std::span<const double> parameters) {
  double sum = unknowns.pull_of(parameters);
  for (const auto* sample : samples) {
    const double error = roofline_seconds(*sample, parameters) / sample->seconds - 1.0;
    sum += error * error;
  }
  return sum;
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
  constexpr int kPasses = 40;
  const Unknowns unknowns(prior);
  std::vector<double> best = prior.values;
  double least = std::numeric_limits<double>::infinity();
  std::set<std::vector<bool>> seen;
  auto binds = bindings(samples, prior.values);
  for (int pass = 0; pass < kPasses && seen.insert(binds).second; ++pass) {
    const auto parameters = fit_bound(samples, unknowns, binds);
    const double sum = objective(samples, unknowns, parameters);
    if (sum < least) {
      least = sum;
      best = parameters;
    }
    binds = bindings(samples, parameters);
  }
  return best;
}

std::vector<double> fit_linear(std::span<const LinearSample> samples, const Prior& prior) {
  const Unknowns unknowns(prior);
  LeastSquares squares = unknowns.start();
  for (const auto& sample : samples)
    unknowns.add(squares, sample.shares, sample.known, sample.value);
  return unknowns.solve(squares);
}

}  // namespace negawatt::model
