// SPDX-License-Identifier: Apache-2.0
//
// The parts of a comparison's page that are readable without a script, as HTML with everything
// foreign escaped.
#pragma once

#include <string>

#include "report/compare_view.hpp"

namespace negawatt::report {

/// Five figures: which run stands out in what respect.
[[nodiscard]] std::string compare_tiles_html(const Comparison& comparison);
/// What came of each run, in words.
[[nodiscard]] std::string verdicts_html(const Comparison& comparison);
/// One row per run.
[[nodiscard]] std::string runs_html(const Comparison& comparison);
/// The section about the last run's segments; empty when none was timed.
[[nodiscard]] std::string segments_html(const Comparison& comparison);

}  // namespace negawatt::report
