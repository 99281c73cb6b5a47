// SPDX-License-Identifier: Apache-2.0
//
// A GPU's clocks through a lease of negawattd, as sweeps and governed runs ask for them. Giving the
// lease back, or dying, returns the GPU to what it was: that is the daemon's part. Used by one
// thread at a time.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/identity.hpp"
#include "lease/client.hpp"
#include "trace/clocks.hpp"

namespace negawatt::govern {

class LeasedClocks {
 public:
  /// Asks the daemon for this GPU. Fails when there is no daemon, it only observes,
  /// somebody else holds the GPU, or the administrator does not allow it. The memory clock is part
  /// of the lease only if `needs_memory`.
  [[nodiscard]] static Result<LeasedClocks> acquire(const gpu::GpuId& gpu,
                                                    const std::string& program, bool needs_memory);

  /// The lease waits until a process of ours, or a child of it, uses the GPU.
  [[nodiscard]] bool is_ready(Seconds patience, const std::stop_token& stop = {}) const;
  Status wait_ready(Seconds patience) const { return lease_.wait_active(patience); }
  /// What was granted: at most what was asked for, within the administrator's limits.
  [[nodiscard]] const lease::Terms& terms() const { return lease_.terms(); }
  /// Returns when the driver has been asked, or at `stop`. Fails when the lease is over
  /// (`unavailable`), when the clocks lie outside of what was granted or the driver does not have
  /// them (`infeasible`), and when the driver fails (`internal`).
  Status ask(trace::ClockPair clocks, const std::stop_token& stop = {});
  /// Waits until the GPU's previous state is back.
  Status release() { return lease_.release(); }
  /// Why there is no lease any more, for a person; none while there is one.
  [[nodiscard]] std::optional<std::string> end_reason() const;

 private:
  LeasedClocks(lease::Client client, lease::Lease lease)
      : client_(std::move(client)), lease_(std::move(lease)) {}
  lease::Client client_;
  lease::Lease lease_;
};

}  // namespace negawatt::govern
