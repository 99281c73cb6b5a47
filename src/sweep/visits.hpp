// SPDX-License-Identifier: Apache-2.0
//
// What a sweep has measured: one visit is one window of one kernel at one clock pair. The log is a
// CSV file that grows by a line a visit, so that a sweep that was killed goes on where it stopped.
// A last line that was cut off is dropped.
//
//   # setup: TEXT                                   ; what must not differ when it goes on
//   kernel,core_mhz,memory_mhz,time_s,energy_j,energy_sd_j,calls,actual_core_mhz,actual_memory_mhz,
//   clocks,temperature_c
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/clocks.hpp"

namespace negawatt::sweep {

/// Whether the GPU ran at the clocks that were asked for.
enum class Obedience : unsigned char {
  as_asked,
  capped,   ///< slower, and the driver says that power or temperature is why
  ignored,  ///< another clock without a reason
  unknown,  ///< the device does not tell its clocks
};
[[nodiscard]] std::string_view name_of(Obedience obedience);

struct Visit {
  std::uint32_t kernel = 0;  ///< index into the sweep's kernels
  trace::ClockPair clocks;
  Seconds time;             ///< of one call
  Joules energy;            ///< of one call
  Joules energy_deviation;  ///< of this window: from the counter's steps
  std::uint64_t calls = 0;
  std::uint32_t actual_core_mhz = 0;  ///< median of the samples; 0: unknown
  std::uint32_t actual_memory_mhz = 0;
  Obedience obedience = Obedience::unknown;
  std::optional<std::int32_t> temperature_c;
};

struct VisitLog {
  std::string setup;
  std::vector<Visit> visits;
  std::size_t whole_bytes = 0;  ///< of the file, up to the end of its last whole line
};

/// Text of a setup: what was measured how, and the command, of which no two look the same.
[[nodiscard]] std::string setup_text(std::string_view how, const std::vector<std::string>& command);

[[nodiscard]] std::string log_header(const std::string& setup);
[[nodiscard]] std::string log_line(const Visit& visit, const std::vector<std::string>& kernels);
/// Fails on a file that is no log, and on a kernel that is not among `kernels`.
[[nodiscard]] Result<VisitLog> parse_log(std::string_view bytes, std::string_view file,
                                         const std::vector<std::string>& kernels);

}  // namespace negawatt::sweep
