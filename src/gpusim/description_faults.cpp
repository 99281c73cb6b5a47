// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "gpusim/description_gpu.hpp"

namespace negawatt::gpusim {
namespace {

struct KindName {
  std::string_view name;
  TimedFault::Kind kind;
};
constexpr std::array kKinds = {
    KindName{"gpu_lost", TimedFault::Kind::gpu_lost},
    KindName{"not_ready", TimedFault::Kind::not_ready},
    KindName{"no_permission", TimedFault::Kind::no_permission},
    KindName{"counter_reset", TimedFault::Kind::counter_reset},
    KindName{"counter_rate", TimedFault::Kind::counter_rate},
    KindName{"stuck_sensor", TimedFault::Kind::stuck_sensor},
    KindName{"override_lock", TimedFault::Kind::override_lock},
    KindName{"hang", TimedFault::Kind::hang},
    KindName{"driver_reload", TimedFault::Kind::driver_reload},
};
constexpr std::size_t kMostFaults = 1000;

void need_function(TomlTable& table, std::string_view key, std::size_t& function) {
  std::string name;
  table.need(key, name);
  function = function_index(name);
  if (function == kUnknownFunction) table.refuse(key, "the name of an NVML function");
}

void take_functions(TomlTable& table, std::string_view key, std::vector<std::size_t>& functions) {
  std::vector<std::string> names;
  table.take(key, names);
  for (const auto& name : names) {
    functions.push_back(function_index(name));
    if (functions.back() == kUnknownFunction) table.refuse(key, "names of NVML functions");
  }
}

void read_timed(TomlTable& table, TimedFault& fault) {
  std::string name;
  table.need("kind", name);
  const auto* known = std::ranges::find(kKinds, name, &KindName::name);
  if (known == kKinds.end())
    return table.refuse("kind",
                        "gpu_lost, not_ready, no_permission, counter_reset, counter_rate, "
                        "stuck_sensor, override_lock, hang or driver_reload");
  fault.kind = known->kind;
  need_duration(table, "at_s", fault.at_ns);
  std::int64_t lasting = kNever;
  take_duration(table, "for_s", lasting);
  fault.until_ns = lasting == kNever ? kNever : fault.at_ns + lasting;
  if (fault.kind == TimedFault::Kind::counter_rate) table.need("rate", fault.value, {0, 100});
  if (fault.kind == TimedFault::Kind::override_lock) table.need("mhz", fault.value, {1, 100'000});
  if (fault.kind == TimedFault::Kind::hang) {
    table.need("seconds", fault.value, {0, 1e6});
    need_function(table, "call", fault.function);
  }
  table.finish();
}

void read_counted(TomlTable& table, CountedFault& fault) {
  need_function(table, "call", fault.function);
  std::uint32_t first = 1;
  table.take("from", first, {1, 4e9});
  std::uint32_t last = first;
  table.take("to", last, {1.0 * first, 4e9});
  fault.first = first;
  fault.last = last;
  std::string returns;
  table.need("returns", returns);
  if (!parse_return(returns, fault.returns))
    table.refuse("returns", "the name of an NVML return value, as NOT_READY");
  table.finish();
}

}  // namespace

void read_faults(TomlTable& table, FaultScript& script) {
  take_functions(table, "not_supported", script.not_supported);
  take_functions(table, "no_permission", script.no_permission);
  auto timed = table.tables("at");
  auto counted = table.tables("calls");
  if (timed.size() > kMostFaults) return table.refuse("at", "at most 1000 faults");
  if (counted.size() > kMostFaults) return table.refuse("calls", "at most 1000 faults");
  for (auto& entry : timed) {
    TimedFault fault;
    read_timed(entry, fault);
    const auto later = std::ranges::upper_bound(script.timed, fault.at_ns, {}, &TimedFault::at_ns);
    script.timed.insert(later, fault);
  }
  for (auto& entry : counted) read_counted(entry, script.counted.emplace_back());
}

}  // namespace negawatt::gpusim
