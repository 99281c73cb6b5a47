// SPDX-License-Identifier: Apache-2.0
#include "core/toml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
            "x.toml:3: 'outer.inner.size' is 11, expected a number from 1 to 10");
  EXPECT_EQ(error_of("[outer.inner]\nsize = true\n", read),
            "x.toml:2: 'outer.inner.size' is true, expected a number from 1 to 10");
  EXPECT_EQ(error_of("[outer.inner]\nsizes = 2\n", read),
            "x.toml:2: 'outer.inner.sizes' is not known, is 'size' meant?");
  EXPECT_EQ(error_of("outer = 1\n", read), "x.toml:1: 'outer' is 1, expected a table");
}

TEST(TomlReader, ATextIsEmptyWhereThatIsAllowedAlone) {
  std::string value = "before";
  EXPECT_EQ(error_of("key = ''", [&](TomlTable& root) { root.take("key", value); }),
            "x.toml:1: 'key' is '', expected printable text");
  EXPECT_EQ(value, "before");
  EXPECT_EQ(
      error_of("key = ''", [&](TomlTable& root) { root.take("key", value, EmptyText::allowed); }),
      "");
  EXPECT_EQ(value, "");
  EXPECT_EQ(error_of("key = \"\\u001b\"",
                     [&](TomlTable& root) { root.take("key", value, EmptyText::allowed); }),
            "x.toml:1: 'key' is '\\x1b', expected printable text");
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
  EXPECT_EQ(error_of("\"a\\u001b[2J\" = 1\n", read),
            "x.toml:1: 'a\\x1b[2J' is 1, expected a table");
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
  EXPECT_EQ(both.status().error().message, "lower:3: 'b' is 7, expected less");
}

/// Reads one key of each kind; what is wrong, or nothing.
std::string problem(std::string_view bytes) {
  const auto document = TomlDocument::parse(bytes, "t.toml");
  if (!document) return document.error().message;
  auto root = document->root();
  double number = 0.0;
  std::uint32_t whole = 0;
  std::string text;
  bool flag = false;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  root.need("number", number, {1.0, 10.0});
  root.take("whole", whole, {1.0, 10.0});
  root.take("text", text);
  root.take("flag", flag);
  root.take("numbers", numbers, {1.0, 10.0});
  root.take("texts", texts);
  auto inner = root.table("inner");
  inner.take("whole", whole, {2.0});
  inner.finish();
  root.finish();
  return root.status() ? "" : root.status().error().message;
}

TEST(TomlReader, SaysWhatWasFoundWhereAndWhatWasExpected) {
  EXPECT_EQ(problem("number = 2\ntexts = [\"a\", \"\"]\n"), "");
  EXPECT_EQ(problem("\n number = 0.5\n"),
            "t.toml:2: 'number' is 0.5, expected a number from 1 to 10");
  EXPECT_EQ(problem("number = \"2\"\n"),
            "t.toml:1: 'number' is '2', expected a number from 1 to 10");
  EXPECT_EQ(problem("number = nan\n"), "t.toml:1: 'number' is nan, expected a number from 1 to 10");
  EXPECT_EQ(problem("number = 2\nwhole = 2.5\n"),
            "t.toml:2: 'whole' is 2.5, expected a whole number from 1 to 10");
  EXPECT_EQ(problem("number = 2\nwhole = 11\n"),
            "t.toml:2: 'whole' is 11, expected a whole number from 1 to 10");
  EXPECT_EQ(problem("number = 2\nflag = [1]\n"),
            "t.toml:2: 'flag' is a list, expected true or false");
  EXPECT_EQ(problem("number = 2\ntext = \"a\\u0007\"\n"),
            "t.toml:2: 'text' is 'a\\x07', expected printable text");
  EXPECT_EQ(problem("number = 2\ntext = \"\"\n"),
            "t.toml:2: 'text' is '', expected printable text");
  EXPECT_EQ(problem("number = 2\nnumbers = [1,\n 11]\n"),
            "t.toml:3: 'numbers' has 11, expected a number from 1 to 10");
  EXPECT_EQ(problem("number = 2\nnumbers = true\n"),
            "t.toml:2: 'numbers' is true, expected a list of numbers");
  EXPECT_EQ(problem("number = 2\ntexts = [\"a\", 1979-05-27]\n"),
            "t.toml:2: 'texts' has a date or time, expected printable text");
  EXPECT_EQ(problem("number = 2\ninner = 7\n"), "t.toml:2: 'inner' is 7, expected a table");
  EXPECT_EQ(problem("number = 2\n[inner]\nwhole = 1\n"),
            "t.toml:3: 'inner.whole' is 1, expected a whole number from 2 to 4294967295");
}

TEST(TomlReader, CutsLongTextsShort) {
  EXPECT_EQ(
      problem("number = \"" + std::string(1'000, 'x') + "\"\n"),
      "t.toml:1: 'number' is '" + std::string(40, 'x') + "...', expected a number from 1 to 10");
}

TEST(TomlReader, SaysThatAKeyIsMisspeltBeforeThatItIsMissing) {
  EXPECT_EQ(problem("text = \"a\"\n"), "t.toml:1: 'number' is missing");
  EXPECT_EQ(problem("text = \"a\"\nnumbr = 2\n"),
            "t.toml:2: 'numbr' is not known, is 'number' meant?");
  EXPECT_EQ(problem("[inner]\nwole = 2\n"),
            "t.toml:2: 'inner.wole' is not known, is 'whole' meant?");
  // What was wrong before stays.
  EXPECT_EQ(problem("number = 0\nnumbr = 2\n"),
            "t.toml:1: 'number' is 0, expected a number from 1 to 10");
}

}  // namespace
}  // namespace negawatt
