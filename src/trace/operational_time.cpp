// SPDX-License-Identifier: Apache-2.0
#include "trace/operational_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

// Seconds and numbers of requests are raw doubles in this file.
namespace negawatt::trace {
namespace {

double whole_part(double x) { return x - std::floor(x); }

double cosine_of_turn(double turn) { return same_sine(whole_part(turn + 0.25)); }

}  // namespace

OperationalTime::OperationalTime(const Rate& rate)
    : rate_(rate), period_(rate.period.in_si()), per_period_(rate.mean * period_) {
  if (rate_.table.empty()) return;
  double sum = 0.0;
  for (const double part : rate_.table) sum += part;
  double reached = 0.0;
  for (const double part : rate_.table) {
    reached_.push_back(reached / sum * per_period_);
    reached += part;
  }
  reached_.push_back(per_period_);
}

double OperationalTime::sine_at(double part) const {
  const double turn = part / period_;
  const double cosines = cosine_of_turn(turn - rate_.phase) - cosine_of_turn(-rate_.phase);
  return rate_.mean * (part - rate_.swing * period_ / (2.0 * std::numbers::pi) * cosines);
}

double OperationalTime::sine_inverse(double requests) const {
  // The integral lies within swing / pi of a period from the straight line. Newton's steps are kept
  // inside the bracket; halving ends it when they no longer help.
  constexpr int kMostSteps = 200;
  const double reach = rate_.swing * period_ / std::numbers::pi;
  double low = std::max(0.0, requests / rate_.mean - reach);
  double high = std::min(period_, requests / rate_.mean + reach);
  double at = 0.5 * (low + high);
  for (int i = 0; i < kMostSteps && high - low > 1e-15 * period_; ++i) {
    const double error = sine_at(at) - requests;
    (error < 0.0 ? low : high) = at;
    const double turn = whole_part(at / period_ - rate_.phase);
    const double slope = rate_.mean * (1.0 + rate_.swing * same_sine(turn));
    const double newton = slope > 0.0 ? at - error / slope : low;
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - at) <= 1e-16 * period_) break;
    at = next;
  }
  return at;
}

double OperationalTime::table_at(double part) const {
  const double width = period_ / static_cast<double>(rate_.table.size());
  const auto i = std::min(static_cast<std::size_t>(part / width), rate_.table.size() - 1);
  const double inside = part - static_cast<double>(i) * width;
  return reached_[i] + (reached_[i + 1] - reached_[i]) * inside / width;
}

double OperationalTime::table_inverse(double requests) const {
  const double width = period_ / static_cast<double>(rate_.table.size());
  // The first part that ends at or after it: in parts of rate 0 time stands at their start.
  const auto end = std::lower_bound(reached_.begin() + 1, reached_.end() - 1, requests);
  const auto i = static_cast<std::size_t>(end - reached_.begin()) - 1;
  const double size = reached_[i + 1] - reached_[i];
  const double inside = size > 0.0 ? std::clamp((requests - reached_[i]) / size, 0.0, 1.0) : 0.0;
  return (static_cast<double>(i) + inside) * width;
}

double OperationalTime::at(double seconds) const {
  if (rate_.table.empty() && rate_.swing == 0.0) return rate_.mean * seconds;
  const double periods = std::floor(seconds / period_);
  const double part = seconds - periods * period_;
  return periods * per_period_ + (rate_.table.empty() ? sine_at(part) : table_at(part));
}

double OperationalTime::inverse(double requests) const {
  if (rate_.table.empty() && rate_.swing == 0.0) return requests / rate_.mean;
  const double periods = std::floor(requests / per_period_);
  const double part = std::max(0.0, requests - periods * per_period_);
  return periods * period_ + (rate_.table.empty() ? sine_inverse(part) : table_inverse(part));
}

}  // namespace negawatt::trace
