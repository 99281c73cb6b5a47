// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine as a TOML file describes it (docs/simulated-gpu.md). Every key is known or an
// error that names file, line and the nearest known key; nothing is guessed. A GPU may refer to
// another file (`base`) and override parts of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpusim/gpu_model.hpp"

namespace negawatt::gpusim {

inline constexpr std::size_t kMostGpus = 64;

/// How simulated time relates to the machine's: the same, `time_scale` times as fast, or moving
/// only while all who take part sleep.
enum class TimeMode : std::uint8_t { real, scaled, virtual_time };

struct MachineModel {
  std::string file;
  std::string driver_version;
  std::string nvml_version;
  TimeMode time_mode = TimeMode::real;
  double time_scale = 1;
  bool anyone_may_set = false;  ///< setters work without root
  FaultScript faults;           ///< of calls without a device, and the symbols that are missing
  std::vector<GpuModel> gpus;   ///< at least one; no UUID or PCI address twice
};

/// Reads the text of a `base` file, named as the description names it.
using BaseReader = std::function<Result<std::string>(std::string_view name)>;

/// Pure but for `read_base`. `file` names the description in messages.
[[nodiscard]] Result<MachineModel> parse_machine(std::string_view bytes, std::string_view file,
                                                 const BaseReader& read_base);

/// Reads a description and what it refers to, relative to its own folder.
[[nodiscard]] Result<MachineModel> read_machine(const std::string& path);

/// "none", "6 ms", "150 ms" or a number of seconds ("0.006").
[[nodiscard]] Result<Seconds> parse_latency(std::string_view text);

/// Replaces every switching latency of every GPU, both domains and the reset
/// (NEGAWATT_GPUSIM_LATENCY).
void override_latency(MachineModel& machine, Seconds latency);

}  // namespace negawatt::gpusim
