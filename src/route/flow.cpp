// SPDX-License-Identifier: Apache-2.0
#include "route/flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trace/random.hpp"

namespace negawatt::route {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kMostOfTheTime = 0.95;

struct Arithmetic {
  double time = 0;
  double energy = 0;  ///< above idle power
};

/// Of a prompt in steps that are full of prompts: bound by arithmetic, and maybe by the power cap.
Arithmetic arithmetic_of(const model::StepCoefficients& c, double tokens) {
  const double attended = 0.5 * tokens * (tokens + 1.0);
  const double time =
      tokens * (c.compute_per_token + c.link_per_token) + attended * c.compute_per_attended;
  const double dynamic = tokens * c.energy_per_token + attended * c.energy_per_attended;
  const double left = c.power_cap - c.idle_power - c.active_power;
  if (c.power_cap == 0.0 || dynamic <= left * time) return {time, c.active_power * time + dynamic};
  const double slowed = time + c.cap_slowdown * (dynamic / left - time);
  return {slowed, (c.power_cap - c.idle_power) * slowed};
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

/// How many standard deviations a normal variable exceeds with probability `miss`, 0 < miss <= 0.5;
/// Abramowitz and Stegun 26.2.23, to 0.0005.
double normal_quantile(double miss) {
  const double t = std::sqrt(-2.0 * trace::same_log(std::min(0.5, miss)));
  const double over = 2.515517 + t * (0.802853 + t * 0.010328);
  const double under = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return std::max(0.0, t - over / under);
}

/// Both at once, where they vary apart. (std::hypot is not the same on every machine.)
double together(double a, double b) { return std::sqrt(a * a + b * b); }

}  // namespace

InstanceFlow::InstanceFlow(const InstanceView& view, std::span<const FlowPart> parts)
    : model_(view.model) {
  const double room = view.most_step_tokens == 0 ? kInfinite : view.most_step_tokens;
  for (const FlowPart& part : parts) add(part, room);
  chunk_ = tokens_ > 0.0 && std::isfinite(room) ? room * prompt_ / tokens_ : 0.0;
  if (steps_ > 0.0) {
    context_ /= steps_;
    crowding_ = crowding_ / steps_ / std::max(1.0, context_ * context_);
  }
  const double sequences = view.most_sequences == 0 ? kInfinite : view.most_sequences;
  const double memory = static_cast<double>(view.kv_capacity) / std::max(1.0, context_);
  places_ = std::max(1.0, std::min(sequences, memory));
  if (sequences < memory || steps_ <= 0.0) crowding_ = 1.0;
}

/// Sums: context_ over steps and its square (in crowding_), the others over requests.
void InstanceFlow::add(const FlowPart& part, double room) {
  if (tokens_ == 0.0) crowding_ = 0.0;
  const Arithmetic prompt = arithmetic_of(model_->coefficients(), part.input_tokens);
  tokens_ += part.share * part.input_tokens;
  attended_ += part.share * 0.5 * part.input_tokens * (part.input_tokens + 1.0);
  prompt_ += part.share * prompt.time;
  prompt_2_ += part.share * prompt.time * prompt.time;
  chunks_ += part.share * std::ceil(part.input_tokens / room);
  energy_ += part.share * prompt.energy;
  const double steps = std::max(0.0, part.output_tokens - 1.0);
  const double context = part.input_tokens + 0.5 * part.output_tokens;
  steps_ += part.share * steps;
  steps_2_ += part.share * (steps * steps + part.output_spread * part.output_spread);
  context_ += part.share * steps * context;
  crowding_ += part.share * steps * context * context;
}

InstanceFlow::Spent InstanceFlow::step(double prompt, double attention, double batch) const {
  if (prompt + batch <= 0.0) return {};
  const Cost cost = model_->step({prompt, attention, batch, batch * context_});
  const double time = cost.time.in_si();
  return {time, cost.energy.in_si() - model_->coefficients().idle_power * time};
}

/// What a prompt adds to the steps that it is computed in, decoded in by `others.batch` on average.
InstanceFlow::Spent InstanceFlow::prompt_among(const Among& others, double rate) const {
  if (chunks_ <= 0.0 || rate <= 0.0) return {prompt_, energy_};
  const double tokens = tokens_ / chunks_;
  const double attention = attended_ / chunks_;
  const Spent alone = step(tokens, attention, 0.0);
  if (steps_ <= 0.0) return {chunks_ * alone.time, chunks_ * alone.energy};
  const double some = mean_of_some(others.batch);
  const Spent with = step(tokens, attention, some);
  const Spent without = decode_step(some);
  // What is read for answers anyway hides behind arithmetic once a step, whatever the step
  // computes.
  const double prompts_a_step = rate * chunks_ * without.time / (1.0 - others.load);
  const double first = share_first(prompts_a_step);
  const auto shared = [&](double bare, double more) { return bare - (bare - more) * first; };
  const double time = shared(prompt_, chunks_ * (with.time - without.time));
  const double energy = shared(energy_, chunks_ * (with.energy - without.energy));
  const double nobody = trace::same_exp(-others.batch);
  return {(1.0 - nobody) * time + nobody * chunks_ * alone.time,
          (1.0 - nobody) * energy + nobody * chunks_ * alone.energy};
}

SteadyState InstanceFlow::at(double rate, const FlowPromise& promise) const {
  SteadyState s;
  Spent one = decode_step(steps_ > 0.0 ? 1.0 : 0.0);
  Spent prompt;
  double wanted = 0.0;
  // A step is nearly affine in the batch: few rounds are enough.
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    prompt = prompt_among({.batch = std::min(wanted, places_), .load = s.load}, rate);
    s.is_full = rate * std::max(prompt.time, kMostOfTheTime * prompt_) > kMostOfTheTime;
    s.load = std::min(rate * prompt.time, kMostOfTheTime);
    wanted = rate * steps_ * one.time / (1.0 - s.load);
    const double batch = std::min(mean_of_some(wanted), places_);
    const bool settled = round > 0 && std::abs(batch - s.batch) <= 1e-3 * batch;
    s.batch = batch;
    if (steps_ > 0.0) one = decode_step(s.batch);
    if (settled) break;
  }
  const double z = normal_quantile(promise.miss);
  s.is_full = s.is_full || wanted + z * std::sqrt(wanted * crowding_ / promise.pooled) > places_;
  s.between = one.time / (1.0 - s.load);
  s.power = rate * (prompt.energy + steps_ * one.energy / s.batch);
  if (prompt_ > 0.0) s.prompt_time = prompt.time / prompt_;
  if (energy_ > 0.0) s.prompt_energy = prompt.energy / energy_;
  s.longest_between = steps_ > 0.0 ? most_seen_between(s, rate, promise) : 0.0;
  queue(s, rate, promise);
  return s;
}

