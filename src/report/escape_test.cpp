// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace negawatt::report {
namespace {

constexpr std::string_view kReplaced = "\xEF\xBF\xBD";

TEST(Escape, DisplayableKeepsTextOfAnyScript) {
  const std::string text = "gemm_128x128 <T> \xC3\xA4 \xE6\xA0\xB8 \xF0\x9F\x94\x8B";
  EXPECT_EQ(displayable(text), text);
}

TEST(Escape, DisplayableReplacesWhatIsNoUtf8ByteByByte) {
  const std::string replaced(kReplaced);
  EXPECT_EQ(displayable("a\xFFz"), "a" + replaced + "z");
  EXPECT_EQ(displayable("\xC3"), replaced);                                // cut off
  EXPECT_EQ(displayable("\xC0\xAF"), replaced + replaced);                 // overlong '/'
  EXPECT_EQ(displayable("\xED\xA0\x80"), replaced + replaced + replaced);  // surrogate
  EXPECT_EQ(displayable("\xF4\x90\x80\x80").size(), 4 * replaced.size());  // above U+10FFFF
}

TEST(Escape, DisplayableReplacesControlsAndReadingOrderOverrides) {
  const std::string replaced(kReplaced);
  EXPECT_EQ(displayable("a\x1b[31m\n"), "a" + replaced + "[31m" + replaced);
  EXPECT_EQ(displayable("\xE2\x80\xAE"
                        "exe"),
            replaced + "exe");  // U+202E
  EXPECT_EQ(displayable("\xE2\x81\xA6"
                        "exe"),
            replaced + "exe");  // U+2066
}

TEST(Escape, AsciiOnlyShowsThatSomethingWasThere) {
  EXPECT_EQ(ascii_only("k\xC3\xA4se\t\x1b"), "k?se??");
}

TEST(Escape, HtmlLeavesNothingThatMarkupIsMadeOf) {
  EXPECT_EQ(html_escaped("<a href=\"x\" b='y'>&amp;"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
}

RC_GTEST_PROP(Escape, HtmlOfAnyBytesHoldsNoMarkup, (const std::string& bytes)) {
  const auto html = html_escaped(bytes);
  RC_ASSERT(html.find_first_of("<>\"'") == std::string::npos);
}

RC_GTEST_PROP(Escape, AsciiOfAnyBytesIsPrintableAscii, (const std::string& bytes)) {
  const auto text = ascii_only(bytes);
  RC_ASSERT(std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; }));
}

TEST(Escape, ScriptSafeJsonCannotEndItsElement) {
  EXPECT_EQ(script_safe(R"({"a":"</script><!--&"})"),
            R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
}

TEST(Escape, ShortenedTextFitsAndSaysThatItWasCut) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcd..");
}

}  // namespace
}  // namespace negawatt::report
