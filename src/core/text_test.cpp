// SPDX-License-Identifier: Apache-2.0
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt {
namespace {

// One character of every length: e acute, euro sign, a pictograph.
constexpr std::string_view kTwo = "\xC3\xA9";
constexpr std::string_view kThree = "\xE2\x82\xAC";
constexpr std::string_view kFour = "\xF0\x9F\x94\x8B";

TEST(Text, AcceptsCharactersOfEveryLength) {
  EXPECT_TRUE(is_printable(""));
  EXPECT_TRUE(is_printable("void gemm<float, 128>(int*) ~"));
  for (const auto character : {kTwo, kThree, kFour}) EXPECT_TRUE(is_printable(character));
}

TEST(Text, RefusesControlCharactersAndWhatIsNoUtf8) {
  for (const std::string_view text : {"a\n", "\t", "\x1B[31m", "\x7F", "\xC2\x9B"})
    EXPECT_FALSE(is_printable(text)) << "control character";
  for (const std::string_view text : {"\x80", "\xC3", "\xC3(", "\xE2\x82", "\xF0\x9F\x94", "\xFF"})
    EXPECT_FALSE(is_printable(text)) << "cut off or stray byte";
  for (const std::string_view text : {"\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF"})
    EXPECT_FALSE(is_printable(text)) << "longer than need be";
  EXPECT_FALSE(is_printable("\xED\xA0\x80")) << "surrogate";
  EXPECT_FALSE(is_printable("\xF4\x90\x80\x80")) << "above U+10FFFF";
  EXPECT_TRUE(is_printable("\xED\x9F\xBF") && is_printable("\xF4\x8F\xBF\xBF")) << "just below";
}

TEST(Text, NamesTheLineOfTheFirstByteBeyondAscii) {
  EXPECT_EQ(line_beyond_ascii(""), std::nullopt);
  EXPECT_EQ(line_beyond_ascii("a\n\x1b\x7f"), std::nullopt);
  EXPECT_EQ(line_beyond_ascii("\x80"), 1U);
  EXPECT_EQ(line_beyond_ascii("a\nb\n\xEF\xBB\xBF"), 3U);
}

TEST(Text, ShowsWhatIsNotPrintableAsHex) {
  EXPECT_EQ(printable("a\x01\x1b[31m"), "a\\x01\\x1b[31m");
  EXPECT_EQ(printable("caf\xE9"), "caf\\xe9");
  EXPECT_EQ(printable(kThree), kThree);
}

TEST(Text, QuotesTheWholeOnOneLine) {
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("it's C:\\ \n"), "'it\\'s C:\\\\ \\x0a'");
  EXPECT_EQ(in_quotes(std::string(100, 'a')), "'" + std::string(100, 'a') + "'");
  EXPECT_NE(in_quotes("\x01"), in_quotes("\\x01"));
}

TEST(Text, IsOneWordOfAShellWhateverItHolds) {
  EXPECT_EQ(shell_word("../data/a-b_c.toml"), "../data/a-b_c.toml");
  EXPECT_EQ(shell_word("all-on-one:device=*"), "'all-on-one:device=*'");
  EXPECT_EQ(shell_word("a b $(x).csv"), "'a b $(x).csv'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~"), "'~'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, ShortensWithoutCuttingACharacter) {
  EXPECT_EQ(printable(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(printable(std::string(41, 'a')), std::string(40, 'a') + "...");
  const auto shown = printable(std::string(39, 'a') + std::string(kThree) + "b");
  EXPECT_EQ(shown, std::string(39, 'a') + std::string(kThree) + "...");
}

TEST(Text, BreaksLinesBetweenWords) {
  using Lines = std::vector<std::string_view>;
  EXPECT_EQ(wrapped("", 5), Lines{});
  EXPECT_EQ(wrapped("ab cd", 5), (Lines{"ab cd"}));
  EXPECT_EQ(wrapped("ab cd ef", 5), (Lines{"ab cd", "ef"}));
  EXPECT_EQ(wrapped("ab cde f", 5), (Lines{"ab", "cde f"}));
  EXPECT_EQ(wrapped("abcdefgh ij", 5), (Lines{"abcde", "fgh", "ij"})) << "longer than a line";
}

}  // namespace
}  // namespace negawatt
