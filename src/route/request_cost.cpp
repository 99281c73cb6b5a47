// SPDX-License-Identifier: Apache-2.0
#include "route/request_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "trace/random.hpp"

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

/// The steps of a prompt.
struct Prefill {
  Spent all;
  double shared = 0.0;  ///< time of those in which others decode
};

/// `batch` decodes in the first `shared` of the steps; the prompt attends to nothing but its own.
Prefill prefill(const ServingModel& model, const Chunks& chunks, const Batch& batch,
                double shared) {
  Prefill spent;
  const double full = chunks.steps - 1.0;
  const double last = chunks.tokens - full * chunks.room;
  const double with = shared > 0.0 ? batch.sequences : 0.0;
  const auto context_at = [&](double k) {
    return with > 0.0 ? batch.context + batch.growth * k : 0.0;
  };
  // Token i attends to i + 1: of `count` full chunks, `before` them, the mean.
  const auto attention = [&](double before, double count) {
    return chunks.room * (before * chunks.room + 0.5 * (count * chunks.room + 1.0));
  };
  const double both = std::min(full, shared);
  if (both > 0.0) {
    const double context = context_at(0.5 * (both - 1.0));
    spent.all += both * step(model, {chunks.room, attention(0.0, both), with, context});
    if (with > 0.0) spent.shared += spent.all.time;
  }
  if (both < full) {
    spent.all += (full - both) * step(model, {chunks.room, attention(both, full - both), 0.0, 0.0});
  }
  const double of_last = last * (chunks.tokens - last) + 0.5 * last * (last + 1.0);
  const bool alone = shared < chunks.steps || with == 0.0;
  const Spent end =
      step(model, {last, of_last, alone ? 0.0 : with, alone ? 0.0 : context_at(full)});
  spent.all += end;
  if (!alone) spent.shared += end.time;
  return spent;
}

/// Those whom a request meets at an instance, and what lies ahead of it.
struct Company {
  double wait = 0.0;       ///< seconds until the instance turns to the request
  double residents = 0.0;  ///< that decode with it at first
  double context = 0.0;    ///< tokens that each attends to at its first step with the request
  double left = 1.0;       ///< mean number of tokens that they still produce
  double arriving = 0.0;   ///< mean number of those who have come since, in the long run
  double load = 0.0;       ///< share of time that their prompts take
};

/// The steps from `from` up to and without `end` since the request's turn, as it shares them.
struct Sharing {
  double alone = 1.0;   ///< share of the steps in which nobody else decodes
  double others = 0.0;  ///< mean number of others in the rest of them
  double steps = 0.0;
};

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

/// Time of the steps that compute the prompts that come first.
double time_of_prompts_ahead(const InstanceView& view, double steps) {
  const double prompt = static_cast<double>(view.waiting_prompt);
  const double running = view.running;
  const double each = prompt / std::max(1.0, static_cast<double>(view.waiting));
  const double context = static_cast<double>(view.context_tokens) + running * 0.5 * (steps + 1.0);
  const double attention = 0.5 * prompt * (each + 1.0) / steps;
  return steps * step(*view.model, {prompt / steps, attention, running, context}).time;
}

Company company_at(const InstanceView& view, const Task& task) {
  Company company;
  company.context = task.input_tokens + 0.5 * task.output_tokens;
  company.left = std::max(1.0, task.output_tokens);
  const double running = view.running;
  const double all = running + view.waiting;
  if (all == 0.0) return company;
  const double prompt = static_cast<double>(view.waiting_prompt);
  const double context = (static_cast<double>(view.context_tokens) + prompt) / all;

  const double prompt_steps = chunks_of(view, prompt, running).steps;
  if (prompt_steps > 0.0) company.wait += time_of_prompts_ahead(view, prompt_steps);
  const double produced = running / all * prompt_steps;
  const double left = view.expected_output_left / all - produced;
  company.left = std::max(1.0, left);

  const double leaving = must_leave(view, all, context, task.input_tokens);
  company.residents = all - leaving;
  if (leaving > 0.0) {
    const double staying = std::max(1.0, company.residents);
    const Batch batch{staying, staying * (context + 0.5 * company.left), 0.0};
    company.wait += decode(*view.model, batch, leaving * company.left / staying).time;
  }
  company.context = context + produced + 1.0;
  return company;
}

