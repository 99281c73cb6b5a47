// SPDX-License-Identifier: Apache-2.0
#include "core/crc32.hpp"

#include <gtest/gtest.h>

namespace negawatt {
namespace {

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);  // IEEE 802.3's check value
  EXPECT_EQ(crc32(""), 0U);
}

TEST(Crc32, OfPartsIsThatOfTheWhole) {
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926U);
  EXPECT_EQ(crc32("", crc32("123456789")), 0xCBF43926U);
}

}  // namespace
}  // namespace negawatt
