// SPDX-License-Identifier: Apache-2.0
//
// What was published about GPT-3 XL on the RTX 3080 Ti, in the form that the calibration needs:
// per kernel the cost at automatic clocks, at the chosen pair and its extremes over all pairs; per
// pass and pair the ratio to automatic clocks; and the relaxed curve. Seconds and joules per call.
// Reading fails, naming file and line, when a file is malformed or the files contradict each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "trace/clocks.hpp"

namespace negawatt::calibrate {

/// The grid of pairs; 0 stands for auto, the last of each. Pairs are numbered memory first.
inline constexpr std::array<std::uint32_t, 11> kCores = {210,  420,  630,  840,  1050, 1260,
                                                         1470, 1680, 1890, 2100, 0};
inline constexpr std::array<std::uint32_t, 6> kMemories = {405, 810, 5001, 9251, 9501, 0};
inline constexpr std::size_t kPairs = kCores.size() * kMemories.size();
inline constexpr std::size_t kAutomatic = kPairs - 1;
/// Positions on the grid with a meaning of their own.
inline constexpr std::size_t kMemory810 = 1;
inline constexpr std::size_t kMemory5001 = 2;
inline constexpr std::size_t kCore420 = 1;
inline constexpr std::size_t kCore1470 = 6;
inline constexpr std::size_t kCore1680 = 7;

[[nodiscard]] constexpr std::size_t pair_at(std::size_t core, std::size_t memory) {
  return memory * kCores.size() + core;
}
[[nodiscard]] constexpr std::size_t core_of(std::size_t pair) { return pair % kCores.size(); }
[[nodiscard]] constexpr std::size_t memory_of(std::size_t pair) { return pair / kCores.size(); }
[[nodiscard]] trace::ClockPair clocks_of(std::size_t pair);

/// Time in seconds and energy in joules, or both as a ratio.
struct Point {
  double time = 0.0;
  double energy = 0.0;
};

struct KernelFacts {
  std::string name, group;
  double calls = 0.0;
  std::size_t pass = 0;  ///< 0 forward, 1 backward
  Point automatic, chosen, least, most;
  std::size_t chosen_pair = 0;
};

struct Facts {
  std::vector<KernelFacts> kernels;
  std::array<std::array<Point, kPairs>, 2> pass_ratio;  ///< pass total / total at auto, auto
  std::vector<Point> relaxed;  ///< vertices of the lower hull of the global curve, as ratios
};

struct FactFiles {
  std::string_view kernels, passes, extremes, relaxed;
};

/// Cost of one iteration, or of one pass of it, at automatic clocks.
[[nodiscard]] Point automatic_iteration(const Facts& facts);
[[nodiscard]] Point automatic_pass(const Facts& facts, std::size_t pass);

[[nodiscard]] Result<Facts> read_facts(const FactFiles& files);

}  // namespace negawatt::calibrate
