// SPDX-License-Identifier: Apache-2.0
//
// A steady flow of requests through one instance, in closed form: how many share a step, how long
// they take, what the instance draws, and how much of a flow it can serve within its promises.
// Prompts queue as in M/G/1 (Pollaczek and Khinchine), answers share the steps that prompts leave
// (Little's law). Prompts are taken at their mean where a step is priced. Nothing here fails or
// allocates. Rates in 1/s, times in s, energies in J.
#pragma once

#include <span>

#include "core/units.hpp"
#include "route/policy.hpp"
#include "route/request_cost.hpp"

namespace negawatt::route {

/// Requests whose prompts are alike.
struct FlowPart {
  double share = 0;  ///< of all requests; those of a flow add up to 1
  double input_tokens = 0;
  double output_tokens = 0;  ///< mean
  double output_spread = 0;  ///< standard deviation
};

/// What the requests of a flow are held to; 0: nothing.
struct FlowPromise {
  double first = 0;       ///< until the first token
  double between = 0;     ///< between tokens, mean over an answer
  double completion = 0;  ///< until the last token
  double miss = 0.01;     ///< share of the requests that may take longer, above 0
  double pooled = 1;      ///< instances among which whoever comes is sent where there is room
};

/// An instance that serves a flow. Longest: kept by all but FlowPromise::miss of the requests.
struct SteadyState {
  double load = 0;     ///< share of the time that goes to prompts
  double batch = 1;    ///< sequences that share a decode step, at least 1
  double between = 0;  ///< between tokens, mean
  double longest_first = 0;
  double longest_between = 0;
  double longest_completion = 0;
  double completion = 0;  ///< until the last token, mean
  double power = 0;       ///< watts above idle
  // What a prompt adds, over what its arithmetic takes alone.
  double prompt_time = 1;
  double prompt_energy = 1;
  bool is_full = false;  ///< the flow needs more sequences, memory or time than there is
};

class InstanceFlow {
 public:
  /// `view` gives the model and the limits; what it is busy with does not matter.
  InstanceFlow(const InstanceView& view, std::span<const FlowPart> parts);

  /// Of `promise` only `miss` and `pooled` matter here.
  [[nodiscard]] SteadyState at(double rate, const FlowPromise& promise = {}) const;
  /// The largest flow that keeps the promise; 0: not even a single request does.
  [[nodiscard]] double most_rate(const FlowPromise& promise) const;

 private:
  /// Time, and energy above idle power.
  struct Spent {
    double time = 0;
    double energy = 0;
  };

  void add(const FlowPart& part, double room);
  [[nodiscard]] Spent step(double prompt, double attention, double batch) const;
  [[nodiscard]] Spent decode_step(double batch) const { return step(0.0, 0.0, batch); }
  /// What a prompt meets.
  struct Among {
    double batch = 0;  ///< sequences that decode, mean
    double load = 0;   ///< share of the time that goes to prompts
  };
  [[nodiscard]] Spent prompt_among(const Among& others, double rate) const;
  [[nodiscard]] double most_seen_between(const SteadyState& s, double rate,
                                         const FlowPromise& promise) const;
  void queue(SteadyState& s, double rate, const FlowPromise& promise) const;
  [[nodiscard]] bool keeps(double rate, const FlowPromise& promise) const;

  const model::ServingModel* model_;
  double places_ = 1;  ///< sequences that fit
  // Means over requests.
  double tokens_ = 0;    ///< of a prompt
  double attended_ = 0;  ///< pairs of tokens within a prompt
  double chunks_ = 0;    ///< steps in which a prompt is computed
  double prompt_ = 0;    ///< time of a prompt's arithmetic
  double prompt_2_ = 0;  ///< square of it
  double energy_ = 0;    ///< of a prompt's arithmetic
  double steps_ = 0;     ///< decode steps of an answer
  double steps_2_ = 0;   ///< square of it
  double chunk_ = 0;     ///< time of the largest chunk's arithmetic; 0: prompts are not cut
  double context_ = 0;   ///< tokens attended to by a decode step, mean over steps
  double crowding_ = 1;  ///< variance / mean of the places taken when the mean is one
};

/// Energy (above idle) and time of one request in a flow that keeps the instance in `state`, with
/// sequences like it.
[[nodiscard]] Cost cost_in_flow(const InstanceView& view, const Task& task,
                                const SteadyState& state);

}  // namespace negawatt::route
