// SPDX-License-Identifier: Apache-2.0
#include "gpusim/target.hpp"

namespace negawatt::gpusim {

std::optional<Target> target_named(const MachineModel& machine, std::string_view uuid) {
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    if (machine.gpus[gpu].identity.uuid == uuid) return Target{.gpu = gpu};
    for (std::size_t i = 0; i < machine.gpus[gpu].mig.size(); ++i)
      if (machine.gpus[gpu].mig[i].uuid == uuid) return Target{.gpu = gpu, .mig = i};
  }
  return std::nullopt;
}

}  // namespace negawatt::gpusim
