// SPDX-License-Identifier: Apache-2.0
//
// Recordings in memory, block by block, for tests of their readers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording_block.hpp"
#include "trace/recording_encoder.hpp"
#include "trace/recording_reader.hpp"

namespace negawatt::testing {

class RecordingBytes {
 public:
  explicit RecordingBytes(const trace::RecordingHeader& header)
      : bytes_(trace::recording_preamble()), space_(trace::kLargestBlock), encoder_(space_) {
    bytes_ += compressor_.next(trace::encode_header(header), 0);
  }
  /// Adds a record to the block in the making, in another one when that is full.
  template <class R>
  void add(const R& record) {
    if (encoder_.add(record)) return;
    end_block();
    NW_ASSERT(encoder_.add(record));
  }
  void end_block() {
    raw_bytes_ += encoder_.payload().size();
    bytes_ += compressor_.next(encoder_.payload(), encoder_.records());
    encoder_ = trace::BlockEncoder(space_);
  }
  /// A block of any payload, right but for that.
  void add_payload(std::string_view payload, std::uint32_t records) {
    bytes_ += compressor_.next(payload, records);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t raw_bytes() const { return raw_bytes_; }

 private:
  std::string bytes_;
  trace::BlockCompressor compressor_;
  std::vector<char> space_;
  trace::BlockEncoder encoder_;
  std::size_t raw_bytes_ = 0;
};

/// Everything a reader says of a file.
struct WholeRecording {
  trace::RecordingHeader header;
  std::vector<trace::Event> events;
  trace::RecordingEnding ending;
};

inline trace::RecordingReader reader_of(std::string_view bytes) {
  return trace::RecordingReader::open(trace::bytes_in_memory(bytes), "run.nwrec").value();
}

inline WholeRecording whole(trace::RecordingReader reader) {
  WholeRecording all;
  all.header = reader.header();
  while (auto event = reader.next().value()) all.events.push_back(*event);
  all.ending = reader.ending().value();
  return all;
}

}  // namespace negawatt::testing
