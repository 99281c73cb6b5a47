// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_reader.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <variant>

#include "core/text.hpp"

namespace negawatt::trace {

ByteSource bytes_in_memory(std::string_view bytes) {
  return [left = bytes](std::span<char> buffer) mutable -> Result<std::size_t> {
    const std::size_t count = left.copy(buffer.data(), buffer.size());
    left.remove_prefix(count);
    return count;
  };
}

RecordingReader::RecordingReader(ByteSource source, std::string_view file)
    : source_(std::move(source)),
      file_(printable(file)),
      decompressor_(std::make_unique<BlockDecompressor>()),
      decoder_(std::make_unique<BlockDecoder>()),
      block_(kBlockHeader + kLargestStored, '\0') {}

Result<RecordingReader> RecordingReader::open(ByteSource source, std::string_view file) {
  RecordingReader reader(std::move(source), file);
  NW_CHECK(reader.read_preamble());
  NW_TRY(const auto payload, reader.next_payload());
  if (!payload) {
    const std::string why = reader.ending_ ? reader.ending_->message : reader.file_;
    return failure(Code::invalid, why + " (its header is expected first)");
  }
  auto header = BlockDecoder::header(*payload);
  if (!header || reader.block_header_.records != 0) {
    return failure(Code::invalid,
                   fmt::format("{}: the first block is no header of a recording", reader.file_));
  }
  reader.header_ = *std::move(header);
  return reader;
}

Status RecordingReader::read_preamble() {
  NW_TRY(const std::size_t count, fill(0, kRecordingPreamble));
  const std::string_view preamble(block_.data(), count);
  if (count < kRecordingPreamble || !preamble.starts_with(kRecordingMagic)) {
    return failure(Code::invalid, fmt::format("{}: this is no recording of negawatt", file_));
  }
  if (preamble != recording_preamble()) {
    std::uint32_t version = 0;
    for (std::size_t at = preamble.size(); at-- > kRecordingMagic.size();) {
      version = version << 8U | static_cast<unsigned char>(preamble[at]);
    }
    return failure(Code::invalid, fmt::format("{}: a recording of version {}, {} is expected",
                                              file_, version, kRecordingVersion));
  }
  whole_bytes_ = kRecordingPreamble;
  return {};
}

Result<std::optional<Event>> RecordingReader::next() {
  while (next_event_ == events_.size()) {
    if (ending_) return std::nullopt;
    events_.clear();
    next_event_ = 0;
    NW_TRY(const auto payload, next_payload());
    if (!payload) return std::nullopt;
    if (const auto done = decoder_->decode(*payload, block_header_.records, events_); !done) {
      --whole_blocks_;
      whole_bytes_ -= kBlockHeader + block_header_.stored;
      end(RecordingEnding::Kind::damaged, done.error().message);
      return std::nullopt;
    }
    closed_ = !events_.empty() && std::holds_alternative<Closed>(events_.back());
  }
  return events_[next_event_++];
}

Result<std::optional<std::string_view>> RecordingReader::next_payload() {
  using enum RecordingEnding::Kind;
  NW_TRY(const std::size_t head, fill(0, kBlockHeader));
  if (head == 0) {
    return end(closed_ ? closed : open, closed_ ? "" : "it was never closed"), std::nullopt;
  }
  if (closed_) return end(damaged, "bytes follow its last block"), std::nullopt;
  if (head < kBlockHeader) return end(cut_off, "it is cut off"), std::nullopt;
  const auto header = BlockDecompressor::header({block_.data(), kBlockHeader}, whole_blocks_);
  if (!header) return end(damaged, header.error().message), std::nullopt;
  NW_TRY(const std::size_t stored, fill(kBlockHeader, header->stored));
  if (stored < header->stored) return end(cut_off, "it is cut off"), std::nullopt;
  const std::string_view block(block_.data(), kBlockHeader + stored);
  const auto payload = decompressor_->payload(*header, block);
  if (!payload) return end(damaged, payload.error().message), std::nullopt;
  block_header_ = *header;
  whole_bytes_ += block.size();
  ++whole_blocks_;
  return *payload;
}

/// Reads `count` bytes to `block_`; fewer at the end of the file.
Result<std::size_t> RecordingReader::fill(std::size_t from, std::size_t count) {
  NW_TRY(const std::size_t got, source_(std::span(block_).subspan(from, count)));
  NW_ASSERT(got <= count);
  return got;
}

void RecordingReader::end(RecordingEnding::Kind kind, std::string_view why) {
  std::string message;
  if (!why.empty()) {
    message = fmt::format("{}: {}; read up to byte {}, the end of block {}", file_, why,
                          whole_bytes_, whole_blocks_ == 0 ? 0 : whole_blocks_ - 1);
    if (whole_blocks_ == 0) message = fmt::format("{}: {} before its first block ends", file_, why);
  }
  ending_ = RecordingEnding{kind, whole_bytes_, whole_blocks_, std::move(message)};
}

}  // namespace negawatt::trace
