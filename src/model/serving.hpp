// SPDX-License-Identifier: Apache-2.0
//
// What one iteration of a serving engine costs on one instance: a model (its architecture) on a
// device (or several, tensor parallel), with continuous batching. An iteration ("step") computes
// chunks of prompts and one token of each decoding sequence.
//
//   time   = overhead + max(compute, memory) + communication
//   energy = power that flows anyway x time + joules per operation, byte and token
//
// A step that would draw more than the power cap draws the cap instead and takes longer. Compute,
// memory and communication are affine in the load while the number of sequences stands still, so
// many decode steps at once have a closed form: run() costs the same for one and a million. The
// coefficients come from model/deployment.hpp; nothing here fails.
#pragma once

#include <cstdint>

#include "core/cost.hpp"
#include "core/units.hpp"

namespace negawatt::model {

/// What one step computes.
struct StepLoad {
  double prompt_tokens = 0;     ///< of all prompt chunks together
  double prompt_attention = 0;  ///< sum over those tokens of the tokens each attends to
  double sequences = 0;         ///< that decode: each produces one token
  double context_tokens = 0;    ///< sum over those sequences of the tokens they attend to
};

/// Coefficients of one instance, in SI units. All of them are finite and 0 or more.
struct StepCoefficients {
  // Time, in seconds.
  double overhead = 0;               ///< the engine's CPU side and launches, a step
  double overhead_per_sequence = 0;  ///< the same, a decoding sequence
  double compute_per_token = 0;      ///< dense arithmetic, a prompt token or decoding sequence
  double compute_per_attended = 0;   ///< attention arithmetic, a (token, attended token) pair
  double memory_weights = 0;         ///< streaming what every step reads: dense weights
  double memory_experts = 0;         ///< streaming all experts; scaled by the share that is touched
  double memory_per_context = 0;     ///< reading the KV cache, a context token
  double memory_per_sequence = 0;    ///< reading and writing recurrent state, a decoding sequence
  double memory_per_token = 0;       ///< what hides behind no other, a token
  double link = 0;                   ///< collectives of a step, whatever its size
  double link_per_token = 0;         ///< likewise, a token
  // Experts: the share touched by t tokens is 1 - (1 - expert_share)^t; at most 1.
  double expert_share = 0;  ///< experts a token uses / experts; 0: a dense model
  // Energy, in joules and watts, of all devices of the instance.
  double idle_power = 0;    ///< drawn while it is on, busy or not
  double active_power = 0;  ///< added while a step runs
  double energy_per_token = 0;
  double energy_per_attended = 0;  ///< a (token, attended token) pair
  double energy_weights = 0;       ///< a step
  double energy_experts = 0;       ///< a step, scaled as memory_experts
  double energy_per_context = 0;   ///< reading the KV cache, a context token
  double energy_per_sequence = 0;  ///< recurrent state, a decoding sequence
  // A step whose own power (without idle and active power) would be r > 1 times what the cap leaves
  // takes 1 + cap_slowdown (r - 1) times as long. 1: its energy stays; less: voltage falls as well.
  double power_cap = 0;  ///< 0: none; else above idle_power + active_power
  double cap_slowdown = 1;

  bool operator==(const StepCoefficients&) const = default;
};

/// The steps of one instance. Immutable and cheap to copy.
class ServingModel {
 public:
  explicit ServingModel(const StepCoefficients& coefficients);

  [[nodiscard]] const StepCoefficients& coefficients() const { return c_; }
  [[nodiscard]] Watts idle_power() const { return Watts(c_.idle_power); }

  /// One step. The energy is all that the instance draws in it, idle power included.
  [[nodiscard]] Cost step(const StepLoad& load) const;

  /// `steps` decode steps one after the other, the first of which is `first` (no prompt tokens);
  /// every sequence attends to one token more in each next step. The sum of step() over them, up to
  /// rounding. Exact up to 2^53 steps.
  [[nodiscard]] Cost run(const StepLoad& first, std::uint64_t steps) const;

  /// How many of the next `limit` decode steps have ended after `time`: the most whose run() takes
  /// no longer.
  [[nodiscard]] std::uint64_t steps_ended(const StepLoad& first, Seconds time,
                                          std::uint64_t limit) const;

 private:
  /// Share of the experts that `tokens` tokens use.
  [[nodiscard]] double experts_touched(double tokens) const;

  StepCoefficients c_;
  double log_untouched_ = 0;  ///< log(1 - expert_share)
};

}  // namespace negawatt::model
