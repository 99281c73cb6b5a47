// SPDX-License-Identifier: Apache-2.0
//
// One instance in time: what it does now, until when, and what it draws meanwhile. Its batch says
// what to compute, its model what that costs. It acts when the engine calls it, never by itself,
// and reports to the recorder. Rules: a step that has begun ends; who arrives during a step is
// looked at when it ends, and a step that ends when somebody arrives has already begun the next
// one. An idle instance begins at once. Times in seconds.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "core/cost.hpp"
#include "route/policy.hpp"
#include "sim/batch.hpp"
#include "sim/cluster.hpp"
#include "sim/recorder.hpp"

namespace negawatt::sim {

/// Completions of the last minute, by seconds of simulated time.
class CompletionRate {
 public:
  void count(double now) {
    move_to(now);
    ++by_second_[static_cast<std::size_t>(second_ % kSeconds)];
    ++sum_;
  }
  [[nodiscard]] double per_second(double now) {
    move_to(now);
    return static_cast<double>(sum_) / static_cast<double>(kSeconds);
  }

 private:
  static constexpr std::int64_t kSeconds = 60;
  void move_to(double now);

  std::array<std::uint32_t, kSeconds> by_second_{};
  std::int64_t second_ = 0;
  std::uint64_t sum_ = 0;
};

class Instance {
 public:
  /// `spec` and `recorder` outlive it.
  Instance(const InstanceSpec& spec, std::uint32_t index, Recorder& recorder);

  /// When it has to be called next; infinity: only when something arrives.
  [[nodiscard]] double next_time() const { return until_; }
  /// What it does has ended: now is next_time().
  void proceed(double now);

  /// A request is coming: it counts as waiting, and an instance that sleeps is woken.
  void expect(const Job& job, double now);
  /// It is here, and may be computed.
  void receive(const Job& job, double now);
  /// A link has taken the memory of a request away.
  void release(const Job& job, double now);
  /// A request that was expected here has ended.
  void forget(const Job& job, double now);
  /// The policy hears how far the requests have come that decode here.
  void tell_progress(route::Policy& policy);
  /// It is to be on until then, though nobody comes.
  void keep_on(double until, double now);
  /// The simulation ends.
  void end(double now);

  [[nodiscard]] const Batch& batch() const { return batch_; }
  void fill_constant(route::InstanceView& view) const;
  /// What changes; always the same view. Token counts within a stretch of decode steps are
  /// interpolated.
  void fill(double now, route::InstanceView& view);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  enum class State : std::uint8_t { idle, asleep, starting, one_step, decoding };

  [[nodiscard]] bool works() const { return state_ >= State::one_step; }
  void wake(double now);
  void begin(double now);
  void begin_idle(double now);
  void cut_short(double now);
  void finish_work(double now);
  void close(double now, Activity activity, Joules energy, std::uint64_t steps);
  void enter(State state, double now, double until, double watts);
  void fill_tokens(std::uint64_t more, route::InstanceView& view) const;

  const InstanceSpec* spec_;
  Recorder* recorder_;
  Batch batch_;
  std::uint32_t index_;
  State state_ = State::idle;
  double since_ = 0.0;  ///< of what it does
  double until_ = kNever;
  double kept_until_ = 0.0;  ///< it does not fall asleep before
  Work work_;
  Cost cost_;  ///< of work_, all of it
  std::uint64_t present_ =
      0;  ///< requests that are here, are coming, or whose memory is still here
  std::uint64_t coming_ = 0;
  double expected_output_ = 0.0;   ///< of the requests whose answer is computed here
  double steps_per_second_ = 0.0;  ///< of a stretch, as it was planned
  double most_steps_ = 0.0;        ///< likewise
  bool changed_ = true;            ///< since the view was filled, apart from time going on
  CompletionRate rate_;
};

}  // namespace negawatt::sim
