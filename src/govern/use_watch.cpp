// SPDX-License-Identifier: Apache-2.0
#include "govern/use_watch.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace negawatt::govern {
namespace {

using std::chrono::duration;

// Between two looks: soon for a program that has just begun, then a question the driver hardly
// notices.
constexpr Seconds kFirstPause(0.02);
constexpr Seconds kLongestPause(1.0);
constexpr int kMostGenerations = 64;

}  // namespace

std::optional<std::uint32_t> parent_of(std::uint32_t pid) {
  const int file = ::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> bytes{};
  const auto size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  if (size <= 0) return std::nullopt;
  const std::string record(bytes.data(), static_cast<std::size_t>(size));
  // PID (COMMAND) STATE PARENT ...; the command may hold anything (proc(5)).
  const auto command_end = record.rfind(") ");
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream fields(record.substr(command_end + 2));
  char state = '\0';
  std::uint32_t parent = 0;
  if (!(fields >> state >> parent)) return std::nullopt;
  return parent;
}

bool descends(std::uint32_t pid, std::uint32_t ancestor) {
  for (int generation = 0; generation < kMostGenerations && pid > 0; ++generation) {
    if (pid == ancestor) return true;
    pid = parent_of(pid).value_or(0);
  }
  return false;
}

struct UseWatch::Shared {
  Shared(gpu::Device of, std::function<bool(std::uint32_t)> belongs)
      : device(std::move(of)), is_ours(std::move(belongs)) {}

  void run(const std::stop_token& stop);
  [[nodiscard]] Use find();

  gpu::Device device;
  std::function<bool(std::uint32_t)> is_ours;
  std::vector<std::uint32_t> strangers;  ///< of the last list: processes that nobody here knows

  std::mutex mutex;
  std::condition_variable_any changed;
  Use use = Use::unknown;
  bool is_asked = false;  ///< to look at once
  std::uint64_t looks_begun = 0;
  std::uint64_t looks_done = 0;
};

Use UseWatch::Shared::find() {
  const auto listed = device.compute_processes();
  if (!listed) return use;  // written by this thread only
  std::vector<std::uint32_t> unknown;
  bool is_foreign = false;
  for (const auto& process : *listed) {
    if (is_ours(process.pid)) return Use::present;
    if (parent_of(process.pid)) continue;
    // One that has just ended is gone from the next list.
    is_foreign |= std::ranges::find(strangers, process.pid) != strangers.end();
    unknown.push_back(process.pid);
  }
  strangers = std::move(unknown);
  return is_foreign ? Use::unknown : Use::absent;
}

void UseWatch::Shared::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  for (Seconds pause = kFirstPause; !stop.stop_requested() && use != Use::present;
       pause = std::min(pause * 2.0, kLongestPause)) {
    is_asked = false;
    ++looks_begun;
    lock.unlock();
    const auto found = find();
    lock.lock();
    use = found;
    looks_done = looks_begun;
    changed.notify_all();
    changed.wait_for(lock, stop, duration<double>(pause.in_si()), [this] { return is_asked; });
  }
  // Whoever waits for a look waits for no more.
  looks_done = ~std::uint64_t{0};
  changed.notify_all();
}

UseWatch::UseWatch(gpu::Device device, std::function<bool(std::uint32_t)> is_ours)
    : shared_(std::make_shared<Shared>(std::move(device), std::move(is_ours))) {
  if (auto thread =
          Apart::start([shared = shared_](const std::stop_token& stop) { shared->run(stop); }))
    thread_.emplace(std::move(*thread));
}

void UseWatch::look(Seconds patience) {
  std::unique_lock lock(shared_->mutex);
  const auto before = shared_->looks_begun;
  shared_->is_asked = true;
  shared_->changed.notify_all();
  if (!thread_) return;
  shared_->changed.wait_for(lock, duration<double>(patience.in_si()),
                            [&] { return shared_->looks_done > before; });
}

Use UseWatch::use() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->use;
}

}  // namespace negawatt::govern
