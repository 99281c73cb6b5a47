// SPDX-License-Identifier: Apache-2.0
//
// What doctor knows before it judges: the answers of the machine and of each GPU, as they came.
// Gathered by gather.hpp, judged by machine_findings.hpp and gpu_findings.hpp, which are pure. An
// empty optional was not asked; an Answer or Result without a value was, and says why there is
// none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "gpu/capabilities.hpp"
#include "gpu/device.hpp"
#include "gpu/refresh.hpp"
#include "gpu/visible_devices.hpp"
#include "lease/protocol.hpp"

namespace negawatt::inspect {

/// How often each sensor changes, and whether counter and power agree. Takes seconds.
struct Measured {
  Result<gpu::Refresh> energy;
  bool counter_moves = false;  ///< whether or not its period can be told
  Result<gpu::Refresh> power_instant;
  Result<gpu::Refresh> power_average;
  Result<gpu::CrossCheck> cross_check;
};

/// The answers of a GPU.
struct GpuAnswers {
  gpu::Answer<gpu::EnergyReading> energy;
  gpu::Answer<gpu::Milliwatts> power_instant;
  gpu::Answer<gpu::Milliwatts> power_average;
  gpu::Answer<gpu::Milliwatts> power_unspecified;
  gpu::Answer<gpu::Clocks> clocks;
  gpu::Answer<std::vector<gpu::Megahertz>> memory_clocks;
  gpu::Answer<std::vector<gpu::Megahertz>> core_clocks;  ///< at the highest memory clock
  gpu::Answer<gpu::EventReasons> reasons;
  gpu::Answer<gpu::PowerLimits> power_limits;
  gpu::Answer<bool> persistence;
  gpu::Answer<gpu::MigMode> mig;
  gpu::Answer<std::vector<gpu::MigId>> instances;
  gpu::Answer<std::vector<gpu::ComputeProcess>> processes;
};

struct GpuFacts {
  unsigned display_index = 0;
  std::optional<gpu::Identity> identity;   ///< none: it does not answer, and `lost` says why
  std::optional<gpu::DriverError> lost;    ///< what the driver said instead of an identity
  std::optional<GpuAnswers> answers;       ///< none with an identity: a driver call hangs
  std::optional<Measured> measured;        ///< none: not asked for, or a driver call hangs
  std::vector<std::string> process_names;  ///< of the compute processes that we may see
};

struct DriverFacts {
  std::string path;              ///< of the library
  std::optional<Error> failure;  ///< why it could not be opened
  bool hangs = false;            ///< it was asked and has not returned
  bool simulated = false;
  gpu::Answer<std::string> driver_version;
  gpu::Answer<std::string> library_version;
  std::vector<std::string> missing_functions;
  std::optional<gpu::DriverError> listing;  ///< why the GPUs could not even be counted
};

/// What negawattd says; or why it says nothing.
struct DaemonFacts {
  std::string socket;
  std::optional<Error> failure;
  bool observe_only = false;
  std::vector<lease::GpuEntry> gpus;
};

/// Who we are as far as the kernel is concerned.
struct Privilege {
  std::uint32_t user_id = 0;             ///< effective
  bool sys_admin = false;                ///< CAP_SYS_ADMIN is effective
  std::optional<std::string> container;  ///< "docker", "podman", ...
};

struct OtherTool {
  std::string name;
  std::uint32_t pid = 0;
};

struct MachineFacts {
  Privilege privilege;
  std::optional<std::string> kernel_driver;  ///< the loaded module's version
  std::vector<OtherTool> tools;              ///< profilers and monitors that run here
  std::optional<std::string> injection;      ///< CUDA_INJECTION64_PATH of this shell
};

struct DoctorFacts {
  bool quick = false;  ///< Measured was not asked for
  MachineFacts machine;
  DriverFacts driver;
  DaemonFacts daemon;
  gpu::CudaEnvironment cuda;
  gpu::Visibility visible;
  std::vector<GpuFacts> gpus;
};

}  // namespace negawatt::inspect