/// An answer of few tokens meets more or fewer prompts of others, and a batch of another size.
double InstanceFlow::most_seen_between(const SteadyState& s, double rate,
                                       const FlowPromise& promise) const {
  constexpr double kShortAnswer = 1.0 / 8.0;  // of the mean
  const double few = std::max(1.0, kShortAnswer * steps_);
  const double prompts = std::sqrt(rate * s.between * prompt_2_ / few / promise.pooled);
  const double crowded = std::min(places_, s.batch + std::sqrt(s.batch / promise.pooled));
  const double crowd = (decode_step(crowded).time - decode_step(s.batch).time) / (1.0 - s.load);
  return s.between + normal_quantile(promise.miss) * together(prompts, crowd);
}

/// Prompts wait for each other, and every chunk for the answers that share its step.
void InstanceFlow::queue(SteadyState& s, double rate, const FlowPromise& promise) const {
  const Spent chunk = step(tokens_ / std::max(1.0, chunks_), 0.0, steps_ > 0.0 ? s.batch : 0.0);
  const double arithmetic = prompt_ / std::max(1.0, chunks_);
  const double stretch = chunk_ > 0.0 && arithmetic > 0.0
                             ? 1.0 + std::max(0.0, chunk.time - arithmetic) / chunk_
                             : 1.0;
  const double busy = std::min(kMostOfTheTime, rate * prompt_ * stretch);
  const double own = std::max(prompt_ * stretch, chunks_ * chunk.time);
  const double wait = 0.5 * rate * prompt_2_ * stretch * stretch / (1.0 - busy);
  const double spread = stretch * std::sqrt(std::max(0.0, prompt_2_ - prompt_ * prompt_));
  const double z = normal_quantile(promise.miss);
  // The tail is exponential: P(wait > t) = busy exp(-busy t / mean).
  const double longest =
      busy > promise.miss ? wait / busy * trace::same_log(busy / promise.miss) : 0.0;
  s.longest_first = s.between + own + together(longest, z * spread);
  s.completion = s.between + wait + own + steps_ * s.between;
  const double answers = std::sqrt(std::max(0.0, steps_2_ - steps_ * steps_)) * s.between;
  const double slow = steps_ * (s.longest_between - s.between);
  s.longest_completion =
      s.completion + together(together(longest, z * spread), together(z * answers, slow));
}

bool InstanceFlow::keeps(double rate, const FlowPromise& promise) const {
  const SteadyState s = at(rate, promise);
  const auto within = [](double time, double most) { return most <= 0.0 || time <= most; };
  return !s.is_full && within(s.longest_first, promise.first) &&
         within(s.longest_between, promise.between) &&
         within(s.longest_completion, promise.completion);
}

double InstanceFlow::most_rate(const FlowPromise& promise) const {
  constexpr int kHalvings = 12;  // to 0.03 %
  // Whatever hides behind what.
  const double decoding = steps_ > 0.0 ? steps_ * decode_step(places_).time / places_ : 0.0;
  constexpr double kLeastBusy = 1e-9;
  double high = 1.0 / std::max({kLeastBusy, prompt_, decoding});
  double low = 1e-4 * high;
  if (!keeps(low, promise)) return 0.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (keeps(middle, promise) ? low : high) = middle;
  }
  return low;
}

Cost cost_in_flow(const InstanceView& view, const Task& task, const SteadyState& state) {
  const model::StepCoefficients& c = view.model->coefficients();
  const Arithmetic prompt = arithmetic_of(c, task.input_tokens);
  const double steps = std::max(0.0, task.output_tokens - 1.0);
  const double context = task.input_tokens + 0.5 * task.output_tokens;
  const Cost one = view.model->step({0.0, 0.0, state.batch, state.batch * context});
  const double time = one.time.in_si();
  const double energy = one.energy.in_si() - c.idle_power * time;
  return {Seconds(state.prompt_time * prompt.time + steps * time / (1.0 - state.load)),
          Joules(state.prompt_energy * prompt.energy + steps * energy / state.batch)};
}

}  // namespace negawatt::route
