// SPDX-License-Identifier: Apache-2.0
//
// An engine that goes step by step, sequence by sequence: slow and obvious. The oracle for marginal
// costs: the same instance with one request more and without it, until both are empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/serving.hpp"
#include "route/request_cost.hpp"

namespace negawatt::route::testing {

struct Sequence {
  std::uint32_t prompt = 0;   ///< tokens to compute
  std::uint32_t left = 0;     ///< tokens to produce
  std::uint32_t context = 0;  ///< tokens held
  double first = 0.0;         ///< when the first token came
  double ended = 0.0;         ///< when the last one came
};

struct Future {
  std::vector<Sequence> sequences;
  double energy = 0.0;  ///< without idle power
  double time = 0.0;
};

/// First come first served, chunked prefill, no limit but the tokens of a step.
inline Future play(const model::ServingModel& model, std::vector<Sequence> sequences,
                   std::uint32_t most_step_tokens) {
  Future future{std::move(sequences)};
  while (true) {
    model::StepLoad load;
    std::vector<std::uint32_t> chunk(future.sequences.size(), 0);
    for (const Sequence& s : future.sequences) {
      if (s.prompt > 0 || s.left == 0) continue;
      load.sequences += 1.0;
      load.context_tokens += s.context + 1.0;
    }
    auto room = static_cast<std::uint32_t>(most_step_tokens - load.sequences);
    bool any = load.sequences > 0.0;
    for (std::size_t i = 0; i < future.sequences.size(); ++i) {
      const Sequence& s = future.sequences[i];
      chunk[i] = std::min(s.prompt, room);
      room -= chunk[i];
      for (std::uint32_t t = 1; t <= chunk[i]; ++t) load.prompt_attention += s.context + t;
      load.prompt_tokens += chunk[i];
      any = any || chunk[i] > 0;
    }
    if (!any) return future;
    const Cost cost = model.step(load);
    future.time += cost.time.in_si();
    future.energy += cost.energy.in_si() - model.coefficients().idle_power * cost.time.in_si();
    for (std::size_t i = 0; i < future.sequences.size(); ++i) {
      Sequence& s = future.sequences[i];
      const bool decodes = s.prompt == 0 && s.left > 0;
      s.context += chunk[i] + (decodes ? 1 : 0);
      s.prompt -= chunk[i];
      const bool prompt_ended = chunk[i] > 0 && s.prompt == 0;
      if (prompt_ended) s.first = future.time;
      if (!decodes && !prompt_ended) continue;
      if (--s.left == 0) s.ended = future.time;
    }
  }
}

/// What the last of `sequences` adds to the others.
inline Marginal difference(const model::ServingModel& model, std::vector<Sequence> sequences,
                           std::uint32_t most_step_tokens) {
  const Future with = play(model, sequences, most_step_tokens);
  sequences.pop_back();
  const Future without = play(model, sequences, most_step_tokens);
  Marginal m;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    m.delay += Seconds(with.sequences[i].ended - without.sequences[i].ended);
  }
  m.energy = Joules(with.energy - without.energy);
  m.busy = Seconds(with.time - without.time);
  m.time_to_first_token = Seconds(with.sequences.back().first);
  m.time_to_completion = Seconds(with.sequences.back().ended);
  return m;
}

/// A made-up device of about the size of an H100 with a model of 8 billion parameters: decoding is
/// bound by memory, prompts of more than some hundred tokens by arithmetic.
inline model::StepCoefficients coefficients_for_test() {
  model::StepCoefficients c;
  c.overhead = 1e-3;
  c.overhead_per_sequence = 1e-5;
  c.compute_per_token = 2.5e-5;
  c.compute_per_attended = 1e-9;
  c.memory_weights = 6e-3;
  c.memory_per_context = 5e-8;
  c.memory_per_token = 1e-7;
  c.idle_power = 100.0;
  c.active_power = 150.0;
  c.energy_per_token = 8e-3;
  c.energy_per_attended = 2e-7;
  c.energy_weights = 1.2;
  c.energy_per_context = 1e-5;
  return c;
}

/// What a router sees of `running` sequences that decode.
inline InstanceView view_of(const model::ServingModel& model,
                            const std::vector<Sequence>& running) {
  InstanceView view;
  view.model = &model;
  view.most_sequences = 256;
  view.most_step_tokens = 2048;
  view.kv_capacity = 400'000;
  view.running = static_cast<std::uint32_t>(running.size());
  for (const Sequence& s : running) {
    view.context_tokens += s.context;
    view.expected_output_left += s.left;
  }
  view.kv_used = view.context_tokens;
  return view;
}

}  // namespace negawatt::route::testing
