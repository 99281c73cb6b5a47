// SPDX-License-Identifier: Apache-2.0
//
// The least time and energy that a request can take of an instance, whoever shares its steps: the
// part of docs/simulator.md's bound that is about one request and one instance. Seconds and joules;
// nothing fails.
#pragma once

#include <cstdint>

#include "sim/cluster.hpp"

namespace negawatt::sim {

/// Every choice gives a valid bound; which one is the best depends on the workload.
struct FloorChoice {
  double compute_share = 0;  ///< step time is at least this share of compute, the rest of memory
  double memory_share = 0;   ///< of what a step costs anyway, so much is shared by KV memory held
};

/// Lower bounds of what a request takes of an instance's time, and of the energy above idle power.
struct Floor {
  double seconds = 0;
  double joules = 0;

  friend Floor operator+(Floor a, Floor b) { return {a.seconds + b.seconds, a.joules + b.joules}; }
};

class RequestFloor {
 public:
  RequestFloor(const InstanceSpec& spec, FloorChoice choice);

  /// Its prompt, by which the first token is produced.
  [[nodiscard]] Floor prompt(double input_tokens) const;
  /// The tokens after the first.
  [[nodiscard]] Floor answer(double input_tokens, double output_tokens) const;
  /// Of prompt and answer together, the time alone.
  [[nodiscard]] double seconds(double input_tokens, double output_tokens) const;

 private:
  /// at + slope x
  struct Line {
    double at = 0;
    double slope = 0;
    [[nodiscard]] double operator()(double x) const { return at + slope * x; }
  };
  /// `count` parts whose x are evenly spread from `first` to `last`.
  struct Parts {
    Line time;
    Line energy;
    double count = 0;
    double first = 0;
    double last = 0;
  };
  [[nodiscard]] Floor sum(const Parts& parts) const;

  double active_power_;
  double left_power_;    ///< what the cap leaves above idle and active power
  double cap_slowdown_;  ///< 1 without a cap
  Floor anyway_;         ///< least share of a step's fixed time and own energy
  Line prompt_time_;     ///< of a prompt token, by the tokens it attends to
  Line prompt_energy_;   ///< likewise; own energy: above idle and active power, before the cap
  Line answer_time_;     ///< of a decoding sequence in a step
  Line answer_energy_;
};

}  // namespace negawatt::sim
