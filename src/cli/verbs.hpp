// SPDX-License-Identifier: Apache-2.0
//
// One function per verb: reads, solves, writes. The command line as typed goes into reports.
#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "core/result.hpp"

namespace negawatt::cli {

[[nodiscard]] Status run_plan(const PlanArguments& arguments, const std::string& command);
[[nodiscard]] Status run_pipeline(const PipelineArguments& arguments, const std::string& command);
[[nodiscard]] Status run_assign(const AssignArguments& arguments, const std::string& command);
[[nodiscard]] Status run_fit(const FitArguments& arguments);
[[nodiscard]] Status run_doctor(const DoctorArguments& arguments);
[[nodiscard]] Status run_top(const TopArguments& arguments);
[[nodiscard]] Status run_compare(const CompareArguments& arguments, const std::string& command);

[[nodiscard]] Status run_simulate(const SimulateArguments& arguments, const std::string& command);

[[nodiscard]] Status run_sweep(const SweepArguments& arguments);
/// The exit code of the command that was run.
[[nodiscard]] Result<int> run_run(const RunArguments& arguments);

}  // namespace negawatt::cli
