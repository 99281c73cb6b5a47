// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_pipeline_profile on any bytes: in an accepted profile every stage has both passes,
// each at clocks that could have been measured.
#include "trace/pipeline_profile.hpp"

#include <algorithm>
#include <string_view>

#include "core/text.hpp"
#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.csv";

void check_options(const std::vector<trace::PassOption>& options) {
  require(!options.empty(), "a stage has both passes");
  for (const auto& option : options) {
    require(option.mhz > 0, "a clock is more than 0");
    require_positive(option.time, option.energy);
  }
  const auto not_increasing = [](const auto& a, const auto& b) { return a.mhz >= b.mhz; };
  require(std::ranges::adjacent_find(options, not_increasing) == options.end(),
          "options are sorted by clock, and no clock is there twice");
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto profile = trace::parse_pipeline_profile(bytes, kFile);
  require_same_outcome(profile, trace::parse_pipeline_profile(bytes, kFile));
  if (!profile) return refused(profile.error(), kFile);
  require(!profile->stages.empty(), "a profile has a stage");
  require(is_printable(profile->evidence.source), "a source is printable");
  for (const auto& stage : profile->stages)
    for (const auto pass : trace::kPasses) check_options(stage.of(pass));
  return true;
}

}  // namespace negawatt::fuzz
