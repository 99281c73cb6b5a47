// SPDX-License-Identifier: Apache-2.0
//
// A GPU of the machine, or one of its MIG instances, by its place; and by name.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "gpusim/description.hpp"

namespace negawatt::gpusim {

struct Target {
  std::size_t gpu = 0;
  std::optional<std::size_t> mig = {};  ///< index into GpuModel::mig
};

/// Nothing when no GPU and no MIG instance has that UUID.
[[nodiscard]] std::optional<Target> target_named(const MachineModel& machine,
                                                 std::string_view uuid);

}  // namespace negawatt::gpusim
