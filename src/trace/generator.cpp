// SPDX-License-Identifier: Apache-2.0
#include "trace/generator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "trace/operational_time.hpp"

namespace negawatt::trace {
namespace {

constexpr std::uint32_t kMostTokens = 1U << 30U;

/// A length from the logarithm of it.
std::uint32_t tokens_from(double logarithm, const LogNormalLengths& l) {
  const double limit = l.most;
  if (logarithm >= same_log(limit)) return l.most;
  return static_cast<std::uint32_t>(std::clamp(std::floor(same_exp(logarithm) + 0.5), 1.0, limit));
}

std::uint32_t between(Random& random, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(random.below(std::uint64_t{most} - least + 1));
}

/// Draws a pair of lengths from each kind of distribution.
struct Draw {
  Random& random;

  LengthPair operator()(const ConstantLengths& l) const { return {l.input, l.output}; }
  LengthPair operator()(const UniformLengths& l) const {
    const std::uint32_t input = between(random, l.input_least, l.input_most);
    return {input, between(random, l.output_least, l.output_most)};
  }
  LengthPair operator()(const LogNormalLengths& l) const {
    const double x = random.normal();
    const double y = random.normal();
    const double rest = std::sqrt(1.0 - l.correlation * l.correlation);
    return {tokens_from(l.input_mu + l.input_sigma * x, l),
            tokens_from(l.output_mu + l.output_sigma * (l.correlation * x + rest * y), l)};
  }
  LengthPair operator()(const EmpiricalLengths& l) const {
    return (*l.pairs)[random.below(l.pairs->size())];
  }
};

/// One stream. Arrivals and lengths draw from streams of random numbers of their own, so that the
/// same arrivals can be met with other lengths.
class StreamState {
 public:
  StreamState(const Stream& stream, std::uint64_t seed, std::uint64_t number)
      : stream_(stream),
        time_(stream.arrivals.rate),
        arrivals_({.seed = seed, .stream = 2 * number}),
        lengths_({.seed = seed, .stream = 2 * number + 1}) {
    advance();
  }

  [[nodiscard]] double next_arrival() const { return next_; }

  [[nodiscard]] Request take() {
    const LengthPair pair = std::visit(Draw{lengths_}, stream_.lengths);
    const Request request{Seconds(next_), pair.input, pair.output, stream_.request_class,
                          stream_.priority};
    advance();
    return request;
  }

 private:
  void advance() {
    reached_ += interval();
    // Rounding must not turn the order around.
    next_ = std::max(next_, time_.inverse(reached_));
  }

  /// In operational time: mean 1.
  [[nodiscard]] double interval() {
    const double variation = stream_.arrivals.variation;
    if (variation == 0.0) return 1.0;
    if (variation == 1.0) return arrivals_.exponential();
    const double shape = 1.0 / (variation * variation);
    return arrivals_.gamma(shape) / shape;
  }

  Stream stream_;
  OperationalTime time_;
  Random arrivals_;
  Random lengths_;
  double reached_ = 0.0;
  double next_ = 0.0;
};

class MergedStreams final : public RequestSource {
 public:
  MergedStreams(const Workload& workload, std::uint64_t seed)
      : left_(workload.most_requests > 0 ? workload.most_requests
                                         : std::numeric_limits<std::uint64_t>::max()),
        end_(workload.duration > Seconds(0) ? workload.duration.in_si()
                                            : std::numeric_limits<double>::infinity()) {
    std::uint64_t number = 0;
    for (const Stream& stream : workload.streams) streams_.emplace_back(stream, seed, number++);
  }

  std::optional<Request> next() override {
    const auto first = std::min_element(streams_.begin(), streams_.end(),
                                        [](const StreamState& a, const StreamState& b) {
                                          return a.next_arrival() < b.next_arrival();
                                        });
    if (left_ == 0 || first->next_arrival() >= end_) return std::nullopt;
    --left_;
    return first->take();
  }

