// SPDX-License-Identifier: Apache-2.0
#include "plan/bilinear_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace negawatt::plan {
namespace {

constexpr std::size_t kTerms = 3;

std::array<double, kTerms> terms_of(trace::RequestSize size) {
  const double input = size.input_tokens;
  const double output = size.output_tokens;
  return {input, output, input * output};
}

double predicted(const BilinearCoefficients& coefficients, trace::RequestSize size) {
  const auto terms = terms_of(size);
  double sum = 0.0;
  for (std::size_t k = 0; k < kTerms; ++k) sum += coefficients[k] * terms[k];
  return sum;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The columns of the terms as Q * R, by Gram-Schmidt (modified, so that rounding stays small).
struct Factors {
  std::array<std::vector<double>, kTerms> q;
  std::array<std::array<double, kTerms>, kTerms> r{};
};

/// None: a column depends on those before it.
std::optional<Factors> factorise(const std::vector<trace::SystemRun>& runs) {
  Factors f;
  for (std::size_t k = 0; k < kTerms; ++k) {
    auto& column = f.q[k];
    for (const auto& run : runs) column.push_back(terms_of(run.size)[k]);
    const double before = std::sqrt(dot(column, column));
    for (std::size_t j = 0; j < k; ++j) {
      f.r[j][k] = dot(f.q[j], column);
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= f.r[j][k] * f.q[j][i];
    }
    f.r[k][k] = std::sqrt(dot(column, column));
    if (f.r[k][k] <= 1e-10 * before) return std::nullopt;
    for (auto& entry : column) entry /= f.r[k][k];
  }
  return f;
}

BilinearCoefficients least_squares(const Factors& f, const std::vector<double>& values) {
  BilinearCoefficients x{};
  for (std::size_t k = kTerms; k-- > 0;) {
    x[k] = dot(f.q[k], values);
    for (std::size_t j = k + 1; j < kTerms; ++j) x[k] -= f.r[k][j] * x[j];
    x[k] /= f.r[k][k];
  }
  return x;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

FitErrors errors_of(const std::vector<trace::SystemRun>& runs, const BilinearCoefficients& x,
                    const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  FitErrors errors;
  double squares = 0.0;
  double deviations = 0.0;
  double error_squares = 0.0;
  std::vector<double> relative;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double prediction = predicted(x, runs[i].size);
    const double error = prediction - values[i];
    error_squares += error * error;
    squares += values[i] * values[i];
    deviations += (values[i] - mean) * (values[i] - mean);
    relative.push_back(100.0 * std::abs(error) / values[i]);
    errors.mean_pct += relative.back() / count;
    if (prediction < 0.0) ++errors.negative;
  }
  errors.r2_uncentred = 1.0 - error_squares / squares;
  errors.r2_centred = deviations > 0.0 ? 1.0 - error_squares / deviations : 1.0;
  errors.median_pct = median(std::move(relative));
  return errors;
}

}  // namespace

Cost BilinearFit::at(trace::RequestSize size) const {
  return {.time = Seconds(predicted(seconds, size)), .energy = Joules(predicted(joules, size))};
}

Result<BilinearFit> fit_bilinear(const trace::MeasuredSystem& system) {
  const auto factors = factorise(system.runs);
  if (!factors)
    return failure(Code::invalid,
                   fmt::format("the runs of system '{}' cannot tell input, output and their "
                               "product apart, which the follow-up's model needs",
                               printable(system.name)));
  std::vector<double> joules;
  std::vector<double> seconds;
  for (const auto& run : system.runs) {
    joules.push_back(run.cost.energy.in_si());
    seconds.push_back(run.cost.time.in_si());
  }
  BilinearFit fit{.joules = least_squares(*factors, joules),
                  .seconds = least_squares(*factors, seconds)};
  fit.energy = errors_of(system.runs, fit.joules, joules);
  fit.time = errors_of(system.runs, fit.seconds, seconds);
  return fit;
}

}  // namespace negawatt::plan
