// SPDX-License-Identifier: Apache-2.0
#include "daemon/granting.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace negawatt::daemon {

lease::Terms allowed_by(const GpuPolicy& policy) {
  lease::Terms terms;
  if (policy.core_min) terms.core_min_mhz = policy.core_min->count;
  if (policy.core_max) terms.core_max_mhz = policy.core_max->count;
  terms.memory = policy.memory;
  if (policy.power) terms.power_limit = policy.power_max;
  terms.duration = policy.max_lease;
  return terms;
}

Result<lease::Terms> granted(const lease::Terms& asked, const GpuPolicy& policy) {
  const auto allowed = allowed_by(policy);
  lease::Terms terms;
  terms.core_min_mhz = std::max(asked.core_min_mhz, allowed.core_min_mhz);
  terms.core_max_mhz = std::min(asked.core_max_mhz, allowed.core_max_mhz);
  if (terms.core_min_mhz > terms.core_max_mhz)
    return failure(Code::invalid,
                   fmt::format("core clocks {} to {} MHz are asked for, {} to {} are "
                               "allowed",
                               asked.core_min_mhz, asked.core_max_mhz, allowed.core_min_mhz,
                               allowed.core_max_mhz));
  terms.memory = asked.memory && allowed.memory;
  if (asked.power_limit) {
    if (!policy.power) return failure(Code::invalid, "power limits may not be changed here");
    auto limit = *asked.power_limit;
    if (policy.power_max) limit = std::min(limit, *policy.power_max);
    if (policy.power_min) limit = std::max(limit, *policy.power_min);
    terms.power_limit = limit;
  }
  terms.duration = asked.duration;
  if (policy.max_lease)
    terms.duration = std::min(terms.duration.value_or(*policy.max_lease), *policy.max_lease);
  return terms;
}

}  // namespace negawatt::daemon
