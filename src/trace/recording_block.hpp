// SPDX-License-Identifier: Apache-2.0
//
// Payloads <-> the blocks of a recording's file (grammar: recording_fields.hpp): compressed,
// numbered and with a checksum. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "trace/recording_fields.hpp"

namespace negawatt::trace {

/// What a file starts with.
[[nodiscard]] std::string recording_preamble();

/// A stored payload is at most so large: zstd adds less than 1/256 and 64 bytes.
inline constexpr std::size_t kLargestStored = kLargestBlock + kLargestBlock / 128;

class BlockCompressor {
 public:
  /// Allocates all that it needs but what zstd takes at its first block: about 0.7 MB together.
  BlockCompressor();
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  /// The next block of the file, valid until the next call. Empty when zstd has no memory.
  [[nodiscard]] std::string_view next(std::string_view payload, std::uint32_t records) noexcept;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string block_;
  std::uint32_t sequence_ = 0;
};

/// What stands before a payload, as far as it is credible.
struct BlockHeader {
  std::uint32_t sequence = 0, stored = 0, raw = 0, records = 0;
};

class BlockDecompressor {
 public:
  BlockDecompressor();
  ~BlockDecompressor();
  BlockDecompressor(const BlockDecompressor&) = delete;
  BlockDecompressor& operator=(const BlockDecompressor&) = delete;

  /// Of kBlockHeader bytes. Fails on sizes that no recorder writes and on another number than
  /// `sequence`; messages say what is wrong with "this block".
  [[nodiscard]] static Result<BlockHeader> header(std::string_view bytes, std::uint32_t sequence);
  /// The payload of a block, from all its bytes; valid until the next call.
  [[nodiscard]] Result<std::string_view> payload(const BlockHeader& header, std::string_view block);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string payload_;
};

}  // namespace negawatt::trace
