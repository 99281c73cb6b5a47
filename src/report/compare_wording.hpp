// SPDX-License-Identifier: Apache-2.0
//
// Findings about compared runs in words, the same in every output. What comes from the user's files
// (labels, notes, refusals) stands in them as it is: escape them for the place they go to.
#pragma once

#include <string>
#include <vector>

#include "report/compare_view.hpp"

namespace negawatt::report {

/// To stand behind the run's name: "holds its promise within 0.12 points; ...".
[[nodiscard]] std::string verdict(const RunView& view);
/// The answer in one sentence.
[[nodiscard]] std::string compare_headline(const Comparison& comparison);
/// What the achieved changes are against.
[[nodiscard]] std::string baseline_sentence(const Comparison& comparison);
/// What makes runs hard to compare: one sentence each.
[[nodiscard]] std::vector<std::string> cautions(const Comparison& comparison);
/// Late clock changes, refusals and what was missed, in words; empty when there was nothing.
[[nodiscard]] std::string reasons(const ComparedRun& run);

/// "+0.12" or "-0.12"; never "-0.00".
[[nodiscard]] std::string points(double value);

}  // namespace negawatt::report
