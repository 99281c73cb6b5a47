// SPDX-License-Identifier: Apache-2.0
//
// Measures the kernels of a program at clock pairs: warms the GPU up until its temperature holds,
// then visits kernels and pairs in interleaved rounds until every energy is known well enough or
// the time is over. What is asked of the GPU goes through a function, so that it can be a lease of
// the daemon or a guard of our own; what was measured goes to a function after every visit, so that
// nothing is lost when the sweep is killed. A kernel that cannot be measured at some clocks, and
// clocks that cannot be set, are left out and named; the rest is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"
#include "sweep/itinerary.hpp"
#include "sweep/measure.hpp"
#include "sweep/runner.hpp"
#include "sweep/visits.hpp"
#include "trace/clocks.hpp"

namespace negawatt::sweep {

struct SweepRequest {
  std::vector<trace::ClockPair> pairs;
  StopRule rule;
  WindowOptions window;
  std::optional<Seconds> budget;  ///< on the device's clock, warm-up included
  Seconds warm_up_limit = Seconds(180.0);
  Seconds clock_patience = Seconds(0.5);  ///< longer than a switching latency
  std::uint64_t seed = 1;
};

struct SweepProgress {
  std::size_t visits = 0;
  std::size_t left = 0;  ///< at least
  Seconds passed;
  std::optional<Seconds> time_left;  ///< as far as it can be told; within the budget
};

/// How the warming up ended.
enum class WarmUp : unsigned char {
  not_needed,     ///< nothing was left to measure
  held,           ///< the temperature held
  still_heating,  ///< not within the limit or the budget: the first windows are of a cooler GPU
  unreadable,     ///< the device tells no temperature: it ran for the whole limit
};

/// A kernel that gave no number at these clocks, three times on end, or once when its calls are too
/// long for a window.
struct GivenUp {
  std::uint32_t kernel = 0;
  trace::ClockPair clocks;
  std::string why;  ///< the last of the three
};

/// Clocks that cannot be set.
struct Dropped {
  trace::ClockPair clocks;
  std::string why;
};

struct SweepOutcome {
  std::vector<Visit> visits;      ///< earlier ones first
  std::vector<GivenUp> given_up;  ///< what was measured of these before is among the visits
  std::vector<Dropped> dropped;
  bool out_of_time = false;  ///< the budget ended it
  std::size_t failed = 0;    ///< visits that gave no number
  WarmUp warm_up = WarmUp::not_needed;
  Seconds passed;
};

/// `infeasible`: these clocks cannot be set, others may; every other failure but `internal` ends
/// the sweep.
using AskClocks = std::function<Status(trace::ClockPair)>;
/// Called after every visit; an error ends the sweep.
using OnVisit = std::function<Status(const Visit&, const SweepProgress&)>;

/// `earlier` are the visits of a sweep that this one goes on with. The thread must take part in the
/// device's clock. Leaves the clocks at the last pair: giving them back is the caller's part. Fails
/// when the device is lost, the runner is broken, or nothing at all could be measured.
[[nodiscard]] Result<SweepOutcome> sweep(const SweepRequest& request, KernelRunner& runner,
                                         const gpu::Device& device, const AskClocks& ask,
                                         std::vector<Visit> earlier, const OnVisit& on_visit);

}  // namespace negawatt::sweep
