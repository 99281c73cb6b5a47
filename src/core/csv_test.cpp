// SPDX-License-Identifier: Apache-2.0
#include "core/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace negawatt {
namespace {

/// Every record of `text` as "a|b|c;d|e|f;", or the error.
std::string records_of(std::string_view text) {
  CsvReader csv(text, "t.csv");
  if (const auto header = csv.read_header(); !header) return header.error().message;
  std::string all;
  while (true) {
    const auto more = csv.next();
    if (!more) return more.error().message;
    if (!*more) return all;
    for (std::size_t i = 0; i < csv.columns().size(); ++i)
      all += (i ? "|" : "") + std::string(csv.field(i));
    all += ';';
  }
}

TEST(Csv, ReadsPlainRecords) { EXPECT_EQ(records_of("a,b\n1,2\n3,4\n"), "1|2;3|4;"); }

TEST(Csv, ReadsWindowsLineEndsAByteOrderMarkAndBlankLines) {
  EXPECT_EQ(records_of("\xEF\xBB\xBF"
                       "a,b\r\n\r\n1,2\r\n\r\n3,4\r\n"),
            "1|2;3|4;");
}

TEST(Csv, ReadsQuotedFieldsWithCommasQuotesAndLineEnds) {
  EXPECT_EQ(records_of("a,b\n\"x,y\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",\"\"\n"),
            "x,y|say \"hi\";two\nlines|;");
}

TEST(Csv, AcceptsALastLineWithoutLineEndAndSaysSo) {
  constexpr std::string_view kText = "a,b\n1,2";
  EXPECT_EQ(records_of(kText), "1|2;");
  EXPECT_FALSE(CsvReader(kText, "t.csv").ended_with_newline());
}

TEST(Csv, RefusesALastLineThatIsCutOff) {
  EXPECT_EQ(records_of("a,b,c\n1,2,3\n4,"),
            "t.csv:3: the last line is cut off: 2 fields, expected 3 (a,b,c)");
}

TEST(Csv, RefusesARecordOfTheWrongWidthAndCountsLinesInsideQuotes) {
  EXPECT_EQ(records_of("a,b\n\"1\n1\",2\n3\n"), "t.csv:4: 1 field, expected 2 (a,b)");
}

TEST(Csv, RefusesBrokenQuotes) {
  EXPECT_EQ(records_of("a,b\n\"1,2\n"), "t.csv:2: a quoted field is never closed");
  EXPECT_EQ(records_of("a,b\n\"1\"x,2\n"), "t.csv:2: text after the closing quote of a field");
}

TEST(Csv, RefusesAnEmptyFileAndARepeatedColumn) {
  EXPECT_EQ(records_of(""), "t.csv:1: the file is empty: expected a header line");
  EXPECT_EQ(records_of("a,b,a\n"), "t.csv:1: column 'a' is there twice");
}

TEST(Csv, NamesEveryMissingColumn) {
  CsvReader csv("a,b\n", "t.csv");
  ASSERT_TRUE(csv.read_header());
  constexpr std::array<std::string_view, 3> kNames = {"x", "a", "y"};
  const auto columns = csv.require(kNames);
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().message, "t.csv:1: missing column 'x', 'y'; found a,b");
}

TEST(Csv, NamesOnlyTheFirstOfManyColumns) {
  CsvReader csv("a,b,c,d,e,f,g,h,i,j,k,l,m,n\n", "t.csv");
  ASSERT_TRUE(csv.read_header());
  constexpr std::array<std::string_view, 1> kNames = {"x"};
  EXPECT_EQ(csv.require(kNames).error().message,
            "t.csv:1: missing column 'x'; found a,b,c,d,e,f,g,h,i,j,k,l,... (14 columns)");
}

TEST(Csv, ReadsCommentsAboveTheHeader) {
  CsvReader csv("# evidence: published\r\n# source:  a paper \na\n1\n", "t.csv");
  ASSERT_TRUE(csv.read_header());
  EXPECT_EQ(csv.comment("evidence"), "published");
  EXPECT_EQ(csv.comment("source"), "a paper");
  EXPECT_EQ(csv.comment("licence"), "");
}

TEST(Csv, ReadsNumbersAndRefusesWhatIsNone) {
  CsvReader csv("a,b,c,d,e,f\n1e-3, 2.5 ,nan,inf,1x,\n", "t.csv");
  ASSERT_TRUE(csv.read_header());
  ASSERT_TRUE(csv.next().value());
  EXPECT_EQ(csv.number(0).value(), 1e-3);
  EXPECT_EQ(csv.number(1).value(), 2.5);
  EXPECT_EQ(csv.number(2).error().message, "t.csv:2: c is 'nan', expected a finite number");
  for (std::size_t column = 3; column < 6; ++column) EXPECT_FALSE(csv.number(column));
}

TEST(Csv, ReadsWholeNumbersWithinTheirRange) {
  CsvReader csv("a,b,c,d\n7,0,-1,4294967296\n", "t.csv");
  ASSERT_TRUE(csv.read_header());
  ASSERT_TRUE(csv.next().value());
  EXPECT_EQ(csv.whole(0, 1).value(), 7U);
  EXPECT_FALSE(csv.whole(1, 1));
  EXPECT_FALSE(csv.whole(2, 0));
  EXPECT_FALSE(csv.whole(3, 0));
}

TEST(Csv, ShowsControlBytesInMessagesAsHex) {
  CsvReader csv(std::string_view("a\n\x01\x1b[31m\n"), "t.csv");
  ASSERT_TRUE(csv.read_header());
  ASSERT_TRUE(csv.next().value());
  EXPECT_EQ(csv.number(0).error().message,
            "t.csv:2: a is '\\x01\\x1b[31m', expected a finite number");
}

TEST(Csv, QuotesAFieldOnlyWhereItMust) {
  EXPECT_EQ(csv_field("gemm <T>"), "gemm <T>");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace negawatt
