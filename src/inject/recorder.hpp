// SPDX-License-Identifier: Apache-2.0
//
// Records from inside a foreign program. Any thread hands in events; a thread of the recorder
// compresses and writes them. The caller never waits for the disk: when all blocks are full, events
// are dropped, counted, and the count is recorded. Nothing throws, prints or ends the program. An
// error of the disk ends the recording: what was written stays whole, what comes after is counted.
//
// Memory, all allocated in open() but what zstd takes at its first block (about 0.6 MB): with the
// default limits 16 blocks of 256 KiB, 8 MiB of names and 5 MB of tables.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "inject/fixed_table.hpp"
#include "inject/recording_file.hpp"
#include "trace/recording_block.hpp"
#include "trace/recording_encoder.hpp"

namespace negawatt::inject {

struct RecorderLimits {
  std::uint32_t blocks = 16;  ///< at least 2
  std::uint32_t texts = 1U << 16U;
  std::size_t text_bytes = std::size_t{8} << 20U;
  std::uint32_t classes = 1U << 16U;
  std::uint32_t lanes = 1U << 12U;
  std::uint32_t sensors = 1U << 8U;  ///< at most trace::kMostSensors - 1
  /// A program that is killed loses what came since the last flush.
  Seconds flush{0.5};
  Seconds patience{5.0};  ///< how long closing waits for the disk
};

struct RecorderTally {
  std::uint64_t events = 0;       ///< taken
  std::uint64_t dropped = 0;      ///< for want of room, or with impossible times
  std::uint64_t lost_tables = 0;  ///< ids that were 0 because a table or the blocks were full
  std::uint64_t unwritten = 0;    ///< records after, or in a block hit by, an error of the disk
  std::uint64_t blocks = 0, bytes = 0;  ///< written
  int error = 0;  ///< errno that ended the recording; ENOMEM where zstd had none
};

class Recorder;
/// Closes the recording, then frees the recorder; leaves it to the process's end when the disk does
/// not answer in time, or in a forked child.
struct RecorderCloser {
  void operator()(Recorder* recorder) const noexcept;
};
using RecorderHandle = std::unique_ptr<Recorder, RecorderCloser>;

class Recorder {
 public:
  /// Creates the file with its header. Fails (`unavailable`) when that cannot be done, with the
  /// system's reason.
  [[nodiscard]] static Result<RecorderHandle> open(const std::string& path,
                                                   const trace::RecordingHeader& header,
                                                   const RecorderLimits& limits = {}) noexcept;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Ids for events; the same thing has the same id. 0 when its table is full.
  std::uint32_t text(std::string_view text) noexcept;
  /// `shape.name` is filled in.
  std::uint32_t kernel_class(std::string_view name, trace::KernelClass shape) noexcept;
  std::uint32_t lane(const trace::Lane& lane) noexcept;
  /// `sensor.source` is filled in.
  std::uint32_t sensor(std::string_view source, trace::Sensor sensor) noexcept;

  /// An event whose start is not after 0 or whose end is before its start is dropped, and counted.
  void add(const trace::Event& event) noexcept;

  /// Writes what is left and Closed{at}. What comes later is counted as unwritten. False when the
  /// disk did not answer in time.
  bool close(trace::Instant at) noexcept;
  /// In a forked child, whose copy of the recorder has no thread and perhaps a lock that is held:
  /// every later call returns at once.
  void abandon() noexcept { abandoned_ = true; }
  [[nodiscard]] RecorderTally tally() const noexcept;

 private:
  friend RecorderCloser;
  struct Block {
    std::unique_ptr<char[]> space;
    trace::BlockEncoder encoder;
  };
  struct Drop {
    trace::Instant from, to;
    std::uint64_t count = 0;
  };

  explicit Recorder(const RecorderLimits& limits);
  ~Recorder() = default;
  Status start(const std::string& path, const trace::RecordingHeader& header);

  // All of these with mu_ held.
  template <class Table, class Key, class Record>
  std::uint32_t number(Table& table, const Key& key, const Record& record, bool has_room);
  std::uint32_t number_of_text(std::string_view text);
  template <class E>
  void take(const E& event);
  template <class R>
  bool put(const R& record);
  bool next_block();
  void seal_current();
  void drop(trace::DropReason reason, trace::Instant at);
  void write_one(std::unique_lock<std::mutex>& lock);

  void write_blocks() noexcept;  // the recorder's thread

  RecorderLimits limits_;
  std::atomic<bool> abandoned_ = false;

  // Guarded by mu_.
  mutable std::mutex mu_;
  std::condition_variable work_;      // a block is full, or the recording closes
  std::condition_variable finished_;  // the thread has written its last block
  TextTable texts_;
  FixedTable<trace::KernelClass> classes_;
  FixedTable<trace::Lane> lanes_;
  std::vector<trace::Sensor> sensors_;
  std::vector<Block> blocks_;
  Block* current_ = nullptr;  // none: all are full
  std::vector<Block*> free_;
  std::vector<Block*> full_;  // in the order of the file
  std::array<Drop, 3> drops_{};
  RecorderTally tally_;
  bool closing_ = false;
  bool is_finished_ = false;

  // Of the thread alone, once it runs.
  RecordingFile file_;
  trace::BlockCompressor compressor_;
  std::thread thread_;
};

}  // namespace negawatt::inject