/// Adds those who will come. Their number is the rate of late times their time in the system; the
/// time that their prompts take is that of a batch which keeps its size: every resident is followed
/// by one like it, so that a share x / (1 + x) of the time goes to prompts, x = time of the batch's
/// prompts / time of an answer's steps.
void add_newcomers(const InstanceView& view, const Task& task, Company& company) {
  const model::StepCoefficients& c = view.model->coefficients();
  const double batch = company.residents + 1.0;
  // As if bound by memory: this need not be known better.
  const double one_step =
      c.overhead + c.link + c.memory_weights + c.memory_experts +
      batch * (c.overhead_per_sequence + company.context * c.memory_per_context);
  // Residents have produced as much as they still will, by symmetry.
  const double prompt =
      company.residents > 0.0 ? std::max(1.0, company.context - company.left) : task.input_tokens;
  const double prompt_time =
      prompt * (c.compute_per_token + c.link_per_token + 0.5 * prompt * c.compute_per_attended);
  const double answer_time = company.left * one_step;
  const double rate = view.completions_per_second;
  const double in_prompts = company.residents * prompt_time;
  // Residents that are about to leave do not mean that others come as fast: an answer of those who
  // follow is as long as the request's.
  const double whole_answer = std::max(company.left, task.output_tokens) * one_step;
  constexpr double kMostOfTheTime = 0.9;
  company.load = std::min(kMostOfTheTime,
                          std::max(rate * prompt_time, in_prompts / (in_prompts + whole_answer)));
  if (rate <= 0.0) return;
  const double most = view.most_sequences == 0 ? std::numeric_limits<double>::infinity()
                                               : view.most_sequences - 1.0;
  company.arriving = std::min(most, rate * (prompt_time + answer_time));
}

/// The exponential integral E1(x), x > 0; Abramowitz and Stegun 5.1.53 and 5.1.56.
double exponential_integral(double x) {
  if (x > 20.0) return 0.0;  // below 1e-10
  if (x > 1.0) {
    const double over =
        (((x + 8.5733287401) * x + 18.0590169730) * x + 8.6347608925) * x + 0.2677737343;
    const double under =
        (((x + 9.5733223454) * x + 25.6329561486) * x + 21.0996530827) * x + 3.9584969228;
    return trace::same_exp(-x) / x * over / under;
  }
  return -trace::same_log(x) - 0.57721566 +
         x * (0.99999193 +
              x * (-0.24991055 + x * (0.05519968 + x * (-0.00976004 + x * 0.00107857))));
}

/// 1/k
constexpr auto kInverse = [] {
  std::array<double, 17> inverse{};
  for (std::size_t k = 1; k < inverse.size(); ++k) inverse[k] = 1.0 / static_cast<double>(k);
  return inverse;
}();

/// Of n memoryless lifetimes of mean 1: the integral from 0 to y of the probability that all have
/// ended, (1 - e^-y)^n. That is y - sum over k <= n of (1 - e^-y)^k / k; for large n the integrand
/// nears exp(-n e^-y) (Gumbel), and E1(n) is nothing. `lasting`: e^-y.
double time_after_all(double n, double y, double lasting) {
  constexpr auto kFew = static_cast<double>(kInverse.size() - 1);
  if (n > kFew) return exponential_integral(n * lasting);
  const auto whole = static_cast<std::size_t>(n + 0.5);
  double sum = 0.0;
  for (std::size_t k = whole; k >= 1; --k) sum = (sum + kInverse[k]) * (1.0 - lasting);
  return std::max(0.0, y - sum);
}

/// How the request shares `steps` steps from `from` on when residents leave one by one.
Sharing thinning(const Company& company, double from, double steps) {
  if (steps <= 0.0) return {};
  const double start = from / company.left;
  const double width = steps / company.left;
  const double lasting = trace::same_exp(-start);
  const double lasting_on = trace::same_exp(-width);
  const double staying = lasting * (1.0 - lasting_on) / width;
  const double newcomers = company.arriving * (1.0 - staying);
  const double n = company.residents;
  double alone = 1.0;
  if (n > 0.0) {
    const double end = start + width;
    const double nobody =
        time_after_all(n, end, lasting * lasting_on) - time_after_all(n, start, lasting);
    alone = std::clamp(nobody / width, 0.0, 1.0);
  }
  // Nobody is left late, when those who come have come; with nobody there at all, on average.
  constexpr double kNever = 1e-9;
  if (alone > kNever && company.arriving > 0.0) {
    alone *= trace::same_exp(n > 0.0 ? -company.arriving : -newcomers);
  }
  const double others = n * staying + newcomers;
  if (alone > 1.0 - kNever || others < kNever) return {1.0, 0.0, steps};
  if (alone < kNever) alone = 0.0;
  return {alone, std::max(1.0, others / (1.0 - alone)), steps};
}

/// What one request makes of some steps: with it, and more than without it.
struct Difference {
  double with_time = 0.0;
  double energy = 0.0;
  double time = 0.0;
  double delay = 0.0;  ///< of all the others together

  Difference& operator+=(const Difference& other) {
    with_time += other.with_time;
    energy += other.energy;
    time += other.time;
    delay += other.delay;
    return *this;
  }
};

