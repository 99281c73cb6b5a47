// SPDX-License-Identifier: Apache-2.0
//
// A steady flow of requests through one instance, in closed form: how many share a step, how long
// they take, what the instance draws, and how much of a flow it can serve within its promises.
// Prompts queue as in M/G/1 (Pollaczek and Khinchine), answers share the steps that prompts leave
// (Little's law). Nothing here fails or allocates. Rates in 1/s, times in s, energies in J.
#pragma once

#include <span>

#include "core/units.hpp"
#include "route/policy.hpp"
#include "route/request_cost.hpp"

namespace negawatt::route {

/// Requests that are alike.
struct FlowPart {
  double share = 0;  ///< of all requests; those of a flow add up to 1
  double input_tokens = 0;
  double output_tokens = 0;
};

/// What the requests of a flow are held to; 0: nothing.
struct FlowPromise {
  double first = 0;       ///< until the first token
  double between = 0;     ///< between tokens, mean over an answer
  double completion = 0;  ///< until the last token
  double miss = 0.01;     ///< share of the requests that may take longer, above 0
  double pooled = 1;      ///< instances among which whoever comes is sent where there is room
};

/// An instance that serves a flow.
struct SteadyState {
  double load = 0;             ///< share of the time that goes to prompts
  double batch = 1;            ///< sequences that share a decode step, at least 1
  double first = 0;            ///< until the first token: kept by all but FlowPromise::miss of them
  double between = 0;          ///< between tokens, mean
  double longest_between = 0;  ///< of an answer: kept by all but so many
  double completion = 0;       ///< until the last token, mean
  double power = 0;            ///< watts above idle
  bool is_full = false;        ///< the flow needs more sequences, memory or time than there is
};

class InstanceFlow {
 public:
  /// `view` gives the model and the limits; what it is busy with does not matter.
  InstanceFlow(const InstanceView& view, std::span<const FlowPart> parts);

  [[nodiscard]] SteadyState at(double rate, double miss = 0.01, double pooled = 1) const;
  /// The largest flow that keeps the promise; 0: not even a single request does.
  [[nodiscard]] double most_rate(const FlowPromise& promise) const;

 private:
  [[nodiscard]] bool keeps(double rate, const FlowPromise& promise) const;

  const model::ServingModel* model_;
  double places_;        ///< sequences that fit
  double prompt_ = 0;    ///< mean time of a prompt
  double prompt_2_ = 0;  ///< mean of its square
  double chunks_ = 0;    ///< mean steps in which a prompt is computed
  double chunk_ = 0;     ///< time of the largest chunk; 0: prompts are not cut
  double energy_ = 0;    ///< mean energy of a prompt, above idle
  double steps_ = 0;     ///< mean decode steps of an answer
  double context_ = 0;   ///< mean tokens attended to by a decode step
  double crowding_ = 1;  ///< variance / mean of the places taken when the mean is one
};

/// Energy (above idle) and time of one request in a flow whose steps are shared by `batch`
/// sequences like it and whose prompts take the share `load` of the time.
[[nodiscard]] Cost cost_in_flow(const InstanceView& view, const Task& task, double batch,
                                double load);

}  // namespace negawatt::route
