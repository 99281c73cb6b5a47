// SPDX-License-Identifier: Apache-2.0
//
// What the charts of a simulation's page draw, as JSON for its script, and the same in words for
// those who do not see them. Bounded in size: the policies that need least energy, the instances of
// a large cluster taken together by device type.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/serving_view.hpp"
#include "report/serving_wording.hpp"

namespace negawatt::report {

/// More policies than this are in the tables but not in the charts.
inline constexpr std::size_t kMostDrawnPolicies = 24;
/// A cluster of more instances is shown by device type.
inline constexpr std::size_t kMostDrawnInstances = 64;

/// What is varied in at least two values.
struct Varied {
  bool lambda = false;
  bool speed = false;
  bool cluster = false;
  [[nodiscard]] bool any() const { return lambda || speed || cluster; }
};
[[nodiscard]] Varied varied_in(const std::vector<Setting>& settings);

/// ASCII JSON, safe to stand inside a <script> element. The first setting is the one of `found`.
[[nodiscard]] std::string serving_data(const ServingReport& report,
                                       const std::vector<Setting>& settings,
                                       const ServingFindings& found);

/// HTML, escaped for an attribute.
[[nodiscard]] std::string pareto_alt(const ServingFindings& found);
[[nodiscard]] std::string latency_alt(const Setting& setting);

}  // namespace negawatt::report
