// SPDX-License-Identifier: Apache-2.0
#include "sim/batch.hpp"

#include <algorithm>

#include "core/result.hpp"

namespace negawatt::sim {
namespace {

/// Tokens of a prompt, with those produced before it was sent back.
std::uint32_t prompt_of(const Job& job) { return job.request.input_tokens + job.produced; }

}  // namespace

Batch::Batch(const EngineLimits& limits, std::uint32_t instance, Recorder& recorder)
    : limits_(limits),
      instance_(instance),
      recorder_(&recorder),
      kv_(limits.kv_blocks, limits.kv_block_tokens) {}

void Batch::wait(const Job& job) {
  if (!job.memory_came_along) waiting_prompt_ += prompt_of(job);
  produced_ += job.produced;
  line_.push_back(job);
  auto& outcome = recorder_->instance(instance_);
  outcome.peak_waiting = std::max(outcome.peak_waiting, line_.size());
}

Work Batch::plan() {
  joining_.clear();
  const bool sent_back = send_back_newest();
  Work work;
  work.load.sequences = decoding_;
  work.load.context_tokens = static_cast<double>(held_ + decoding_);
  NW_ASSERT(decoding_ <= limits_.most_step_tokens);
  std::uint32_t budget = limits_.most_step_tokens - decoding_;
  if (partial_ != kNone) add_chunk(partial_, work.load, budget);
  // vLLM admits nobody in a step that sent somebody back.
  while (!sent_back && budget > 0 && first_fits(kv_.taken_by(1))) admit_first(work.load, budget);
  work.admits = !joining_.empty();
  if (work.admits) {
    work.steps = 1;
  } else if (decoding_ > 0) {
    work.steps = kv_.steps_that_fit(finishes_.front().step - steps_);
    if (sent_back && admits_after(1)) work.steps = 1;
  }
  return work;
}

/// True when somebody was sent back, so that the next token of all others fits.
bool Batch::send_back_newest() {
  bool sent_back = false;
  for (; kv_.taken_by(1) > kv_.free() && newest_ != kNone; sent_back = true) send_back(newest_);
  return sent_back;
}

void Batch::send_back(std::uint32_t slot) {
  auto& sequence = sequences_[slot];
  if (sequence.decodes) {
    const auto finish = std::ranges::find(finishes_, slot, &Finish::slot);
    finishes_.erase(finish);
    std::ranges::make_heap(finishes_, Later{});
    stop_decoding(sequence);
    kv_.give_back(kv_.blocks_of(sequence.tokens));
    sequence.job.memory_came_along = false;  // what it was given is gone
    sequence.job.last_token = last_end_;
    waiting_prompt_ += prompt_of(sequence.job);
  } else {
    kv_.give_back(kv_.blocks_of(sequence.prompt));
    waiting_prompt_ += sequence.prompt - sequence.prompt_left;
    partial_ = kNone;
  }
  line_.push_front(sequence.job);
  ++recorder_->instance(instance_).preemptions;
  delist(slot);
}

void Batch::add_chunk(std::uint32_t slot, model::StepLoad& load, std::uint32_t& budget) {
  auto& sequence = sequences_[slot];
  const auto chunk = std::min(sequence.prompt_left, budget);
  const double before = sequence.prompt - sequence.prompt_left;
  load.prompt_tokens += chunk;
  load.prompt_attention += chunk * before + 0.5 * chunk * (chunk + 1.0);
  budget -= chunk;
  joining_.push_back({.slot = slot, .chunk = chunk});
}

bool Batch::first_fits(std::uint64_t taken) const {
  return !line_.empty() && running_ < limits_.most_sequences &&
         taken + blocks_to_admit(line_.front()) <= kv_.free();
}

std::uint64_t Batch::blocks_to_admit(const Job& job) const {
  return kv_.blocks_of(prompt_of(job));  // of a moved one: its prompt and the token it produces
}

bool Batch::admits_after(std::uint64_t steps) const { return first_fits(kv_.taken_by(steps + 1)); }

void Batch::admit_first(model::StepLoad& load, std::uint32_t& budget) {
  const auto slot = enlist(line_.front());
  line_.pop_front();
  auto& sequence = sequences_[slot];
  kv_.take(blocks_to_admit(sequence.job));
  if (!sequence.job.memory_came_along) return add_chunk(slot, load, budget);
  load.sequences += 1;
  load.context_tokens += sequence.prompt;
  budget -= 1;
  joining_.push_back({.slot = slot, .chunk = 0});
}

void Batch::advance(const Work& work, std::uint64_t steps, double now) {
  NW_ASSERT(steps > 0 && steps <= work.steps);
  auto& outcome = recorder_->instance(instance_);
  outcome.steps += steps;
  outcome.prompt_tokens += static_cast<std::uint64_t>(work.load.prompt_tokens);
  const auto tokens = steps * decoding_;
  outcome.output_tokens += tokens;
  kv_.advance(steps);
  outcome.peak_kv_blocks = std::max(outcome.peak_kv_blocks, kv_.used());
  last_end_ = now;
  steps_ += steps;
  held_ += tokens;
  produced_ += tokens;
  finish_decoding(now);
  if (!work.admits) return;
  partial_ = kNone;
  for (const auto& joining : joining_) join(joining, now);
}

double Batch::tell_progress(route::Policy& policy) {
  constexpr std::uint32_t kFirst = 16;
  double more = 0.0;
  for (const Finish& finish : finishes_) {
    auto& sequence = sequences_[finish.slot];
    auto& job = sequence.job;
    const auto now = job.produced + static_cast<std::uint32_t>(steps_ - sequence.joined);
    if (now < std::max(kFirst, 2 * job.told)) continue;
    const auto expected = policy.progressed({.input_tokens = job.request.input_tokens,
                                             .request_class = job.request.request_class,
                                             .tokens_before = job.told,
                                             .tokens_now = now});
    job.told = now;
    if (!expected) continue;
    more += *expected - job.expected_output;
    job.expected_output = *expected;
  }
  return more;
}

void Batch::finish_decoding(double now) {
  while (!finishes_.empty() && finishes_.front().step == steps_) {
    const auto slot = finishes_.front().slot;
    std::ranges::pop_heap(finishes_, Later{});
    finishes_.pop_back();
    auto& sequence = sequences_[slot];
    stop_decoding(sequence);
    kv_.give_back(kv_.blocks_of(sequence.tokens));
    sequence.job.last_token = now;
    produced_ -= sequence.job.produced;
    recorder_->completed(sequence.job);
    delist(slot);
  }
}

void Batch::join(const Joining& joining, double now) {
  auto& sequence = sequences_[joining.slot];
  if (!sequence.job.memory_came_along) {
    sequence.prompt_left -= joining.chunk;
    waiting_prompt_ -= joining.chunk;
    if (sequence.prompt_left > 0) {
      partial_ = joining.slot;
      return;
    }
  }
  produce_first(sequence, now);
  const auto& job = sequence.job;
  if (job.produced == job.request.output_tokens) {
    kv_.give_back(kv_.blocks_of(sequence.prompt));
    produced_ -= job.produced;
    recorder_->completed(job);
    delist(joining.slot);
  } else if (job.decode_at != instance_) {
    produced_ -= job.produced;
    recorder_->handed_over.push_back(job);
    delist(joining.slot);
  } else {
    begin_decoding(joining.slot, sequence.prompt);
  }
}

void Batch::produce_first(Sequence& sequence, double now) {
  auto& job = sequence.job;
  if (job.produced == 0)
    job.first_token = now;
  else
    recorder_->gap(now - job.last_token, 1);
  job.last_token = now;
  ++job.produced;
  ++produced_;
  ++recorder_->instance(instance_).output_tokens;
}

void Batch::begin_decoding(std::uint32_t slot, std::uint64_t tokens) {
  auto& sequence = sequences_[slot];
  sequence.decodes = true;
  sequence.tokens = tokens;
  sequence.joined = steps_;
  kv_.begin_decoding(tokens);
  held_ += tokens;
  ++decoding_;
  const auto left = sequence.job.request.output_tokens - sequence.job.produced;
  finishes_.push_back({.step = steps_ + left, .id = sequence.job.id, .slot = slot});
  std::ranges::push_heap(finishes_, Later{});
}

/// Brings the sequence's counts up to date; its memory stays taken.
void Batch::stop_decoding(Sequence& sequence) {
  const auto since = steps_ - sequence.joined;
  sequence.tokens += since;
  sequence.job.produced += static_cast<std::uint32_t>(since);
  sequence.decodes = false;
  kv_.end_decoding(sequence.tokens);
  held_ -= sequence.tokens;
  --decoding_;
}

std::uint32_t Batch::enlist(const Job& job) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(sequences_.size()));
    sequences_.emplace_back();
  }
  const auto slot = free_slots_.back();
  free_slots_.pop_back();
  sequences_[slot] = {.job = job,
                      .prompt = prompt_of(job),
                      .prompt_left = prompt_of(job),
                      .older = newest_,
                      .newer = kNone};
  if (newest_ != kNone) sequences_[newest_].newer = slot;
  newest_ = slot;
  ++running_;
  return slot;
}

void Batch::delist(std::uint32_t slot) {
  const auto& sequence = sequences_[slot];
  if (sequence.older != kNone) sequences_[sequence.older].newer = sequence.newer;
  if (sequence.newer != kNone) sequences_[sequence.newer].older = sequence.older;
  if (newest_ == slot) newest_ = sequence.older;
  free_slots_.push_back(slot);
  --running_;
}

}  // namespace negawatt::sim
