// SPDX-License-Identifier: Apache-2.0
#include "structure/phases.hpp"

#include <gtest/gtest.h>

namespace negawatt::structure {
namespace {

using trace::HostCall;
using trace::KernelRun;
using trace::RangePop;
using trace::RangePush;

constexpr std::uint32_t kStep = 11, kForward = 12, kBackward = 13;

/// The names from the outermost range to this one.
std::vector<std::uint32_t> path_of(const Phases& phases, std::uint32_t phase) {
  std::vector<std::uint32_t> path;
  for (; phase != 0; phase = phases.all[phase].parent) {
    path.insert(path.begin(), phases.all[phase].name);
  }
  return path;
}

TEST(Phases, AreTheRangesAroundTheCall) {
  const std::vector<RangePush> pushes{{{10}, 1, 0, kStep},
                                      {{20}, 1, 0, kForward},
                                      {{50}, 1, 0, kBackward},
                                      {{110}, 1, 0, kStep},
                                      {{120}, 1, 0, kForward}};
  const std::vector<RangePop> pops{{{40}, 1, 0}, {{80}, 1, 0}, {{100}, 1, 0}};
  const std::vector<HostCall> calls{{{5}, {6}, 1, 100},     {{20}, {21}, 1, 101},
                                    {{60}, {61}, 1, 102},   {{90}, {91}, 1, 103},
                                    {{130}, {131}, 1, 104}, {{60}, {61}, 2, 105}};
  const Phases phases = find_phases(calls, pushes, pops);
  using Path = std::vector<std::uint32_t>;
  EXPECT_EQ(path_of(phases, phases.of_call[0]), Path{});
  EXPECT_EQ(path_of(phases, phases.of_call[1]), (Path{kStep, kForward}));
  EXPECT_EQ(path_of(phases, phases.of_call[2]), (Path{kStep, kBackward}));
  EXPECT_EQ(path_of(phases, phases.of_call[3]), Path{kStep});
  EXPECT_EQ(phases.of_call[4], phases.of_call[1]) << "the same phase of the next step";
  EXPECT_EQ(phases.of_call[5], 0U) << "another thread";
  EXPECT_EQ(phases.all.size(), 4U);

  // Kernels run much later than they are called for.
  const std::vector<KernelRun> runs{{{1000}, {1010}, 0, 0, 101, {}},
                                    {{1020}, {1030}, 0, 0, 104, {}},
                                    {{1040}, {1050}, 0, 0, 102, {}},
                                    {{1060}, {1070}, 0, 0, 999, {}}};
  EXPECT_EQ(
      phase_spans(phases, runs),
      (std::vector<PhaseSpan>{{phases.of_call[1], 0, 2}, {phases.of_call[2], 2, 3}, {0, 3, 4}}));
}

TEST(Phases, OfDomainsEndByThemselves) {
  const std::vector<RangePush> pushes{{{10}, 1, 0, kStep}, {{20}, 1, 5, kForward}};
  const std::vector<RangePop> pops{{{5}, 1, 0}, {{30}, 1, 0}, {{50}, 1, 5}, {{55}, 1, 5}};
  const std::vector<HostCall> calls{{{25}, {26}, 1, 1}, {{40}, {41}, 1, 2}, {{60}, {61}, 1, 3}};
  const Phases phases = find_phases(calls, pushes, pops);
  EXPECT_EQ(path_of(phases, phases.of_call[0]), (std::vector<std::uint32_t>{kStep, kForward}));
  EXPECT_EQ(phases.of_call[1], phases.of_call[0]) << "the other domain's range is still open";
  EXPECT_EQ(phases.of_call[2], 0U);
}

TEST(Phases, OfNothingAreNone) {
  const Phases phases = find_phases({}, {}, {});
  EXPECT_EQ(phases.all.size(), 1U);
  EXPECT_TRUE(phase_spans(phases, {}).empty());
}

}  // namespace
}  // namespace negawatt::structure
