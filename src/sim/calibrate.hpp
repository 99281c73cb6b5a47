// SPDX-License-Identifier: Apache-2.0
//
// Fits the time coefficients of one instance to what a real engine did: the requests that it got,
// and when some of them had their first and last token. All requests are simulated, because those
// that come later delay those that are compared. Five factors (arithmetic, weights, KV memory,
// overhead of a step, overhead of a sequence) are multiplied with the coefficients to start from;
// least squares of the logarithms of time to first token, time between tokens and end-to-end time,
// by the simplex method of Nelder and Mead (1965), from a fixed start: deterministic.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "trace/request.hpp"

namespace negawatt::sim {

/// When a request had its tokens, on the clock of the arrivals.
struct Timing {
  Seconds first_token;
  Seconds last_token;
};

struct Calibrated {
  InstanceSpec spec;
  static constexpr std::array<std::string_view, 5> kNames = {"arithmetic", "weights", "kv memory",
                                                             "step", "sequence"};
  std::array<double, 5> factors{};  ///< of the coefficients it started from, as kNames
  double error = 0;                 ///< root mean square of the logarithms
};

/// `observed` are the first of `requests`, at least 10. Fails when nothing of it can be simulated.
[[nodiscard]] Result<Calibrated> calibrate(const InstanceSpec& start,
                                           std::span<const trace::Request> requests,
                                           std::span<const Timing> observed);

/// When each request had its tokens on one instance; fails if one of them cannot run there.
[[nodiscard]] Result<std::vector<Timing>> timings_on(const InstanceSpec& spec,
                                                     std::span<const trace::Request> requests);

}  // namespace negawatt::sim
