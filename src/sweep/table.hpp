// SPDX-License-Identifier: Apache-2.0
//
// The visits of a sweep as a kernel table (docs/formats.md): means and standard errors of one call,
// with columns that say how far each row can be trusted. A row that was visited once knows nothing
// of its own error: it is given what visits of the other rows scatter by, relative to their means.
// Where no row has two visits, nobody knows, and the columns of errors are left out. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/evidence.hpp"
#include "sweep/runner.hpp"
#include "sweep/visits.hpp"

namespace negawatt::sweep {

/// Rows in the order of `kernels`, then by pair. `source` says what was measured how, in one line;
/// `kind` is `measured`, or `simulated` for a simulated GPU.
[[nodiscard]] std::string kernel_table_csv(const std::vector<RunnableKernel>& kernels,
                                           const std::vector<Visit>& visits,
                                           const Evidence& evidence);

}  // namespace negawatt::sweep
