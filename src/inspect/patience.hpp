// SPDX-License-Identifier: Apache-2.0
//
// Work that may hang (a driver call on a GPU that falls off the bus) on a thread of its own, and
// how long one waits for it. A thread that never returns is left behind: it owns all that it uses,
// and ends with the process.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "core/units.hpp"

namespace negawatt::inspect {

/// Does `work` and keeps the promise. By the time that the result is there `work` is gone: what it
/// shared is not kept, nor let go of, by a thread that nobody waits for.
template <class Work, class Value>
[[nodiscard]] auto doing(Work work, std::promise<Value> promise) {
  return [held = std::optional(std::move(work)), promise = std::move(promise)]() mutable {
    auto result = (*held)();
    held.reset();
    promise.set_value(std::move(result));
  };
}

/// `work` must own what it uses, or share it; it does not throw.
template <class Work>
[[nodiscard]] auto start_apart(Work work) {
  std::promise<decltype(work())> promise;
  auto future = promise.get_future();
  std::thread(doing(std::move(work), std::move(promise))).detach();
  return future;
}

/// Whether it is done, after waiting for it at most so long.
template <class T>
[[nodiscard]] bool done_within(const std::future<T>& future, Seconds patience) {
  return future.wait_for(std::chrono::duration<double>(patience.in_si())) ==
         std::future_status::ready;
}

/// What `work` returns, unless it takes longer.
template <class Work>
[[nodiscard]] auto result_within(Seconds patience, Work work) {
  using Value = decltype(work());
  std::promise<Value> promise;
  auto future = promise.get_future();
  std::thread thread(doing(std::move(work), std::move(promise)));
  if (!done_within(future, patience)) {
    thread.detach();
    return std::optional<Value>();
  }
  thread.join();  // it has nothing left to do
  return std::optional<Value>(future.get());
}

}  // namespace negawatt::inspect
