// SPDX-License-Identifier: Apache-2.0
#include "core/toml_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace negawatt {
namespace {

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
