// SPDX-License-Identifier: Apache-2.0
//
// Reads a device's energy counter right after each of its refreshes, in a thread of its own: a
// reading can take milliseconds, which a governor does not have. Polls at most a few times a
// refresh. A device without a counter is given up quietly; a driver that hangs in a reading is left
// to itself (apart.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "govern/apart.hpp"
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

 private:
  struct Shared;
  static void run(Shared& shared, const std::stop_token& stop);

  std::shared_ptr<Shared> shared_;
  std::optional<Apart> thread_;  ///< none where there are no threads any more
};

}  // namespace negawatt::govern
