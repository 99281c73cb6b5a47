// SPDX-License-Identifier: Apache-2.0
//
// Phases that a program marks with NVTX. A range is a stretch of a host thread's time; a kernel
// belongs to the range in which its launch was called, however much later it runs. So kernels need
// their host calls in the recording; without, they are of no phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/recording.hpp"

namespace negawatt::structure {

/// A range and those around it: "step / forward / attention" is a phase, whichever step it is of.
struct Phase {
  std::uint32_t parent = 0;  ///< a phase
  std::uint32_t name = 0;    ///< a text of the recording
};

struct Phases {
  std::vector<Phase> all;              ///< 0 is "none", the parent of the outermost
  std::vector<std::uint32_t> of_call;  ///< of each host call, the innermost
  std::unordered_map<std::uint32_t, std::uint32_t> of_correlation;
};

/// Host calls and ranges of one process, in any order. Pops without a push are ignored, ranges that
/// never end last to the end. O(n log n).
[[nodiscard]] Phases find_phases(std::span<const trace::HostCall> calls,
                                 std::span<const trace::RangePush> pushes,
                                 std::span<const trace::RangePop> pops);

/// Kernels first ... last - 1 that are of one phase.
struct PhaseSpan {
  std::uint32_t phase = 0;
  std::size_t first = 0, last = 0;
  auto operator<=>(const PhaseSpan&) const = default;
};
/// The phases of kernels, one after the other.
[[nodiscard]] std::vector<PhaseSpan> phase_spans(const Phases& phases,
                                                 std::span<const trace::KernelRun> runs);

}  // namespace negawatt::structure
