// SPDX-License-Identifier: Apache-2.0
//
// A routing policy: where a request goes, decided from what is known when it arrives. The same
// object runs in the simulator and behind the gateway: it keeps no clock, makes no I/O, draws its
// random numbers from a seed, and place() allocates nothing. Its user tells it of every
// completion, from which it may learn. Policies are made by name: route/make_policy.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/units.hpp"
#include "model/serving.hpp"

namespace negawatt::route {

enum class Role : std::uint8_t { both, prefill, decode };

/// One instance as its router sees it. Instances keep their places in the span from call to call.
struct InstanceView {
  const model::ServingModel* model = nullptr;
  Role role = Role::both;
  bool serves_model = true;            ///< the model that is asked for
  bool ready = true;                   ///< on; false: asleep, or starting
  Seconds ready_in;                    ///< until it can work, if it were woken now
  std::uint32_t running = 0;           ///< sequences that decode or prefill
  std::uint32_t waiting = 0;           ///< requests not yet admitted
  std::uint32_t most_sequences = 0;    ///< of a batch; 0: no limit
  std::uint32_t most_step_tokens = 0;  ///< prompt tokens and sequences of a step; 0: no limit
  std::uint64_t context_tokens = 0;    ///< of the running sequences
  std::uint64_t waiting_prompt = 0;    ///< prompt tokens not yet computed, of both
  std::uint64_t kv_capacity = 0;       ///< tokens
  std::uint64_t kv_used = 0;           ///< tokens
  double expected_output_left = 0;     ///< tokens, of all its requests, as the policy expected them
  double completions_per_second = 0;   ///< over the last minute
  std::uint32_t device_type = 0;       ///< for tables and thresholds by type
  // What being on costs. An instance that never sleeps draws its idle power whoever is served.
  bool sleeps = false;   ///< whether it goes to sleep when idle
  Seconds sleeps_after;  ///< how long it stays on without work
  Seconds idle_for;      ///< how long it has been on without work; 0 if it is busy or not on
  Watts sleep_power;
  Joules start_energy;  ///< drawn from waking to ready, above sleep_power
};

/// What is known of a request when it arrives.
struct Arrival {
  Seconds now;
  std::uint32_t input_tokens = 0;
  std::uint16_t request_class = 0;
  std::int16_t priority = 0;
  std::uint32_t most_output_tokens = 0;  ///< the client's limit (max_tokens); 0: none
  std::uint32_t true_output_tokens = 0;  ///< 0: unknown; clairvoyant policies only
};

/// Where the prompt is computed and where the answer; the same unless they are disaggregated.
struct Placement {
  std::size_t prefill = 0;
  std::size_t decode = 0;

  bool operator==(const Placement&) const = default;
};

/// A request that ended, with what it turned out to be.
struct Completion {
  Seconds now;
  std::size_t instance = 0;  ///< that decoded it
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;  ///< produced
  std::uint16_t request_class = 0;
  bool finished = true;             ///< false: it was cancelled, and would have gone on
  std::uint32_t device_type = 0;    ///< of the instance
  Seconds time_to_first_token;      ///< since arrival
  Seconds time_to_completion;       ///< since arrival
  std::uint32_t tokens_before = 0;  ///< of its output, those told of by progressed(); else 0
};

/// A request that still runs has come further. Tell it as seldom as you like, for example when the
/// tokens produced have doubled: without it, requests that still run teach nothing, and what was
/// expected of long ones is too little.
struct Progress {
  std::uint32_t input_tokens = 0;
  std::uint16_t request_class = 0;
  std::uint32_t tokens_before = 0;  ///< as told of the last time; 0: this is the first
  std::uint32_t tokens_now = 0;     ///< produced; above tokens_before
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// None: no instance can ever serve it. `arrival.now` never decreases.
  [[nodiscard]] virtual std::optional<Placement> place(const Arrival& arrival,
                                                       std::span<const InstanceView> views) = 0;
  /// Expected output tokens of a request, for InstanceView::expected_output_left.
  [[nodiscard]] virtual double expected_output(const Arrival& arrival) const = 0;
  virtual void completed(const Completion& completion) = 0;
  /// Returns the output tokens now expected of it, those produced included; none: as before.
  virtual std::optional<double> progressed(const Progress& /*progress*/) { return std::nullopt; }
  /// Until when an instance that may sleep is to be on, though nobody was sent there: it is started
  /// now, and does not go to sleep before. In the past: nobody wants it on. Ask after place().
  [[nodiscard]] virtual Seconds wanted_until(std::size_t /*instance*/) const { return {}; }
};

}  // namespace negawatt::route
