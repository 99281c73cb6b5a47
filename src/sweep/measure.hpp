// SPDX-License-Identifier: Apache-2.0
//
// One visit: a kernel loops at the clocks that were set, and a window of the energy counter, from
// refresh to refresh, gives its mean power; calls completed on the device's own clock give its
// time; the product is the energy of a call. The clocks are sampled meanwhile, so that a row says
// whether the GPU really ran at what was asked for.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"
#include "gpu/energy_window.hpp"
#include "sweep/runner.hpp"
#include "sweep/visits.hpp"
#include "trace/clocks.hpp"

namespace negawatt::sweep {

struct WindowOptions {
  Seconds settle = Seconds(0.3);  ///< the kernel runs this long before the window opens
  Seconds window = Seconds(2.0);  ///< at least; it ends at a refresh of the counter
  int clock_samples = 8;          ///< over the window
  std::uint64_t least_calls = 5;  ///< the window goes on until so many have completed ...
  Seconds longest = Seconds(60);  ///< ... or until then, if there are two; also to the first call
};

/// Measures `kernel` of the runner at the clocks that hold now; `asked` says which those should be.
/// The thread must take part in the device's clock. Fails when the device or the runner does or no
/// call completes within `longest`, and (`infeasible`) when the window was too short for two calls;
/// the kernel may then still run.
[[nodiscard]] Result<Visit> measure(KernelRunner& runner, const gpu::Device& device,
                                    gpu::EnergyMeter& meter, const WindowOptions& options,
                                    std::uint32_t kernel, trace::ClockPair asked);

/// Waits until the clocks have followed a request, or for at most `patience` (a switching latency
/// has passed by then, or they do not follow).
void wait_for_clocks(const gpu::Device& device, trace::ClockPair asked, Seconds patience);

}  // namespace negawatt::sweep
