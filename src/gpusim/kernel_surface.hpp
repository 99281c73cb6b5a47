// SPDX-License-Identifier: Apache-2.0
//
// What one call of a kernel takes at every clock of a simulated GPU: nodes of (core clock, time,
// power) for each memory setting, log-log interpolated between nodes and clamped at the ends. Made
// from a measured kernel table or from a kernel's demand. Fixed in size and trivially copyable, so
// that it can lie in memory that processes share. MHz, seconds, watts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpusim/gpu_model.hpp"
#include "trace/kernel_table.hpp"

namespace negawatt::gpusim {

inline constexpr std::size_t kMostCoreNodes = 24;
inline constexpr std::size_t kMostMemorySettings = 8;
inline constexpr std::size_t kKernelNameBytes = 96;

struct CoreNode {
  double core_mhz = 0;
  double time_s = 0;
  double power_w = 0;
};

/// The nodes at one memory setting, ascending in clock; the last one is the automatic clock.
struct MemorySetting {
  std::uint32_t memory_mhz = 0;  ///< 0: automatic
  std::uint32_t count = 0;
  std::array<CoreNode, kMostCoreNodes> nodes{};
};

struct OperatingPoint {
  Seconds time;  ///< of a call
  Watts power;
};

struct KernelSurface {
  std::array<char, kKernelNameBytes> name{};  ///< ends with a zero byte
  std::uint32_t calls = 0;                    ///< per iteration
  std::uint32_t count = 0;                    ///< of settings; 0 in an empty slot
  std::array<MemorySetting, kMostMemorySettings> settings{};

  [[nodiscard]] std::string_view name_text() const { return name.data(); }
  /// At a setting that the surface lacks, the nearest locked clock's nodes hold (for automatic
  /// memory: the highest one's). `memory_mhz` 0 is automatic. Precondition: count > 0.
  [[nodiscard]] const MemorySetting& setting(std::uint32_t memory_mhz) const;
};
static_assert(std::is_trivially_copyable_v<KernelSurface>);

[[nodiscard]] OperatingPoint operating_point(const MemorySetting& setting, double core_mhz);

/// The highest core clock, not above `core_mhz`, whose power is within `limit`; the lowest node's
/// clock when none is.
[[nodiscard]] double clock_within(const MemorySetting& setting, double core_mhz, Watts limit);

/// A kernel's rows of a table. Its automatic core clock becomes the node at `auto_core_mhz` of the
/// model; rows at or above that clock are left out, for the card behaves there as at the automatic
/// one. A memory setting without an automatic row ends at its highest clock. Fails, naming the
/// kernel, on a name that is too long, on more nodes or settings than fit, or without power.
[[nodiscard]] Result<KernelSurface> surface_of_table(const GpuModel& model,
                                                     const trace::Kernel& kernel);

/// A demand's surface over the model's clocks: at most kMostCoreNodes core clocks, evenly chosen,
/// for automatic memory and for each supported memory clock. Fails as above.
[[nodiscard]] Result<KernelSurface> surface_of_demand(const GpuModel& model,
                                                      const KernelDemand& demand);

}  // namespace negawatt::gpusim
