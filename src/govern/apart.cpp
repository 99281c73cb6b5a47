// SPDX-License-Identifier: Apache-2.0
#include "govern/apart.hpp"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace negawatt::govern {
namespace {

std::chrono::duration<double> to_chrono(Seconds time) {
  return std::chrono::duration<double>(time.in_si());
}

struct Running {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

/// Never destroyed: a thread that was left behind may outlive everything.
Running& running() {
  static auto* const kAll = new Running;
  return *kAll;
}

void count(int change) {
  auto& all = running();
  const std::scoped_lock lock(all.mutex);
  all.count += change;
  all.changed.notify_all();
}

}  // namespace

struct Apart::End {
  std::mutex mutex;
  std::condition_variable changed;
  bool has_come = false;
};

Result<Apart> Apart::start(std::function<void(const std::stop_token&)> work) {
  Apart apart(std::make_shared<End>());
  count(+1);
  try {
    std::thread([held = std::optional(std::move(work)), stop = apart.stop_.get_token(),
                 end = apart.end_]() mutable {
      (*held)(stop);
      held.reset();  // what it shared is let go of before anybody is told
      {
        const std::scoped_lock lock(end->mutex);
        end->has_come = true;
        end->changed.notify_all();
      }
      count(-1);
    }).detach();
  } catch (const std::system_error& error) {
    count(-1);
    return failure(Code::internal, fmt::format("cannot start a thread: {}", error.what()));
  }
  return apart;
}

bool Apart::ends_within(Seconds patience) {
  stop_.request_stop();
  std::unique_lock lock(end_->mutex);
  return end_->changed.wait_for(lock, to_chrono(patience), [this] { return end_->has_come; });
}

bool Apart::all_ended_within(Seconds patience) {
  auto& all = running();
  std::unique_lock lock(all.mutex);
  return all.changed.wait_for(lock, to_chrono(patience), [&all] { return all.count == 0; });
}

}  // namespace negawatt::govern
