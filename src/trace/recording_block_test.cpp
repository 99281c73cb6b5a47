// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_block.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/crc32.hpp"

namespace negawatt::trace {
namespace {

std::string unpacked(std::string_view block, std::uint32_t sequence) {
  BlockDecompressor decompressor;
  const auto header = BlockDecompressor::header(block.substr(0, kBlockHeader), sequence);
  if (!header) return header.error().message;
  const auto payload = decompressor.payload(*header, block);
  return std::string(payload ? *payload : std::string_view(payload.error().message));
}

/// With four bytes at `at` replaced and the checksum made right again.
std::string forged(std::string block, std::size_t at, std::uint32_t number) {
  const auto put = [&](std::size_t where, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) block[where + i] = static_cast<char>(value >> (8U * i));
  };
  put(at, number);
  const std::string_view all = block;
  put(kBlockHeader - 4, crc32(all.substr(kBlockHeader), crc32(all.substr(0, kBlockHeader - 4))));
  return block;
}

RC_GTEST_PROP(RecordingBlock, GivesBackWhatWasPutIn, (const std::string& payload)) {
  BlockCompressor compressor;
  static_cast<void>(compressor.next("the first", 1));
  RC_ASSERT(unpacked(compressor.next(payload, 1), 1) == payload);
}

TEST(RecordingBlock, HasItsFieldsWhereTheGrammarSays) {
  BlockCompressor compressor;
  const std::string block(compressor.next("payload", 3));
  EXPECT_EQ(block.substr(0, 4), "NBLK");
  EXPECT_EQ(block.substr(4, 4), std::string(4, '\0'));
  EXPECT_EQ(static_cast<std::size_t>(block[8]), block.size() - kBlockHeader);
  EXPECT_EQ(block.substr(12, 4), std::string("\7\0\0\0", 4));
  EXPECT_EQ(block.substr(16, 4), std::string("\3\0\0\0", 4));
}

TEST(RecordingBlock, OfTheGreatestSizeThatNothingCompressesFits) {
  std::string noise(kLargestBlock, '\0');
  std::uint64_t state = 1;
  for (char& byte : noise) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56U);
  }
  BlockCompressor compressor;
  EXPECT_TRUE(unpacked(compressor.next(noise, 1), 0) == noise);
}

TEST(RecordingBlock, WithAnyByteChangedIsRefused) {
  BlockCompressor compressor;
  const std::string block(compressor.next("a payload of some bytes", 1));
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const int bit : {0, 7}) {
      std::string damaged = block;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      // A changed length would have the file's reader wait for other bytes.
      if (at >= 8 && at < 12) continue;
      EXPECT_NE(unpacked(damaged, 0), "a payload of some bytes") << "byte " << at;
    }
  }
}

TEST(RecordingBlock, OfHostileSizesIsRefusedBeforeMemoryIsTaken) {
  BlockCompressor compressor;
  const std::string block(compressor.next("payload", 1));
  EXPECT_EQ(unpacked(forged(block, 8, 0xFFFFFFFFU), 0),
            "this block claims 4294967295 bytes, 7 decompressed; at most 264192 and 262144 are "
            "expected");
  EXPECT_NE(unpacked(forged(block, 12, kLargestBlock + 1), 0).find("262145"), std::string::npos);
}

TEST(RecordingBlock, ThatIsNotOfItsSizeIsRefused) {
  BlockCompressor compressor;
  const std::string block(compressor.next("payload", 1));
  EXPECT_EQ(unpacked(forged(block, 12, 6), 0), "this block is not 6 bytes in zstd");
  EXPECT_EQ(unpacked(forged(block, 12, 8), 0), "this block is not 8 bytes in zstd");
}

TEST(RecordingBlock, OutOfItsPlaceIsRefused) {
  BlockCompressor compressor;
  const std::string block(compressor.next("payload", 1));
  EXPECT_EQ(unpacked(block, 1), "block 0 stands where block 1 is expected");
  EXPECT_EQ(unpacked("text" + block.substr(4), 0), "no block begins here");
}

}  // namespace
}  // namespace negawatt::trace
