// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a recording, device by device in order of their start, and the classes they are
// of.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/units.hpp"
#include "structure/segmentation.hpp"
#include "trace/recording_decoder.hpp"

namespace negawatt::structure {

/// What one device ran. Kernels of one name are one function, whatever their shape: a batch that is
/// larger or a prompt that is longer changes the grid, not what the program does.
struct KernelStream {
  std::uint32_t device = 0;
  std::vector<trace::KernelRun> runs;    ///< by start, then as in the recording
  std::vector<std::uint32_t> functions;  ///< of each run
  std::vector<std::uint32_t> names;      ///< of each function, a text of the recording
  /// Refers to this.
  [[nodiscard]] FunctionSequence sequence() const {
    return {functions, static_cast<std::uint32_t>(names.size())};
  }
};

/// Collects the kernels among a recording's events; takes 56 bytes a kernel.
class KernelCollector {
 public:
  void add(const trace::Event& event, const trace::RecordingTables& tables);
  /// By device. Afterwards the collector is empty.
  [[nodiscard]] std::vector<KernelStream> streams(const trace::RecordingTables& tables);

 private:
  std::map<std::uint32_t, std::vector<trace::KernelRun>> by_device_;
};

/// How much a class was used; measured by the profiler, as the recording has it.
struct ClassUse {
  std::uint32_t kernel_class = 0;
  std::uint64_t runs = 0;
  Seconds time;  ///< sum over runs; those side by side count each
  auto operator<=>(const ClassUse&) const = default;
};
/// The classes of a stream, most time first.
[[nodiscard]] std::vector<ClassUse> class_uses(const KernelStream& stream);

}  // namespace negawatt::structure
