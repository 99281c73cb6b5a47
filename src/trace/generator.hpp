// SPDX-License-Identifier: Apache-2.0
//
// Makes requests: arrivals of a renewal process under a rate that may vary through the day, and
// lengths from a distribution or from a trace. The same description and seed give the same requests
// on every machine. Memory does not depend on how many are made.
//
// A rate r(t) is followed exactly: the process runs with rate 1 in operational time R(t), the
// integral of r, and every arrival is taken back through the inverse of R. For Poisson arrivals
// that is the non-homogeneous Poisson process (Cinlar 1975, section 4.7); gamma-distributed
// intervals keep their coefficient of variation in operational time.
//
// check() fails on a description that means nothing; the sources themselves do not fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/random.hpp"
#include "trace/request.hpp"

namespace negawatt::trace {

/// Requests a second as a function of time.
struct Rate {
  double mean = 1.0;  ///< requests a second
  /// rate = mean (1 + swing sin(2 pi (t / period - phase))); 0 <= swing <= 1.
  double swing = 0.0;
  Seconds period = Seconds(86400.0);
  double phase = 0.0;  ///< in periods, 0 to 1
  /// If not empty, instead of the sine: the period in equal parts, with these rates in proportion
  /// (24: an hourly table of a day). They are scaled to `mean`.
  std::vector<double> table;
};

inline constexpr double kMostVariation = 30.0;

/// How intervals vary: 0 in equal steps, 1 Poisson, above 1 bursty (gamma-distributed intervals).
struct Arrivals {
  Rate rate;
  /// Standard deviation / mean of the intervals in operational time; at most kMostVariation.
  double variation = 1.0;
};

struct ConstantLengths {
  std::uint32_t input = 1;
  std::uint32_t output = 1;
};

/// Every whole number from least to most, as likely; input and output independent.
struct UniformLengths {
  std::uint32_t input_least = 1, input_most = 1;
  std::uint32_t output_least = 1, output_most = 1;
};

/// The logarithms of input and output are normal together. Rounded, cut off at 1 and `most`.
struct LogNormalLengths {
  double input_mu = 0.0, input_sigma = 0.0;
  double output_mu = 0.0, output_sigma = 0.0;
  double correlation = 0.0;
  std::uint32_t most = 1U << 20U;
};

struct LengthPair {
  std::uint32_t input = 1;
  std::uint32_t output = 1;
  bool operator==(const LengthPair&) const = default;
};

/// Drawn from these pairs with replacement: the joint distribution of a trace.
struct EmpiricalLengths {
  std::shared_ptr<const std::vector<LengthPair>> pairs;
};

using Lengths = std::variant<ConstantLengths, UniformLengths, LogNormalLengths, EmpiricalLengths>;

/// One stream of requests of one class.
struct Stream {
  Arrivals arrivals;
  Lengths lengths;
  std::uint16_t request_class = 0;
  std::int16_t priority = 0;
};

/// Ends at whichever limit comes first; at least one must be given.
struct Workload {
  std::vector<Stream> streams;
  std::uint64_t most_requests = 0;  ///< 0: no limit
  Seconds duration;                 ///< 0: no limit
};

/// The lengths of a trace as they are, all classes or one.
[[nodiscard]] EmpiricalLengths empirical_lengths(const RequestTrace& trace,
                                                 std::optional<std::uint16_t> request_class = {});
/// The log-normal of greatest likelihood (moments of the logarithms). The trace must not be empty.
[[nodiscard]] LogNormalLengths fit_log_normal(const RequestTrace& trace);

/// Fails, saying what is wrong, on what no source can be made of.
[[nodiscard]] Status check(const Workload& workload);

/// The streams merged in order of arrival, ties in order of the streams. Arrival times start at 0
/// and are the same for a stream whatever the others are. The workload must have passed check().
[[nodiscard]] std::unique_ptr<RequestSource> generate(const Workload& workload, std::uint64_t seed);

}  // namespace negawatt::trace
