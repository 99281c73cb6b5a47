// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a CUDA program sees: CUDA_VISIBLE_DEVICES as CUDA reads it (CUDA C++ Programming
// Guide, "CUDA Environment Variables"; MIG user guide; behaviour as PyTorch found it, issues 92315
// and 131667). A pure function over a list of GPUs; the result names GPUs by UUID.
// CUDA_DEVICE_ORDER matters for indices only; the order FASTEST_FIRST cannot be known from outside
// when GPUs differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/driver.hpp"
#include "gpu/identity.hpp"

namespace negawatt::gpu {

/// A GPU as far as visibility goes.
struct PhysicalGpu {
  GpuId id;
  std::string pci_bus_id;
  std::string name;
  bool mig = false;
  std::vector<MigId> instances;  ///< in the driver's order
};

/// One device of a CUDA program: a GPU, or one MIG instance of it.
struct VisibleDevice {
  GpuId gpu;
  std::optional<MigId> instance;
  auto operator<=>(const VisibleDevice&) const = default;
};

struct Visibility {
  std::vector<VisibleDevice> devices;  ///< in CUDA's order
  /// Why there are fewer devices than names, or which order was assumed. Empty: nothing to say.
  std::string note;
};

/// The two environment variables; absent is not the same as empty.
struct CudaEnvironment {
  std::optional<std::string> visible_devices;
  std::optional<std::string> device_order;
};

[[nodiscard]] Visibility visible_devices(const CudaEnvironment& environment,
                                         std::span<const PhysicalGpu> gpus);

/// This process's own variables.
[[nodiscard]] CudaEnvironment cuda_environment();
/// The driver's GPUs that answer.
[[nodiscard]] std::vector<PhysicalGpu> physical_gpus(const Driver& driver);

}  // namespace negawatt::gpu
