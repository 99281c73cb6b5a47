// SPDX-License-Identifier: Apache-2.0
#include "sim/instance.hpp"

#include <algorithm>
#include <cmath>

#include "core/result.hpp"

namespace negawatt::sim {

void CompletionRate::move_to(double now) {
  const auto second = static_cast<std::int64_t>(now);
  if (second - second_ >= kSeconds) {
    by_second_.fill(0);
    sum_ = 0;
    second_ = second;
  }
  while (second_ < second) {
    auto& oldest = by_second_[static_cast<std::size_t>(++second_ % kSeconds)];
    sum_ -= oldest;
    oldest = 0;
  }
}

Instance::Instance(const InstanceSpec& spec, std::uint32_t index, Recorder& recorder)
    : spec_(&spec), recorder_(&recorder), batch_(spec.limits, index, recorder), index_(index) {
  if (spec.power.starts_asleep)
    enter(State::asleep, 0.0, kNever, spec.power.sleep_power.in_si());
  else
    begin_idle(0.0);
}

void Instance::enter(State state, double now, double until, double watts) {
  changed_ = true;
  state_ = state;
  since_ = now;
  until_ = until;
  recorder_->draws(index_, now, watts);
}

/// What it did since since_ has ended.
void Instance::close(double now, Activity activity, Joules energy, std::uint64_t steps) {
  if (activity == Activity::idle && now == since_) return;
  recorder_->drew({.instance = index_,
                   .activity = activity,
                   .from = Seconds(since_),
                   .to = Seconds(now),
                   .energy = energy,
                   .steps = steps});
  if (activity == Activity::busy) recorder_->instance(index_).busy += Seconds(now - since_);
}

void Instance::begin_idle(double now) {
  const auto after = spec_->power.sleep_after;
  const bool may_sleep = after && present_ == 0;
  enter(State::idle, now, may_sleep ? now + after->in_si() : kNever,
        spec_->model.idle_power().in_si());
}

void Instance::begin(double now) {
  work_ = batch_.plan();
  if (work_.steps == 0) return begin_idle(now);
  cost_ = work_.admits ? spec_->model.step(work_.load) : spec_->model.run(work_.load, work_.steps);
  const double time = cost_.time.in_si();
  enter(work_.admits ? State::one_step : State::decoding, now, now + time,
        time > 0.0 ? cost_.energy.in_si() / time : 0.0);
  most_steps_ = static_cast<double>(work_.steps);
  steps_per_second_ = time > 0.0 ? most_steps_ / time : 0.0;
}

void Instance::finish_work(double now) {
  close(now, Activity::busy, cost_.energy, work_.steps);
  if (work_.admits)
    recorder_->gap(cost_.time.in_si(), batch_.decoding());
  else
    recorder_->gaps(spec_->model, work_.load, work_.steps);
  batch_.advance(work_, work_.steps, now);
}

void Instance::proceed(double now) {
  switch (state_) {
    case State::idle:
      if (kept_until_ > now) {
        until_ = kept_until_;
        return;
      }
      close(now, Activity::idle, spec_->model.idle_power() * Seconds(now - since_), 0);
      return enter(State::asleep, now, kNever, spec_->power.sleep_power.in_si());
    case State::starting:
      close(now, Activity::starting,
            spec_->power.start_energy + spec_->power.sleep_power * Seconds(now - since_), 0);
      return begin(now);
    case State::one_step:
    case State::decoding:
      finish_work(now);
      return begin(now);
    case State::asleep:
      break;
  }
  NW_ASSERT(false);
}

void Instance::wake(double now) {
  close(now, Activity::asleep, spec_->power.sleep_power * Seconds(now - since_), 0);
  ++recorder_->instance(index_).starts;
  const auto& power = spec_->power;
  const double time = power.start_time.in_si();
  enter(State::starting, now, now + time,
        power.sleep_power.in_si() + (time > 0.0 ? power.start_energy.in_si() / time : 0.0));
}

void Instance::tell_progress(route::Policy& policy) {
  changed_ = true;
  expected_output_ += batch_.tell_progress(policy);
}

void Instance::keep_on(double until, double now) {
  kept_until_ = until;
  if (until > now && state_ == State::asleep) wake(now);
}

void Instance::expect(const Job& job, double now) {
  changed_ = true;
  ++present_;
  ++coming_;
  if (job.decode_at == index_) expected_output_ += job.expected_output;
  if (state_ == State::asleep) return wake(now);
  if (state_ == State::idle) until_ = kNever;
}

void Instance::receive(const Job& job, double now) {
  changed_ = true;
  --coming_;
  batch_.wait(job);
  if (state_ == State::decoding) return cut_short(now);
  if (state_ != State::idle) return;
  close(now, Activity::idle, spec_->model.idle_power() * Seconds(now - since_), 0);
  begin(now);
}

/// Ends a stretch of decode steps after the step in progress, if that lets somebody in.
void Instance::cut_short(double now) {
  const auto ended = spec_->model.steps_ended(work_.load, Seconds(now - since_), work_.steps);
  if (ended + 1 >= work_.steps || !batch_.admits_after(ended + 1)) return;
  work_.steps = ended + 1;
  cost_ = spec_->model.run(work_.load, work_.steps);
  until_ = std::max(now, since_ + cost_.time.in_si());
}

void Instance::release(const Job& job, double now) {
  changed_ = true;
  batch_.release(job);
  forget(job, now);
  if (batch_.line().empty()) return;
  if (state_ == State::decoding) return cut_short(now);
  if (state_ != State::idle) return;
  close(now, Activity::idle, spec_->model.idle_power() * Seconds(now - since_), 0);
  begin(now);
}

void Instance::forget(const Job& job, double now) {
  changed_ = true;
  --present_;
  if (job.decode_at == index_) {
    expected_output_ -= job.expected_output;
    rate_.count(now);
  }
  if (present_ > 0 || state_ != State::idle) return;
  close(now, Activity::idle, spec_->model.idle_power() * Seconds(now - since_), 0);
  begin_idle(now);
}

void Instance::end(double now) {
  const Seconds time(now - since_);
  switch (state_) {
    case State::idle:
      return close(now, Activity::idle, spec_->model.idle_power() * time, 0);
    case State::asleep:
      return close(now, Activity::asleep, spec_->power.sleep_power * time, 0);
    case State::starting: {
      // Wanted on, by nobody in particular: the start is left unfinished.
      const bool takes_time = spec_->power.start_time > Seconds(0);
      const double share = takes_time ? time / spec_->power.start_time : 1.0;
      return close(now, Activity::starting,
                   share * spec_->power.start_energy + spec_->power.sleep_power * time, 0);
    }
    case State::one_step:
    case State::decoding:
      NW_ASSERT(false);  // nobody is here any more, and whoever comes is waited for
  }
}

void Instance::fill_constant(route::InstanceView& view) const {
  const auto& limits = spec_->limits;
  view.model = &spec_->model;
  view.role = spec_->role;
  view.serves_model = spec_->serves_model;
  view.device_type = spec_->device_type;
  view.most_sequences = limits.most_sequences;
  view.most_step_tokens = limits.most_step_tokens;
  view.kv_capacity = kv_tokens(limits);
  view.sleeps = spec_->power.sleep_after.has_value();
  view.sleeps_after = spec_->power.sleep_after.value_or(Seconds());
  view.sleep_power = spec_->power.sleep_power;
  view.start_energy = spec_->power.start_energy;
}

void Instance::fill(double now, route::InstanceView& view) {
  if (changed_) {
    changed_ = false;
    view.ready = state_ != State::asleep && state_ != State::starting;
    view.ready_in = state_ == State::asleep ? spec_->power.start_time : Seconds();
    view.idle_for = Seconds();
    view.running = batch_.running();
    view.waiting = static_cast<std::uint32_t>(batch_.line().size() + coming_);
    view.waiting_prompt = batch_.waiting_prompt();
    fill_tokens(0, view);
  }
  if (state_ == State::decoding) {
    const double steps = std::min(steps_per_second_ * (now - since_), most_steps_);
    fill_tokens(batch_.decoding() * static_cast<std::uint64_t>(steps), view);
  } else if (state_ == State::idle) {
    view.idle_for = Seconds(now - since_);
  } else if (state_ == State::starting) {
    view.ready_in = Seconds(std::max(0.0, until_ - now));
  }
  view.completions_per_second = rate_.per_second(now);
}

/// `more`: tokens that were produced since the batch was told of any.
void Instance::fill_tokens(std::uint64_t more, route::InstanceView& view) const {
  const auto& kv = batch_.kv();
  view.context_tokens = batch_.held_tokens() + more;
  view.kv_used = std::min(view.kv_capacity, kv.used() * kv.block_tokens() + more);
  view.expected_output_left =
      std::max(0.0, expected_output_ - static_cast<double>(batch_.produced() + more));
}

}  // namespace negawatt::sim
