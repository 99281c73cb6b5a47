// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_block.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <new>

#include "core/crc32.hpp"

namespace negawatt::trace {
namespace {

constexpr std::uint32_t kMark = 0x4B4C424EU;  // "NBLK"
constexpr int kLevel = 1;                     // records are small already; more costs the program
constexpr std::size_t kChecksummed = kBlockHeader - sizeof(std::uint32_t);
static_assert(kLargestStored >= ZSTD_COMPRESSBOUND(kLargestBlock));

void put(char* at, std::uint32_t number) {
  for (unsigned byte = 0; byte < 4; ++byte) at[byte] = static_cast<char>(number >> (8U * byte));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[at + byte])} << (8U * byte);
  }
  return number;
}

std::uint32_t checksum_of(std::string_view block) {
  return crc32(block.substr(kBlockHeader), crc32(block.substr(0, kChecksummed)));
}

}  // namespace

std::string recording_preamble() {
  std::string preamble(kRecordingMagic);
  preamble.resize(kRecordingPreamble);
  put(preamble.data() + kRecordingMagic.size(), kRecordingVersion);
  return preamble;
}

struct BlockCompressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  Context() {
    if (zstd == nullptr) throw std::bad_alloc();
  }
  ~Context() { ZSTD_freeCCtx(zstd); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

BlockCompressor::BlockCompressor()
    : context_(std::make_unique<Context>()), block_(kBlockHeader + kLargestStored, '\0') {}
BlockCompressor::~BlockCompressor() = default;

std::string_view BlockCompressor::next(std::string_view payload, std::uint32_t records) noexcept {
  const std::size_t stored =
      ZSTD_compressCCtx(context_->zstd, block_.data() + kBlockHeader, block_.size() - kBlockHeader,
                        payload.data(), payload.size(), kLevel);
  if (ZSTD_isError(stored) != 0) return {};
  const std::array<std::uint32_t, 5> header{kMark, sequence_++, static_cast<std::uint32_t>(stored),
                                            static_cast<std::uint32_t>(payload.size()), records};
  for (std::size_t i = 0; i < header.size(); ++i) put(block_.data() + 4 * i, header[i]);
  const std::string_view block(block_.data(), kBlockHeader + stored);
  put(block_.data() + kChecksummed, checksum_of(block));
  return block;
}

struct BlockDecompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  Context() {
    if (zstd == nullptr) throw std::bad_alloc();
  }
  ~Context() { ZSTD_freeDCtx(zstd); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

BlockDecompressor::BlockDecompressor()
    : context_(std::make_unique<Context>()), payload_(kLargestBlock, '\0') {}
BlockDecompressor::~BlockDecompressor() = default;

Result<BlockHeader> BlockDecompressor::header(std::string_view bytes, std::uint32_t sequence) {
  NW_ASSERT(bytes.size() >= kBlockHeader);
  const BlockHeader header{number_at(bytes, 4), number_at(bytes, 8), number_at(bytes, 12),
                           number_at(bytes, 16)};
  if (number_at(bytes, 0) != kMark) return failure(Code::invalid, "no block begins here");
  if (header.sequence != sequence) {
    return failure(Code::invalid, fmt::format("block {} stands where block {} is expected",
                                              header.sequence, sequence));
  }
  if (header.stored > kLargestStored || header.raw > kLargestBlock) {
    return failure(Code::invalid,
                   fmt::format("this block claims {} bytes, {} decompressed; at most {} and {} are "
                               "expected",
                               header.stored, header.raw, kLargestStored, kLargestBlock));
  }
  return header;
}

Result<std::string_view> BlockDecompressor::payload(const BlockHeader& header,
                                                    std::string_view block) {
  if (checksum_of(block) != number_at(block, kChecksummed)) {
    return failure(Code::invalid, "this block's checksum is wrong");
  }
  const std::string_view stored = block.substr(kBlockHeader);
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd, payload_.data(), header.raw,
                                               stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != header.raw) {
    return failure(Code::invalid, fmt::format("this block is not {} bytes in zstd", header.raw));
  }
  return std::string_view(payload_.data(), size);
}

}  // namespace negawatt::trace
