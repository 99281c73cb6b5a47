// SPDX-License-Identifier: Apache-2.0
#include "route/demand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace negawatt::route {

bool Demand::advance(Seconds now) {
  const double time = now.in_si();
  if (!started_) {
    started_ = true;
    began_ = time;
  }
  if (time < began_ + kWindow) return false;
  // Of a long silence only what the memory holds has to be gone through.
  const double passed = std::floor((time - began_) / kWindow);
  const auto windows = std::min(passed, static_cast<double>(kWindows + 1));
  for (double i = 0.0; i < windows; i += 1.0) end_window();
  began_ += passed * kWindow;
  summarise();
  return true;
}

Demand::Size& Demand::size_of(double input_tokens) {
  const auto tokens = static_cast<std::uint64_t>(std::max(1.0, input_tokens));
  return sizes_[std::min<std::size_t>(kSizes, std::bit_width(tokens)) - 1];
}

void Demand::arrived(const RequestSize& request) {
  count_ += 1.0;
  Size& size = size_of(request.input_tokens);
  size.count += 1.0;
  size.input += request.input_tokens;
  size.output += request.output_tokens;
}

void Demand::ended(const RequestSize& request) {
  Size& size = size_of(request.input_tokens);
  size.ended += 1.0;
  size.ended_output += request.output_tokens;
  size.ended_output_2 += request.output_tokens * request.output_tokens;
}

double Demand::spread_of(const Size& size) {
  if (size.ended <= 0.0) return 0.0;
  const double mean = size.ended_output / size.ended;
  return std::sqrt(std::max(0.0, size.ended_output_2 / size.ended - mean * mean));
}

void Demand::end_window() {
  if (ended_ < kWindows) {
    rates_[ended_++] = count_ / kWindow;
  } else {
    rates_[oldest_] = count_ / kWindow;
    oldest_ = (oldest_ + 1) % kWindows;
  }
  count_ = 0.0;
}

double Demand::peak() const {
  double mean = 0.0;
  double square = 0.0;
  for (const double rate : rates()) {
    mean += rate;
    square += rate * rate;
  }
  const auto windows = static_cast<double>(ended_);
  mean /= windows;
  const double variance = square / windows - mean * mean;
  const double by_chance = mean / kWindow;
  if (variance <= by_chance) return mean;
  return mean + std::sqrt(1.0 - by_chance / variance) * (rates().back() - mean);
}

void Demand::summarise() {
  std::copy_n(rates_.begin(), ended_, sorted_.begin());
  std::sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(ended_));
  double all = 0.0;
  for (const Size& size : sizes_) all += size.count;
  part_count_ = 0;
  // Sizes fade by requests, not by time: after a silence the same are expected again.
  constexpr double kRemembered = 2000.0;
  const double fade = all > kRemembered ? kRemembered / all : 1.0;
  for (Size& size : sizes_) {
    if (size.count > 1e-3 * all) {
      parts_[part_count_++] = {size.count / all, size.input / size.count, size.output / size.count,
                               spread_of(size)};
    }
    for (double* sum : {&size.count, &size.input, &size.output, &size.ended, &size.ended_output,
                        &size.ended_output_2}) {
      *sum *= fade;
    }
  }
  double kept = 0.0;
  for (std::size_t i = 0; i < part_count_; ++i) kept += parts_[i].share;
  for (std::size_t i = 0; i < part_count_; ++i) parts_[i].share /= kept;
}

}  // namespace negawatt::route
