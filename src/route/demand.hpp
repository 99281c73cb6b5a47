// SPDX-License-Identifier: Apache-2.0
//
// The demand of late: how many requests a second came, in windows of half a minute over the last
// ten minutes, and of what sizes they were. Nothing here fails or allocates after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/units.hpp"
#include "route/flow.hpp"

namespace negawatt::route {

struct RequestSize {
  double input_tokens = 0;
  double output_tokens = 0;
};

class Demand {
 public:
  static constexpr double kWindow = 30.0;  ///< seconds
  static constexpr std::size_t kWindows = 20;
  static constexpr std::size_t kSizes = 24;  ///< powers of two of the prompt

  /// Time has passed. True once a window (or more) has ended since it last was.
  bool advance(Seconds now);
  void arrived(const RequestSize& request);
  /// A request has ended: how its answer varies is learned.
  void ended(const RequestSize& request);

  /// Requests a second in each window that has ended, the least first.
  [[nodiscard]] std::span<const double> rates() const { return {sorted_.data(), ended_}; }
  /// The highest rate to be expected: that of the fullest window, less what chance alone makes of
  /// a Poisson process of constant rate (the variance between windows above their mean count).
  [[nodiscard]] double peak() const;
  /// What came, by size; shares add up to 1. Sizes of which none came are left out.
  [[nodiscard]] std::span<const FlowPart> parts() const { return {parts_.data(), part_count_}; }

 private:
  struct Size {
    double count = 0;  ///< fading
    double input = 0;
    double output = 0;
    double ended = 0;  ///< likewise fading
    double ended_output = 0;
    double ended_output_2 = 0;
  };
  [[nodiscard]] static double spread_of(const Size& size);
  [[nodiscard]] Size& size_of(double input_tokens);
  void end_window();
  void summarise();

  std::array<double, kWindows> rates_{};
  std::array<double, kWindows> sorted_{};
  std::array<Size, kSizes> sizes_{};
  std::array<FlowPart, kSizes> parts_{};
  std::size_t part_count_ = 0;
  std::size_t ended_ = 0;  ///< windows, at most kWindows
  std::size_t oldest_ = 0;
  double began_ = 0.0;  ///< the window that runs
  double count_ = 0.0;  ///< of requests in it
  bool started_ = false;
};

}  // namespace negawatt::route
