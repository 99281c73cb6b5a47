// SPDX-License-Identifier: Apache-2.0
#include "daemon/config.hpp"

#include <fmt/core.h>
// toml++ asserts of bad input what it then refuses.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "core/nearest_name.hpp"
#include "core/text.hpp"
#include "daemon/whole_file.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // a configuration is a page, not a book
constexpr std::size_t kMostNames = 1000;

/// The library's own words, which may quote the file.
std::string shown(std::string_view text) {
  return is_printable(text) ? std::string(text) : printable(text);
}

/// One table of the file. Remembers which keys were asked for, and the first error.
class Section {
 public:
  Section(const toml::table& table, std::string_view file) : table_(&table), file_(file) {}

  void boolean(std::string_view key, bool& value) {
    if (const auto* node = find(key))
      take(*node, key, "true or false", node->value_exact<bool>(), value);
  }
  void text(std::string_view key, std::string& value) {
    const auto* node = find(key);
    if (node == nullptr) return;
    auto read = node->value_exact<std::string>();
    if (read && !is_printable(*read)) read.reset();
    take(*node, key, "a printable text", read, value);
  }
  template <class Integer>
  void count(std::string_view key, Integer& value, std::int64_t least, std::int64_t most) {
    const auto* node = find(key);
    if (node == nullptr) return;
    const auto read = node->value_exact<std::int64_t>();
    if (!read || *read < least || *read > most)
      fail(*node, fmt::format("{} must be a whole number from {} to {}", key, least, most));
    else
      value = static_cast<Integer>(*read);
  }
  void clock(std::string_view key, std::optional<gpu::Megahertz>& value) {
    std::uint32_t mhz = value ? value->count : 0;
    count(key, mhz, 1, 65535);
    if (mhz != 0) value = gpu::Megahertz{mhz};
  }
  void power(std::string_view key, std::optional<Watts>& value) {
    if (const auto read = number(key, 1, 100'000)) value = Watts(*read);
  }
  void time(std::string_view key, Seconds& value, Seconds least, Seconds most) {
    if (const auto read = number(key, least.in_si(), most.in_si())) value = Seconds(*read);
  }
  void names(std::string_view key, std::vector<std::string>& value) {
    const auto* node = find(key);
    if (node == nullptr) return;
    const auto* array = node->as_array();
    std::vector<std::string> read;
    for (std::size_t i = 0; array != nullptr && i < std::min(array->size(), kMostNames); ++i) {
      auto name = (*array)[i].value_exact<std::string>();
      if (name && !name->empty() && is_printable(*name)) read.push_back(std::move(*name));
    }
    if (array == nullptr || read.size() != array->size())
      fail(*node, fmt::format("{} must be a list of names, as [\"alice\", \"1000\"]", key));
    else
      value = std::move(read);
  }
  /// A lock as [least, most] in MHz.
  [[nodiscard]] std::optional<gpu::ClockRange> range(std::string_view key) {
    const auto* node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto* array = node->as_array();
    std::vector<std::uint32_t> bounds;
    for (std::size_t i = 0; array != nullptr && i < std::min<std::size_t>(array->size(), 3); ++i)
      if (const auto mhz = (*array)[i].value_exact<std::int64_t>();
          mhz && *mhz >= 0 && *mhz < 65536)
        bounds.push_back(static_cast<std::uint32_t>(*mhz));
    if (array == nullptr || array->size() != 2 || bounds.size() != 2 || bounds[0] > bounds[1]) {
      fail(*node, fmt::format("{} must be [LEAST, MOST] in MHz", key));
      return std::nullopt;
    }
    return gpu::ClockRange::between({bounds[0]}, {bounds[1]});
  }
  [[nodiscard]] const toml::table* table(std::string_view key) {
    const auto* node = find(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(*node, fmt::format("{} must be a table", key));
    return node->as_table();
  }

  void fail(const toml::node& at, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{}:{}: {}", file_, at.source().begin.line, what);
  }
  /// The first error, an unknown key included.
  Status finish() {
    for (const auto& [key, node] : *table_) {
      if (std::ranges::find(known_, key.str()) != known_.end()) continue;
      const auto nearest = nearest_name(key.str(), known_);
      fail(node, fmt::format("'{}' is not known here{}", printable(key.str()),
                             nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
    if (!error_.empty()) return failure(Code::invalid, error_);
    return {};
  }

 private:
  const toml::node* find(std::string_view key) {
    known_.push_back(key);
    return table_->get(key);
  }
  std::optional<double> number(std::string_view key, double least, double most) {
    const auto* node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto read = node->value<double>();
    if (node->is_number() && read && *read >= least && *read <= most) return read;
    fail(*node, fmt::format("{} must be a number from {:g} to {:g}", key, least, most));
    return std::nullopt;
  }
  template <class T>
  void take(const toml::node& node, std::string_view key, std::string_view expected,
            std::optional<T> read, T& value) {
    if (read)
      value = std::move(*read);
    else
      fail(node, fmt::format("{} must be {}", key, expected));
  }

  const toml::table* table_;
  std::string_view file_;
  std::vector<std::string_view> known_;
  std::string error_;
};

Status read_policy(const toml::table& table, std::string_view file, GpuPolicy& policy) {
  Section section(table, file);
  section.boolean("leasable", policy.leasable);
  section.boolean("mig", policy.mig);
  section.clock("core_min_mhz", policy.core_min);
  section.clock("core_max_mhz", policy.core_max);
  section.boolean("memory", policy.memory);
  section.boolean("power", policy.power);
  section.power("power_min_w", policy.power_min);
  section.power("power_max_w", policy.power_max);
  if (const auto range = section.range("unleased_core_mhz")) policy.unleased_core = {range};
  if (const auto range = section.range("unleased_memory_mhz")) policy.unleased_memory = {range};
  section.time("heartbeat_s", policy.heartbeat, Seconds(0.1), Seconds(3600));
  section.time("grace_s", policy.grace, Seconds(0), Seconds(86'400));
  Seconds longest(0);
  section.time("max_lease_s", longest, Seconds(0.1), Seconds(1e7));
  if (longest > Seconds(0)) policy.max_lease = longest;
  section.time("min_change_interval_s", policy.min_change_interval, Seconds(0), Seconds(60));
  if (policy.core_min && policy.core_max && *policy.core_min > *policy.core_max)
    section.fail(table, "core_min_mhz is above core_max_mhz");
  if (policy.power_min && policy.power_max && *policy.power_min > *policy.power_max)
    section.fail(table, "power_min_w is above power_max_w");
  return section.finish();
}

Status read_gpus(const toml::table& table, std::string_view file, Config& config) {
  for (const auto& [key, node] : table) {
    const std::string gpu(key.str());
    const auto* rules = node.as_table();
    if (rules == nullptr || !gpu.starts_with("GPU-") || !is_printable(gpu))
      return failure(Code::invalid,
                     fmt::format("{}:{}: expected a table by UUID, as [gpu.\"GPU-...\"]", file,
                                 node.source().begin.line));
    auto policy = config.defaults;
    NW_CHECK(read_policy(*rules, file, policy));
    config.gpus.emplace(gpu, policy);
  }
  return {};
}

Result<Config> config_of(const toml::table& root, std::string_view file) {
  Config config;
  Section section(root, file);
  section.text("socket", config.socket);
  std::string mode;
  section.text("socket_mode", mode);
  if (!mode.empty()) {
    const bool octal = mode.size() <= 4 && mode.find_first_not_of("01234567") == std::string::npos;
    if (octal) config.socket_mode = static_cast<std::uint32_t>(std::stoul(mode, nullptr, 8));
    if (!octal || config.socket_mode > 0777)
      section.fail(*root.get("socket_mode"), "socket_mode must be octal, as \"0660\"");
  }
  section.text("socket_group", config.socket_group);
  section.text("journal", config.journal);
  section.text("metrics", config.metrics);
  section.boolean("observe_only", config.observe_only);
  section.time("driver_timeout_s", config.driver_timeout, Seconds(0.1), Seconds(600));
  section.names("users", config.users);
  section.names("groups", config.groups);
  section.count("max_clients", config.max_clients, 1, 1024);
  section.count("max_clients_per_user", config.max_clients_per_user, 1, 1024);
  const auto* limits = section.table("limits");
  const auto* gpus = section.table("gpu");
  NW_CHECK(section.finish());
  if (limits != nullptr) NW_CHECK(read_policy(*limits, file, config.defaults));
  if (gpus != nullptr) NW_CHECK(read_gpus(*gpus, file, config));
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
  // Some of the rest is undefined behaviour in toml++ 3.3 (is_non_ascii_horizontal_whitespace has
  // code points that no case of its switch covers; found by fuzzing).
  if (const auto line = line_beyond_ascii(bytes))
    return failure(Code::invalid, fmt::format("{}:{}: expected plain ASCII", file, *line));
  try {
    const auto root = toml::parse(bytes, file);
    return config_of(root, file);
  } catch (const toml::parse_error& error) {
    return failure(Code::invalid, fmt::format("{}:{}: {}", file, error.source().begin.line,
                                              printable(error.description())));
  } catch (const std::exception& error) {  // toml++ lets the library's own exceptions through
    return failure(Code::invalid, fmt::format("{}: {}", file, shown(error.what())));
  }
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
