// SPDX-License-Identifier: Apache-2.0
//
// daemon::parse_config on any bytes: an accepted configuration is within the bounds that the daemon
// relies on.
#include "daemon/config.hpp"

#include <string_view>

#include "core/text.hpp"
#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";

void check_policy(const daemon::GpuPolicy& policy) {
  require(policy.heartbeat >= Seconds(0.1) && policy.heartbeat <= Seconds(3600),
          "a heartbeat is within its bounds");
  require(policy.grace >= Seconds(0) && policy.grace.is_finite(), "a grace period is finite");
  require(!policy.max_lease || *policy.max_lease > Seconds(0), "a longest lease is positive");
  require(!policy.core_min || !policy.core_max || *policy.core_min <= *policy.core_max,
          "core bounds are in order");
  require(!policy.power_min || !policy.power_max || *policy.power_min <= *policy.power_max,
          "power bounds are in order");
  if (policy.power_max)
    require(policy.power_max->is_finite() && *policy.power_max <= Watts(100'000),
            "a power limit fits the driver's number");
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto config = daemon::parse_config(bytes, kFile);
  require_same_outcome(config, daemon::parse_config(bytes, kFile));
  if (!config) return refused(config.error(), kFile);
  require(config->socket_mode <= 0777, "a mode has nine bits");
  require(config->max_clients >= 1 && config->max_clients <= 1024, "clients are bounded");
  require(is_printable(config->socket) && is_printable(config->journal), "paths are printable");
  check_policy(config->defaults);
  for (const auto& [gpu, policy] : config->gpus) check_policy(policy);
  return true;
}

}  // namespace negawatt::fuzz
