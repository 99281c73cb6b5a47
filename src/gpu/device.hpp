// SPDX-License-Identifier: Apache-2.0
//
// One GPU. Every call goes to the driver (nothing is cached), is answered with a unit or with the
// reason for no answer, and falls back to the older function where a driver lacks the newer one.
// NOT_READY is asked again for a quarter of a second. A copy is the same GPU and keeps the driver
// loaded. Thread-safe as NVML is; a call may hang as long as the driver does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "gpu/answer.hpp"
#include "gpu/device_clock.hpp"
#include "gpu/identity.hpp"
#include "gpu/settings.hpp"
#include "gpu/units.hpp"

struct nvmlDevice_st;

namespace negawatt::gpu {

/// The energy counter at one moment. The counter is a point: only two of them make an energy.
struct EnergyReading {
  Millijoules counter;  ///< since the driver was loaded
  TimePoint at;         ///< the middle of the call
  Seconds read_cost;    ///< how long the call took
};

struct PowerLimits {
  std::optional<Milliwatts> requested;  ///< what an administrator set
  std::optional<Milliwatts> enforced;   ///< the lowest of all that apply: what really holds
  std::optional<Milliwatts> factory;    ///< the default
  std::optional<Milliwatts> least;
  std::optional<Milliwatts> most;
};

/// Why the clocks are lower than they could be.
struct EventReasons {
  std::uint64_t bits = 0;  ///< the driver's own
  [[nodiscard]] bool idle() const;
  [[nodiscard]] bool power_cap() const;  ///< by software or by a power brake
  [[nodiscard]] bool thermal() const;    ///< by software or hardware
};
/// "power cap, thermal", "none".
[[nodiscard]] std::string to_string(EventReasons reasons);

struct Clocks {
  Megahertz core;
  Megahertz memory;
};

struct ComputeProcess {
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;  ///< none where the driver does not say
};

struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t used_bytes = 0;
};

struct Utilisation {
  std::uint32_t gpu_pct = 0;
  std::uint32_t memory_pct = 0;
};

struct MigMode {
  bool enabled = false;
  bool enabled_after_reset = false;
};

class Device {
 public:
  /// For Driver: a handle that the library gave out, and who it is.
  Device(std::shared_ptr<const NvmlLibrary> library, nvmlDevice_st* handle, Identity identity)
      : library_(std::move(library)), handle_(handle), identity_(std::move(identity)) {}

  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] const GpuId& id() const { return identity_.id; }
  [[nodiscard]] DeviceClock clock() const { return DeviceClock(library_); }
  /// False for a driver opened with Access::observe: every apply() is then denied.
  [[nodiscard]] bool may_set() const;

  // Sensors.
  [[nodiscard]] Answer<EnergyReading> energy() const;
  /// Over the driver's short window (25 ms of every 100 ms on recent GPUs); only by its own field.
  [[nodiscard]] Answer<Milliwatts> power_instant() const;
  /// Over about a second; only by its own field.
  [[nodiscard]] Answer<Milliwatts> power_average() const;
  /// Whichever of the two the old call means on this GPU, which it does not say.
  [[nodiscard]] Answer<Milliwatts> power_unspecified() const;
  [[nodiscard]] Answer<std::int32_t> temperature_c() const;
  [[nodiscard]] Answer<Clocks> clocks() const;  ///< as they are now
  [[nodiscard]] Answer<EventReasons> event_reasons() const;
  [[nodiscard]] Answer<EventReasons> supported_event_reasons() const;
  [[nodiscard]] Answer<Utilisation> utilisation() const;
  [[nodiscard]] Answer<MemoryUse> memory() const;
  /// 0 is the fastest.
  [[nodiscard]] Answer<std::uint32_t> performance_state() const;

  // What it is and allows.
  [[nodiscard]] Answer<std::vector<Megahertz>> memory_clocks() const;                ///< descending
  [[nodiscard]] Answer<std::vector<Megahertz>> core_clocks(Megahertz memory) const;  ///< descending
  /// Every limit that the device tells; an error only when it tells none.
  [[nodiscard]] Answer<PowerLimits> power_limits() const;
  [[nodiscard]] Answer<bool> persistence() const;
  [[nodiscard]] Answer<MigMode> mig_mode() const;
  [[nodiscard]] Answer<std::vector<MigId>> mig_instances() const;
  /// On a GPU with MIG: of all its instances.
  [[nodiscard]] Answer<std::vector<ComputeProcess>> compute_processes() const;

  /// The one way to change this GPU. Success means that the driver took the request, not that the
  /// clocks have followed or will. The value is passed on as it is: see limits.hpp.
  [[nodiscard]] Done apply(const Setting& setting) const;

 private:
  friend class DeviceCalls;

  std::shared_ptr<const NvmlLibrary> library_;
  nvmlDevice_st* handle_;
  Identity identity_;
};

}  // namespace negawatt::gpu
