// SPDX-License-Identifier: Apache-2.0
#include "gpusim/description.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "core/toml_reader.hpp"
#include "gpusim/description_gpu.hpp"
#include "gpusim/text_file.hpp"

namespace negawatt::gpusim {
namespace {

// A file that refers to a file that refers to ...: deeper than this is a circle.
constexpr std::size_t kMostBases = 4;

/// A GPU's table over those of the files it refers to. Keeps the documents alive.
struct GpuTable {
  TomlTable table;
  std::vector<TomlDocument> documents;
};

Result<TomlTable> only_gpu_of(const TomlDocument& document, std::string_view file) {
  auto root = document.root();
  auto gpus = root.tables("gpu");
  NW_CHECK(root.status());
  if (gpus.size() == 1) return gpus.front();
  return failure(Code::invalid,
                 fmt::format("{}:1: expected one [[gpu]] in a file that another refers to", file));
}

Result<GpuTable> over_its_bases(TomlTable table, const BaseReader& read_base) {
  GpuTable whole{table, {}};
  auto lowest = std::move(table);
  while (lowest.kind("base") != TomlTable::Kind::absent) {
    std::string name;
    lowest.need("base", name);
    if (whole.documents.size() == kMostBases)
      lowest.refuse("base", "at most 4 files, one referring to the other");
    NW_CHECK(lowest.status());
    NW_TRY(const std::string bytes, read_base(name));
    NW_TRY(auto document, TomlDocument::parse(bytes, name));
    NW_TRY(lowest, only_gpu_of(document, name));
    whole.documents.push_back(std::move(document));
    whole.table = whole.table.over(lowest);
  }
  std::string dealt_with;
  whole.table.take("base", dealt_with);
  return whole;
}

/// Copy number `n` of a described GPU: the next UUID and the next PCI bus.
GpuModel copy_of(const GpuModel& gpu, std::uint32_t n) {
  auto copy = gpu;
  copy.identity.pci_bus += n;
  auto& uuid = copy.identity.uuid;
  const auto digits = uuid.size() - 4;
  std::uint32_t last = 0;
  std::from_chars(uuid.data() + digits, uuid.data() + uuid.size(), last, 16);
  uuid.replace(digits, 4, fmt::format("{:04x}", (last + n) & 0xFFFFU));
  return copy;
}

/// The clash of a GPU with one that is there already, if any: what they have in common.
std::optional<std::string> clash(const std::vector<GpuModel>& gpus, const GpuModel& added) {
  const auto address = [](const Identity& gpu) {
    return std::tuple(gpu.pci_domain, gpu.pci_bus, gpu.pci_device);
  };
  for (const auto& gpu : gpus) {
    if (gpu.identity.uuid == added.identity.uuid) return "UUID " + gpu.identity.uuid;
    if (address(gpu.identity) == address(added.identity)) return "PCI address";
  }
  return std::nullopt;
}

Status add_gpus(TomlTable entry, const BaseReader& read_base, MachineModel& machine) {
  NW_TRY(auto whole, over_its_bases(std::move(entry), read_base));
  auto& table = whole.table;
  std::uint32_t count = 1;
  table.take("count", count, {1, 1.0 * kMostGpus});
  GpuModel gpu;
  read_gpu(table, gpu);
  table.finish();
  NW_CHECK(table.status());
  for (std::uint32_t n = 0; n < count; ++n) {
    auto copy = copy_of(gpu, n);
    copy.identity.minor_number = static_cast<std::uint32_t>(machine.gpus.size());
    if (machine.gpus.size() == kMostGpus || copy.identity.pci_bus > 0xFF) {
      table.refuse("uuid", fmt::format("at most {} GPUs, on PCI buses up to ff", kMostGpus));
    } else if (const auto common = clash(machine.gpus, copy)) {
      table.refuse("uuid", fmt::format("no two GPUs with the same {}", *common));
    }
    NW_CHECK(table.status());
    machine.gpus.push_back(std::move(copy));
  }
  return {};
}

void read_time(TomlTable table, MachineModel& machine) {
  std::string mode = "real";
  table.take("mode", mode);
  if (mode == "scaled") {
    machine.time_mode = TimeMode::scaled;
    table.need("scale", machine.time_scale, {1e-3, 1e6});
  } else if (mode == "virtual") {
    machine.time_mode = TimeMode::virtual_time;
  } else if (mode != "real") {
    table.refuse("mode", "'real', 'scaled' or 'virtual'");
  }
  table.finish();
}

}  // namespace

Result<MachineModel> parse_machine(std::string_view bytes, std::string_view file,
                                   const BaseReader& read_base) {
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  auto root = document.root();
  MachineModel machine{
      .file = std::string(file), .driver_version = "580.159.04", .nvml_version = "13.580.159.04"};
  root.take("driver", machine.driver_version);
  root.take("nvml", machine.nvml_version);
  if (machine.driver_version.size() > 79) root.refuse("driver", "at most 79 bytes");
  if (machine.nvml_version.size() > 79) root.refuse("nvml", "at most 79 bytes");
  root.take("anyone_may_set", machine.anyone_may_set);
  read_time(root.table("time"), machine);
  auto faults = root.table("faults");
  faults.take("missing_symbols", machine.faults.missing_symbols);
  read_faults(faults, machine.faults);
  faults.finish();
  auto gpus = root.tables("gpu");
  root.finish();
  NW_CHECK(root.status());
  if (gpus.empty()) return failure(Code::invalid, fmt::format("{}:1: [[gpu]] is missing", file));
  for (auto& gpu : gpus) NW_CHECK(add_gpus(std::move(gpu), read_base, machine));
  return machine;
}

Result<MachineModel> read_machine(const std::string& path) {
  NW_TRY(const std::string bytes, read_text_file(path));
  const auto folder = std::filesystem::path(path).parent_path();
  return parse_machine(bytes, path, [&](std::string_view name) {
    return read_text_file((folder / std::filesystem::path(name)).string());
  });
}

void override_latency(MachineModel& machine, Seconds latency) {
  const auto ns = std::llround(latency.in_si() * 1e9);
  for (auto& gpu : machine.gpus) gpu.clocks.core_latency = gpu.clocks.memory_latency = {ns, ns, {}};
}

}  // namespace negawatt::gpusim
