// SPDX-License-Identifier: Apache-2.0
//
// A cluster serves a stream of requests: the discrete-event engine. It goes from event to event
// (arrival, end of a step or of a stretch of decode steps, end of a transfer, start, falling
// asleep), so its cost goes with arrivals and completions, not with tokens. Of events at the same
// time those of instances come first, the lower index first, then transfers, in the order in which
// their requests arrived, then arrivals.
//
// The same cluster, requests and policy give the same outcome to the last bit: all arithmetic is in
// doubles by +, -, *, / and square root in a fixed order (core/same_functions.hpp for the rest). An
// overloaded cluster serves its line to the end; nothing hangs,
// since every event computes a token, moves one request, or switches one instance.
#pragma once

#include <functional>
#include <span>

#include "core/result.hpp"
#include "route/policy.hpp"
#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "sim/outcome.hpp"
#include "trace/request.hpp"

namespace negawatt::sim {

struct Watching {
  std::span<Observer* const> observers;
  /// Called now and then with the requests so far; false stops the run, which is then an error.
  std::function<bool(std::uint64_t requests)> go_on;
  /// The policy is told how long the output will be.
  bool clairvoyant = false;
};

/// Fails when the cluster is refused by validate(), when requests are out of order or lack tokens,
/// and when it is stopped.
[[nodiscard]] Result<Outcome> simulate(const Cluster& cluster, trace::RequestSource& requests,
                                       route::Policy& policy, const Watching& watching = {});

}  // namespace negawatt::sim
