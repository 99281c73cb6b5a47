// SPDX-License-Identifier: Apache-2.0
//
// What is simulated: instances of a serving engine, how they are switched on and off, the link
// between them, and the SLO of each class of requests. Values only; SI units. A Cluster
// that validate() accepts can be simulated; nothing later fails because of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "model/device.hpp"
#include "model/serving.hpp"
#include "route/policy.hpp"

namespace negawatt::sim {

/// What bounds a step and the sequences of an instance.
struct EngineLimits {
  std::uint32_t most_sequences = 256;     ///< that run at the same time
  std::uint32_t most_step_tokens = 2048;  ///< prompt tokens and decoding sequences of a step
  std::uint32_t kv_block_tokens = 16;     ///< KV memory is given out in blocks, 1 to 256 tokens
  std::uint64_t kv_blocks = 0;
};

/// How an instance is switched on and off.
struct PowerStates {
  std::optional<Seconds> sleep_after;  ///< idle for so long; none: it never sleeps
  Watts sleep_power;                   ///< at most the idle power
  Seconds start_time;                  ///< from asleep to its first step
  Joules start_energy;                 ///< of a start, above the sleep power
  bool starts_asleep = false;
};

struct InstanceSpec {
  std::string name;
  std::string device;
  model::ServingModel model{model::StepCoefficients{}};
  model::ErrorBand time_error;    ///< of the device, where it was checked
  model::ErrorBand energy_error;  ///< likewise
  EngineLimits limits;
  PowerStates power;
  route::Role role = route::Role::both;
  bool serves_model = true;
  std::uint32_t device_type = 0;
};

/// Moves the KV memory of a request from the instance of its prompt to that of its answer.
struct Link {
  Seconds latency;
  Seconds time_per_token;
  Joules energy_per_token;
};

/// Service-level objectives of a class of requests; what is absent may take any time.
struct Slo {
  std::optional<Seconds> ttft;  ///< to the first token
  std::optional<Seconds> tbt;   ///< between tokens, a request's mean
  std::optional<Seconds> e2e;   ///< to the last token

  [[nodiscard]] bool empty() const { return !ttft && !tbt && !e2e; }
};

struct Cluster {
  std::vector<InstanceSpec> instances;
  std::optional<Link> link;  ///< none: prompt and answer of a request stay on one instance
  std::vector<Slo> slos;     ///< by request class; a class beyond the end has none
};

/// Tokens that the KV memory of an instance holds.
[[nodiscard]] constexpr std::uint64_t kv_tokens(const EngineLimits& limits) {
  return limits.kv_blocks * limits.kv_block_tokens;
}

/// Fails, naming the instance, on what no engine can be.
[[nodiscard]] Status validate(const Cluster& cluster);

}  // namespace negawatt::sim
