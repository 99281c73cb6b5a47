// SPDX-License-Identifier: Apache-2.0
//
// What a request costs on an instance: alone, as the papers count it; as a share of a full
// instance, which is the capacity it uses up; and at the margin, given the batch and the queue it
// joins: the joules and seconds it adds to itself and to those it delays. Nothing here fails or
// allocates.
//
// The margin is the difference of two futures of the instance, with and without the request, in
// which nobody else arrives but at the rate of late (see Marginal). Residents are one kind: each
// has the mean context and the mean number of tokens left. Stretches of steps are priced at their
// middle, which is their exact sum (affine costs) unless compute and memory change places within.
#pragma once

#include <cstdint>

#include "core/cost.hpp"
#include "core/units.hpp"
#include "route/policy.hpp"

namespace negawatt::route {

/// The part of a request that an instance does. The step that ends the prompt gives the first
/// token; the others take one step each.
struct Task {
  double input_tokens = 0;   ///< at least 1
  double output_tokens = 0;  ///< at least 1
  bool prompt = true;        ///< it computes the prompt
  bool answer = true;        ///< it decodes the tokens after the first
};

/// Time and energy of the request alone on an idle instance, idle power included.
[[nodiscard]] Cost isolated_cost(const InstanceView& view, const Task& task);

/// The seconds of a full instance that the request uses: its share of the steps of the largest
/// batch that fits and keeps to `between_tokens` (0: no limit), and the arithmetic of its prompt.
[[nodiscard]] Seconds saturated_time(const InstanceView& view, const Task& task,
                                     Seconds between_tokens);

/// How the tokens that residents still have to produce vary around their mean.
enum class Residuals : std::uint8_t {
  equal,      ///< all the same: residents end together, and nobody comes
  memoryless  ///< exponential: they leave one by one, and others come
};

/// The difference that a request makes to an instance.
struct Marginal {
  // Of the request itself, since it arrives.
  Seconds wait;  ///< until the instance turns to it
  Seconds time_to_first_token;
  Seconds time_to_completion;
  Seconds time_between_tokens;  ///< mean, with the prompts of others in between
  // Of the instance.
  Joules energy;   ///< added, without idle power
  Seconds busy;    ///< how much longer it is busy
  Seconds delay;   ///< of all the others together
  Seconds step;    ///< a decoding step of those it meets first, prompts of others in between
  Joules standby;  ///< of being woken and of staying on longer; 0 if it never sleeps
};

/// When residents are memoryless, a step in which all of them have ended is the request's alone and
/// costs what it costs whole; any other costs what one sequence more makes of it. Others come at
/// the rate of completions of late, by Little's law rate x time in the system of them in the long
/// run, Poisson distributed; they too keep the request from being alone. And they keep the instance
/// on with probability 1 - exp(-rate x time), which is what `standby` is not charged for.
[[nodiscard]] Marginal marginal_cost(const InstanceView& view, const Task& task,
                                     Residuals residuals = Residuals::memoryless);

}  // namespace negawatt::route
