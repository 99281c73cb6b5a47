// SPDX-License-Identifier: Apache-2.0
//
// An assignment of requests to systems as people and programs read it. Pure: text out. Numbers are
// those of the plan; strings of the user's files are made harmless for the place they go to.
#pragma once

#include <cstdint>
#include <string>

#include "core/units.hpp"
#include "plan/assign.hpp"

namespace negawatt::report {

/// What every output is made from. The reference must outlive the call.
struct AssignReport {
  const plan::AssignPlan& plan;
  std::string requests_file;
  std::string systems_file;
  std::string command;  ///< the command line that made the plan
  Seconds solve_time;
  std::string version;  ///< of negawatt
};

/// One object, keys as docs/formats.md lists them, SI units.
[[nodiscard]] std::string assign_json(const AssignReport& report);

/// At most 40 lines of at most 80 ASCII characters; `colour` adds ANSI colours.
[[nodiscard]] std::string assign_text(const AssignReport& report, bool colour);

}  // namespace negawatt::report
