// SPDX-License-Identifier: Apache-2.0
#include "daemon/config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "core/toml_reader.hpp"
#include "daemon/whole_file.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // a configuration is a page, not a book
constexpr double kMostMegahertz = 65535;                   // sixteen bits in the mailbox
constexpr NumberRange kClients{1, 1024};

void take_time(TomlTable& table, std::string_view key, Seconds& value, NumberRange range) {
  double seconds = value.in_si();
  table.take(key, seconds, range);
  value = Seconds(seconds);
}

void take_clock(TomlTable& table, std::string_view key, std::optional<gpu::Megahertz>& value) {
  std::uint32_t mhz = 0;
  table.take(key, mhz, {1, kMostMegahertz});
  if (mhz != 0) value = gpu::Megahertz{mhz};
}

void take_power(TomlTable& table, std::string_view key, std::optional<Watts>& value) {
  double watts = 0;
  table.take(key, watts, {1, 100'000});
  if (watts > 0) value = Watts(watts);
}

void take_count(TomlTable& table, std::string_view key, std::size_t& value) {
  std::uint32_t count = 0;
  table.take(key, count, kClients);
  if (count != 0) value = count;
}

void take_names(TomlTable& table, std::string_view key, std::vector<std::string>& names) {
  table.take(key, names);
  if (std::ranges::any_of(names, &std::string::empty))
    table.refuse(key, "a list of names, as [\"alice\", \"1000\"]");
}

/// A lock as [LEAST, MOST] in MHz.
std::optional<gpu::ClockRange> take_range(TomlTable& table, std::string_view key) {
  if (table.kind(key) == TomlTable::Kind::absent) return std::nullopt;
  std::vector<double> bounds;
  table.take(key, bounds, {0, kMostMegahertz});
  const auto is_whole = [](double mhz) { return std::floor(mhz) == mhz; };
  if (bounds.size() != 2 || !std::ranges::all_of(bounds, is_whole) || bounds[0] > bounds[1]) {
    table.refuse(key, "[LEAST, MOST] in MHz");
    return std::nullopt;
  }
  return gpu::ClockRange::between({static_cast<std::uint32_t>(bounds[0])},
                                  {static_cast<std::uint32_t>(bounds[1])});
}

void take_mode(TomlTable& table, std::uint32_t& mode) {
  std::string text;
  table.take("socket_mode", text);
  if (text.empty()) return;
  const bool octal = text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
  const auto value = octal ? std::stoul(text, nullptr, 8) : 01000;
  if (value > 0777) return table.refuse("socket_mode", "octal, as \"0660\"");
  mode = static_cast<std::uint32_t>(value);
}

GpuPolicy read_policy(TomlTable table) {
  GpuPolicy policy;
  table.take("leasable", policy.leasable);
  table.take("mig", policy.mig);
  take_clock(table, "core_min_mhz", policy.core_min);
  take_clock(table, "core_max_mhz", policy.core_max);
  table.take("memory", policy.memory);
  table.take("power", policy.power);
  take_power(table, "power_min_w", policy.power_min);
  take_power(table, "power_max_w", policy.power_max);
  policy.unleased_core = {take_range(table, "unleased_core_mhz")};
  policy.unleased_memory = {take_range(table, "unleased_memory_mhz")};
  take_time(table, "heartbeat_s", policy.heartbeat, {0.1, 3600});
  take_time(table, "grace_s", policy.grace, {0, 86'400});
  Seconds longest;
  take_time(table, "max_lease_s", longest, {0.1, 1e7});
  if (longest > Seconds(0)) policy.max_lease = longest;
  take_time(table, "min_change_interval_s", policy.min_change_interval, {0, 60});
  if (policy.core_min && policy.core_max && *policy.core_min > *policy.core_max)
    table.refuse("core_min_mhz", "at most core_max_mhz");
  if (policy.power_min && policy.power_max && *policy.power_min > *policy.power_max)
    table.refuse("power_min_w", "at most power_max_w");
  table.finish();
  return policy;
}

Config read_root(TomlTable root) {
  Config config;
  root.take("socket", config.socket);
  take_mode(root, config.socket_mode);
  root.take("socket_group", config.socket_group, EmptyText::allowed);
  root.take("journal", config.journal);
  root.take("metrics", config.metrics, EmptyText::allowed);
  root.take("observe_only", config.observe_only);
  take_time(root, "driver_timeout_s", config.driver_timeout, {0.1, 600});
  take_names(root, "users", config.users);
  take_names(root, "groups", config.groups);
  take_count(root, "max_clients", config.max_clients);
  take_count(root, "max_clients_per_user", config.max_clients_per_user);
  const auto limits = root.table("limits");
  auto gpus = root.table("gpu");
  root.finish();
  config.defaults = read_policy(limits);
  for (const auto& uuid : gpus.keys()) {
    if (uuid.starts_with("GPU-") && is_printable(uuid) && gpus.kind(uuid) == TomlTable::Kind::table)
      config.gpus.emplace(uuid, read_policy(gpus.table(uuid).over(limits)));
    else
      gpus.refuse(uuid, "a table by UUID, as [gpu.\"GPU-...\"]");
  }
  return config;
}

}  // namespace

const GpuPolicy& Config::policy_for(const std::string& gpu) const {
  const auto own = gpus.find(gpu);
  return own == gpus.end() ? defaults : own->second;
}

Result<Config> parse_config(std::string_view bytes, std::string_view file) {
  if (bytes.size() > kMostBytes)
    return failure(Code::invalid, fmt::format("{}: longer than {} bytes", file, kMostBytes));
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  const auto root = document.root();
  auto config = read_root(root);
  NW_CHECK(root.status());
  return config;
}

Result<Config> read_config(const std::string& path) {
  NW_TRY(const auto bytes, whole_file(path, kMostBytes));
  return parse_config(bytes, path);
}

std::vector<std::string> needs_restart(const Config& before, const Config& after) {
  std::vector<std::string> keys;
  if (before.socket != after.socket) keys.emplace_back("socket");
  if (before.socket_mode != after.socket_mode) keys.emplace_back("socket_mode");
  if (before.socket_group != after.socket_group) keys.emplace_back("socket_group");
  if (before.journal != after.journal) keys.emplace_back("journal");
  if (before.metrics != after.metrics) keys.emplace_back("metrics");
  if (before.observe_only != after.observe_only) keys.emplace_back("observe_only");
  return keys;
}

}  // namespace negawatt::daemon
