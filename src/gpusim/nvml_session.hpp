// SPDX-License-Identifier: Apache-2.0
//
// Inside the simulated library: the world a process has opened between nvmlInit and nvmlShutdown,
// the handles it gives out, and the calling thread's seat at the world's clock. Handles are the
// same for the life of the process. A forked child goes on with its parent's session.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "gpusim/target.hpp"
#include "gpusim/world.hpp"
#include "nvml/nvml.hpp"

namespace negawatt::gpusim {

/// Counted: each needs its own end_session. Opens the environment's world if none is open.
nvmlReturn_t begin_session();
nvmlReturn_t end_session();
/// Null before the first begin_session and after the last end_session.
[[nodiscard]] std::shared_ptr<World> session();

/// The calling thread's seat at this world's clock; left when the thread ends.
[[nodiscard]] Seat& seat_at(const std::shared_ptr<World>& world);

[[nodiscard]] nvmlDevice_t handle_of(Target target);
/// Nothing when `handle` never was one, or not of this machine.
[[nodiscard]] std::optional<Target> target_of(const MachineModel& machine, nvmlDevice_t handle);

}  // namespace negawatt::gpusim
