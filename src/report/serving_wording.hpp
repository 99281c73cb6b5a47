// SPDX-License-Identifier: Apache-2.0
//
// What is found about simulated policies, in words. Names of policies and clusters stand in them as
// they are: escape them for the place they go to. No energy is compared without its latency.
#pragma once

#include <string>
#include <vector>

#include "report/serving_view.hpp"

namespace negawatt::report {

/// What the wording is about: one setting, what is found in it, what was demanded.
struct ServingFindings {
  const Setting& setting;
  Finding finding;
  double demanded = 0.99;
};
[[nodiscard]] ServingFindings findings_of(const Setting& setting, double demanded);

/// The answer in one sentence; says so when one device type is best or nothing is to gain.
[[nodiscard]] std::string serving_headline(const ServingFindings& found);
/// The best policy against one device type, against routing by load, and against the bound.
[[nodiscard]] std::vector<std::string> serving_comparisons(const ServingFindings& found);
/// What the reader has to know before using the figures: one sentence each.
[[nodiscard]] std::vector<std::string> serving_cautions(const ServingFindings& found);

/// "h100 alone", or the policy as it was given.
[[nodiscard]] std::string policy_name(const ServedPolicy& policy);
/// "energy -5.9 %, p99 latency +394 %, mean latency +120 %"
[[nodiscard]] std::string serving_changes(const ServedPolicy& from, const ServedPolicy& to);
/// "-5.9 %", "+394 %", "12.3 times"; never "-0.0 %"; "-" of nothing.
[[nodiscard]] std::string rough_change(double percent);
/// rough_change() of a latency; "-" where there was none, before or after.
[[nodiscard]] std::string latency_change(Seconds from, Seconds to);
/// Three digits, as quantity(); long waits in whole seconds; "-" where nothing was served, for no
/// latency is 0.
[[nodiscard]] std::string latency_text(Seconds value);
/// Rounded down, so that what is below the share demanded never looks like it: "98.99 %".
[[nodiscard]] std::string attained_text(double share);
/// "99 %"
[[nodiscard]] std::string demanded_text(double share);

}  // namespace negawatt::report
