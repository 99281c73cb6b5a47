// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "core/nearest_name.hpp"
#include "core/text.hpp"
#include "core/toml_reader.hpp"
#include "model/architecture.hpp"
#include "model/deployment.hpp"
#include "model/device.hpp"

namespace negawatt::sim {
namespace {

constexpr std::uint32_t kMostInstances = 10'000;
constexpr NumberRange kSeconds{0.0, 1e7};
constexpr NumberRange kWatts{0.0, 1e6};

std::optional<Seconds> seconds_of(TomlTable& table, std::string_view key, NumberRange range) {
  if (table.kind(key) == TomlTable::Kind::absent) return std::nullopt;
  double seconds = 0.0;
  table.take(key, seconds, range);
  return Seconds(seconds);
}

/// Files that are named more than once are read once.
class Library {
 public:
  explicit Library(const ReadFile& read) : read_(read) {}

  Result<const model::Device*> device(const std::string& name) {
    return find(devices_, name, model::parse_device);
  }
  Result<const model::Architecture*> architecture(const std::string& name) {
    return find(architectures_, name, model::parse_architecture);
  }
  [[nodiscard]] std::string sources() const {
    std::string text;
    for (const auto& [name, device] : devices_)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", device->name, device->checked);
    return text;
  }

 private:
  template <class T, class Parse>
  Result<const T*> find(std::vector<std::pair<std::string, std::unique_ptr<T>>>& known,
                        const std::string& name, Parse parse) {
    const auto found = std::ranges::find(known, name, [](const auto& each) { return each.first; });
    if (found != known.end()) return found->second.get();
    NW_TRY(const auto bytes, read_(name));
    NW_TRY(auto value, parse(bytes, name));
    known.emplace_back(name, std::make_unique<T>(std::move(value)));
    return known.back().second.get();
  }

