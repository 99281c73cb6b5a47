// SPDX-License-Identifier: Apache-2.0
//
// Assignments of random requests to random systems, against trying all thresholds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "plan/assign_costs.hpp"
#include "plan/assign_sample_for_test.hpp"

namespace negawatt::plan {
namespace {

using testing::named;
using testing::requests;
using testing::run;

/// Random systems and requests; the best objective of all thresholds, tried one by one.
struct RandomCase {
  explicit RandomCase(std::uint64_t seed) : random(seed) {
    const auto systems = 2 + random() % 3;
    for (std::size_t s = 0; s < systems; ++s) {
      trace::MeasuredSystem system{.name = std::string(1, static_cast<char>('a' + s)),
                                   .model = "m"};
      for (const std::uint32_t in : {1U, 10U})
        for (const std::uint32_t out : {1U, 10U})
          system.runs.push_back(run(in, out, 1.0 + static_cast<double>(random() % 100),
                                    1.0 + static_cast<double>(random() % 100)));
      table.systems.push_back(system);
    }
    std::vector<trace::RequestSize> sizes;
    for (auto left = 1 + random() % 40; left > 0; --left)
      sizes.push_back({static_cast<std::uint32_t>(1 + random() % 8),
                       static_cast<std::uint32_t>(1 + random() % 8)});
    workload = requests(sizes);
  }
  /// All systems but the last were measured at smaller sizes: with --outside refuse they take less.
  void forget_some() {
    for (std::size_t s = 0; s + 1 < table.systems.size(); ++s) {
      const auto input = static_cast<std::uint32_t>(2 + random() % 9);
      const auto output = static_cast<std::uint32_t>(2 + random() % 9);
      for (auto& run : table.systems[s].runs)
        run.size = {run.size.input_tokens == 1 ? 1 : input,
                    run.size.output_tokens == 1 ? 1 : output};
    }
  }
  double by_force(const AssignCosts& costs, std::uint32_t most_input, std::uint32_t most_output) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < costs.systems(); ++a)
      for (std::size_t b = 0; b < costs.systems(); ++b)
        for (std::uint32_t in = 0; in <= most_input; ++in)
          for (std::uint32_t out = 0; out <= most_output; ++out) {
            double sum = 0.0;
            for (std::size_t g = 0; g < costs.groups(); ++g) {
              const auto size = workload.groups[g].size;
              const bool below = (most_input == 0 || size.input_tokens <= in) &&
                                 (most_output == 0 || size.output_tokens <= out);
              sum += static_cast<double>(costs.requests_in(g)) * costs.utility(g, below ? a : b);
            }
            best = std::min(best, sum);
          }
    return best;
  }

  std::mt19937_64 random;
  trace::SystemTable table{.name = "s.csv"};
  Workload workload;
};

RC_GTEST_PROP(AssignProperty, NoThresholdIsBetterThanTheOneFound, (bool extrapolate)) {
  RandomCase a_case(*rc::gen::arbitrary<std::uint64_t>());
  if (!extrapolate) a_case.forget_some();
  const AssignRequest request{.lambda = 0.7, .extrapolate = extrapolate};
  std::vector<CostSurface> surfaces;
  for (const auto& system : a_case.table.systems)
    surfaces.push_back(CostSurface::of(system).value());
  const auto costs = AssignCosts::of(a_case.table, surfaces, a_case.workload, request,
                                     utility_of(a_case.table, request))
                         .value();
  const auto plan = plan_assignment(a_case.table, a_case.workload, request).value();
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
  RC_ASSERT(near(named(plan, "input-threshold").objective, a_case.by_force(costs, 8, 0)));
  RC_ASSERT(near(named(plan, "output-threshold").objective, a_case.by_force(costs, 0, 8)));
  RC_ASSERT(near(named(plan, "both-thresholds").objective, a_case.by_force(costs, 8, 8)));
}

RC_GTEST_PROP(AssignProperty, NoRuleBeatsTheBoundAndEveryRequestIsServedOnce, ()) {
  const RandomCase a_case(*rc::gen::arbitrary<std::uint64_t>());
  const AssignRequest request{
      .lambda = 0.5, .normalise = *rc::gen::arbitrary<bool>(), .capacities = {{"a", 0.6, true}}};
  const auto plan = plan_assignment(a_case.table, a_case.workload, request).value();
  RC_ASSERT(plan.chosen.keeps_capacities);
  RC_ASSERT(plan.chosen.objective <= plan.bound * (1 + 1e-9));
  for (const auto& assignment : plan.baselines) {
    std::uint64_t served = 0;
    for (const auto count : assignment.requests) served += count;
    RC_ASSERT(served == a_case.workload.group_of.size());
    RC_ASSERT(!assignment.keeps_capacities || assignment.objective >= plan.bound);
  }
}

}  // namespace
}  // namespace negawatt::plan
