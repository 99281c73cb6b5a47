// SPDX-License-Identifier: Apache-2.0
#include "cli/gpu_choice.hpp"

#include <fmt/core.h>

#include <utility>

#include "gpu/visible_devices.hpp"

namespace negawatt::cli {

std::string ChosenGpu::description() const {
  return fmt::format("{}, {}", device.identity().name, device.id().text());
}

EvidenceKind ChosenGpu::evidence() const {
  return device.clock().is_simulated() ? EvidenceKind::simulated : EvidenceKind::measured;
}

Result<ChosenGpu> choose_gpu(const std::string& uuid) {
  NW_TRY(auto driver, gpu::Driver::open(gpu::Access::observe));
  gpu::GpuId id(uuid);
  if (uuid.empty()) {
    const auto visible = gpu::visible_devices(gpu::cuda_environment(), gpu::physical_gpus(driver));
    if (visible.devices.empty())
      return failure(Code::unavailable,
                     visible.note.empty() ? "no GPU is visible" : "no GPU: " + visible.note);
    id = visible.devices.front().gpu;
  }
  NW_TRY(auto device, driver.device(id));
  return ChosenGpu{std::move(driver), std::move(device)};
}

}  // namespace negawatt::cli
