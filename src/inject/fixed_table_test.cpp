// SPDX-License-Identifier: Apache-2.0
#include "inject/fixed_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "trace/recording.hpp"

namespace negawatt::inject {
namespace {

TEST(FixedTable, NumbersFromOneUntilItIsFull) {
  FixedTable<trace::Lane> table(2);
  EXPECT_EQ(table.find({0, 1, 7}), 0U);
  EXPECT_EQ(table.add({0, 1, 7}), 1U);
  EXPECT_FALSE(table.is_full());
  EXPECT_EQ(table.add({0, 1, 8}), 2U);
  EXPECT_TRUE(table.is_full());
  EXPECT_EQ(table.find({0, 1, 7}), 1U);
  EXPECT_EQ(table.find({0, 1, 8}), 2U);
  EXPECT_EQ(table.find({0, 1, 9}), 0U);
}

TEST(TextTable, IsFullWhenItsBytesAre) {
  TextTable table({.texts = 8, .bytes = 5});
  EXPECT_EQ(table.add("gemm"), 1U);
  EXPECT_TRUE(table.has_room_for("x"));
  EXPECT_FALSE(table.has_room_for("xy"));
  EXPECT_EQ(table.add("x"), 2U);
  EXPECT_EQ(table.find("gemm"), 1U);
  EXPECT_TRUE(table.has_room_for(""));
}

RC_GTEST_PROP(TextTable, NumbersAsAMapWould, (const std::vector<std::string>& texts)) {
  TextTable table({.texts = 1000, .bytes = 1U << 20U});
  std::map<std::string, std::uint32_t> numbers;
  for (const std::string& text : texts) {
    const auto [known, is_new] = numbers.try_emplace(text, numbers.size() + 1);
    RC_ASSERT(table.find(text) == (is_new ? 0U : known->second));
    if (is_new) RC_ASSERT(table.add(std::string(text)) == known->second);
  }
  for (const auto& [text, number] : numbers) RC_ASSERT(table.find(text) == number);
}

}  // namespace
}  // namespace negawatt::inject
