// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_merge.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace negawatt::trace {
namespace {

bool share_an_axis(const RecordingHeader& a, const RecordingHeader& b) {
  return a.host == b.host && a.boot == b.boot && a.clock == b.clock;
}

/// From a file's clock to the first file's: both wall clocks are taken to be right. Headers are
/// foreign bytes, so this wraps around rather than overflows.
std::int64_t shift_by_wall_clock(const RecordingHeader& first, const RecordingHeader& file) {
  const auto bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  return static_cast<std::int64_t>((bits(file.wall_start_ns) - bits(file.start.ns)) -
                                   (bits(first.wall_start_ns) - bits(first.start.ns)));
}

Instant shifted(Instant at, std::int64_t shift_ns) {
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(at.ns) +
                                    static_cast<std::uint64_t>(shift_ns))};
}

}  // namespace

RecordingMerge::RecordingMerge(std::vector<RecordingReader> files, const MergeOptions& options)
    : files_(std::move(files)), options_(options), queues_(files_.size()) {
  NW_ASSERT(!files_.empty() && options_.most_waiting > 0);
  const RecordingHeader& first = files_.front().header();
  for (const auto& file : files_) {
    const bool same = share_an_axis(first, file.header());
    axes_.push_back({same ? 0 : shift_by_wall_clock(first, file.header()), !same});
  }
  for (Queue& queue : queues_) queue.furthest = {INT64_MIN};
}

/// Whether `a` is to come after `b`: makes the front of a heap the earliest.
bool RecordingMerge::after(const Waiting& a, const Waiting& b) {
  return std::tie(a.event.at, a.event.file, a.place) > std::tie(b.event.at, b.event.file, b.place);
}

/// Reads until the earliest event that waits cannot be overtaken, as far as the slack goes.
Status RecordingMerge::fill(std::size_t file) {
  Queue& queue = queues_[file];
  const auto is_settled = [&] {
    return !queue.heap.empty() && (queue.heap.size() >= options_.most_waiting ||
                                   queue.furthest - queue.heap.front().event.at >= options_.slack);
  };
  while (!queue.ended && !is_settled()) {
    NW_TRY(auto event, files_[file].next());
    queue.ended = !event;
    if (!event) break;
    const Instant at = shifted(time_of(*event), axes_[file].shift_ns);
    queue.furthest = std::max(queue.furthest, at);
    queue.heap.push_back({{file, at, *event}, queue.read++});
    std::ranges::push_heap(queue.heap, after);
  }
  return {};
}

Result<std::optional<MergedEvent>> RecordingMerge::next() {
  Queue* earliest = nullptr;
  for (std::size_t file = 0; file < files_.size(); ++file) {
    NW_CHECK(fill(file));
    Queue& queue = queues_[file];
    if (queue.heap.empty()) continue;
    if (earliest == nullptr || after(earliest->heap.front(), queue.heap.front())) earliest = &queue;
  }
  if (earliest == nullptr) return std::nullopt;
  std::ranges::pop_heap(earliest->heap, after);
  const MergedEvent event = earliest->heap.back().event;
  earliest->heap.pop_back();
  if (last_ && event.at < *last_) ++late_;
  last_ = last_ ? std::max(*last_, event.at) : event.at;
  return event;
}

}  // namespace negawatt::trace
