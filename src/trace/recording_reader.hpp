// SPDX-License-Identifier: Apache-2.0
//
// Reads a recording piece by piece: one block is held at a time, and the tables (at most about 200
// MB, of a hostile file). What was recorded before a program was killed or a disk was full is read
// to the last whole block, and ending() says so. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "trace/recording_block.hpp"
#include "trace/recording_decoder.hpp"

namespace negawatt::trace {

/// Fills a buffer from the front and says with how many bytes; with fewer than it holds only at the
/// end of the file. Fails when reading does.
using ByteSource = std::function<Result<std::size_t>(std::span<char>)>;

/// Of bytes in memory, which outlive it.
[[nodiscard]] ByteSource bytes_in_memory(std::string_view bytes);

struct RecordingEnding {
  enum class Kind : std::uint8_t {
    closed,   ///< by its recorder, in order
    open,     ///< after a whole block: the program was killed, or still runs
    cut_off,  ///< within a block: the same, or the disk was full
    damaged,  ///< what follows is not what a recorder wrote
  };
  Kind kind = Kind::open;
  std::uint64_t whole_bytes = 0;  ///< of the file, up to the end of its last whole block
  std::uint32_t whole_blocks = 0;
  std::string message;  ///< one line that starts with the file's name; empty when closed
};

class RecordingReader {
 public:
  /// Reads the header. Fails (`invalid`) on what is no recording, is of another version, or ends
  /// before the header does; `file` is for messages.
  [[nodiscard]] static Result<RecordingReader> open(ByteSource source, std::string_view file);

  [[nodiscard]] const RecordingHeader& header() const { return header_; }
  /// Grow as events are read.
  [[nodiscard]] const RecordingTables& tables() const { return decoder_->tables(); }

  /// The next event in the order of the file, which is roughly that of time; none at the end. Fails
  /// only when the source does.
  [[nodiscard]] Result<std::optional<Event>> next();
  /// Known once next() has given none.
  [[nodiscard]] const std::optional<RecordingEnding>& ending() const { return ending_; }

 private:
  RecordingReader(ByteSource source, std::string_view file);
  Status read_preamble();
  /// None when the file ended, and ending_ says how.
  Result<std::optional<std::string_view>> next_payload();
  Result<std::size_t> fill(std::size_t from, std::size_t count);
  void end(RecordingEnding::Kind kind, std::string_view why);

  ByteSource source_;
  std::string file_;
  RecordingHeader header_;
  std::unique_ptr<BlockDecompressor> decompressor_;
  std::unique_ptr<BlockDecoder> decoder_;
  std::string block_;
  BlockHeader block_header_;
  std::vector<Event> events_;
  std::size_t next_event_ = 0;
  std::uint64_t whole_bytes_ = 0;
  std::uint32_t whole_blocks_ = 0;
  bool closed_ = false;
  std::optional<RecordingEnding> ending_;
};

}  // namespace negawatt::trace
