// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_merge.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/recording_bytes.hpp"

namespace negawatt::trace {
namespace {

using testing::reader_of;
using testing::RecordingBytes;

RecordingHeader header_of(std::uint32_t process, std::int64_t start, std::int64_t wall) {
  return {process, 1, CommonClock::monotonic, {start}, wall, "node7", "b00t", {}};
}

std::string file_with(const RecordingHeader& header, const std::vector<std::int64_t>& moments) {
  RecordingBytes file(header);
  for (const std::int64_t at : moments) file.add(RangeEnd{{at}, 1});
  file.end_block();
  return file.bytes();
}

struct Merged {
  std::vector<std::pair<std::int64_t, std::size_t>> moments;  // and the file
  std::uint64_t late = 0;
  bool by_wall_clock = false;
};

Merged merged(const std::vector<std::string>& bytes, const MergeOptions& options = {}) {
  std::vector<RecordingReader> files;
  for (const auto& file : bytes) files.push_back(reader_of(file));
  RecordingMerge merge(std::move(files), options);
  Merged all;
  while (const auto event = merge.next().value())
    all.moments.emplace_back(event->at.ns, event->file);
  all.late = merge.late();
  all.by_wall_clock = merge.by_wall_clock(bytes.size() - 1);
  return all;
}

TEST(RecordingMerge, PutsProcessesOnOneAxis) {
  const auto all = merged({file_with(header_of(1, 0, 100), {10, 30, 50}),
                           file_with(header_of(2, 5, 105), {20, 30, 60})});
  const std::vector<std::pair<std::int64_t, std::size_t>> expected{{10, 0}, {20, 1}, {30, 0},
                                                                   {30, 1}, {50, 0}, {60, 1}};
  EXPECT_EQ(all.moments, expected);
  EXPECT_FALSE(all.by_wall_clock);
  EXPECT_EQ(all.late, 0U);
}

TEST(RecordingMerge, MovesAnotherHostByTheWallClocks) {
  // The other host's clock began elsewhere: its 1000 is this one's 1000 - 700 = 300.
  auto other = header_of(2, 1000, 2'300);
  other.host = "node8";
  const auto all =
      merged({file_with(header_of(1, 100, 2'100), {150, 400}), file_with(other, {1'010})});
  const std::vector<std::pair<std::int64_t, std::size_t>> expected{{150, 0}, {310, 1}, {400, 0}};
  EXPECT_EQ(all.moments, expected);
  EXPECT_TRUE(all.by_wall_clock);
}

RC_GTEST_PROP(RecordingMerge, IsTheSortOfAllFilesWhereTheSlackSuffices,
              (const std::vector<std::uint16_t>& jumble)) {
  // Disorder below 2^16 ns, slack 2^16 ns: as good as sorting everything.
  std::vector<std::vector<std::int64_t>> moments(3);
  std::vector<std::pair<std::int64_t, std::size_t>> expected;
  for (std::size_t i = 0; i < jumble.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) * 1000 + jumble[i];
    moments[jumble[i] % 3].push_back(at);
    expected.emplace_back(at, jumble[i] % 3);
  }
  std::ranges::stable_sort(expected);
  std::vector<std::string> files;
  for (const auto& of_file : moments) files.push_back(file_with(header_of(1, 0, 0), of_file));
  const auto all = merged(files, {.slack = Seconds(65536e-9)});
  RC_ASSERT(all.moments == expected);
  RC_ASSERT(all.late == 0U);
}

TEST(RecordingMerge, CountsWhatComesTooLateAndStillGivesIt) {
  const std::vector<std::string> files{
      file_with(header_of(1, 0, 0), {100, 5'000, 10'000, 200, 11'000})};
  const auto hasty = merged(files, {.slack = Seconds(1e-6)});
  EXPECT_EQ(hasty.moments.size(), 5U);
  EXPECT_EQ(hasty.late, 1U);
  EXPECT_EQ(merged(files, {.slack = Seconds(1e-5)}).late, 0U);
  EXPECT_EQ(merged(files, {.slack = Seconds(1), .most_waiting = 2}).late, 1U)
      << "memory is bounded";
}

TEST(RecordingMerge, SurvivesHeadersFarApart) {
  auto other = header_of(2, kLastMoment, INT64_MIN);
  other.host = "node8";
  const auto all =
      merged({file_with(header_of(1, 0, INT64_MAX), {1}), file_with(other, {kLastMoment, 1})});
  EXPECT_EQ(all.moments.size(), 3U);
}

}  // namespace
}  // namespace negawatt::trace
