// SPDX-License-Identifier: Apache-2.0
#include "calibrate_gpt3_xl/least_squares.hpp"

namespace negawatt::calibrate {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// rows^T * rows * x + damping * x.
Vector normal_product(const Rows& rows, const Vector& damping, const Vector& x) {
  Vector product(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) product[i] = damping[i] * x[i];
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double value = 0.0;
    for (const Term& term : rows.terms(row)) value += term.coefficient * x[term.variable];
    for (const Term& term : rows.terms(row)) product[term.variable] += term.coefficient * value;
  }
  return product;
}

}  // namespace

void Rows::add(std::span<const Term> terms, double wanted, double sigma) {
  for (const Term& term : terms) terms_.push_back({term.variable, term.coefficient / sigma});
  first_.push_back(terms_.size());
  wanted_.push_back(wanted / sigma);
}

double Rows::squares() const { return dot(wanted_, wanted_); }

std::vector<double> least_squares(const Rows& rows, std::size_t variables, Effort effort) {
  Vector residual(variables), diagonal(variables, 1e-12), damping(variables);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const Term& term : rows.terms(row)) {
      residual[term.variable] += term.coefficient * rows.wanted(row);
      diagonal[term.variable] += term.coefficient * term.coefficient;
    }
  }
  for (std::size_t i = 0; i < variables; ++i) {
    damping[i] = effort.damping * (1.0 + diagonal[i]);
    diagonal[i] += damping[i];
  }
  const auto precondition = [&](const Vector& r) {
    Vector z(variables);
    for (std::size_t i = 0; i < variables; ++i) z[i] = r[i] / diagonal[i];
    return z;
  };
  Vector step(variables), z = precondition(residual), direction = z;
  double norm = dot(residual, z);
  const double enough = 1e-16 * norm;
  for (int iteration = 0; iteration < effort.iterations && norm > enough; ++iteration) {
    const Vector product = normal_product(rows, damping, direction);
    const double length = norm / dot(direction, product);
    for (std::size_t i = 0; i < variables; ++i) {
      step[i] += length * direction[i];
      residual[i] -= length * product[i];
    }
    z = precondition(residual);
    const double next = dot(residual, z);
    for (std::size_t i = 0; i < variables; ++i) direction[i] = z[i] + next / norm * direction[i];
    norm = next;
  }
  return step;
}

}  // namespace negawatt::calibrate
