// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of the engine report to: counts and latencies go into the Outcome, what was drawn
// and finished to the observers, and what the engine has to act on is kept for it in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/serving.hpp"
#include "sim/cluster.hpp"
#include "sim/job.hpp"
#include "sim/observer.hpp"
#include "sim/outcome.hpp"

namespace negawatt::sim {

class Recorder {
 public:
  Recorder(const Cluster& cluster, std::span<Observer* const> observers);

  void arrived(const trace::Request& request);
  /// The last token of `job` was produced at job.last_token.
  void completed(const Job& job);
  /// `times` sequences waited so long for a token.
  void gap(double seconds, std::uint64_t times) { outcome.between_tokens.add(seconds, times); }
  /// The gaps of all sequences in `steps` decode steps from `first` on.
  void gaps(const model::ServingModel& model, const model::StepLoad& first, std::uint64_t steps);
  void drew(const Draw& draw) {
    for (auto* observer : observers_) observer->drew(draw);
  }
  void draws(std::uint32_t instance, double now, double watts) {
    for (auto* observer : observers_) observer->draws(instance, Seconds(now), Watts(watts));
  }
  void moved(double now, Joules energy) {
    for (auto* observer : observers_) observer->moved(Seconds(now), energy);
  }
  InstanceOutcome& instance(std::uint32_t index) { return outcome.instances[index]; }

  Outcome outcome;
  std::vector<Job> finished;     ///< since the engine looked, in order
  std::vector<Job> handed_over;  ///< likewise, prompts whose answer is computed elsewhere

 private:
  ClassOutcome& class_of(const trace::Request& request);

  std::span<const Slo> slos_;
  std::span<Observer* const> observers_;
};

}  // namespace negawatt::sim
