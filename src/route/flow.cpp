// SPDX-License-Identifier: Apache-2.0
#include "route/flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trace/random.hpp"

namespace negawatt::route {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Time, and energy above idle power.
struct Spent {
  double time = 0;
  double energy = 0;
};

/// In steps that are full of prompts: bound by arithmetic, and maybe by the power cap.
Spent prompt_of(const model::StepCoefficients& c, double tokens) {
  const double attended = 0.5 * tokens * (tokens + 1.0);
  const double time =
      tokens * (c.compute_per_token + c.link_per_token) + attended * c.compute_per_attended;
  const double dynamic = tokens * c.energy_per_token + attended * c.energy_per_attended;
  const double left = c.power_cap - c.idle_power - c.active_power;
  if (c.power_cap == 0.0 || dynamic <= left * time) return {time, c.active_power * time + dynamic};
  const double slowed = time + c.cap_slowdown * (dynamic / left - time);
  return {slowed, (c.power_cap - c.idle_power) * slowed};
}

Spent decode_step(const model::ServingModel& model, double batch, double context) {
  const Cost cost = model.step({0.0, 0.0, batch, batch * context});
  const double time = cost.time.in_si();
  return {time, cost.energy.in_si() - model.coefficients().idle_power * time};
}

/// The arithmetic that a decode step of that time has room for while it waits for memory.
double slack_of(const model::StepCoefficients& c, double batch, double context, double time) {
  const double rest = c.overhead + c.link + batch * (c.overhead_per_sequence + c.link_per_token);
  const double compute = batch * (c.compute_per_token + context * c.compute_per_attended);
  return std::max(0.0, time - rest - compute);
}

/// The mean of a Poisson number of mean `mean` when it is not 0: of the sequences in a step, since
/// a step is only taken with one at least.
double mean_of_some(double mean) {
  return mean > 1e-6 ? mean / (1.0 - trace::same_exp(-mean)) : 1.0;
}

/// Of a Poisson number of mean `mean`, the share of those that are the first.
double share_first(double mean) {
  return mean > 1e-6 ? (1.0 - trace::same_exp(-mean)) / mean : 1.0;
}

/// How many standard deviations a normal variable exceeds with probability `miss`; within 0.1 for
/// 0.0001 to 0.1.
double normal_quantile(double miss) {
  return std::max(0.0, std::sqrt(-2.0 * trace::same_log(miss)) - 0.7);
}

}  // namespace

InstanceFlow::InstanceFlow(const InstanceView& view, std::span<const FlowPart> parts)
    : model_(view.model) {
  const double room = view.most_step_tokens == 0 ? kInfinite : view.most_step_tokens;
  double tokens = 0.0;
  double attended = 0.0;
  double attended_2 = 0.0;
  for (const FlowPart& part : parts) {
    const Spent prompt = prompt_of(model_->coefficients(), part.input_tokens);
    tokens += part.share * part.input_tokens;
    prompt_ += part.share * prompt.time;
    prompt_2_ += part.share * prompt.time * prompt.time;
    chunks_ += part.share * std::ceil(part.input_tokens / room);
    energy_ += part.share * prompt.energy;
    const double steps = std::max(0.0, part.output_tokens - 1.0);
    const double context = part.input_tokens + 0.5 * part.output_tokens;
    steps_ += part.share * steps;
    attended += part.share * steps * context;
    attended_2 += part.share * steps * context * context;
  }
  chunk_ = tokens > 0.0 && std::isfinite(room) ? room * prompt_ / tokens : 0.0;
  if (steps_ > 0.0) {
    context_ = attended / steps_;
    crowding_ = attended_2 / steps_ / std::max(1.0, context_ * context_);
  }
  const double sequences = view.most_sequences == 0 ? kInfinite : view.most_sequences;
  const double memory = static_cast<double>(view.kv_capacity) / std::max(1.0, context_);
  places_ = std::max(1.0, std::min(sequences, memory));
  if (sequences < memory) crowding_ = 1.0;
}