/// Decoding steps of which the request has `own` tokens of context in the first, each of the
/// others `context`.
Difference decode_difference(const ServingModel& model, const Sharing& sharing, double own,
                             double context) {
  Difference d;
  if (sharing.steps <= 0.0) return d;
  if (sharing.alone > 0.0) {
    const Spent solo = decode(model, {1.0, own, 1.0}, sharing.steps);
    d += {sharing.alone * solo.time, sharing.alone * solo.energy, sharing.alone * solo.time};
  }
  if (sharing.alone >= 1.0) return d;
  const double shared = 1.0 - sharing.alone;
  const double n = sharing.others;
  const Spent with = decode(model, {n + 1.0, n * context + own, n + 1.0}, sharing.steps);
  const Spent without = decode(model, {n, n * context, n}, sharing.steps);
  const double longer = with.time - without.time;
  d += {shared * with.time, shared * (with.energy - without.energy), shared * longer,
        shared * n * longer};
  return d;
}

/// The steps that compute the request's prompt, while `others` decode in the first `shared`.
Difference prompt_difference(const ServingModel& model, const Chunks& chunks, const Batch& others,
                             double shared) {
  const auto [with, shared_time] = prefill(model, chunks, others, shared);
  const Spent without = decode(model, others, shared);
  return {with.time, with.energy - without.energy, with.time - without.time,
          others.sequences * (shared_time - without.time)};
}

/// The difference that the request makes from its turn on.
struct Turn {
  Difference prompt;
  Difference answer;
  double step = 0.0;  ///< a decoding step of those it meets first
};

Turn turn_of(const InstanceView& view, const Task& task, const Company& company,
             Residuals residuals) {
  const ServingModel& model = *view.model;
  const double n = company.residents;
  const double met = n > 0.0 ? company.left : 0.0;
  Turn turn;
  double prompt_steps = 0.0;
  if (task.prompt) {
    const Chunks chunks = chunks_of(view, task.input_tokens, n);
    prompt_steps = chunks.steps;
    const Batch others{n, n * company.context, n};
    turn.prompt = prompt_difference(model, chunks, others, std::min(prompt_steps, met));
  }
  const double steps = task.answer ? std::max(0.0, task.output_tokens - 1.0) : 0.0;
  const double own = task.input_tokens + 1.0;
  const double context = company.context + prompt_steps;
  Sharing first = thinning(company, prompt_steps, steps);
  Sharing later;
  if (residuals == Residuals::equal) {
    first = {n > 0.0 ? 0.0 : 1.0, n, std::clamp(met - prompt_steps, 0.0, steps)};
    later.steps = steps - first.steps;
  }
  turn.answer = decode_difference(model, first, own, context);
  turn.step = first.steps > 0.0 ? turn.answer.with_time / first.steps : 0.0;
  turn.answer += decode_difference(model, later, own + first.steps, context);
  return turn;
}

/// Energy of being woken, and of the time that the instance is on longer, because of the request.
double standby(const InstanceView& view, double busy, double time) {
  if (!view.sleeps && view.ready) return 0.0;
  const bool has_work = view.running + view.waiting > 0;
  const double linger = view.sleeps_after.in_si();
  const double longer = has_work     ? busy
                        : view.ready ? time + view.idle_for.in_si()
                                     : time - view.ready_in.in_si() + linger;
  const double nobody_comes = trace::same_exp(-view.completions_per_second * (time + linger));
  const double above_sleep =
      std::max(0.0, view.model->coefficients().idle_power - view.sleep_power.in_si());
  const double start = view.ready || has_work ? 0.0 : view.start_energy.in_si();
  return start + nobody_comes * above_sleep * std::max(0.0, longer);
}

}  // namespace

Cost isolated_cost(const InstanceView& view, const Task& task) {
  const ServingModel& model = *view.model;
  Spent spent;
  if (task.prompt) spent += prefill(model, chunks_of(view, task.input_tokens, 0.0), {}, 0.0).all;
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
  Company company = company_at(view, task);
  if (residuals == Residuals::memoryless) add_newcomers(view, task, company);
  const Turn turn = turn_of(view, task, company, residuals);
  const double stretched = 1.0 / (1.0 - company.load);
  const double decoding = turn.answer.with_time * stretched;
  const double steps = std::max(1.0, task.output_tokens - 1.0);
  const double wait = (view.ready ? 0.0 : view.ready_in.in_si()) + company.wait;

  Marginal m;
  m.wait = Seconds(wait);
  m.time_to_first_token = Seconds(wait + turn.prompt.with_time);
  m.time_to_completion = Seconds(wait + turn.prompt.with_time + decoding);
  m.time_between_tokens = Seconds(decoding / steps);
  m.energy = Joules(turn.prompt.energy + turn.answer.energy);
  m.busy = Seconds(turn.prompt.time + turn.answer.time);
  m.delay = Seconds(turn.prompt.delay + turn.answer.delay);
  m.step = Seconds(turn.step * stretched);
  m.standby = Joules(standby(view, m.busy.in_si(), m.time_to_completion.in_si()));
  return m;
}

}  // namespace negawatt::route
