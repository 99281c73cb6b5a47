// SPDX-License-Identifier: Apache-2.0
#include "trace/calendar_time.hpp"

#include <gtest/gtest.h>

namespace negawatt::trace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(CalendarTime, CountsNanosecondsSince1970) {
  EXPECT_EQ(calendar_nanoseconds("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(calendar_nanoseconds("2000-03-01T00:00:00"), 951'868'800 * kSecond);  // date -d
  EXPECT_EQ(calendar_nanoseconds("2023-11-16 18:17:03.9799600"),
            1'700'158'623 * kSecond + 979'960'000);
  EXPECT_EQ(calendar_nanoseconds("2023-11-16 18:17:03.000000001"), 1'700'158'623 * kSecond + 1);
}

TEST(CalendarTime, KnowsZones) {
  const auto utc = calendar_nanoseconds("2024-05-10 00:00:00.009930");
  EXPECT_EQ(calendar_nanoseconds("2024-05-10 00:00:00.009930+00:00"), utc);
  EXPECT_EQ(calendar_nanoseconds("2024-05-10T00:00:00.00993Z"), utc);
  EXPECT_EQ(calendar_nanoseconds("2024-05-10 02:00:00.00993+02:00"), utc);
  EXPECT_EQ(calendar_nanoseconds("2024-05-09 18:30:00.00993-05:30"), utc);
}

TEST(CalendarTime, RefusesWhatIsNoTime) {
  for (const auto* text :
       {"", "2023", "2023-11-16", "2023-11-16 18:17", "2023-02-29 00:00:00", "2023-13-01 00:00:00",
        "2023-11-16 24:00:00", "2023-11-16 18:60:00", "2023-11-16 18:17:61", "2023-11-16 18:17:03.",
        "2023-11-16 18:17:03.1234567890", "2023-11-16 18:17:03 ", "2023-11-16 18:17:03+2",
        "2023-11-16 18:17:03+24:00", "1969-12-31 23:59:59", "2200-01-01 00:00:00",
        "2023-11-16  8:17:03", "23-11-16 18:17:03", "+023-11-16 18:17:03"})
    EXPECT_EQ(calendar_nanoseconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace negawatt::trace