SteadyState InstanceFlow::at(double rate, double miss, double pooled) const {
  constexpr double kMostOfTheTime = 0.95;
  const model::StepCoefficients& c = model_->coefficients();
  SteadyState s;
  const auto step = [this](double batch) {
    return steps_ > 0.0 ? decode_step(*model_, batch, context_) : Spent{};
  };
  Spent one = step(1.0);
  double slack = 0.0;
  double wanted = 0.0;
  // A step is nearly affine in the batch: few rounds are enough.
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    slack = slack_of(c, s.batch, context_, one.time);
    // A step hides the arithmetic of prompts behind the memory of answers once, however many
    // prompts it computes.
    const double prompts_a_step = rate * chunks_ * one.time / (1.0 - s.load);
    const double prompt = std::max(0.0, prompt_ - chunks_ * slack * share_first(prompts_a_step));
    s.is_full = rate * std::max(prompt, prompt_ * kMostOfTheTime) > kMostOfTheTime;
    s.load = std::min(rate * prompt, kMostOfTheTime);
    wanted = rate * steps_ * one.time / (1.0 - s.load);
    const double batch = std::min(mean_of_some(wanted), places_);
    const bool settled = std::abs(batch - s.batch) <= 1e-3 * batch;
    s.batch = batch;
    one = step(s.batch);
    if (settled) break;
  }
  const double z = normal_quantile(miss);
  s.is_full = s.is_full || wanted + z * std::sqrt(wanted * crowding_ / pooled) > places_;
  s.between = one.time / (1.0 - s.load);
  s.power = rate * (energy_ + steps_ * one.energy / s.batch);

  // An answer of few tokens meets more or fewer prompts of others, and a batch of another size.
  constexpr double kShortAnswer = 1.0 / 8.0;  // of the mean
  const double few = std::max(1.0, kShortAnswer * steps_);
  const double prompts = std::sqrt(rate * s.between * prompt_2_ / few / pooled);
  const double crowded = std::min(places_, s.batch + std::sqrt(s.batch / pooled));
  const double crowd = (step(crowded).time - one.time) / (1.0 - s.load);
  s.longest_between = s.between + z * std::hypot(prompts, crowd);

  // Prompts wait for each other, and every chunk for the answers that share its step.
  const double stretch = chunk_ > 0.0 ? 1.0 + std::max(0.0, one.time - slack) / chunk_ : 1.0;
  const double busy = std::min(kMostOfTheTime, rate * prompt_ * stretch);
  const double own = prompt_ * stretch;
  const double wait = 0.5 * rate * prompt_2_ * stretch * stretch / (1.0 - busy);
  const double spread = stretch * std::sqrt(std::max(0.0, prompt_2_ - prompt_ * prompt_));
  // The tail is exponential: P(wait > t) = busy exp(-busy t / mean).
  const double longest = busy > miss ? wait / busy * trace::same_log(busy / miss) : 0.0;
  s.first = s.between + own + std::hypot(longest, z * spread);
  s.completion = s.between + wait + own + steps_ * s.between;
  return s;
}

bool InstanceFlow::keeps(double rate, const FlowPromise& promise) const {
  const SteadyState s = at(rate, promise.miss, promise.pooled);
  const auto within = [](double time, double most) { return most <= 0.0 || time <= most; };
  return !s.is_full && within(s.first, promise.first) &&
         within(s.longest_between, promise.between) && within(s.completion, promise.completion);
}

double InstanceFlow::most_rate(const FlowPromise& promise) const {
  constexpr int kHalvings = 12;  // to 0.03 %
  // Whatever hides behind what.
  const double busy =
      std::max(prompt_, steps_ * decode_step(*model_, places_, context_).time / places_);
  constexpr double kLeastBusy = 1e-9;
  double high = 1.0 / std::max(kLeastBusy, busy);
  double low = 1e-4 * high;
  if (!keeps(low, promise)) return 0.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (keeps(middle, promise) ? low : high) = middle;
  }
  return low;
}

Cost cost_in_flow(const InstanceView& view, const Task& task, double batch, double load) {
  const Spent prompt = prompt_of(view.model->coefficients(), task.input_tokens);
  const double steps = std::max(0.0, task.output_tokens - 1.0);
  const double context = task.input_tokens + 0.5 * task.output_tokens;
  const Spent one = decode_step(*view.model, batch, context);
  return {Seconds(prompt.time + steps * one.time / (1.0 - load)),
          Joules(prompt.energy + steps * one.energy / batch)};
}

}  // namespace negawatt::route
