// SPDX-License-Identifier: Apache-2.0
//
// The recordings of several processes on one time axis. A recorder writes events roughly in the
// order of time (a kernel is known when it has ended, buffers arrive by thread); here they come in
// order, with bounded memory: an event waits until its file has been read `slack` further. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/recording_reader.hpp"

namespace negawatt::trace {

struct MergedEvent {
  std::size_t file = 0;  ///< whose tables its ids refer to
  Instant at;            ///< when it began, on the clock of the first file
  Event event;           ///< on the clock of its own file
};

struct MergeOptions {
  Seconds slack{2.0};
  std::size_t most_waiting = std::size_t{1} << 20U;  ///< events a file; about 90 bytes each
};

class RecordingMerge {
 public:
  /// Of at least one recording, of which no event has been read. A file of the same host, boot and
  /// clock as the first is on its axis; another one is moved there by the wall clocks of both
  /// starts, which is as good as those are set: by_wall_clock() tells which.
  RecordingMerge(std::vector<RecordingReader> files, const MergeOptions& options);

  /// The next event in order of time; of those at the same time, the first file's first. None at
  /// the end of all files. Fails when a source does.
  [[nodiscard]] Result<std::optional<MergedEvent>> next();

  [[nodiscard]] std::span<const RecordingReader> files() const { return files_; }
  [[nodiscard]] bool by_wall_clock(std::size_t file) const { return axes_[file].by_wall_clock; }
  /// Events that came after a later one, because the slack was too short.
  [[nodiscard]] std::uint64_t late() const { return late_; }

 private:
  struct Axis {
    std::int64_t shift_ns = 0;
    bool by_wall_clock = false;
  };
  struct Waiting {
    MergedEvent event;
    std::uint64_t place = 0;  ///< in its file
  };
  /// A file's events that have been read; the earliest is the front of the heap.
  struct Queue {
    std::vector<Waiting> heap;
    Instant furthest;
    std::uint64_t read = 0;
    bool ended = false;
  };
  static bool after(const Waiting& a, const Waiting& b);
  Status fill(std::size_t file);

  std::vector<RecordingReader> files_;
  MergeOptions options_;
  std::vector<Axis> axes_;
  std::vector<Queue> queues_;
  std::optional<Instant> last_;
  std::uint64_t late_ = 0;
};

}  // namespace negawatt::trace
