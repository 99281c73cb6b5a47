// SPDX-License-Identifier: Apache-2.0
//
// What a GPU's sensors say when the metrics are scraped; what a GPU does not tell is absent, never
// 0. Energy is counted from the first reading on: a counter that goes back starts a new epoch, and
// the sum never falls; a step that no GPU could have used is left out and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/units.hpp"
#include "gpu/device.hpp"

namespace negawatt::daemon {

struct Sensors {
  std::optional<Watts> power;  ///< over about a second where the GPU tells, else as it tells
  std::optional<Joules> energy;
  std::uint64_t energy_epochs = 0;       ///< times the counter went back
  std::uint64_t energy_implausible = 0;  ///< steps left out
  std::optional<gpu::Clocks> clocks;
  std::optional<std::int32_t> temperature_c;
  std::optional<gpu::EventReasons> reasons;
  std::optional<Watts> power_limit;  ///< enforced
};

/// Sums an energy counter. Pure.
class EnergySum {
 public:
  /// `ceiling` is more power than the GPU can draw.
  void add(gpu::Millijoules counter, Seconds at, Watts ceiling);
  [[nodiscard]] Joules sum() const { return sum_; }
  [[nodiscard]] std::uint64_t epochs() const { return epochs_; }
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }

 private:
  struct Point {
    std::uint64_t millijoules;
    Seconds at;
  };
  std::optional<Point> last_;
  Joules sum_{0};
  std::uint64_t epochs_ = 0;
  std::uint64_t implausible_ = 0;
};

class SensorReader {
 public:
  [[nodiscard]] Sensors read(const gpu::Device& device);

 private:
  EnergySum energy_;
};

}  // namespace negawatt::daemon
