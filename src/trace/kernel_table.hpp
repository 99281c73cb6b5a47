// SPDX-License-Identifier: Apache-2.0
//
// The kernel table: what every kernel of one iteration costs at every clock pair it was measured
// at. Read from CSV (docs/formats.md); times and energies are per call, `calls` per iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evidence.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"

namespace negawatt::trace {

/// One call of a kernel at one clock pair. The standard deviations are those of the stated mean
/// (its standard error), zero when the table has none.
struct KernelOption {
  ClockPair clocks;
  Seconds time;
  Joules energy;
  Seconds time_sd;
  Joules energy_sd;
};

struct Kernel {
  std::string name;
  std::string group;
  std::uint32_t calls = 1;
  std::vector<KernelOption> options;  ///< sorted by clock pair, no pair twice

  /// The option at `clocks`, or null.
  [[nodiscard]] const KernelOption* at(ClockPair clocks) const;
};

struct KernelTable {
  std::vector<Kernel> kernels;  ///< in order of first appearance
  bool has_deviations = false;  ///< the file gives time_sd_s and energy_sd_j
  bool last_line_open = false;  ///< no line end after the last record: it may be cut off
  Evidence evidence;
  std::string name;  ///< the file it came from
};

/// Indices into KernelTable::kernels, one per invocation of one iteration.
using Sequence = std::vector<std::uint32_t>;

/// Reads a kernel table. `file` names it in messages. Fails, naming file and line, on anything a
/// measurement cannot be: see docs/formats.md for the list.
[[nodiscard]] Result<KernelTable> parse_kernel_table(std::string_view bytes, std::string_view file);

/// Reads `position,kernel`. Positions count up by one from 0 or 1. Every kernel of the table must
/// appear as often as its `calls` says.
[[nodiscard]] Result<Sequence> parse_sequence(std::string_view bytes, std::string_view file,
                                              const KernelTable& table);

/// Without a sequence file: each kernel's calls one after the other, in table order. Fails when
/// that is more than 100 million calls.
[[nodiscard]] Result<Sequence> sequence_in_table_order(const KernelTable& table);

}  // namespace negawatt::trace
