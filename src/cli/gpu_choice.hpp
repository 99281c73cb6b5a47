// SPDX-License-Identifier: Apache-2.0
//
// Which GPU a verb is about: the one named, or the first that a CUDA program started from this
// shell would see. Only looked at: clocks are changed by negawattd.
#pragma once

#include <string>

#include "core/evidence.hpp"
#include "core/result.hpp"
#include "gpu/driver.hpp"

namespace negawatt::cli {

struct ChosenGpu {
  gpu::Driver driver;
  gpu::Device device;

  /// "NVIDIA H200, GPU-..."
  [[nodiscard]] std::string description() const;
  /// Numbers read from a simulated GPU are simulated, whatever they are elsewhere.
  [[nodiscard]] EvidenceKind evidence() const;
};

/// `uuid` may be a prefix that fits one GPU only; empty: the first visible one.
[[nodiscard]] Result<ChosenGpu> choose_gpu(const std::string& uuid);

}  // namespace negawatt::cli
