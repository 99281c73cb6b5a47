// SPDX-License-Identifier: Apache-2.0
#include "route/prices.hpp"

#include <algorithm>
#include <cmath>

#include "core/result.hpp"
#include "trace/random.hpp"

namespace negawatt::route {

CapacityPrices::CapacityPrices(std::size_t device_types, Seconds patience)
    : types_(std::max<std::size_t>(1, device_types)), patience_(patience.in_si()) {
  NW_ASSERT(patience_ > 0.0);
}

void CapacityPrices::set_instances(std::size_t device_type, std::uint32_t count) {
  types_[device_type].instances = std::max(1U, count);
}

void CapacityPrices::advance(Seconds now) {
  const double passed = std::max(0.0, now.in_si() - now_);
  now_ = std::max(now_, now.in_si());
  for (Type& type : types_) type.backlog = std::max(0.0, type.backlog - passed);
}

void CapacityPrices::charge(std::size_t device_type, Seconds time, double gap) {
  constexpr double kFade = 1.0 - 1.0 / 256.0;
  Type& type = types_[device_type];
  type.backlog += time.in_si() / type.instances;
  if (gap == 0.0 || time <= Seconds(0)) return;
  gaps_ = kFade * gaps_ + std::abs(gap);
  times_ = kFade * times_ + time.in_si();
  scale_ = gaps_ / times_;
}

void Headroom::observe(bool missed) {
  constexpr double kStep = 0.05;
  constexpr double kLeast = 0.0;
  constexpr double kMost = 1.4;
  log_factor_ = std::clamp(log_factor_ + kStep * ((missed ? 1.0 : 0.0) - target_), kLeast, kMost);
  factor_ = trace::same_exp(log_factor_);
}

void Headroom::relax() {
  constexpr double kKept = 0.9;
  log_factor_ *= kKept;
  factor_ = trace::same_exp(log_factor_);
}

}  // namespace negawatt::route
