// SPDX-License-Identifier: Apache-2.0
//
// Two things that a policy learns about its fleet while it runs: what the capacity of a device type
// is worth (CapacityPrices), and how far to trust its own forecasts of latency (Headroom).
// Nothing here fails or allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.hpp"

namespace negawatt::route {

/// Shadow prices of capacity by online dual ascent. The offline problem is the linear program
///   min sum cost(r, d) x(r, d)   s.t.   sum over r of time(r, d) x(r, d) <= capacity(d),
/// whose dual makes every request choose the least cost + price(d) time. Here price(d) follows the
/// work that was sent to d beyond what d could do, its backlog: the subgradient of the dual, so the
/// average cost is within O(1/patience) of the program's and the backlog stays O(patience) (drift
/// plus penalty, Neely 2010; dual mirror descent, Balseiro, Lu and Mirrokni 2023). The step is not
/// a free number: a backlog of `patience` seconds costs what choices of late differ by.
class CapacityPrices {
 public:
  CapacityPrices(std::size_t device_types, Seconds patience);

  /// How many instances of each type there are; once a decision.
  void set_instances(std::size_t device_type, std::uint32_t count);
  /// Time passes: every instance works its backlog off.
  void advance(Seconds now);
  /// In units of cost, a second of an instance.
  [[nodiscard]] double price(std::size_t device_type) const {
    return scale_ * types_[device_type].backlog / patience_;
  }
  /// A request was sent there that takes `time` of an instance. `gap`: by how much its cost there
  /// and on the best other type differ, prices apart; 0 if there is no other.
  void charge(std::size_t device_type, Seconds time, double gap);

  [[nodiscard]] Seconds backlog(std::size_t device_type) const {
    return Seconds(types_[device_type].backlog);
  }
  [[nodiscard]] std::size_t device_types() const { return types_.size(); }

 private:
  struct Type {
    double backlog = 0.0;  ///< seconds, an instance
    std::uint32_t instances = 1;
  };

  std::vector<Type> types_;
  double patience_;
  double gaps_ = 0.0;   ///< sum of what choices differed by, fading
  double times_ = 0.0;  ///< sum of their times, fading
  double scale_ = 0.0;  ///< gaps_ / times_
  double now_ = 0.0;
};

/// How far forecasts must stay below a promise so that no more than a given share of requests
/// misses it: adaptive conformal inference (Gibbs and Candes 2021) on the logarithm of a factor of
/// 1 to 4. After T answers the share that missed is at most the target + (range of the logarithm +
/// step) / (step T), whatever the forecasts' errors are, unless a factor of 4 is not enough. Below
/// 1 it does not go: that would break promises on purpose where forecasts are careful.
class Headroom {
 public:
  explicit Headroom(double target_share) : target_(target_share) {}

  /// Forecasts are multiplied by it before they are compared with the promise.
  [[nodiscard]] double factor() const { return factor_; }
  void observe(bool missed);
  /// Some time has passed without an answer: what was learned counts less.
  void relax();

 private:
  double target_;
  double log_factor_ = 0.0;
  double factor_ = 1.0;
};

}  // namespace negawatt::route
