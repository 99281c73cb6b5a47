// SPDX-License-Identifier: Apache-2.0
#include "gpu/settings.hpp"

#include <gtest/gtest.h>

#include "gpu/answer.hpp"
#include "gpu/units.hpp"

namespace negawatt::gpu {
namespace {

TEST(DriverUnits, AMillijouleIsAThousandthOfAJoule) {
  EXPECT_DOUBLE_EQ(to_si(Millijoules{1'234'567}).in_si(), 1234.567);
  EXPECT_DOUBLE_EQ(to_si(Milliwatts{87'500}).in_si(), 87.5);
  EXPECT_EQ(to_milliwatts(Watts(87.5)), Milliwatts{87'500});
  EXPECT_EQ(to_milliwatts(Watts(0.0126)), Milliwatts{13});
}

TEST(DriverUnits, ArePrintedWithTheirUnit) {
  EXPECT_EQ(to_string(Megahertz{1410}), "1410 MHz");
  EXPECT_EQ(to_string(Milliwatts{650'000}), "650 W");
  EXPECT_EQ(to_string(Milliwatts{87'500}), "87.5 W");
}

TEST(ClockRange, HasLeastAndMostWhicheverComesFirst) {
  const auto range = ClockRange::between({1410}, {345});
  EXPECT_EQ(range.least(), Megahertz{345});
  EXPECT_EQ(range.most(), Megahertz{1410});
  EXPECT_EQ(range, ClockRange::between({345}, {1410}));
}

TEST(Setting, NamesItsKnobAndState) {
  EXPECT_EQ(to_string(CoreLock{ClockRange::between({210}, {1410})}), "core lock 210 to 1410 MHz");
  EXPECT_EQ(to_string(CoreLock{ClockRange::exactly({1410})}), "core lock 1410 MHz");
  EXPECT_EQ(to_string(MemoryLock{}), "memory lock none");
  EXPECT_EQ(to_string(PowerLimit{{650'000}}), "power limit 650 W");
}

TEST(Request, ListsTheKnobsThatItNames) {
  Request request{.memory = MemoryLock{}};
  put(PowerLimit{{650'000}}, request);
  EXPECT_EQ(settings_of(request), (std::vector<Setting>{MemoryLock{}, PowerLimit{{650'000}}}));
  drop(Knob::memory_lock, request);
  EXPECT_EQ(settings_of(request), (std::vector<Setting>{PowerLimit{{650'000}}}));
}

TEST(DriverError, BecomesAnErrorThatSaysWhatTheUserCanDo) {
  EXPECT_EQ(Error(DriverError{.obstacle = Obstacle::absent}).code, Code::unavailable);
  EXPECT_EQ(Error(DriverError{.obstacle = Obstacle::denied}).code, Code::unavailable);
  EXPECT_EQ(Error(DriverError{.obstacle = Obstacle::lost}).code, Code::unavailable);
  EXPECT_EQ(Error(DriverError{.obstacle = Obstacle::refused}).code, Code::invalid);
  EXPECT_EQ(Error(DriverError{.obstacle = Obstacle::failed}).code, Code::internal);
}

TEST(DriverError, KeepsTheNumberOfACodeThatIsNotKnown) {
  EXPECT_EQ(obstacle_of(777), Obstacle::failed);
  EXPECT_NE(explain(777).find("777"), std::string::npos);
}

}  // namespace
}  // namespace negawatt::gpu
