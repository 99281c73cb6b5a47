// SPDX-License-Identifier: Apache-2.0
#include "gpusim/kernel_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace negawatt::gpusim {
namespace {

std::span<const CoreNode> nodes_of(const MemorySetting& setting) {
  return std::span(setting.nodes).first(setting.count);
}

/// On the straight line through (x0, y0) and (x1, y1) in logarithms.
double log_log(double x, CoreNode a, CoreNode b, double CoreNode::* value) {
  const double share = std::log(x / a.core_mhz) / std::log(b.core_mhz / a.core_mhz);
  return a.*value * std::pow(b.*value / a.*value, share);
}

Result<KernelSurface> named_surface(const std::string& name, std::uint32_t calls) {
  if (name.size() >= kKernelNameBytes)
    return failure(Code::invalid, fmt::format("kernel '{}': expected a name of at most {} bytes",
                                              name, kKernelNameBytes - 1));
  KernelSurface surface;
  surface.calls = calls;
  std::ranges::copy(name, surface.name.begin());
  return surface;
}

/// Finds or adds the setting of a memory clock; null when there is no room.
MemorySetting* setting_of(KernelSurface& surface, std::uint32_t memory_mhz) {
  auto settings = std::span(surface.settings).first(surface.count);
  const auto found = std::ranges::find(settings, memory_mhz, &MemorySetting::memory_mhz);
  if (found != settings.end()) return &*found;
  if (surface.count == kMostMemorySettings) return nullptr;
  auto& added = surface.settings[surface.count++];
  added.memory_mhz = memory_mhz;
  return &added;
}

/// False when there is no room.
bool add_node(MemorySetting& setting, CoreNode node) {
  if (setting.count == kMostCoreNodes) return false;
  setting.nodes[setting.count++] = node;
  return true;
}

struct ClocksMhz {
  double core = 0;
  double memory = 0;
};

CoreNode node_of(const KernelDemand& demand, const GpuModel& model, ClocksMhz at) {
  const auto& clocks = model.clocks;
  const double compute = demand.compute.in_si() * clocks.core_mhz.back() / at.core;
  const double memory = demand.memory.in_si() * clocks.memory_mhz.back() / at.memory;
  const double p = demand.overlap;
  const double time =
      demand.latency.in_si() + std::pow(std::pow(compute, p) + std::pow(memory, p), 1.0 / p);
  const double volts = clocks.volts_at(at.core) / clocks.volts_at(clocks.core_mhz.back());
  const auto work = demand.core_energy * (volts * volts) + demand.memory_energy;
  const auto power = model.power.static_power +
                     model.power.clock_power * clocks.switching_power_at(at.core) +
                     work / Seconds(time);
  return {at.core, time, power.in_si()};
}

/// The surface, if it can be interpolated: logarithms need finite numbers above 0.
Result<KernelSurface> checked(const KernelSurface& surface) {
  const auto usable = [](double x) { return std::isfinite(x) && x > 0.0; };
  for (const auto& setting : std::span(surface.settings).first(surface.count))
    for (const auto& node : nodes_of(setting))
      if (!usable(node.time_s) || !usable(node.power_w))
        return failure(Code::invalid,
                       fmt::format("kernel '{}': expected time and power above 0 at {} MHz, found "
                                   "{} s and {} W",
                                   surface.name_text(), node.core_mhz, node.time_s, node.power_w));
  return surface;
}

void fill(MemorySetting& setting, const KernelDemand& demand, const GpuModel& model,
          double memory_mhz) {
  const auto& core = model.clocks.core_mhz;
  const std::size_t count = std::min(core.size(), kMostCoreNodes);
  for (std::size_t n = 0; n < count; ++n) {
    const auto at = count == 1 ? core.size() - 1 : n * (core.size() - 1) / (count - 1);
    add_node(setting, node_of(demand, model, {.core = 1.0 * core[at], .memory = memory_mhz}));
  }
}

}  // namespace

