// SPDX-License-Identifier: Apache-2.0
//
// The parts of a description that make one GPU: its physics, its identity, its faults. Every
// problem is recorded in the table that was read.
#pragma once

#include "core/toml_reader.hpp"
#include "gpusim/description.hpp"
#include "gpusim/gpu_model.hpp"

namespace negawatt::gpusim {

void read_gpu(TomlTable& table, GpuModel& gpu);

/// Clocks, latencies, power, heat, limits, governor and sensors.
void read_physics(TomlTable& table, GpuModel& gpu);

/// `faults` of a GPU or of the machine.
void read_faults(TomlTable& table, FaultScript& script);

/// A duration: a number of seconds, or text as parse_latency takes it.
void take_duration(TomlTable& table, std::string_view key, std::int64_t& nanoseconds);
void need_duration(TomlTable& table, std::string_view key, std::int64_t& nanoseconds);

}  // namespace negawatt::gpusim
