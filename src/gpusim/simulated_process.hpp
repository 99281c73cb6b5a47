// SPDX-License-Identifier: Apache-2.0
//
// The calling thread as a process that uses a simulated GPU: its context, its kernels on the GPU,
// its in-order queue of work, and what has completed. Belongs to one thread; when that ends,
// however it ends, the GPU is rid of all of it. Fails with `unavailable` when the GPU is lost or
// has no room.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "gpusim/target.hpp"
#include "gpusim/workload.hpp"
#include "gpusim/world.hpp"

namespace negawatt::gpusim {

class SimulatedProcess {
 public:
  /// `world` must outlive this.
  static Result<SimulatedProcess> open(World& world, Target target);
  SimulatedProcess(SimulatedProcess&& other) noexcept;
  SimulatedProcess& operator=(SimulatedProcess&&) = delete;
  ~SimulatedProcess();

  /// Makes the kernels known to the GPU, in this order; once.
  Status load(const std::vector<WorkloadKernel>& kernels);

  /// Queues `calls` calls of the kernel with that index. The ticket, or nothing while the queue,
  /// which all processes share, is full.
  Result<std::optional<std::uint64_t>> submit(Invocation invocation);
  /// Takes all that is queued back; what was running completes with its whole calls so far.
  Status cancel();

  struct Look {
    std::int64_t now_ns = 0;
    std::int64_t next_event_ns = 0;     ///< nothing completes before, unless clocks are changed
    std::vector<Completion> completed;  ///< since the last look, oldest first
    std::optional<Progress> running;    ///< of whichever process
  };
  Result<Look> look();

 private:
  SimulatedProcess(World& world, std::size_t gpu) : world_(&world), gpu_(gpu) {}

  World* world_;
  std::size_t gpu_;
  std::uint32_t context_ = 0;
  std::uint64_t cursor_ = 0;  ///< into the GPU's completions
  std::vector<std::uint32_t> surfaces_;
};

}  // namespace negawatt::gpusim
