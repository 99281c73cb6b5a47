// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible_devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/text.hpp"

namespace negawatt::gpu {
namespace {

constexpr std::string_view kBlanks = " \t";

/// The GPUs in the order that indices count, and what has to be said about it.
struct Numbered {
  std::vector<const PhysicalGpu*> gpus;
  std::string note;
};

Numbered numbered(const CudaEnvironment& environment, std::span<const PhysicalGpu> gpus) {
  Numbered result;
  for (const auto& gpu : gpus) result.gpus.push_back(&gpu);
  std::ranges::stable_sort(result.gpus, {}, &PhysicalGpu::pci_bus_id);
  const bool by_bus = environment.device_order == "PCI_BUS_ID";
  const bool alike = std::ranges::all_of(
      gpus, [&](const PhysicalGpu& gpu) { return gpu.name == gpus.front().name; });
  if (!by_bus && !alike) {
    result.note =
        "the GPUs differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID: CUDA may number them otherwise";
  }
  return result;
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  while (true) {
    const std::size_t comma = list.find(',');
    elements.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return elements;
    list.remove_prefix(comma + 1);
  }
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The number an element starts with, as strtol reads it: "1gpu" is 1. None without a digit.
std::optional<long> leading_number(std::string_view element) {
  element = without_blanks(element);
  if (element.starts_with('+')) element.remove_prefix(1);
  long number = 0;
  const auto [end, error] =
      std::from_chars(element.data(), element.data() + element.size(), number);
  if (error != std::errc{} || end == element.data()) return std::nullopt;
  return number;
}

VisibleDevice whole(const PhysicalGpu& gpu) { return {gpu.id, std::nullopt}; }

/// What one element names, or why it names nothing.
using Named = tl::expected<VisibleDevice, std::string>;

Named by_index(std::string_view element, const Numbered& numbered) {
  const auto number = leading_number(element);
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= numbered.gpus.size()) {
    return tl::unexpected(
        fmt::format("there is no GPU number '{}'", printable(without_blanks(element))));
  }
  return whole(*numbered.gpus[static_cast<std::size_t>(*number)]);
}

/// The one candidate whose id starts with the element.
Named only_one(std::string_view element, std::span<const VisibleDevice> candidates,
               std::string_view what) {
  if (candidates.size() == 1) return candidates.front();
  return tl::unexpected(fmt::format("{} {} begins with '{}'",
                                    candidates.empty() ? "no" : "more than one", what,
                                    printable(element)));
}

Named by_uuid(std::string_view element, std::span<const PhysicalGpu> gpus) {
  std::vector<VisibleDevice> candidates;
  for (const auto& gpu : gpus) {
    if (gpu.id.text().starts_with(element)) candidates.push_back(whole(gpu));
  }
  return only_one(element, candidates, "GPU");
}

/// "MIG-<UUID>", or from before driver 470 "MIG-GPU-<UUID>/<GPU instance>/<compute instance>",
/// which the driver then gives as the instance's id.
Named by_instance(std::string_view element, std::span<const PhysicalGpu> gpus) {
  std::vector<VisibleDevice> candidates;
  for (const auto& gpu : gpus) {
    for (const auto& instance : gpu.instances) {
      if (instance.text() == element) return VisibleDevice{gpu.id, instance};
      if (instance.text().starts_with(element)) candidates.push_back({gpu.id, instance});
    }
  }
  return only_one(element, candidates, "MIG instance");
}

/// The first element decides how all are read.
enum class Kind : unsigned char { index, uuid, instance };

Kind kind_of(std::string_view list) {
  if (list.starts_with("GPU-")) return Kind::uuid;
  return list.starts_with("MIG-") ? Kind::instance : Kind::index;
}

Named named(std::string_view element, Kind kind, const Numbered& numbered,
            std::span<const PhysicalGpu> gpus) {
  switch (kind) {
    case Kind::index:
      return by_index(element, numbered);
    case Kind::uuid:
      if (element.starts_with("GPU-")) return by_uuid(element, gpus);
      break;
    case Kind::instance:
      if (element.starts_with("MIG-")) return by_instance(element, gpus);
      break;
  }
  return tl::unexpected(
      fmt::format("'{}' is of another kind than the first name", printable(element)));
}

/// Everything up to the first element that names nothing; nothing at all when one is named twice.
Visibility listed(std::string_view list, const Numbered& numbered,
                  std::span<const PhysicalGpu> gpus) {
  Visibility seen;
  const Kind kind = kind_of(list);
  for (const std::string_view element : elements_of(list)) {
    auto device = named(element, kind, numbered, gpus);
    if (!device) {
      seen.note = fmt::format("CUDA_VISIBLE_DEVICES: {}, so it and what follows are not visible",
                              device.error());
      break;
    }
    if (std::ranges::find(seen.devices, *device) != seen.devices.end()) {
      return {{}, "CUDA_VISIBLE_DEVICES names a device twice, so CUDA sees none"};
    }
    seen.devices.push_back(*std::move(device));
  }
  if (kind == Kind::index && seen.note.empty()) seen.note = numbered.note;
  return seen;
}

/// CUDA uses at most one MIG instance, and beside one no whole GPU; a GPU with MIG on is never
/// used as a whole.
Visibility with_mig(Visibility seen, std::span<const PhysicalGpu> gpus) {
  std::vector<VisibleDevice> instances;
  std::vector<VisibleDevice> wholes;
  bool mig = false;
  for (auto& device : seen.devices) {
    const auto gpu = std::ranges::find(gpus, device.gpu, &PhysicalGpu::id);
    if (!gpu->mig) {
      wholes.push_back(std::move(device));
      continue;
    }
    mig = true;
    if (device.instance) {
      instances.push_back(std::move(device));
    } else if (!gpu->instances.empty()) {
      instances.push_back({device.gpu, gpu->instances.front()});
    }
  }
  if (!mig) return {std::move(wholes), std::move(seen.note)};
  if (instances.empty()) {
    return {std::move(wholes), "a GPU with MIG on and no instance is not visible"};
  }
  std::string note = std::move(seen.note);
  if (note.empty() && instances.size() + wholes.size() > 1) {
    note = "CUDA uses one MIG instance only, and beside it no other GPU";
  }
  return {{instances.front()}, std::move(note)};
}

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

Visibility visible_devices(const CudaEnvironment& environment, std::span<const PhysicalGpu> gpus) {
  const Numbered in_order = numbered(environment, gpus);
  if (environment.visible_devices) {
    if (without_blanks(*environment.visible_devices).empty()) {
      return {{}, "CUDA_VISIBLE_DEVICES is empty, so CUDA sees none"};
    }
    return with_mig(listed(*environment.visible_devices, in_order, gpus), gpus);
  }
  Visibility all;
  for (const PhysicalGpu* gpu : in_order.gpus) all.devices.push_back(whole(*gpu));
  return with_mig(std::move(all), gpus);
}

CudaEnvironment cuda_environment() {
  return {variable("CUDA_VISIBLE_DEVICES"), variable("CUDA_DEVICE_ORDER")};
}

std::vector<PhysicalGpu> physical_gpus(const Driver& driver) {
  std::vector<PhysicalGpu> gpus;
  for (const Device& device : driver.devices()) {
    const Identity& identity = device.identity();
    PhysicalGpu gpu{.id = identity.id, .pci_bus_id = identity.pci_bus_id, .name = identity.name};
    const auto mode = device.mig_mode();
    gpu.mig = mode && mode->enabled;
    if (gpu.mig) gpu.instances = device.mig_instances().value_or(std::vector<MigId>());
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace negawatt::gpu
