// SPDX-License-Identifier: Apache-2.0
//
// The parts of a simulation's page that are readable without a script, as HTML with everything
// foreign escaped. A policy has the same number in every table and chart: its place in the first.
#pragma once

#include <string>
#include <vector>

#include "report/serving_view.hpp"
#include "report/serving_wording.hpp"

namespace negawatt::report {

/// Five figures that answer the first questions.
[[nodiscard]] std::string serving_tiles_html(const ServingFindings& found);
/// The whole table of energies: groups of rows by whether they keep the SLO, and the bound.
[[nodiscard]] std::string energies_html(const ServingFindings& found);
/// One row a policy: time to the first token, between tokens, to the last token.
[[nodiscard]] std::string latencies_html(const Setting& setting);
/// A table of what each class of requests met, one row a policy; empty where there is one class.
[[nodiscard]] std::string classes_html(const Setting& setting);
/// One row a setting: the least energy and what it is compared with.
[[nodiscard]] std::string settings_html(const ServingReport& report,
                                        const std::vector<Setting>& settings);

}  // namespace negawatt::report
