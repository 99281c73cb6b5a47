// SPDX-License-Identifier: Apache-2.0
#include "core/toml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace negawatt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What reading a document in this way finds wrong; "" for nothing.
std::string error_of(std::string_view bytes, const std::function<void(TomlTable&)>& read) {
  const auto document = TomlDocument::parse(bytes, "x.toml");
  if (!document) return document.error().message;
  auto root = document->root();
  read(root);
  root.finish();
  return root.status() ? "" : root.status().error().message;
}

TEST(TomlReader, TheFirstErrorIsKeptWithFileLineAndPath) {
  const auto read = [](TomlTable& root) {
    auto inner = root.table("outer").table("inner");
    double value = 1;
    inner.take("size", value, {1, 10});
    bool flag = false;
    inner.take("flag", flag);
    inner.finish();
  };
  EXPECT_EQ(error_of("[outer.inner]\nsize = 10\nflag = true\n", read), "");
  EXPECT_EQ(error_of("[outer.inner]\nflag = 1\nsize = 11\n", read),
            "x.toml:3: 'outer.inner.size': expected a number from 1 to 10");
  EXPECT_EQ(error_of("[outer.inner]\nsize = true\n", read),
            "x.toml:2: 'outer.inner.size': expected a number from 1 to 10");
  EXPECT_EQ(error_of("[outer.inner]\nsizes = 2\n", read),
            "x.toml:2: 'outer.inner.sizes' is not known, is 'size' meant?");
  EXPECT_EQ(error_of("outer = 1\n", read), "x.toml:1: 'outer': expected a table");
}

TEST(TomlReader, ATextIsEmptyWhereThatIsAllowedAlone) {
  std::string value = "before";
  EXPECT_EQ(error_of("key = ''", [&](TomlTable& root) { root.take("key", value); }),
            "x.toml:1: 'key': expected printable text");
  EXPECT_EQ(value, "before");
  EXPECT_EQ(
      error_of("key = ''", [&](TomlTable& root) { root.take("key", value, EmptyText::allowed); }),
      "");
  EXPECT_EQ(value, "");
  EXPECT_EQ(error_of("key = \"\\u001b\"",
                     [&](TomlTable& root) { root.take("key", value, EmptyText::allowed); }),
            "x.toml:1: 'key': expected printable text");
}

TEST(TomlReader, KeysAreThoseOfAllLayersOnce) {
  const auto upper = TomlDocument::parse("b = 1\na = 1\n", "upper");
  const auto lower = TomlDocument::parse("c = 1\nb = 2\n", "lower");
  ASSERT_TRUE(upper && lower);
  EXPECT_THAT(upper->root().over(lower->root()).keys(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(upper->root().table("none").keys(), IsEmpty());
}

TEST(TomlReader, AKeyThatTheFileChoseIsShownWithoutHarm) {
  const auto read = [](TomlTable& root) {
    for (const auto& key : root.keys()) {
      auto inner = root.table(key);
      inner.finish();
    }
  };
  EXPECT_EQ(error_of("\"a\\u001b[2J\" = 1\n", read), "x.toml:1: 'a\\x1b[2J': expected a table");
  EXPECT_EQ(error_of("[\"a\\u001b\"]\nkey = 1\n", read), "x.toml:2: 'a\\x1b.key' is not known");
}

TEST(TomlReader, WhatALayerLacksIsLookedUpBelowAndFoundWrongThere) {
  const auto upper = TomlDocument::parse("a = 1\n", "upper");
  const auto lower = TomlDocument::parse("a = 5\n\nb = 7\n", "lower");
  ASSERT_TRUE(upper && lower);
  auto both = upper->root().over(lower->root());
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  both.take("a", a, {0, 9});
  both.take("b", b, {0, 9});
  both.finish();
  EXPECT_TRUE(both.status());
  EXPECT_EQ(a, 1U);
  EXPECT_EQ(b, 7U);
  both.refuse("b", "less");
  ASSERT_FALSE(both.status());
  EXPECT_EQ(both.status().error().message, "lower:3: 'b': expected less");
}

}  // namespace
}  // namespace negawatt
