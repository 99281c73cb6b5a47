// SPDX-License-Identifier: Apache-2.0
//
// What has happened to one GPU since the daemon started. Written by the GPU's worker and the main
// thread, read by the metrics; each number by itself is exact, together they may be an instant
// apart.
#pragma once

#include <atomic>
#include <cstdint>

namespace negawatt::daemon {

struct GpuCounters {
  using Count = std::atomic<std::uint64_t>;

  Count leases_granted{0};
  Count leases_active{0};  ///< 0 or 1
  Count requests{0};       ///< taken from a mailbox; those replaced before are not seen
  Count changes{0};        ///< requests that changed a clock
  Count outside_limits{0};
  Count driver_errors{0};
  Count driver_hangs{0};
  Count restores{0};          ///< knobs that are back in their previous state
  Count left{0};              ///< power limits not put back: somebody else has lowered them
  Count restore_failures{0};  ///< attempts, by knob, that failed
  Count not_honoured{0};      ///< times a lock was found accepted and not followed
  std::atomic<std::uint32_t> asked_core_mhz{0};    ///< 0: automatic
  std::atomic<std::uint32_t> asked_memory_mhz{0};  ///< 0: automatic
};

}  // namespace negawatt::daemon
