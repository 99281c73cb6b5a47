// SPDX-License-Identifier: Apache-2.0
#include "govern/counter_watch.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <optional>

#include "tests/tiny_driver.hpp"

namespace negawatt::govern {
namespace {

TEST(CounterWatch, EndsWhileItStillMeasuresTheRefresh) {
  const testing::TinyLibrary library;
  std::latch reads(1);
  std::latch was_asked(1);
  int readings = 0;
  // A counter that stands still is looked at for 5 s, every millisecond.
  library.card().counter_mj = [&](double) {
    if (++readings == 1) {
      reads.count_down();
      was_asked.wait();
    }
    return 5e6;
  };
  std::optional<CounterWatch> watch(library.device());
  reads.wait();
  watch.reset();  // asks it to stop, and does not wait for it
  was_asked.count_down();
  ASSERT_TRUE(Apart::all_ended_within(Seconds(20)));
  EXPECT_LE(readings, 2);
}

}  // namespace
}  // namespace negawatt::govern
