// SPDX-License-Identifier: Apache-2.0
#include "sim/request_floor.hpp"

#include <algorithm>
#include <cmath>

#include "core/same_functions.hpp"

namespace negawatt::sim {
namespace {

/// Of the experts' cost, what each token brings at least: the share touched is concave in the
/// tokens, so that a token brings least where the step has the most.
double least_expert_share(const model::StepCoefficients& c, double most_tokens) {
  if (c.expert_share <= 0.0) return 0.0;
  return -same_expm1(most_tokens * same_log1p(-c.expert_share)) / most_tokens;
}

}  // namespace

RequestFloor::RequestFloor(const InstanceSpec& spec, FloorChoice choice) {
  const auto& c = spec.model.coefficients();
  const double by_memory = 1.0 - choice.compute_share;
  const double by_compute = choice.compute_share;
  const double experts = least_expert_share(c, spec.limits.most_step_tokens);

  const Floor step{c.overhead + c.link + by_memory * c.memory_weights, c.energy_weights};
  const double each = (1.0 - choice.memory_share) / spec.limits.most_sequences;
  const double by_token = choice.memory_share / static_cast<double>(kv_tokens(spec.limits));
  anyway_ = {each * step.seconds, each * step.joules};

  const double token_time = c.link_per_token + by_compute * c.compute_per_token +
                            by_memory * (c.memory_per_token + experts * c.memory_experts);
  const double token_energy = c.energy_per_token + experts * c.energy_experts;
  prompt_time_ = {token_time, by_compute * c.compute_per_attended};
  prompt_energy_ = {token_energy, c.energy_per_attended};
  answer_time_ = {
      token_time + c.overhead_per_sequence + by_memory * c.memory_per_sequence + anyway_.seconds,
      by_compute * c.compute_per_attended + by_memory * c.memory_per_context +
          by_token * step.seconds};
  answer_energy_ = {token_energy + c.energy_per_sequence + anyway_.joules,
                    c.energy_per_attended + c.energy_per_context + by_token * step.joules};

  active_power_ = c.active_power;
  left_power_ = c.power_cap > 0.0 ? c.power_cap - c.idle_power - c.active_power : 0.0;
  cap_slowdown_ = c.power_cap > 0.0 ? std::min(1.0, c.cap_slowdown) : 1.0;
}

/// Under the cap a step takes s e + (1 - s) min(e, left t) of energy e and time t: the minimum of a
/// sum is at least the sum of the minima, and a minimum of lines lies above its chord.
Floor RequestFloor::sum(const Parts& parts) const {
  const double middle = 0.5 * (parts.first + parts.last);
  const double time = parts.count * parts.time(middle);
  const double energy = parts.count * parts.energy(middle);
  const auto least = [&](double x) {
    return std::min(parts.energy(x), left_power_ * parts.time(x));
  };
  const double capped = 0.5 * parts.count * (least(parts.first) + least(parts.last));
  return {time, active_power_ * time + cap_slowdown_ * energy + (1.0 - cap_slowdown_) * capped};
}

Floor RequestFloor::prompt(double input_tokens) const {
  const Floor tokens = sum({prompt_time_, prompt_energy_, input_tokens, 1.0, input_tokens});
  return tokens + sum({{anyway_.seconds, 0.0}, {anyway_.joules, 0.0}, 1.0, 0.0, 0.0});
}

Floor RequestFloor::answer(double input_tokens, double output_tokens) const {
  if (output_tokens < 2.0) return {};
  return sum({answer_time_, answer_energy_, output_tokens - 1.0, input_tokens + 1.0,
              input_tokens + output_tokens - 1.0});
}

double RequestFloor::seconds(double input_tokens, double output_tokens) const {
  return anyway_.seconds + input_tokens * prompt_time_(0.5 * (1.0 + input_tokens)) +
         (output_tokens - 1.0) * answer_time_(input_tokens + 0.5 * output_tokens);
}

}  // namespace negawatt::sim
