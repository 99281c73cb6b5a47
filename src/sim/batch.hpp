// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of one instance, without time: which sequences run, what the next steps compute,
// who is admitted and who is sent back. It follows vLLM's scheduler (version 1): continuous
// batching with chunked prompts; every decoding sequence takes part in every step, the rest of the
// step's tokens goes to prompts in the order of admission; a prompt is admitted when its KV blocks
// are free; when the next tokens of all do not fit, the newest are sent back to the front of the
// line, to be computed again. Decode steps in which nothing changes are one piece of work. Costs
// per call are those of the sequences that come and go, never of those that merely run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/serving.hpp"
#include "route/policy.hpp"
#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/kv_blocks.hpp"
#include "sim/recorder.hpp"

namespace negawatt::sim {

/// What is computed next: `steps` decode steps in which nothing changes, or a single step with
/// prompts in it; no steps: there is nothing to compute.
struct Work {
  model::StepLoad load;
  std::uint64_t steps = 0;
  bool admits = false;  ///< a single step, because sequences join
};

class Batch {
 public:
  Batch(const EngineLimits& limits, std::uint32_t instance, Recorder& recorder);

  /// The memory of one request: whether it can ever run here.
  [[nodiscard]] bool can_hold(std::uint64_t tokens) const {
    return kv_.blocks_of(tokens) <= kv_.capacity();
  }
  void wait(const Job& job);
  /// The next work, for which sequences are sent back and admitted.
  [[nodiscard]] Work plan();
  /// `steps` steps of what was planned are done; the last ended at `now`.
  void advance(const Work& work, std::uint64_t steps, double now);
  /// The memory of a request that was handed over is free again.
  void release(const Job& job) { kv_.give_back(kv_.blocks_of(job.request.input_tokens)); }
  /// Whether the first of the line would be admitted after `steps` more decode steps.
  [[nodiscard]] bool admits_after(std::uint64_t steps) const;

  /// Tells the policy of decoding requests that have come twice as far as when it was last told of
  /// them, the first time after 16 tokens. Returns by how many tokens it expects more of them now.
  double tell_progress(route::Policy& policy);

  [[nodiscard]] const WaitingLine& line() const { return line_; }
  [[nodiscard]] std::uint32_t running() const { return running_; }
  [[nodiscard]] std::uint32_t decoding() const { return decoding_; }
  [[nodiscard]] std::uint64_t held_tokens() const { return held_; }
  [[nodiscard]] std::uint64_t waiting_prompt() const { return waiting_prompt_; }
  [[nodiscard]] std::uint64_t produced() const { return produced_; }
  [[nodiscard]] const KvBlocks& kv() const { return kv_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Sequence {
    Job job;
    std::uint64_t tokens = 0;       ///< in KV memory when it began to decode
    std::uint64_t joined = 0;       ///< steps_ when it began to decode
    std::uint32_t prompt = 0;       ///< tokens to compute before it produces one
    std::uint32_t prompt_left = 0;  ///< likewise, still
    std::uint32_t older = kNone;    ///< neighbours in the order of admission
    std::uint32_t newer = kNone;
    bool decodes = false;
  };
  struct Joining {
    std::uint32_t slot = 0;
    std::uint32_t chunk = 0;  ///< prompt tokens of the step; 0: its memory came along
  };
  struct Finish {
    std::uint64_t step = 0;
    std::uint64_t id = 0;
    std::uint32_t slot = 0;
  };
  /// For a heap with the earliest on top.
  struct Later {
    bool operator()(const Finish& a, const Finish& b) const {
      return a.step != b.step ? a.step > b.step : a.id > b.id;
    }
  };

  bool send_back_newest();
  void send_back(std::uint32_t slot);
  void add_chunk(std::uint32_t slot, model::StepLoad& load, std::uint32_t& budget);
  void admit_first(model::StepLoad& load, std::uint32_t& budget);
  [[nodiscard]] bool first_fits(std::uint64_t taken) const;
  [[nodiscard]] std::uint64_t blocks_to_admit(const Job& job) const;
  void finish_decoding(double now);
  void join(const Joining& joining, double now);
  void produce_first(Sequence& sequence, double now);
  void begin_decoding(std::uint32_t slot, std::uint64_t tokens);
  void stop_decoding(Sequence& sequence);
  std::uint32_t enlist(const Job& job);
  void delist(std::uint32_t slot);

  EngineLimits limits_;
  std::uint32_t instance_;
  Recorder* recorder_;
  WaitingLine line_;
  KvBlocks kv_;
  std::vector<Sequence> sequences_;  ///< by slot
  std::vector<std::uint32_t> free_slots_;
  std::vector<Finish> finishes_;  ///< heap, of the decoding sequences
  std::vector<Joining> joining_;  ///< in the step that was planned
  std::uint32_t newest_ = kNone;
  std::uint32_t partial_ = kNone;  ///< whose prompt is computed in part; there is at most one
  std::uint32_t running_ = 0;
  std::uint32_t decoding_ = 0;
  std::uint64_t held_ = 0;  ///< tokens in KV memory of the decoding sequences
  std::uint64_t steps_ = 0;
  std::uint64_t waiting_prompt_ = 0;
  std::uint64_t produced_ = 0;  ///< output tokens of the requests that are here
  double last_end_ = 0.0;       ///< of a step
};

}  // namespace negawatt::sim
