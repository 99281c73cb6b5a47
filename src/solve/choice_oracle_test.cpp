// SPDX-License-Identifier: Apache-2.0
//
// The exact choice against CBC, an independent mixed-integer solver, at sizes where brute force
// is out of the question.
#include <gtest/gtest.h>

#include "solve/choice.hpp"
#include "tests/choice_by_cbc.hpp"
#include "tests/choice_instances.hpp"

namespace negawatt::solve {
namespace {

using ::negawatt::testing::budget_between;
using ::negawatt::testing::InstanceKind;
using ::negawatt::testing::InstanceShape;
using ::negawatt::testing::make_instance;
using ::negawatt::testing::solve_with_cbc;

class AgainstCbc : public ::testing::TestWithParam<InstanceShape> {};

TEST_P(AgainstCbc, FindsTheSameLeastEnergy) {
  for (const double part : {0.02, 0.3, 0.8}) {
    const auto problem = make_instance(GetParam(), 11);
    const Seconds budget = budget_between(problem, part);
    const auto ours = least_energy_within(problem, budget);
    ASSERT_TRUE(ours) << ours.error().message;
    const auto cbc = solve_with_cbc(problem, budget, 60);
    ASSERT_TRUE(cbc);
    ASSERT_TRUE(cbc->is_proven);
    // CBC's own tolerances (see choice_by_cbc.hpp) let it be a little below as well.
    const double tolerance = 2e-9 * ours->total.energy.in_si();
    EXPECT_NEAR(ours->total.energy.in_si(), cbc->total.energy.in_si(), tolerance) << part;
    EXPECT_GE(ours->total.energy.in_si(), cbc->lower_bound.in_si() - tolerance) << part;
    EXPECT_LE(ours->total.time, latest_within(budget, problem.items()));
    EXPECT_EQ(ours->lower_bound, ours->total.energy);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, AgainstCbc,
                         ::testing::Values(InstanceShape{InstanceKind::gpu, 40, 60},
                                           InstanceShape{InstanceKind::gpu, 60, 10},
                                           InstanceShape{InstanceKind::random, 60, 60},
                                           InstanceShape{InstanceKind::weakly_correlated, 40, 30},
                                           InstanceShape{InstanceKind::integral, 60, 20}),
                         [](const ::testing::TestParamInfo<InstanceShape>& instance) {
                           return std::string(name_of(instance.param.kind)) +
                                  std::to_string(instance.param.items) + "x" +
                                  std::to_string(instance.param.options);
                         });

}  // namespace
}  // namespace negawatt::solve
