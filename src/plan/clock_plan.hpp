// SPDX-License-Identifier: Apache-2.0
//
// The result of planning clocks for one iteration: which clocks each kernel or segment gets, what
// that costs, and the baselines and the bound it is to be judged by. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cost.hpp"
#include "core/units.hpp"
#include "solve/robust.hpp"
#include "trace/clocks.hpp"
#include "trace/switch_model.hpp"

namespace negawatt::plan {

enum class Objective : unsigned char { waste, edp, ed2p, energy, weighted };
enum class Granularity : unsigned char { one_pair, group, kernel, schedule };
enum class Scope : unsigned char { global, local };

struct PlanRequest {
  Objective objective = Objective::waste;
  double slowdown = 0.0;  ///< tolerated, as a fraction of the baseline time: 0.01 is 1 %
  double lambda = 0.5;    ///< weighted: lambda * joules + (1 - lambda) * seconds
  Granularity granularity = Granularity::kernel;
  Scope scope = Scope::global;
  std::optional<trace::ClockPair> baseline;  ///< default: (auto, auto), else the highest pair
  trace::SwitchModel switching;              ///< for a schedule
  std::optional<double> confidence;          ///< keep the budget with this probability
  bool frontier = false;                     ///< also compute the whole frontier
};

/// Why a kernel got its clocks.
enum class Reason : unsigned char {
  only_pair,     ///< it was measured at one pair only
  least_energy,  ///< no pair uses less energy
  budget_bound,  ///< a pair with less energy exists, but costs more time than its joules are worth
  shared,        ///< the pair is shared with other kernels (static, group, schedule)
};

struct KernelChoice {
  std::uint32_t kernel = 0;
  trace::ClockPair clocks;
  Cost per_call;
  Reason reason = Reason::only_pair;
  std::uint32_t dominated = 0;  ///< pairs of this kernel that another pair beats in both
  std::uint32_t pairs = 0;      ///< pairs it was measured at
};

/// Invocations first..last of the sequence run at one pair.
struct Segment {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  trace::ClockPair clocks;
  Cost cost;
};

struct StaticPair {
  trace::ClockPair clocks;
  Cost total;
};

struct ClockPlan {
  PlanRequest request;
  trace::ClockPair baseline_clocks;
  Cost baseline;
  std::optional<Seconds> budget;  ///< absent when the objective has none

  std::optional<StaticPair> best_static;  ///< absent when no pair fits all kernels and the budget
  std::optional<Cost> local;   ///< every kernel within the slowdown by itself; absent: impossible
  std::optional<Cost> global;  ///< only the total within the slowdown, switching free
  Joules bound;                ///< no plan of this granularity and budget uses less

  Cost total;
  Watts price;                           ///< energy one more second of budget would save
  std::uint32_t switches = 0;            ///< clock changes inside one iteration: segments - 1
  std::vector<KernelChoice> choices;     ///< empty for a schedule
  std::vector<Segment> segments;         ///< the sequence under this plan, at any granularity
  std::vector<Cost> frontier;            ///< if requested: from fastest to least energy
  std::vector<StaticPair> static_pairs;  ///< every pair that all kernels were measured at
  std::optional<solve::Promise> promise;
};

}  // namespace negawatt::plan
