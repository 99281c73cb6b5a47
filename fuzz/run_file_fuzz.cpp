// SPDX-License-Identifier: Apache-2.0
//
// govern::parse_run on any bytes: what is accepted can be divided by, and what is refused is
// refused the same way every time.
#include "govern/run_file.hpp"

#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.json";

void check_achieved(const govern::MeasuredIteration& achieved) {
  require(achieved.time.has_value() == (achieved.iterations > 0), "iterations have a time");
  require(!achieved.energy || achieved.time, "energy comes with a time");
  if (achieved.time) require_positive(*achieved.time, achieved.energy.value_or(Joules(1)));
  require(!achieved.time_error || *achieved.time_error > Seconds(0), "an unknown error is absent");
  require(!achieved.energy_error || *achieved.energy_error > Joules(0),
          "an unknown error is absent");
}

void check_segment(const govern::RanSegment& segment) {
  require(segment.first <= segment.last, "a segment ends after it starts");
  require_positive(segment.promised, Joules(1));
  if (segment.achieved) require_positive(*segment.achieved, Joules(1));
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto run = govern::parse_run(bytes, kFile);
  require_same_outcome(run, govern::parse_run(bytes, kFile));
  if (!run) return refused(run.error(), kFile);
  require_positive(run->baseline.time, run->baseline.energy);
  require_positive(run->promised.time, run->promised.energy);
  if (run->best_static) require_positive(run->best_static->time, run->best_static->energy);
  check_achieved(run->achieved);
  for (const auto& segment : run->segments) check_segment(segment);
  return true;
}

}  // namespace negawatt::fuzz
