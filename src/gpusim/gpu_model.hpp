// SPDX-License-Identifier: Apache-2.0
//
// What a simulated GPU is, as its description (description.hpp) states it: constant once read, so
// every process that shares a GPU holds its own copy. Clocks are MHz, simulated time is whole
// nanoseconds since the machine was started, temperatures are degrees Celsius. All powers hold at
// the reference temperature; leakage is what the temperature adds to them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "gpusim/fault_script.hpp"

namespace negawatt::gpusim {

/// A time that never comes.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// From the request of a clock to its effect, in one domain; the old clock holds meanwhile.
struct SwitchLatency {
  struct Target {
    std::uint32_t mhz = 0;
    std::int64_t latency_ns = 0;
  };
  std::int64_t otherwise_ns = 0;  ///< to a clock that is not among `targets`
  std::int64_t to_auto_ns = 0;    ///< for a reset
  std::vector<Target> targets;

  /// `mhz` is the clock asked for, as rounded; 0 stands for a reset.
  [[nodiscard]] std::int64_t to(std::uint32_t mhz) const;
};

/// A memory clock that the card does not hold above a core clock.
struct MemoryHold {
  std::uint32_t memory_mhz = 0;
  std::uint32_t core_at_most_mhz = 0;
  std::uint32_t otherwise_mhz = 0;
};

struct VoltagePoint {
  double mhz = 0;
  double volts = 0;
};

struct ClockModel {
  std::vector<std::uint32_t> core_mhz;    ///< supported, ascending
  std::vector<std::uint32_t> memory_mhz;  ///< supported, ascending
  std::uint32_t auto_core_mhz = 0;        ///< under load with no lock and no cap
  std::uint32_t auto_memory_mhz = 0;      ///< under load with no lock
  std::uint32_t idle_core_mhz = 0;        ///< without a context
  std::uint32_t idle_memory_mhz = 0;      ///< without a context
  std::vector<MemoryHold> memory_holds;
  std::vector<VoltagePoint> voltage;  ///< ascending; linear between, clamped at the ends
  SwitchLatency core_latency;
  SwitchLatency memory_latency;

  [[nodiscard]] double volts_at(double mhz) const;
  /// Switching power of a clocked circuit at `mhz` relative to the highest core clock: f * V^2.
  [[nodiscard]] double switching_power_at(double mhz) const;
};

struct PowerModel {
  Watts without_context;  ///< deep idle, measured at its own temperature: no leakage is added
  Watts with_context;     ///< idle with a context open, likewise
  Watts static_power;     ///< awake: independent of the clock
  Watts clock_power;      ///< awake: at the highest core clock, follows f * V^2
  double leakage_w_per_k = 0;
  double reference_c = 0;
  std::int64_t settle_ns = 0;  ///< the GPU stays awake that long after its last work
};

/// First order: temperature follows ambient + R * power with one time constant. Above `slowdown_c`
/// the core clock's ceiling falls by `step_mhz` a period and rises again 3 K below.
struct ThermalModel {
  double kelvin_per_watt = 0;
  Seconds time_constant;
  double ambient_c = 0;
  double slowdown_c = 0;
  double shutdown_c = 0;  ///< the GPU falls off the bus
  std::int64_t period_ns = 0;
  std::uint32_t step_mhz = 0;
};

struct PowerLimits {
  Watts least;
  Watts standard;
  Watts most;
  Watts initial;
};

/// How the power limit is kept. `equilibrium`: a kernel runs at once at the highest clock whose
/// power, as its surface states it, is within the limit. `feedback`: every period the ceiling of
/// the core clock follows the filtered power, as far down as that asks and `rise_mhz` up at most.
struct Governor {
  enum class Kind : std::uint8_t { equilibrium, feedback };
  Kind kind = Kind::equilibrium;
  std::int64_t period_ns = 0;
  Seconds filter;   ///< time constant of the power the governor sees
  double gain = 1;  ///< ceiling *= (limit / filtered power) ^ gain
  Watts slack;      ///< rises only while the filtered power is that far below the limit
  std::uint32_t rise_mhz = 0;
};

/// What a call costs its caller.
struct ReadCosts {
  std::int64_t energy_ns = 0;
  std::int64_t power_ns = 0;
  std::int64_t clock_ns = 0;
  std::int64_t set_ns = 0;
  std::int64_t other_ns = 0;
};

struct SensorModel {
  std::int64_t period_ns = 0;          ///< energy counter, powers and utilisation refresh together
  std::int64_t phase_ns = 0;           ///< of the first refresh
  std::int64_t instant_window_ns = 0;  ///< at most a period; ends at the refresh
  std::int64_t average_window_ns = 0;  ///< a whole number of periods, at most kSensorHistory - 2
  ReadCosts costs;
};

struct MigInstance {
  std::string uuid;
  std::string profile;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
  std::uint64_t memory_bytes = 0;
};

struct Identity {
  std::string name;
  std::string uuid;
  std::uint32_t pci_domain = 0;
  std::uint32_t pci_bus = 0;
  std::uint32_t pci_device = 0;
  std::uint32_t pci_device_id = 0;  ///< device << 16 | vendor, as NVML reports it
  std::uint32_t pci_subsystem_id = 0;
  std::uint32_t minor_number = 0;
  std::uint32_t architecture = 0;  ///< nvmlDeviceArchitecture: 7 Ampere, 9 Hopper
  std::uint64_t memory_bytes = 0;
  bool persistence_mode = true;
  std::uint32_t performance_state = 0;       ///< under load or with a context
  std::uint32_t idle_performance_state = 8;  ///< without a context
};

/// A kernel by what it asks of the GPU. Times are those of a call in which nothing else limited,
/// at the highest core and memory clocks; the parts overlap:
///   time  = latency + (compute^p + memory^p)^(1/p), p = overlap
///   power = static + clock power + (core_energy * (V / V_highest)^2 + memory_energy) / time
struct KernelDemand {
  std::string name;
  std::string group;
  std::uint32_t calls = 1;  ///< per iteration
  Seconds compute;          ///< follows the core clock
  Seconds memory;           ///< follows the memory clock
  Seconds latency;          ///< follows nothing
  double overlap = 4;
  Joules core_energy;
  Joules memory_energy;
};

struct GpuModel {
  Identity identity;
  ClockModel clocks;
  PowerModel power;
  ThermalModel thermal;
  PowerLimits limits;
  Governor governor;
  SensorModel sensors;
  bool mig_enabled = false;
  std::vector<MigInstance> mig;
  std::vector<KernelDemand> kernels;
  FaultScript faults;
};

}  // namespace negawatt::gpusim
