// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string_view>

namespace negawatt::sim {
namespace {

Status refused(const InstanceSpec& spec, std::string_view what) {
  return failure(Code::invalid, fmt::format("instance '{}': {}", spec.name, what));
}

bool is_amount(double value) { return std::isfinite(value) && value >= 0.0; }

Status validate_limits(const InstanceSpec& spec) {
  const auto& limits = spec.limits;
  if (limits.most_sequences == 0) return refused(spec, "runs no sequence at all");
  if (limits.most_step_tokens < limits.most_sequences)
    return refused(spec, fmt::format("{} tokens a step are too few for {} sequences",
                                     limits.most_step_tokens, limits.most_sequences));
  if (limits.kv_block_tokens == 0 || limits.kv_block_tokens > 256)
    return refused(spec, "a block of KV memory holds 1 to 256 tokens");
  if (limits.kv_blocks == 0) return refused(spec, "has no KV memory");
  return {};
}

Status validate_power(const InstanceSpec& spec) {
  const auto& power = spec.power;
  const bool amounts = is_amount(power.sleep_power.in_si()) &&
                       is_amount(power.start_time.in_si()) &&
                       is_amount(power.start_energy.in_si()) &&
                       is_amount(power.sleep_after.value_or(Seconds()).in_si());
  if (!amounts) return refused(spec, "powers, times and energies are finite and not negative");
  if (power.sleep_power > spec.model.idle_power())
    return refused(spec, fmt::format("sleeps at {} W, above its idle power of {} W",
                                     power.sleep_power.in_si(), spec.model.idle_power().in_si()));
  if (power.starts_asleep && !power.sleep_after)
    return refused(spec, "starts asleep, but is never to sleep");
  return {};
}

}  // namespace

Status validate(const Cluster& cluster) {
  if (cluster.instances.empty()) return failure(Code::invalid, "the cluster has no instance");
  bool prefills = false;
  bool decodes = false;
  for (const auto& spec : cluster.instances) {
    NW_CHECK(validate_limits(spec));
    NW_CHECK(validate_power(spec));
    if (spec.role != route::Role::both && !cluster.link)
      return refused(spec, "computes only prompts or only answers, and there is no link");
    prefills = prefills || spec.role != route::Role::decode;
    decodes = decodes || spec.role != route::Role::prefill;
  }
  if (!prefills) return failure(Code::invalid, "no instance of the cluster computes prompts");
  if (!decodes) return failure(Code::invalid, "no instance of the cluster computes answers");
  if (cluster.link && !(is_amount(cluster.link->latency.in_si()) &&
                        is_amount(cluster.link->time_per_token.in_si()) &&
                        is_amount(cluster.link->energy_per_token.in_si())))
    return failure(Code::invalid, "the link's times and energy are finite and not negative");
  return {};
}

}  // namespace negawatt::sim
