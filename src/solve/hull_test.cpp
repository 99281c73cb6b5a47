// SPDX-License-Identifier: Apache-2.0
#include "solve/hull.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace negawatt::solve {
namespace {

using ::testing::ElementsAre;

Cost cost(double seconds, double joules) { return {Seconds(seconds), Joules(joules)}; }

TEST(Pareto, KeepsWhatNoOtherOptionBeats) {
  const std::vector<Cost> options = {cost(3, 1), cost(1, 9), cost(2, 9), cost(2, 5), cost(4, 1)};
  EXPECT_THAT(pareto_options(options), ElementsAre(1, 3, 0));
}

TEST(Pareto, KeepsTheLowerIndexOfEqualOptions) {
  const std::vector<Cost> options = {cost(2, 2), cost(1, 3), cost(2, 2), cost(1, 3)};
  EXPECT_THAT(pareto_options(options), ElementsAre(1, 0));
}

TEST(Hull, DropsWhatNoPriceMakesCheapest) {
  // (2, 8) lies above the line from (1, 10) to (3, 2); (3, 2) to (5, 0) passes below (4, 1.5).
  const std::vector<Cost> options = {cost(1, 10), cost(2, 8), cost(3, 2), cost(4, 1.5), cost(5, 0)};
  EXPECT_THAT(hull_options(options), ElementsAre(0, 2, 4));
}

TEST(Hull, DropsOptionsOnAnEdge) {
  const std::vector<Cost> options = {cost(1, 3), cost(2, 2), cost(3, 1)};
  EXPECT_THAT(hull_options(options), ElementsAre(0, 2));
}

TEST(Hull, IsTheOptionItselfWhenThereIsOne) {
  const std::vector<Cost> options = {cost(0, 7)};
  EXPECT_THAT(hull_options(options), ElementsAre(0));
}

TEST(SavingRate, IsJoulesPerSecond) {
  EXPECT_EQ(saving_rate(cost(1, 100), cost(3, 40)), Watts(30));
}

}  // namespace
}  // namespace negawatt::solve
