// SPDX-License-Identifier: Apache-2.0
//
// A routing policy: where a request goes, decided from what is known when it arrives. The same
// object runs in the simulator and behind the gateway: it keeps no clock, makes no I/O, and draws
// its random numbers from a seed. Its user tells it of every completion, from which it may learn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/units.hpp"
#include "model/serving.hpp"

namespace negawatt::route {

enum class Role : std::uint8_t { both, prefill, decode };

/// One instance as its router sees it.
struct InstanceView {
  const model::ServingModel* model = nullptr;
  Role role = Role::both;
  bool serves_model = true;            ///< the model that is asked for
  bool ready = true;                   ///< on; false: asleep, or starting
  Seconds ready_in;                    ///< until it can work, if it were woken now
  std::uint32_t running = 0;           ///< sequences that decode or prefill
  std::uint32_t waiting = 0;           ///< requests not yet admitted
  std::uint32_t most_sequences = 0;    ///< of a batch
  std::uint32_t most_step_tokens = 0;  ///< prompt tokens and sequences of a step
  std::uint64_t context_tokens = 0;    ///< of the running sequences
  std::uint64_t waiting_prompt = 0;    ///< prompt tokens not yet computed, of both
  std::uint64_t kv_capacity = 0;       ///< tokens
  std::uint64_t kv_used = 0;           ///< tokens
  double expected_output_left = 0;     ///< tokens, of all its requests, as the policy expected them
  double completions_per_second = 0;   ///< over the last minute
  std::uint32_t device_type = 0;       ///< for tables and thresholds by type
};

/// What is known of a request when it arrives.
struct Arrival {
  Seconds now;
  std::uint32_t input_tokens = 0;
  std::uint16_t request_class = 0;
  std::int16_t priority = 0;
  std::uint32_t true_output_tokens = 0;  ///< 0: unknown; clairvoyant policies only
};

/// Where the prompt is computed and where the answer; the same unless they are disaggregated.
struct Placement {
  std::size_t prefill = 0;
  std::size_t decode = 0;
};

/// A finished request, with what it turned out to be.
struct Completion {
  Seconds now;
  std::size_t instance = 0;
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint16_t request_class = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// None: no instance can ever serve it.
  [[nodiscard]] virtual std::optional<Placement> place(const Arrival& arrival,
                                                       std::span<const InstanceView> views) = 0;
  /// Expected output tokens of a request, for InstanceView::expected_output_left.
  [[nodiscard]] virtual double expected_output(const Arrival& arrival) const = 0;
  virtual void completed(const Completion& completion) = 0;
};

}  // namespace negawatt::route
