// SPDX-License-Identifier: Apache-2.0
#include "sim/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "route/policy.hpp"
#include "sim/simulate.hpp"
#include "sim/trace_source.hpp"

namespace negawatt::sim {
namespace {

constexpr std::size_t kFactors = std::tuple_size_v<decltype(Calibrated::factors)>;
constexpr int kSimplexSteps = 400;
constexpr double kFirstStep = 0.25;          ///< of a logarithm
using Point = std::array<double, kFactors>;  ///< logarithms of the factors

class OnlyInstance final : public route::Policy {
 public:
  [[nodiscard]] std::string_view name() const override { return "only instance"; }
  [[nodiscard]] std::optional<route::Placement> place(
      const route::Arrival& /*arrival*/, std::span<const route::InstanceView> /*views*/) override {
    return route::Placement{};
  }
  [[nodiscard]] double expected_output(const route::Arrival& /*arrival*/) const override {
    return 0.0;
  }
  void completed(const route::Completion& /*completion*/) override {}
};

class TimingList final : public Observer {
 public:
  explicit TimingList(std::size_t requests) : timings(requests) {}
  void drew(const Draw& /*draw*/) override {}
  void draws(std::uint32_t /*instance*/, Seconds /*now*/, Watts /*power*/) override {}
  void moved(Seconds /*now*/, Joules /*energy*/) override {}
  void completed(const RequestRecord& record) override {
    timings[record.id] = {record.first_token, record.last_token};
  }
  std::vector<Timing> timings;
};

InstanceSpec scaled(const InstanceSpec& start, const Point& logarithms) {
  auto c = start.model.coefficients();
  const auto scale = [&](std::size_t factor, std::initializer_list<double*> coefficients) {
    for (auto* coefficient : coefficients) *coefficient *= std::exp(logarithms[factor]);
  };
  scale(0, {&c.compute_per_token, &c.compute_per_attended, &c.memory_per_token});
  scale(1, {&c.memory_weights, &c.memory_experts});
  scale(2, {&c.memory_per_context, &c.memory_per_sequence});
  scale(3, {&c.overhead, &c.link});
  scale(4, {&c.overhead_per_sequence, &c.link_per_token});
  auto spec = start;
  spec.model = model::ServingModel(c);
  return spec;
}

double squared_log(double predicted, double observed) {
  if (predicted <= 0.0 || observed <= 0.0) return 0.0;
  const double log = std::log(predicted / observed);
  return log * log;
}

/// Sum of squares over the observed requests.
double misfit(std::span<const trace::Request> requests, std::span<const Timing> observed,
              std::span<const Timing> predicted) {
  double sum = 0.0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const auto arrival = requests[i].arrival;
    const auto [first, last] = predicted[i];
    const auto [seen_first, seen_last] = observed[i];
    sum += squared_log((first - arrival).in_si(), (seen_first - arrival).in_si());
    sum += squared_log((last - first).in_si(), (seen_last - seen_first).in_si());
    sum += squared_log((last - arrival).in_si(), (seen_last - arrival).in_si());
  }
  return sum;
}

/// Nelder and Mead, "A simplex method for function minimization", Computer Journal 7 (1965).
template <class Function>
std::pair<Point, double> minimum(const Function& f) {
  struct Vertex {
    Point at{};
    double value = 0.0;
  };
  std::array<Vertex, kFactors + 1> simplex;
  for (std::size_t i = 0; i <= kFactors; ++i) {
    if (i > 0) simplex[i].at[i - 1] = kFirstStep;
    simplex[i].value = f(simplex[i].at);
  }
  for (int step = 0; step < kSimplexSteps; ++step) {
    std::ranges::stable_sort(simplex, {}, &Vertex::value);
    auto& worst = simplex.back();
    Point centre{};
    for (std::size_t i = 0; i < kFactors; ++i)
      for (std::size_t d = 0; d < kFactors; ++d) centre[d] += simplex[i].at[d] / kFactors;
    const auto towards = [&](double distance) {
      Vertex vertex;
      for (std::size_t d = 0; d < kFactors; ++d)
        vertex.at[d] = centre[d] + distance * (worst.at[d] - centre[d]);
      vertex.value = f(vertex.at);
      return vertex;
    };
    const Vertex mirrored = towards(-1.0);
    if (mirrored.value < simplex.front().value) {
      const Vertex further = towards(-2.0);
      worst = further.value < mirrored.value ? further : mirrored;
    } else if (mirrored.value < simplex[kFactors - 1].value) {
      worst = mirrored;
    } else if (const Vertex nearer = towards(mirrored.value < worst.value ? -0.5 : 0.5);
               nearer.value < std::min(mirrored.value, worst.value)) {
      worst = nearer;
    } else {
      for (std::size_t i = 1; i <= kFactors; ++i) {
        for (std::size_t d = 0; d < kFactors; ++d)
          simplex[i].at[d] = 0.5 * (simplex[i].at[d] + simplex[0].at[d]);
        simplex[i].value = f(simplex[i].at);
      }
    }
  }
  const auto best = std::ranges::min_element(simplex, {}, &Vertex::value);
  return {best->at, best->value};
}

}  // namespace

Result<std::vector<Timing>> timings_on(const InstanceSpec& spec,
                                       std::span<const trace::Request> requests) {
  const Cluster cluster{.instances = {spec}};
  TraceSource source(requests);
  OnlyInstance policy;
  TimingList list(requests.size());
  Observer* observers[] = {&list};
  NW_TRY(const auto outcome, simulate(cluster, source, policy, {.observers = observers}));
  if (outcome.completed < requests.size())
    return failure(Code::infeasible, "a request is larger than the instance's KV memory");
  return std::move(list.timings);
}

Result<Calibrated> calibrate(const InstanceSpec& start, std::span<const trace::Request> requests,
                             std::span<const Timing> observed) {
  if (observed.size() < 10 || observed.size() > requests.size())
    return failure(Code::invalid, "a calibration needs the timings of at least 10 requests");
  NW_CHECK(timings_on(start, requests));  // it can be simulated
  const auto value_at = [&](const Point& point) {
    const auto predicted = timings_on(scaled(start, point), requests);
    return predicted ? misfit(requests, observed, *predicted)
                     : std::numeric_limits<double>::infinity();
  };
  const auto [point, value] = minimum(value_at);
  Calibrated result{.spec = scaled(start, point),
                    .error = std::sqrt(value / (3.0 * static_cast<double>(observed.size())))};
  for (std::size_t i = 0; i < kFactors; ++i) result.factors[i] = std::exp(point[i]);
  return result;
}

}  // namespace negawatt::sim
