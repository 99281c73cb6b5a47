// SPDX-License-Identifier: Apache-2.0
#include "gpusim/description_gpu.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace negawatt::gpusim {
namespace {

// Far beyond any GPU, and small enough that no sum of them leaves its type.
constexpr NumberRange kSeconds{0, 1e6};
constexpr NumberRange kJoules{0, 1e6};
constexpr NumberRange kGibibytes{1, 1e6};
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

struct Architecture {
  std::string_view name;
  std::uint32_t value;  // nvmlDeviceArchitecture
};
constexpr std::array kArchitectures = {Architecture{"volta", 5},  Architecture{"turing", 6},
                                       Architecture{"ampere", 7}, Architecture{"ada", 8},
                                       Architecture{"hopper", 9}, Architecture{"blackwell", 10}};

template <class Unit>
void take_unit(TomlTable& table, std::string_view key, Unit& value, NumberRange range) {
  double number = value.in_si();
  table.take(key, number, range);
  value = Unit(number);
}

void take_bytes(TomlTable& table, std::string_view key, std::uint64_t& bytes) {
  double gibibytes = static_cast<double>(bytes) / kGibibyte;
  table.take(key, gibibytes, kGibibytes);
  bytes = static_cast<std::uint64_t>(gibibytes * kGibibyte);
}

bool is_uuid(std::string_view text, std::string_view prefix) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

/// A part of an address: as many hexadecimal digits, then this character.
struct HexField {
  std::size_t digits = 0;
  char separator = 0;
};

bool take_hex(std::string_view& text, HexField field, std::uint32_t& value) {
  if (text.size() <= field.digits || text[field.digits] != field.separator) return false;
  const auto number = text.substr(0, field.digits);
  const auto* const begin = number.data();
  const auto* const end = begin + number.size();
  const auto [stop, problem] = std::from_chars(begin, end, value, 16);
  text.remove_prefix(field.digits + 1);
  return problem == std::errc() && stop == end;
}

void read_pci(TomlTable& table, Identity& identity) {
  std::string address;
  table.need("pci", address);
  std::string_view text = address;
  const bool short_domain = text.find(':') == 4;
  if (!take_hex(text, {short_domain ? std::size_t{4} : std::size_t{8}, ':'}, identity.pci_domain) ||
      !take_hex(text, {2, ':'}, identity.pci_bus) ||
      !take_hex(text, {2, '.'}, identity.pci_device) || text != "0")
    table.refuse("pci", "an address as 0000:06:00.0");
}

void read_identity(TomlTable& table, Identity& identity) {
  table.need("name", identity.name);
  if (identity.name.size() > 95) table.refuse("name", "at most 95 bytes");
  table.need("uuid", identity.uuid);
  if (!is_uuid(identity.uuid, "GPU-")) table.refuse("uuid", "GPU- and a UUID in lower case");
  read_pci(table, identity);
  table.take("pci_device_id", identity.pci_device_id, {});
  table.take("pci_subsystem_id", identity.pci_subsystem_id, {});
  std::string architecture;
  table.need("architecture", architecture);
  const auto* known = std::ranges::find(kArchitectures, architecture, &Architecture::name);
  if (known == kArchitectures.end())
    return table.refuse("architecture", "volta, turing, ampere, ada, hopper or blackwell");
  identity.architecture = known->value;
  take_bytes(table, "memory_gib", identity.memory_bytes);
  table.take("persistence_mode", identity.persistence_mode);
  table.take("performance_state", identity.performance_state, {0, 15});
  table.take("idle_performance_state", identity.idle_performance_state, {0, 15});
}

void read_mig(TomlTable& table, GpuModel& gpu) {
  for (auto& entry : table.tables("mig")) {
    auto& instance = gpu.mig.emplace_back();
    gpu.mig_enabled = true;
    entry.need("uuid", instance.uuid);
    if (!is_uuid(instance.uuid, "MIG-")) entry.refuse("uuid", "MIG- and a UUID in lower case");
    entry.need("profile", instance.profile);
    entry.need("gpu_instance", instance.gpu_instance, {0, 63});
    entry.take("compute_instance", instance.compute_instance, {0, 63});
    take_bytes(entry, "memory_gib", instance.memory_bytes);
    entry.finish();
  }
  table.take("mig_enabled", gpu.mig_enabled);
}

void read_kernel(TomlTable& table, KernelDemand& kernel) {
  table.need("name", kernel.name);
  kernel.group = kernel.name;
  table.take("group", kernel.group);
  table.take("calls", kernel.calls, {1, 1e9});
  take_unit(table, "compute_s", kernel.compute, kSeconds);
  take_unit(table, "memory_s", kernel.memory, kSeconds);
  take_unit(table, "latency_s", kernel.latency, kSeconds);
  take_unit(table, "core_j", kernel.core_energy, kJoules);
  take_unit(table, "memory_j", kernel.memory_energy, kJoules);
  table.take("overlap", kernel.overlap, {1, 16});
  if (kernel.compute + kernel.memory + kernel.latency < Seconds(1e-9))
    table.refuse("name", "compute_s, memory_s and latency_s of a nanosecond at least together");
  table.finish();
}

void read_kernels(TomlTable& table, std::vector<KernelDemand>& kernels) {
  for (auto& entry : table.tables("kernel")) {
    KernelDemand kernel;
    read_kernel(entry, kernel);
    if (std::ranges::find(kernels, kernel.name, &KernelDemand::name) != kernels.end())
      entry.refuse("name", "no kernel to be there twice");
    kernels.push_back(std::move(kernel));
  }
}

}  // namespace

void read_gpu(TomlTable& table, GpuModel& gpu) {
  read_identity(table, gpu.identity);
  read_physics(table, gpu);
  read_mig(table, gpu);
  read_kernels(table, gpu.kernels);
  auto faults = table.table("faults");
  read_faults(faults, gpu.faults);
  faults.finish();
}

}  // namespace negawatt::gpusim