  const ReadFile& read_;
  std::vector<std::pair<std::string, std::unique_ptr<model::Device>>> devices_;
  std::vector<std::pair<std::string, std::unique_ptr<model::Architecture>>> architectures_;
};

/// One [[instances]] table.
struct Entry {
  std::string name;
  std::string device;
  std::string model;
  std::uint32_t count = 1;
  std::uint32_t kv_block_tokens = 16;
  std::uint32_t kv_tokens = 0;
  std::string role = "both";
  model::EngineLimits engine;
  PowerStates power;
};

void read_engine(TomlTable& table, model::EngineLimits& engine) {
  table.take("tensor_parallel", engine.devices, {1, 1024});
  table.take("most_sequences", engine.most_sequences, {1, 65536});
  table.take("most_step_tokens", engine.most_step_tokens, {1, 1 << 20});
  table.take("memory_share", engine.memory_share, {0.05, 1.0});
  table.take("reserve_bytes", engine.reserve_bytes, {0.0, 1e12});
  double mhz = 0.0;
  table.take("core_mhz", mhz, {1.0, 10'000.0});
  if (mhz > 0.0) engine.core_mhz = mhz;
  double watts = 0.0;
  table.take("power_cap_w", watts, {1.0, 1e5});
  if (watts > 0.0) engine.power_cap = Watts(watts);
}

void read_power(TomlTable& table, PowerStates& power) {
  if (table.kind("sleep_after_s") == TomlTable::Kind::absent)
    for (const auto* key : {"sleep_power_w", "start_time_s", "start_energy_j", "starts_asleep"})
      if (table.kind(key) != TomlTable::Kind::absent)
        table.refuse(key, "'sleep_after_s' beside it: without that key it never sleeps");
  power.sleep_after = seconds_of(table, "sleep_after_s", kSeconds);
  double sleep_w = 0.0;
  double start_j = 0.0;
  table.take("sleep_power_w", sleep_w, kWatts);
  table.take("start_energy_j", start_j, {0.0, 1e9});
  table.take("starts_asleep", power.starts_asleep);
  power.start_time = seconds_of(table, "start_time_s", kSeconds).value_or(Seconds());
  power.sleep_power = Watts(sleep_w);
  power.start_energy = Joules(start_j);
}

Entry read_entry(TomlTable& table, const std::string& model) {
  Entry entry{.model = model};
  table.need("device", entry.device);
  table.take("name", entry.name);
  table.take("model", entry.model);
  table.take("count", entry.count, {1, kMostInstances});
  table.take("role", entry.role);
  table.take("kv_block_tokens", entry.kv_block_tokens, {1, 256});
  table.take("kv_tokens", entry.kv_tokens, {1, 4e9});
  read_engine(table, entry.engine);
  read_power(table, entry.power);
  if (entry.role != "both" && entry.role != "prefill" && entry.role != "decode")
    table.refuse("role", "\"both\", \"prefill\" or \"decode\"");
  if (entry.model.empty() && table.status())
    table.refuse("device", "a model to serve on it: the key 'model', here or above all instances");
  table.finish();
  return entry;
}

route::Role role_named(const std::string& name) {
  if (name == "prefill") return route::Role::prefill;
  return name == "decode" ? route::Role::decode : route::Role::both;
}

/// Of a full batch with a thousand tokens each.
Watts busy_power(const InstanceSpec& spec) {
  const double sequences = spec.limits.most_sequences;
  const auto cost = spec.model.step({.sequences = sequences, .context_tokens = 1000.0 * sequences});
  return cost.time > Seconds() ? cost.energy / cost.time : spec.model.idle_power();
}

/// "h100" of "../devices/h100.toml".
std::string stem_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const auto start = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(start, path.rfind('.') - start);
}

/// Instances of one [[instances]] table are of one type.
Status add_instances(const Entry& entry, std::string_view file, Library& library,
                     ClusterDescription& description) {
  NW_TRY(const auto* device, library.device(entry.device));
  NW_TRY(const auto* architecture, library.architecture(entry.model));
  const auto deployment = model::deploy(*architecture, *device, entry.engine);
  if (!deployment)
    return failure(Code::invalid, fmt::format("{}: {}", file, deployment.error().message));
  const std::string name = entry.name.empty() ? stem_of(entry.device) : entry.name;
  const std::uint64_t kv = entry.kv_tokens > 0 ? entry.kv_tokens : deployment->kv_capacity;
  auto& cluster = description.cluster;
  InstanceSpec spec{.name = name,
                    .device = device->name,
                    .model = deployment->steps,
                    .time_error = device->time_error,
                    .energy_error = device->energy_error,
                    .limits = {.most_sequences = entry.engine.most_sequences,
                               .most_step_tokens = entry.engine.most_step_tokens,
                               .kv_block_tokens = entry.kv_block_tokens,
                               .kv_blocks = kv / entry.kv_block_tokens},
                    .power = entry.power,
                    .role = role_named(entry.role),
                    .device_type = static_cast<std::uint32_t>(description.device_types.size())};
  for (const auto& other : description.device_types)
    if (other.name == name)
      return failure(Code::invalid,
                     fmt::format("{}: two tables of instances are named '{}'", file, name));
  description.device_types.push_back({.name = name, .busy_power = busy_power(spec)});
  for (std::uint32_t i = 1; i <= entry.count; ++i) {
    spec.name = entry.count == 1 ? name : fmt::format("{}/{}", name, i);
    cluster.instances.push_back(spec);
  }
  return {};
}

/// Whether one is the other but for its number format or its fine-tuning.
bool is_same_shape(const model::Architecture& a, const model::Architecture& b) {
  const auto shape = [](const model::Architecture& m) {
    return std::tuple(m.layers, m.hidden, m.heads, m.kv_heads, m.head_size, m.vocabulary, m.experts,
                      m.experts_per_token, m.parameters);
  };
  return shape(a) == shape(b);
}

/// A request may be sent to any instance, for it does not say which model it is for.
Status check_models(const std::vector<Entry>& entries, std::vector<TomlTable>& tables,
                    Library& library) {
  NW_TRY(const auto* first, library.architecture(entries.front().model));
  for (std::size_t i = 1; i < entries.size(); ++i) {
    NW_TRY(const auto* other, library.architecture(entries[i].model));
    if (!is_same_shape(*first, *other))
      tables[i].refuse_table(fmt::format(
          "serves {}, expected {} as the first: requests do not say which model they are for",
          printable(other->name), printable(first->name)));
    NW_CHECK(tables[i].status());
  }
  return {};
}

void read_slos(TomlTable& root, std::vector<NamedSlo>& slos) {
  for (auto& table : root.tables("slo")) {
    NamedSlo named{.request_class = "*"};
    table.take("class", named.request_class);
    named.slo.ttft = seconds_of(table, "ttft_s", {1e-6, 1e6});
    named.slo.tbt = seconds_of(table, "tbt_s", {1e-6, 1e6});
    named.slo.e2e = seconds_of(table, "e2e_s", {1e-6, 1e6});
    if (std::ranges::count(slos, named.request_class, &NamedSlo::request_class) > 0)
      table.refuse_table(named.request_class == "*"
                             ? "a second SLO of all classes, expected one"
                             : fmt::format("a second SLO of the class '{}', expected one",
                                           printable(named.request_class)));
    table.finish();
    slos.push_back(std::move(named));
  }
}

struct LinkEntry {
  double latency_s = 0.0;
  double bytes_per_s = 0.0;
  double energy_j_per_byte = 0.0;
};

std::optional<LinkEntry> read_link(TomlTable& root) {
  if (root.kind("link") == TomlTable::Kind::absent) return std::nullopt;
  LinkEntry link;
  auto table = root.table("link");
  table.take("latency_s", link.latency_s, {0.0, 10.0});
  table.need("bandwidth_bytes_per_s", link.bytes_per_s, {1e6, 1e14});
  table.take("energy_j_per_byte", link.energy_j_per_byte, {0.0, 1e-3});
  table.finish();
  return link;
}

}  // namespace

Result<ClusterDescription> parse_cluster(std::string_view bytes, std::string_view file,
                                         const ReadFile& read) {
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  auto root = document.root();
  ClusterDescription description;
  std::string model;
  root.take("model", model);
  root.take("policy", description.policy);
  const auto link = read_link(root);
  read_slos(root, description.slos);
  std::vector<Entry> entries;
  std::uint64_t count = 0;
  auto tables = root.tables("instances");
  for (auto& table : tables) {
    entries.push_back(read_entry(table, model));
    count += entries.back().count;
  }
  root.finish();
  NW_CHECK(root.status());
  if (count == 0 || count > kMostInstances)
    return failure(Code::invalid, fmt::format("{}: {} instances, expected 1 to {} ([[instances]])",
                                              file, count, kMostInstances));
  Library library(read);
  NW_CHECK(check_models(entries, tables, library));
  for (const auto& entry : entries) NW_CHECK(add_instances(entry, file, library, description));
  if (link) {
    NW_TRY(const auto* architecture, library.architecture(entries.front().model));
    const double kv_bytes = architecture->kv_bytes_per_token;
    description.cluster.link = Link{.latency = Seconds(link->latency_s),
                                    .time_per_token = Seconds(kv_bytes / link->bytes_per_s),
                                    .energy_per_token = Joules(kv_bytes * link->energy_j_per_byte)};
  }
  description.sources = library.sources();
  if (const auto valid = validate(description.cluster); !valid)
    return failure(valid.error().code, fmt::format("{}: {}", file, valid.error().message));
  return description;
}

Result<std::vector<Slo>> slos_of(const ClusterDescription& description,
                                 std::span<const std::string> classes) {
  std::vector<Slo> slos(classes.size());
  for (const auto& [name, slo] : description.slos)
    if (name == "*") std::ranges::fill(slos, slo);
  for (const auto& [name, slo] : description.slos) {
    if (name == "*") continue;
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end()) {
      const std::vector<std::string_view> known(classes.begin(), classes.end());
      const auto nearest = nearest_name(name, known);
      return failure(
          Code::invalid,
          fmt::format("there is an SLO for the class '{}', which no request has{}", printable(name),
                      nearest.empty() ? "" : fmt::format("; is it '{}'?", nearest)));
    }
    slos[static_cast<std::size_t>(found - classes.begin())] = slo;
  }
  return slos;
}

route::FleetFacts fleet_facts(const ClusterDescription& description, std::span<const Slo> slos) {
  route::FleetFacts facts{.device_types = description.device_types};
  for (const auto& spec : description.cluster.instances) facts.instances.push_back(spec.name);
  for (const auto& slo : slos)
    facts.slos.push_back({.time_to_first_token = slo.ttft.value_or(Seconds()),
                          .time_between_tokens = slo.tbt.value_or(Seconds()),
                          .time_to_completion = slo.e2e.value_or(Seconds())});
  return facts;
}

}  // namespace negawatt::sim
