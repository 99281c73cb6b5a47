// SPDX-License-Identifier: Apache-2.0
//
// Reads a device's energy counter right after each of its refreshes, in a thread of its own: a
// reading can take milliseconds, which a governor does not have. Polls at most a few times a
// refresh. A device without a counter is given up quietly: `works()` says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/units.hpp"
#include "gpu/device.hpp"

namespace negawatt::govern {

struct CounterReading {
  std::uint64_t at_ns = 0;  ///< on the device's clock
  Joules counter;
};

class CounterWatch {
 public:
  explicit CounterWatch(gpu::Device device);

  /// What has been read since the last call, oldest first.
  [[nodiscard]] std::vector<CounterReading> take();
  [[nodiscard]] bool works() const { return works_; }

 private:
  void run(const std::stop_token& stop);
  void note(const gpu::EnergyReading& reading);

  gpu::Device device_;
  std::atomic<bool> works_ = true;
  std::mutex mutex_;
  std::vector<CounterReading> readings_;  ///< guarded by mutex_
  std::jthread thread_;                   ///< last: it uses the others
};

}  // namespace negawatt::govern
