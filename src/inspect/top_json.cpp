// SPDX-License-Identifier: Apache-2.0
// A snapshot for programs. Units stand in the keys; null is what is not known.
#include <nlohmann/json.hpp>
#include <string>

#include "inspect/top.hpp"

namespace negawatt::inspect {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& number) {
  return number ? Json(*number) : Json();
}

template <int M, int L, int T>
Json or_null(const std::optional<Quantity<M, L, T>>& quantity) {
  return quantity ? Json(quantity->in_si()) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json asked_json(lease::Clock clock) {
  return clock.is_automatic() ? Json("auto") : Json(clock.mhz());
}

Json processes_json(const std::vector<ProcessLine>& processes) {
  Json list = Json::array();
  for (const auto& process : processes) {
    list.push_back({{"pid", process.pid}, {"command", text_or_null(process.command)}});
  }
  return list;
}

Json gpu_json(const GpuLine& gpu) {
  return {{"index", gpu.display_index},
          {"uuid", text_or_null(gpu.uuid)},
          {"name", text_or_null(gpu.name)},
          {"power_w", or_null(gpu.power.watts)},
          {"power_source", name_of(gpu.power.source)},
          {"power_limit_w", or_null(gpu.limit)},
          {"core_asked_mhz", gpu.asked ? asked_json(gpu.asked->core) : Json()},
          {"memory_asked_mhz", gpu.asked ? asked_json(gpu.asked->memory) : Json()},
          {"core_mhz", gpu.clocks ? Json(gpu.clocks->core.count) : Json()},
          {"memory_mhz", gpu.clocks ? Json(gpu.clocks->memory.count) : Json()},
          {"temperature_c", or_null(gpu.temperature_c)},
          {"utilisation_pct", or_null(gpu.busy_pct)},
          {"energy_j", or_null(gpu.energy)},
          {"energy_source", name_of(gpu.energy_source)},
          {"counter_resets", gpu.counter_resets},
          {"implausible_steps", gpu.implausible_steps},
          {"limited_by", gpu.reasons ? Json(to_string(*gpu.reasons)) : Json()},
          {"processes", gpu.processes ? processes_json(*gpu.processes) : Json()},
          {"lease", gpu.lease ? Json{{"pid", gpu.lease->pid},
                                     {"uid", gpu.lease->uid},
                                     {"command", gpu.lease->command}}
                              : Json()},
          {"silent_s", or_null(gpu.silent)},
          {"trouble", text_or_null(gpu.trouble)}};
}

}  // namespace

std::string top_json(const Snapshot& snapshot) {
  Json gpus = Json::array();
  for (const auto& gpu : snapshot.gpus) gpus.push_back(gpu_json(gpu));
  const Json document = {
      {"time_s", snapshot.since_start.in_si()},
      {"driver_version", snapshot.driver_version},
      {"simulated", snapshot.simulated},
      {"negawattd",
       {{"reachable", snapshot.daemon.reachable}, {"observe_only", snapshot.daemon.observe_only}}},
      {"gpus", gpus}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace negawatt::inspect
