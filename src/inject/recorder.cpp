// SPDX-License-Identifier: Apache-2.0
#include "inject/recorder.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

namespace negawatt::inject {
namespace {

using trace::Instant;

std::chrono::duration<double> wait_of(Seconds time) {
  return std::chrono::duration<double>(time.in_si());
}

bool is_moment(Instant at) { return at.ns > 0 && at.ns <= trace::kLastMoment; }

/// What profilers report as 0 or as ending before it began says nothing of when it ran.
template <class E>
bool has_possible_times(const E& event) {
  if constexpr (requires { event.start; }) {
    return is_moment(event.start) && is_moment(event.end) && event.end >= event.start;
  } else if constexpr (requires { event.from; }) {
    return is_moment(event.from) && is_moment(event.to) && event.to >= event.from;
  } else {
    return is_moment(event.at);
  }
}

/// The program's signal handlers must not run on our thread, nor SIGXFSZ end the program.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Recorder::Recorder(const RecorderLimits& limits)
    : limits_(limits),
      texts_({.texts = limits.texts, .bytes = limits.text_bytes}),
      classes_(limits.classes),
      lanes_(limits.lanes) {
  NW_ASSERT(limits.blocks >= 2 && limits.sensors < trace::kMostSensors);
  sensors_.reserve(limits.sensors);
  free_.reserve(limits.blocks);
  full_.reserve(limits.blocks);
  for (std::uint32_t i = 0; i < limits.blocks; ++i) {
    // Cleared, so that the pages are there before the program's kernels are.
    auto space = std::make_unique<char[]>(trace::kLargestBlock);
    trace::BlockEncoder encoder({space.get(), trace::kLargestBlock});
    blocks_.push_back({std::move(space), encoder});
  }
  for (Block& block : blocks_) free_.push_back(&block);
}

Result<RecorderHandle> Recorder::open(const std::string& path, const trace::RecordingHeader& header,
                                      const RecorderLimits& limits) noexcept {
  try {
    std::unique_ptr<Recorder, void (*)(Recorder*)> recorder(new Recorder(limits),
                                                            [](Recorder* r) { delete r; });
    NW_CHECK(recorder->start(path, header));
    return RecorderHandle(recorder.release());
  } catch (const std::exception& error) {  // no memory, no thread
    return failure(Code::unavailable, path + ": cannot be recorded to: " + error.what());
  }
}

Status Recorder::start(const std::string& path, const trace::RecordingHeader& header) {
  int error = file_.open(path.c_str());
  if (error == 0) error = file_.write(trace::recording_preamble());
  if (error == 0) error = file_.write(compressor_.next(trace::encode_header(header), 0));
  if (error != 0) {
    return failure(Code::unavailable, path + ": cannot be recorded to: " + std::strerror(error));
  }
  const AllSignalsBlocked blocked;
  thread_ = std::thread([this] { write_blocks(); });
  return {};
}

std::uint32_t Recorder::text(std::string_view text) noexcept {
  if (abandoned_) return 0;
  const std::lock_guard lock(mu_);
  return number_of_text(text);
}

std::uint32_t Recorder::kernel_class(std::string_view name, trace::KernelClass shape) noexcept {
  if (abandoned_) return 0;
  const std::lock_guard lock(mu_);
  shape.name = number_of_text(name);
  return number(classes_, shape, shape, !classes_.is_full());
}

std::uint32_t Recorder::lane(const trace::Lane& lane) noexcept {
  if (abandoned_) return 0;
  const std::lock_guard lock(mu_);
  return number(lanes_, lane, lane, !lanes_.is_full());
}

std::uint32_t Recorder::sensor(std::string_view source, trace::Sensor sensor) noexcept {
  if (abandoned_) return 0;
  const std::lock_guard lock(mu_);
  sensor.source = number_of_text(source);
  const auto known = std::ranges::find(sensors_, sensor);
  if (known == sensors_.end()) {
    if (sensors_.size() == sensors_.capacity() || !put(sensor)) return ++tally_.lost_tables, 0;
    sensors_.push_back(sensor);
    return static_cast<std::uint32_t>(sensors_.size());
  }
  return static_cast<std::uint32_t>(known - sensors_.begin()) + 1;
}

std::uint32_t Recorder::number_of_text(std::string_view text) {
  text = text.substr(0, trace::kLongestText);
  return number(texts_, text, trace::Text{text}, texts_.has_room_for(text));
}

/// An id is given only once its meaning is on its way to the file.
template <class Table, class Key, class Record>
std::uint32_t Recorder::number(Table& table, const Key& key, const Record& record, bool has_room) {
  if (const std::uint32_t known = table.find(key); known != 0) return known;
  if (!has_room || !put(record)) return ++tally_.lost_tables, 0;
  return table.add(key);
}

void Recorder::add(const trace::Event& event) noexcept {
  if (abandoned_) return;
  const std::lock_guard lock(mu_);
  if (closing_ || tally_.error != 0) {
    ++tally_.unwritten;
    return;
  }
  try {
    std::visit([this](const auto& one) { take(one); }, event);
  } catch (const std::bad_variant_access&) {  // cannot be: what is in an Event copies trivially
    ++tally_.dropped;
  }
}

template <class E>
void Recorder::take(const E& event) {
  if (!has_possible_times(event)) return drop(trace::DropReason::bad_times, {});
  if (!put(event)) return drop(trace::DropReason::no_room, trace::time_of(event));
  ++tally_.events;
}

template <class R>
bool Recorder::put(const R& record) {
  if (closing_ || tally_.error != 0) return false;
  if (current_ != nullptr && current_->encoder.add(record)) return true;
  return next_block() && current_->encoder.add(record);
}

/// Hands the current block to the thread and begins another, with what was dropped meanwhile.
bool Recorder::next_block() {
  seal_current();
  if (free_.empty()) return false;
  current_ = free_.back();
  free_.pop_back();
  for (std::size_t reason = 0; reason < drops_.size(); ++reason) {
    Drop& lost = drops_[reason];
    if (lost.count == 0) continue;
    static_cast<void>(current_->encoder.add(
        trace::Dropped{lost.from, lost.to, lost.count, static_cast<trace::DropReason>(reason)}));
    lost = {};
  }
  return true;
}

void Recorder::seal_current() {
  if (current_ == nullptr) return;
  full_.push_back(std::exchange(current_, nullptr));
  work_.notify_one();
}

/// `at` 0: nobody knows when.
void Recorder::drop(trace::DropReason reason, Instant at) {
  Drop& lost = drops_[static_cast<std::size_t>(reason)];
  lost.from = lost.count == 0 ? at : std::min(lost.from, at);
  lost.to = std::max(lost.to, at);
  ++lost.count;
  ++tally_.dropped;
}

bool Recorder::close(Instant at) noexcept {
  if (abandoned_) return false;
  std::unique_lock lock(mu_);
  const auto patience = wait_of(limits_.patience);
  // The last block, with the drops: the thread frees one if there is none.
  finished_.wait_for(lock, patience,
                     [this] { return closing_ || tally_.error != 0 || next_block(); });
  if (current_ != nullptr) {
    at = is_moment(at) ? at : Instant{1};
    static_cast<void>(current_->encoder.add(trace::Closed{at, tally_.lost_tables}));
    seal_current();
  }
  closing_ = true;
  work_.notify_one();
  return finished_.wait_for(lock, patience, [this] { return is_finished_; });
}

RecorderTally Recorder::tally() const noexcept {
  if (abandoned_) return {};
  const std::lock_guard lock(mu_);
  return tally_;
}

/// Life of a block: full, or left alone for the time of a flush; then compressed, written, free.
void Recorder::write_blocks() noexcept {
  std::unique_lock lock(mu_);
  while (true) {
    const bool woken =
        work_.wait_for(lock, wait_of(limits_.flush), [this] { return !full_.empty() || closing_; });
    if (!woken && current_ != nullptr && current_->encoder.records() > 0) seal_current();
    if (!full_.empty()) {
      write_one(lock);
      finished_.notify_all();  // close() may wait for a free block
    } else if (closing_) {
      break;
    }
  }
  is_finished_ = true;
  finished_.notify_all();
}

void Recorder::write_one(std::unique_lock<std::mutex>& lock) {
  Block* const block = full_.front();
  int error = tally_.error;
  if (error == 0) {
    lock.unlock();  // the producers do not wait for the disk
    const auto bytes = compressor_.next(block->encoder.payload(), block->encoder.records());
    error = bytes.empty() ? ENOMEM : file_.write(bytes);
    lock.lock();
  }
  tally_.error = error;
  tally_.bytes = file_.size();
  if (error == 0) {
    ++tally_.blocks;
  } else {
    tally_.unwritten += block->encoder.records();
  }
  full_.erase(full_.begin());
  block->encoder = trace::BlockEncoder({block->space.get(), trace::kLargestBlock});
  free_.push_back(block);
}

void RecorderCloser::operator()(Recorder* recorder) const noexcept {
  if (!recorder->close({})) return;
  recorder->thread_.join();
  delete recorder;
}

}  // namespace negawatt::inject