const MemorySetting& KernelSurface::setting(std::uint32_t memory_mhz) const {
  const auto all = std::span(settings).first(count);
  const auto distance = [&](const MemorySetting& s) {
    if (s.memory_mhz == memory_mhz) return -1.0;
    // Automatic memory runs near the highest clock; it stands in for a locked one only at the end.
    if (memory_mhz == 0) return 1.0 / s.memory_mhz;
    if (s.memory_mhz == 0) return 1e12;
    return std::abs(1.0 * s.memory_mhz - memory_mhz);
  };
  return *std::ranges::min_element(all, {}, distance);
}

OperatingPoint operating_point(const MemorySetting& setting, double core_mhz) {
  const auto nodes = nodes_of(setting);
  const auto above = std::ranges::lower_bound(nodes, core_mhz, {}, &CoreNode::core_mhz);
  const auto& node = above == nodes.end() ? nodes.back() : *above;
  if (above == nodes.end() || above == nodes.begin() || node.core_mhz == core_mhz)
    return {Seconds(node.time_s), Watts(node.power_w)};
  const auto& below = *(above - 1);
  return {Seconds(log_log(core_mhz, below, node, &CoreNode::time_s)),
          Watts(log_log(core_mhz, below, node, &CoreNode::power_w))};
}

double clock_within(const MemorySetting& setting, double core_mhz, Watts limit) {
  if (operating_point(setting, core_mhz).power <= limit) return core_mhz;
  const auto nodes = nodes_of(setting);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    if (nodes[n].core_mhz >= core_mhz || nodes[n].power_w > limit.in_si()) continue;
    // Between this node and the next one, or `core_mhz` if that is nearer, the limit is crossed.
    const double top = n + 1 < nodes.size() ? std::min(core_mhz, nodes[n + 1].core_mhz) : core_mhz;
    const double top_power = operating_point(setting, top).power.in_si();
    const double share =
        std::log(limit.in_si() / nodes[n].power_w) / std::log(top_power / nodes[n].power_w);
    return nodes[n].core_mhz * std::pow(top / nodes[n].core_mhz, std::clamp(share, 0.0, 1.0));
  }
  return std::min(core_mhz, nodes.front().core_mhz);
}

Result<KernelSurface> surface_of_table(const GpuModel& model, const trace::Kernel& kernel) {
  NW_TRY(auto surface, named_surface(kernel.name, kernel.calls));
  const auto add = [&](const trace::KernelOption& option, double core_mhz) {
    auto* setting = setting_of(surface, option.clocks.memory.mhz());
    return setting != nullptr && add_node(*setting, {core_mhz, option.time.in_si(),
                                                     (option.energy / option.time).in_si()});
  };
  const double automatic = model.clocks.auto_core_mhz;
  // Options come sorted by clock pair, automatic first: locked ones ascend.
  bool fits = true;
  for (const auto& option : kernel.options) {
    if (option.clocks.core.is_automatic()) continue;
    const bool has_automatic =
        kernel.at({trace::Clock::automatic(), option.clocks.memory}) != nullptr;
    if (has_automatic && option.clocks.core.mhz() >= automatic) continue;
    fits = fits && add(option, option.clocks.core.mhz());
  }
  for (const auto& option : kernel.options)
    if (option.clocks.core.is_automatic()) fits = fits && add(option, automatic);
  if (fits) return checked(surface);
  return failure(Code::invalid,
                 fmt::format("kernel '{}': expected at most {} memory settings with {} core clocks",
                             kernel.name, kMostMemorySettings, kMostCoreNodes));
}

Result<KernelSurface> surface_of_demand(const GpuModel& model, const KernelDemand& demand) {
  NW_TRY(auto surface, named_surface(demand.name, demand.calls));
  if (model.clocks.memory_mhz.size() + 1 > kMostMemorySettings)
    return failure(Code::invalid, fmt::format("kernel '{}': expected at most {} memory clocks",
                                              demand.name, kMostMemorySettings - 1));
  fill(*setting_of(surface, 0), demand, model, model.clocks.auto_memory_mhz);
  for (const auto mhz : model.clocks.memory_mhz)
    fill(*setting_of(surface, mhz), demand, model, mhz);
  return checked(surface);
}

}  // namespace negawatt::gpusim