 private:
  std::vector<StreamState> streams_;
  std::uint64_t left_;
  double end_;
};

bool is_within(double x, double least, double most) { return x >= least && x <= most; }

std::string_view wrong_with(const Rate& rate) {
  if (!is_within(rate.mean, 1e-9, 1e9)) return "the rate must lie between 1e-9 and 1e9 a second";
  if (!is_within(rate.swing, 0.0, 1.0)) return "the swing of the rate must lie between 0 and 1";
  if (!is_within(rate.phase, 0.0, 1.0)) return "the phase of the rate must lie between 0 and 1";
  if (!is_within(rate.period.in_si(), 1e-3, 1e12)) {
    return "the period of the rate must lie between a millisecond and 1e12 s";
  }
  double sum = 0.0;
  for (const double part : rate.table) {
    if (!is_within(part, 0.0, 1e12)) return "rates of the table must lie between 0 and 1e12";
    sum += part;
  }
  return rate.table.empty() || sum > 0.0 ? "" : "the table of rates must not be all 0";
}

struct WrongWith {
  std::string_view operator()(const ConstantLengths& l) const {
    return are_lengths({l.input, l.output}) ? "" : kRange;
  }
  std::string_view operator()(const UniformLengths& l) const {
    if (!are_lengths({l.input_least, l.output_least}) ||
        !are_lengths({l.input_most, l.output_most})) {
      return kRange;
    }
    return l.input_least <= l.input_most && l.output_least <= l.output_most
               ? ""
               : "the least length must not be above the most";
  }
  std::string_view operator()(const LogNormalLengths& l) const {
    const bool good = is_within(l.input_mu, -50, 50) && is_within(l.output_mu, -50, 50) &&
                      is_within(l.input_sigma, 0, 20) && is_within(l.output_sigma, 0, 20) &&
                      is_within(l.correlation, -1, 1);
    if (!good) {
      return "log-normal lengths need |mu| <= 50, 0 <= sigma <= 20 and |correlation| <= 1";
    }
    return l.most >= 1 && l.most <= kMostTokens ? "" : kRange;
  }
  std::string_view operator()(const EmpiricalLengths& l) const {
    if (l.pairs == nullptr || l.pairs->empty()) return "there are no lengths to draw from";
    return std::all_of(l.pairs->begin(), l.pairs->end(), are_lengths) ? "" : kRange;
  }

  static constexpr std::string_view kRange = "lengths must lie between 1 and 2^30 tokens";
  static bool are_lengths(LengthPair pair) {
    return pair.input >= 1 && pair.output >= 1 && pair.input <= kMostTokens &&
           pair.output <= kMostTokens;
  }
};

std::string_view wrong_with(const Stream& stream) {
  if (const auto wrong = wrong_with(stream.arrivals.rate); !wrong.empty()) return wrong;
  if (!is_within(stream.arrivals.variation, 0.0, kMostVariation)) {
    return "the variation of intervals must lie between 0 and 30";
  }
  return std::visit(WrongWith{}, stream.lengths);
}

}  // namespace

EmpiricalLengths empirical_lengths(const RequestTrace& trace,
                                   std::optional<std::uint16_t> request_class) {
  std::vector<LengthPair> pairs;
  for (const Request& request : trace.requests) {
    if (request_class && request.request_class != *request_class) continue;
    pairs.push_back({request.input_tokens, request.output_tokens});
  }
  return {std::make_shared<const std::vector<LengthPair>>(std::move(pairs))};
}

LogNormalLengths fit_log_normal(const RequestTrace& trace) {
  NW_ASSERT(!trace.requests.empty());
  const auto count = static_cast<double>(trace.requests.size());
  LogNormalLengths fit;
  for (const Request& request : trace.requests) {
    fit.input_mu += same_log(request.input_tokens) / count;
    fit.output_mu += same_log(request.output_tokens) / count;
  }
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
  for (const Request& request : trace.requests) {
    const double x = same_log(request.input_tokens) - fit.input_mu;
    const double y = same_log(request.output_tokens) - fit.output_mu;
    xx += x * x / count;
    yy += y * y / count;
    xy += x * y / count;
  }
  fit.input_sigma = std::sqrt(xx);
  fit.output_sigma = std::sqrt(yy);
  fit.correlation = xx > 0.0 && yy > 0.0 ? std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0) : 0.0;
  return fit;
}

Status check(const Workload& workload) {
  if (workload.streams.empty()) {
    return failure(Code::invalid, "a workload needs at least one stream");
  }
  if (workload.most_requests == 0 && workload.duration <= Seconds(0)) {
    return failure(Code::invalid, "a workload needs an end: a number of requests or a duration");
  }
  for (std::size_t i = 0; i < workload.streams.size(); ++i) {
    const std::string_view wrong = wrong_with(workload.streams[i]);
    if (wrong.empty()) continue;
    return failure(Code::invalid, fmt::format("stream {} of the workload: {}", i + 1, wrong));
  }
  return {};
}

std::unique_ptr<RequestSource> generate(const Workload& workload, std::uint64_t seed) {
  NW_ASSERT(check(workload).has_value());
  return std::make_unique<MergedStreams>(workload, seed);
}

}  // namespace negawatt::trace
