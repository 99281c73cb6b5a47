// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_reader.hpp"

#include <gtest/gtest.h>

#include "tests/recording_bytes.hpp"

namespace negawatt::trace {
namespace {

using testing::reader_of;
using testing::RecordingBytes;
using testing::whole;
using Kind = RecordingEnding::Kind;

const RecordingHeader kHeader{
    42,      41,     CommonClock::monotonic, {5000}, 1'700'000'000'000'000'000,
    "node7", "b00t", {"python", "train.py"}};

/// Three blocks behind the header: 10, 20 and 30 kernels, the last one with the end.
struct Sample3 {
  RecordingBytes file{kHeader};
  std::vector<std::size_t> block_ends;
  explicit Sample3(bool closed = true) {
    block_ends.push_back(file.bytes().size());
    file.add(Lane{0, 1, 7});
    file.add(Text{"gemm"});
    file.add(KernelClass{1, {2, 3, 4}, {128, 1, 1}, 0, 49152, 168});
    std::int64_t now = 1'000'000;
    for (int block = 1; block <= 3; ++block) {
      for (int kernel = 0; kernel < 10 * block; ++kernel, now += 1000) {
        file.add(KernelRun{{now}, {now + 900}, 1, 1, 17, {}});
      }
      if (block == 3 && closed) file.add(Closed{{now}, 0});
      file.end_block();
      block_ends.push_back(file.bytes().size());
    }
  }
};

std::string refusal(std::string_view bytes) {
  const auto reader = RecordingReader::open(bytes_in_memory(bytes), "run.nwrec");
  return reader ? "" : reader.error().message;
}

TEST(RecordingReader, GivesBackARecording) {
  const Sample3 sample;
  auto reader = reader_of(sample.file.bytes());
  EXPECT_EQ(reader.header(), kHeader);
  const auto first = reader.next().value();
  ASSERT_TRUE(first);
  const auto& kernel = std::get<KernelRun>(*first);
  EXPECT_EQ(kernel.start, Instant{1'000'000});
  EXPECT_EQ(kernel.end - kernel.start, Seconds(900e-9));
  EXPECT_EQ(reader.tables().text(reader.tables().classes()[kernel.kernel_class].name), "gemm");
  EXPECT_EQ(reader.tables().lanes()[kernel.lane], (Lane{0, 1, 7}));
  EXPECT_FALSE(reader.ending());

  const auto all = whole(reader_of(sample.file.bytes()));
  EXPECT_EQ(all.events.size(), 61U);
  EXPECT_EQ(all.ending.kind, Kind::closed);
  EXPECT_EQ(all.ending.message, "");
  EXPECT_EQ(all.ending.whole_bytes, sample.file.bytes().size());
}

TEST(RecordingReader, ReadsAFileThatIsCutAnywhereToItsLastWholeBlock) {
  const Sample3 sample;
  const std::string& bytes = sample.file.bytes();
  const std::vector<std::size_t> events_by_block{0, 10, 30, 61};
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const std::string_view part = std::string_view(bytes).substr(0, cut);
    if (cut < sample.block_ends[0]) {
      EXPECT_NE(refusal(part), "") << cut;
      continue;
    }
    std::size_t block = 0;
    while (sample.block_ends[block + 1] <= cut) ++block;
    const auto all = whole(reader_of(part));
    EXPECT_EQ(all.events.size(), events_by_block[block]) << cut;
    EXPECT_EQ(all.ending.kind, cut == sample.block_ends[block] ? Kind::open : Kind::cut_off) << cut;
    EXPECT_EQ(all.ending.whole_bytes, sample.block_ends[block]) << cut;
    EXPECT_EQ(all.ending.whole_blocks, block + 1) << cut;
    EXPECT_TRUE(all.ending.message.starts_with("run.nwrec: it ")) << all.ending.message;
  }
}

TEST(RecordingReader, ReadsADamagedFileToTheBlockBefore) {
  const Sample3 sample;
  for (std::size_t at = sample.block_ends[0]; at < sample.file.bytes().size(); ++at) {
    std::string bytes = sample.file.bytes();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    std::size_t block = 0;
    while (sample.block_ends[block + 1] <= at) ++block;
    const auto all = whole(reader_of(bytes));
    EXPECT_EQ(all.ending.whole_blocks, block + 1) << at;
    EXPECT_TRUE(all.ending.kind == Kind::damaged || all.ending.kind == Kind::cut_off) << at;
    EXPECT_EQ(all.ending.whole_bytes, sample.block_ends[block]) << at;
  }
}

TEST(RecordingReader, SaysHowARecordingEnded) {
  const auto open = whole(reader_of(Sample3(false).file.bytes()));
  EXPECT_EQ(open.ending.kind, Kind::open);
  EXPECT_EQ(open.ending.message, "run.nwrec: it was never closed; read up to byte " +
                                     std::to_string(open.ending.whole_bytes) +
                                     ", the end of block 3");

  const auto longer = whole(reader_of(Sample3().file.bytes() + "x"));
  EXPECT_EQ(longer.ending.kind, Kind::damaged);
  EXPECT_EQ(longer.events.size(), 61U);
  EXPECT_NE(longer.ending.message.find("bytes follow its last block"), std::string::npos);

  Sample3 sample(false);
  sample.file.add_payload("\x7F", 1);
  const auto damaged = whole(reader_of(sample.file.bytes()));
  EXPECT_EQ(damaged.ending.kind, Kind::damaged);
  EXPECT_EQ(damaged.events.size(), 60U);
  EXPECT_EQ(damaged.ending.whole_bytes, sample.block_ends.back());
  EXPECT_EQ(damaged.ending.message, "run.nwrec: there is no record of kind 127; read up to byte " +
                                        std::to_string(sample.block_ends.back()) +
                                        ", the end of block 3");
}

TEST(RecordingReader, RefusesWhatIsNoRecording) {
  EXPECT_EQ(refusal(""), "run.nwrec: this is no recording of negawatt");
  EXPECT_EQ(refusal("SQLite format 3"), "run.nwrec: this is no recording of negawatt");
  std::string text_mode = Sample3().file.bytes();
  text_mode.erase(6, 1);  // CR LF -> LF
  EXPECT_EQ(refusal(text_mode), "run.nwrec: this is no recording of negawatt");
}

TEST(RecordingReader, NamesAForeignVersion) {
  std::string bytes = Sample3().file.bytes();
  bytes[8] = 3, bytes[9] = 1;
  EXPECT_EQ(refusal(bytes), "run.nwrec: a recording of version 259, 1 is expected");
}

TEST(RecordingReader, RefusesARecordingWithoutHeader) {
  const std::string bytes = Sample3().file.bytes();
  EXPECT_EQ(
      refusal(std::string_view(bytes).substr(0, 12)),
      "run.nwrec: it was never closed before its first block ends (its header is expected first)");
  BlockCompressor compressor;
  const std::string other = recording_preamble() + std::string(compressor.next("\x7F", 1));
  EXPECT_EQ(refusal(other), "run.nwrec: the first block is no header of a recording");
}

TEST(RecordingReader, PassesOnThatReadingFails) {
  const std::string bytes = Sample3().file.bytes();
  int calls = 0;
  auto source = [&,
                 memory = bytes_in_memory(bytes)](std::span<char> buffer) -> Result<std::size_t> {
    if (++calls == 5) return failure(Code::internal, "the disk is gone");
    return memory(buffer);
  };
  auto reader = RecordingReader::open(source, "run.nwrec").value();
  const auto event = reader.next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().message, "the disk is gone");
}

}  // namespace
}  // namespace negawatt::trace
