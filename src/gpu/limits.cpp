// SPDX-License-Identifier: Apache-2.0
#include "gpu/limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace negawatt::gpu {
namespace {

/// Of a list that is ascending and not empty; of two equally near the lower one.
Megahertz nearest(const std::vector<Megahertz>& clocks, Megahertz wanted) {
  const auto above = std::ranges::lower_bound(clocks, wanted);
  if (above == clocks.begin()) return clocks.front();
  if (above == clocks.end()) return clocks.back();
  const auto below = std::prev(above);
  return above->count - wanted.count < wanted.count - below->count ? *above : *below;
}

std::vector<Megahertz> within(const std::vector<Megahertz>& clocks,
                              const std::optional<ClockRange>& allowed) {
  if (!allowed) return clocks;
  std::vector<Megahertz> kept;
  std::ranges::copy_if(clocks, std::back_inserter(kept), [&](Megahertz clock) {
    return clock >= allowed->least() && clock <= allowed->most();
  });
  return kept;
}

Result<CoreLock> clamp_core(const CoreLock& wanted, const Limits& limits) {
  const auto& clocks = limits.device.core_clocks;
  const auto allowed = within(clocks, limits.admin.core);
  // Nothing is asked that needs a list of clocks.
  if (!wanted.range && (!limits.admin.core || (!allowed.empty() && allowed == clocks))) {
    return wanted;
  }
  if (allowed.empty()) {
    return failure(Code::infeasible, clocks.empty() ? "the device names no core clocks to lock"
                                                    : "no core clock of the device is allowed");
  }
  if (!wanted.range) return CoreLock{ClockRange::between(allowed.front(), allowed.back())};
  return CoreLock{ClockRange::between(nearest(allowed, wanted.range->least()),
                                      nearest(allowed, wanted.range->most()))};
}

Result<MemoryLock> clamp_memory(const MemoryLock& wanted, const Limits& limits) {
  if (!wanted.range) return wanted;
  if (!limits.admin.memory_lock) {
    return failure(Code::infeasible, "locking the memory clock is not allowed");
  }
  const auto& clocks = limits.device.memory_clocks;
  if (clocks.empty()) return failure(Code::infeasible, "the device names no memory clocks to lock");
  return MemoryLock{ClockRange::between(nearest(clocks, wanted.range->least()),
                                        nearest(clocks, wanted.range->most()))};
}

Result<PowerLimit> clamp_power(const PowerLimit& wanted, const Limits& limits) {
  if (!limits.admin.power_limit) {
    return failure(Code::infeasible, "changing the power limit is not allowed");
  }
  if (!limits.device.least_power || !limits.device.most_power) {
    return failure(Code::infeasible, "the device does not tell its power limits");
  }
  const auto& admin = limits.admin;
  const Milliwatts most =
      std::min(*limits.device.most_power, admin.most_power.value_or(*limits.device.most_power));
  const Milliwatts least =
      std::max(*limits.device.least_power, admin.least_power.value_or(*limits.device.least_power));
  if (least > most) {
    return failure(Code::infeasible,
                   fmt::format("no power limit is allowed: at least {}, at most {}",
                               to_string(least), to_string(most)));
  }
  return PowerLimit{std::clamp(wanted.limit, least, most)};
}

std::vector<Megahertz> ascending(Answer<std::vector<Megahertz>> clocks) {
  if (!clocks) return {};
  std::ranges::sort(*clocks);
  return *std::move(clocks);
}

/// The lowest of those that are known.
std::optional<Milliwatts> lowest(std::initializer_list<std::optional<Milliwatts>> limits) {
  std::optional<Milliwatts> least;
  for (const auto& limit : limits) {
    if (limit && (!least || *limit < *least)) least = limit;
  }
  return least;
}

}  // namespace

DeviceLimits read_limits(const Device& device) {
  DeviceLimits limits;
  limits.memory_clocks = ascending(device.memory_clocks());
  if (!limits.memory_clocks.empty()) {
    limits.core_clocks = ascending(device.core_clocks(limits.memory_clocks.back()));
  }
  if (const auto power = device.power_limits()) {
    limits.least_power = power->least;
    // A ceiling is only known when the device says how far it may be turned.
    if (power->most) limits.most_power = lowest({power->most, power->requested, power->enforced});
  }
  return limits;
}

Result<Request> clamp(const Request& request, const Limits& limits) {
  Request clamped;
  if (request.core) {
    NW_TRY(clamped.core, clamp_core(*request.core, limits));
  }
  if (request.memory) {
    NW_TRY(clamped.memory, clamp_memory(*request.memory, limits));
  }
  if (request.power) {
    NW_TRY(clamped.power, clamp_power(*request.power, limits));
  }
  return clamped;
}

}  // namespace negawatt::gpu
