// SPDX-License-Identifier: Apache-2.0
//
// Cuts what a client asks for to what the administrator allows. Pure.
#pragma once

#include "core/result.hpp"
#include "daemon/config.hpp"
#include "lease/protocol.hpp"

namespace negawatt::daemon {

/// What a lease of this GPU may do at most.
[[nodiscard]] lease::Terms allowed_by(const GpuPolicy& policy);

/// The terms to grant: within both. Fails, saying why, when nothing is left of what was asked.
[[nodiscard]] Result<lease::Terms> granted(const lease::Terms& asked, const GpuPolicy& policy);

}  // namespace negawatt::daemon
