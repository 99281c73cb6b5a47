// SPDX-License-Identifier: Apache-2.0
//
// The in-order queue of a simulated GPU from the inside: how an item ends. Callers have moved the
// anchor to the present and settle afterwards.
#pragma once

#include "gpusim/gpu_model.hpp"
#include "gpusim/gpu_state.hpp"

namespace negawatt::gpusim {

/// The head of the queue ends at the anchor with all its calls; the next item begins where it
/// exactly ended.
void complete_head(const GpuModel& model, GpuState& state);

/// Empties the queue without completions.
void drop_all_work(GpuState& state);

}  // namespace negawatt::gpusim
