// SPDX-License-Identifier: Apache-2.0
//
// A language model on a device, or on several that share each layer (tensor parallel): what the
// steps of its engine cost, and how many tokens its KV cache holds. A model that does not fit or
// cannot be shared or computed, a clock that the device does not have, and a power cap below what
// flows anyway or above the device's own are errors.
#pragma once

#include <cstdint>
#include <optional>

#include "core/result.hpp"
#include "core/units.hpp"
#include "model/architecture.hpp"
#include "model/device.hpp"
#include "model/serving.hpp"

namespace negawatt::model {

struct EngineLimits {
  std::uint32_t devices = 1;                        ///< tensor parallel
  std::uint32_t most_sequences = 256;               ///< of a batch
  std::uint32_t most_step_tokens = 2048;            ///< prompt tokens and sequences of a step
  double memory_share = 0.9;                        ///< of a device's memory that the engine takes
  double reserve_bytes = 1.6 * 1024 * 1024 * 1024;  ///< a device: activations, launch graphs
  std::optional<double> core_mhz;                   ///< none: as the device does by itself
  std::optional<Watts> power_cap;                   ///< of a device; none: its highest power
};

struct Deployment {
  ServingModel steps;
  std::uint64_t kv_capacity = 0;  ///< tokens
  std::uint32_t most_sequences = 0;
  std::uint32_t most_step_tokens = 0;
};

[[nodiscard]] Result<Deployment> deploy(const Architecture& architecture, const Device& device,
                                        const EngineLimits& limits);

/// Whether that many devices can share the model (heads cannot be cut, devices talk over a link)
/// and compute in its precision.
[[nodiscard]] Status check_sharing(const Architecture& architecture, const Device& device,
                                   std::uint32_t devices);

/// The coefficients by themselves, at the device's own clock and with no cap but its highest power;
/// whether the model fits is not asked. check_sharing() holds.
[[nodiscard]] StepCoefficients coefficients_of(const Architecture& architecture,
                                               const Device& device, std::uint32_t devices);

}  // namespace negawatt::model
