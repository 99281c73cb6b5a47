// SPDX-License-Identifier: Apache-2.0
#include "route/request_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Seconds, joules, tokens and steps are raw doubles in this file; counts of steps and of sequences
// are means and need not be whole.
namespace negawatt::route {
namespace {

using model::ServingModel;
using model::StepLoad;

/// Time, and energy without idle power.
struct Spent {
  double time = 0.0;
  double energy = 0.0;

  Spent& operator+=(Spent other) {
    time += other.time;
    energy += other.energy;
    return *this;
  }
  friend Spent operator*(double times, Spent a) { return {times * a.time, times * a.energy}; }
};

Spent step(const ServingModel& model, const StepLoad& load) {
  const Cost cost = model.step(load);
  const double time = cost.time.in_si();
  return {time, cost.energy.in_si() - model.coefficients().idle_power * time};
}

/// Sequences that decode together for a while.
struct Batch {
  double sequences = 0.0;
  double context = 0.0;  ///< tokens attended in the first of the steps
  double growth = 0.0;   ///< of the context, a step
};

/// `steps` decode steps, priced at their middle.
Spent decode(const ServingModel& model, const Batch& batch, double steps) {
  if (steps <= 0.0 || batch.sequences <= 0.0) return {};
  const double context = batch.context + 0.5 * batch.growth * (steps - 1.0);
  return steps * step(model, {0.0, 0.0, batch.sequences, context});
}

/// Steps that compute a prompt piece by piece; all but the last one are full.
struct Chunks {
  double tokens = 0.0;
  double room = 0.0;
  double steps = 0.0;
};

Chunks chunks_of(const InstanceView& view, double tokens, double decoding) {
  if (tokens <= 0.0) return {};
  const double room = view.most_step_tokens == 0
                          ? tokens
                          : std::max(1.0, static_cast<double>(view.most_step_tokens) - decoding);
  return {tokens, std::min(room, tokens), std::ceil(tokens / room)};
}

/// The steps of a prompt whose tokens before `tokens_done` attend to nothing but their own, while
/// `batch` decodes in the first `shared` of them.
Spent prefill(const ServingModel& model, const Chunks& chunks, const Batch& batch, double shared) {
  Spent spent;
  const double full = chunks.steps - 1.0;
  const double last = chunks.tokens - full * chunks.room;
  const double with = shared > 0.0 ? batch.sequences : 0.0;
  const auto context_at = [&](double k) {
    return with > 0.0 ? batch.context + batch.growth * k : 0.0;
  };
  if (full > 0.0) {
    // Token i attends to i + 1; the mean over the full chunks.
    const double attention = 0.5 * chunks.room * (full * chunks.room + 1.0);
    const double both = std::min(full, shared);
    spent += both * step(model, {chunks.room, attention, with, context_at(0.5 * (both - 1.0))});
    if (both < full) spent += (full - both) * step(model, {chunks.room, attention, 0.0, 0.0});
  }
  const double attention = last * (chunks.tokens - last) + 0.5 * last * (last + 1.0);
  const bool alone = shared < chunks.steps;
  spent += step(model, {last, attention, alone ? 0.0 : with, alone ? 0.0 : context_at(full)});
  return spent;
}

/// The mean number of others that share a step, as the request will meet them.
struct Company {
  double ahead_time = 0.0;  ///< until the instance turns to the request
  double sequences = 0.0;   ///< that decode with it at first
  double context = 0.0;     ///< each, at its first step with the request
  double steps = 0.0;       ///< for so long
  double arriving = 0.0;    ///< mean number of others later on
  double load = 0.0;        ///< share of time that prompts of others take
};

/// H(n) = 1 + 1/2 + ... + 1/n, continued to real n >= 0 (Euler-Maclaurin; at n = 1 within 1e-3).
double harmonic(double n) {
  constexpr double kEuler = 0.57721566490153286;
  if (n <= 1.0) return n;
  return std::log(n) + kEuler + 0.5 / n - 1.0 / (12.0 * n * n);
}

/// How many must leave before the request has a place in the batch and in memory.
double must_leave(const InstanceView& view, double residents, double context, double input) {
  const double places = view.most_sequences == 0 ? std::numeric_limits<double>::infinity()
                                                 : static_cast<double>(view.most_sequences);
  const double held =
      static_cast<double>(view.kv_used) + static_cast<double>(view.waiting_prompt) + input;
  const double too_much = held - static_cast<double>(view.kv_capacity);
  const double by_memory = too_much > 0.0 ? too_much / std::max(1.0, context) : 0.0;
  return std::clamp(std::max(residents + 1.0 - places, by_memory), 0.0, residents);
}

/// What lies ahead of a request at an instance with work.
Company company_at(const InstanceView& view, double input, Residuals residuals) {
  Company company;
  const double running = view.running;
  const double residents = running + view.waiting;
  if (residents == 0.0) return company;
  const ServingModel& model = *view.model;
  const double prompt = static_cast<double>(view.waiting_prompt);
  const double held = static_cast<double>(view.context_tokens);
  const double left = std::max(1.0, view.expected_output_left / residents);
  const double mean_context = (held + prompt) / residents;

  // Prompts that come first; their sequences decode afterwards.
  const Chunks chunks = chunks_of(view, prompt, running);
  if (prompt > 0.0) {
    const double each = prompt / std::max(1.0, static_cast<double>(view.waiting));
    const double attention = 0.5 * prompt * (each + 1.0) / chunks.steps;
    company.ahead_time += chunks.steps * step(model, {prompt / chunks.steps, attention, running,
                                                      held + running * 0.5 * (chunks.steps + 1.0)})
                                             .time;
  }
  const double produced = std::min(1.0, running / residents) * chunks.steps;
  const double still = std::max(0.0, left - produced);

  const double leaving = must_leave(view, residents, mean_context, input);
  const double staying = std::max(residents - leaving, 1.0);
  if (leaving > 0.0) {
    const Batch batch{staying, staying * (mean_context + 0.5 * still), 0.0};
    company.ahead_time += decode(model, batch, leaving * still / staying).time;
  }
  const double thinning =
      residuals == Residuals::memoryless ? std::max(1.0, harmonic(staying)) : 1.0;
  company.sequences = leaving < residents ? staying / thinning : 0.0;
  company.context = mean_context + produced + 1.0;
  company.steps = still * thinning;
  return company;
}

/// Adds those who will come, at the rate of late, while the request is there for `time`.
void add_arrivals(const InstanceView& view, const Task& task, double time, Company& company) {
  const double rate = view.completions_per_second;
  if (rate <= 0.0) return;
  const double most = view.most_sequences == 0 ? std::numeric_limits<double>::infinity()
                                               : view.most_sequences - 1.0;
  company.arriving = std::min(most, rate * time);
  if (company.context == 0.0) company.context = task.input_tokens + 0.5 * task.output_tokens;
  const model::StepCoefficients& c = view.model->coefficients();
  const double prompt_time = task.input_tokens * (c.compute_per_token + c.link_per_token +
                                                  0.5 * task.input_tokens * c.compute_per_attended);
  constexpr double kMostOfTheTime = 0.9;
  company.load = std::min(kMostOfTheTime, rate * prompt_time);
}

/// The two futures, as far as they differ.
struct Futures {
  Spent prompt_with, prompt_without;  ///< the steps that compute the prompt
  Spent with, without;                ///< decoding in the company met at first
  Spent tail_with, tail_without;      ///< decoding after that
  double companions = 0.0;            ///< at first
  double shared = 0.0;                ///< steps of `with`
};

Futures futures(const InstanceView& view, const Task& task, const Company& company) {
  const ServingModel& model = *view.model;
  Futures f;
  f.companions = std::max(company.sequences, company.arriving);
  const Batch others{f.companions, f.companions * company.context, f.companions};
  double prompt_steps = 0.0;
  if (task.prompt) {
    const Chunks chunks = chunks_of(view, task.input_tokens, f.companions);
    prompt_steps = chunks.steps;
    f.prompt_with = prefill(model, chunks, others, std::min(prompt_steps, company.steps));
    f.prompt_without = decode(model, others, std::min(prompt_steps, company.steps));
  }
  if (!task.answer) return f;
  const double steps = std::max(0.0, task.output_tokens - 1.0);
  const double shared = std::clamp(company.steps - prompt_steps, 0.0, steps);
  f.shared = shared;
  Batch later = others;
  later.context += prompt_steps * others.growth;
  f.without = decode(model, later, shared);
  f.with = decode(
      model, {later.sequences + 1.0, later.context + task.input_tokens + 1.0, later.growth + 1.0},
      shared);
  // Arrivals replace each other, so that their context stands still.
  const double tail = steps - shared;
  const double come = company.arriving;
  const double own = task.input_tokens + 1.0 + shared;
  f.tail_with = decode(model, {come + 1.0, come * company.context + own, 1.0}, tail);
  if (come > 1e-9) {
    const double any = -std::expm1(-come);  // Poisson: somebody is there
    f.tail_without = any * decode(model, {come / any, come / any * company.context, 0.0}, tail);
  }
  return f;
}

/// Energy of being woken, and of the time that the instance is on longer, because of the request.
double standby(const InstanceView& view, double busy, double time) {
  if (!view.sleeps && view.ready) return 0.0;
  const bool has_work = view.running + view.waiting > 0;
  const double linger = view.sleeps_after.in_si();
  const double longer = has_work     ? busy
                        : view.ready ? time + view.idle_for.in_si()
                                     : time - view.ready_in.in_si() + linger;
  const double kept_on_anyway = -std::expm1(-view.completions_per_second * (time + linger));
  const double above_sleep =
      std::max(0.0, view.model->coefficients().idle_power - view.sleep_power.in_si());
  const double start = view.ready || has_work ? 0.0 : view.start_energy.in_si();
  return start + (1.0 - kept_on_anyway) * above_sleep * std::max(0.0, longer);
}

}  // namespace

Cost isolated_cost(const InstanceView& view, const Task& task) {
  const ServingModel& model = *view.model;
  Spent spent;
  if (task.prompt) spent += prefill(model, chunks_of(view, task.input_tokens, 0.0), {}, 0.0);
  if (task.answer) {
    const double steps = std::max(0.0, task.output_tokens - 1.0);
    spent += decode(model, {1.0, task.input_tokens + 1.0, 1.0}, steps);
  }
  const double idle = model.coefficients().idle_power * spent.time;
  return {Seconds(spent.time), Joules(spent.energy + idle)};
}

Seconds saturated_time(const InstanceView& view, const Task& task, Seconds between_tokens) {
  constexpr double kMostSequences = 1024.0;  // where the engine names no limit
  const model::StepCoefficients& c = view.model->coefficients();
  double time = 0.0;
  if (task.prompt) {
    const double attended = 0.5 * task.input_tokens * (task.input_tokens + 1.0);
    time += task.input_tokens * (c.compute_per_token + c.link_per_token) +
            attended * c.compute_per_attended;
  }
  if (!task.answer) return Seconds(time);
  const double context = task.input_tokens + 0.5 * task.output_tokens;
  const double places = view.most_sequences == 0 ? kMostSequences : view.most_sequences;
  double batch = std::clamp(static_cast<double>(view.kv_capacity) / context, 1.0, places);
  double all = step(*view.model, {0.0, 0.0, batch, batch * context}).time;
  if (between_tokens > Seconds(0) && all > between_tokens.in_si() && batch > 1.0) {
    // Step time is affine in the batch, up to which experts it touches.
    const double one = step(*view.model, {0.0, 0.0, 1.0, context}).time;
    const double room = std::max(0.0, between_tokens.in_si() - one);
    batch = 1.0 + (batch - 1.0) * room / (all - one);
    all = one + room;
  }
  const double steps = std::max(0.0, task.output_tokens - 1.0);
  return Seconds(time + steps * all / batch);
}

Marginal marginal_cost(const InstanceView& view, const Task& task, Residuals residuals) {
  Company company = company_at(view, task.input_tokens, residuals);
  if (view.completions_per_second > 0.0) {
    const Cost alone = isolated_cost(view, task);
    add_arrivals(view, task, alone.time.in_si(), company);
  }
  const Futures f = futures(view, task, company);
  const double stretched = 1.0 / (1.0 - company.load);
  const double decoding = (f.with.time + f.tail_with.time) * stretched;
  const double steps = std::max(1.0, task.output_tokens - 1.0);
  const double wait = (view.ready ? 0.0 : view.ready_in.in_si()) + company.ahead_time;
  const double first = wait + f.prompt_with.time;

  Marginal m;
  m.wait = Seconds(wait);
  m.time_to_first_token = Seconds(first);
  m.time_to_completion = Seconds(first + decoding);
  m.time_between_tokens = Seconds(task.answer ? decoding / steps : 0.0);
  m.energy = Joules(f.prompt_with.energy - f.prompt_without.energy + f.with.energy -
                    f.without.energy + f.tail_with.energy - f.tail_without.energy);
  const double early = f.prompt_with.time - f.prompt_without.time + f.with.time - f.without.time;
  const double late = f.tail_with.time - f.tail_without.time;
  m.busy = Seconds(early + late);
  m.delay = Seconds(f.companions * early + company.arriving * late);
  m.step = f.shared > 0.0 ? Seconds(f.with.time / f.shared * stretched) : m.time_between_tokens;
  m.standby = Joules(standby(view, m.busy.in_si(), m.time_to_completion.in_si()));
  return m;
}

}  // namespace negawatt::route
