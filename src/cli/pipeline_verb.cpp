// SPDX-License-Identifier: Apache-2.0
//
// negawatt pipeline: pipeline profile in, a clock for every instruction out.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/cost.hpp"
#include "core/result.hpp"
#include "core/units.hpp"
#include "plan/pipeline.hpp"
#include "plan/pipeline_graph.hpp"
#include "report/pipeline_report.hpp"
#include "trace/pipeline_profile.hpp"

namespace negawatt::cli {
namespace {

Result<plan::PipelineProblem> problem_of(const PipelineArguments& a) {
  NW_TRY(const auto bytes, read_input(a.profile));
  NW_TRY(auto profile, trace::parse_pipeline_profile(bytes, a.profile));
  if (profile.last_line_open) note_open_last_line(a.profile);
  return plan::PipelineProblem{.profile = std::move(profile),
                               .microbatches = a.microbatches,
                               .schedule = a.schedule == "gpipe"
                                               ? plan::PipelineSchedule::gpipe
                                               : plan::PipelineSchedule::one_f_one_b,
                               .blocking = Watts(a.blocking_watts)};
}

Result<Seconds> deadline_of(const PipelineArguments& a, Seconds baseline) {
  if (a.deadline_s && !(std::isfinite(*a.deadline_s) && *a.deadline_s > 0.0))
    return failure(Code::invalid, "--deadline must be a finite number of seconds above 0");
  if (a.deadline_s) return Seconds(*a.deadline_s);
  const double slowdown = a.slowdown_pct.value_or(0.0);
  if (!std::isfinite(slowdown))
    return failure(Code::invalid, "--slowdown must be a finite number of percent");
  return baseline * (1.0 + slowdown / 100.0);
}

struct Solution {
  plan::PipelinePlan baseline;
  Seconds deadline;
  plan::PipelinePlan plan;
  std::optional<plan::PipelineFrontier> frontier;
};

Result<Solution> solve(const plan::PipelineProblem& problem, const PipelineArguments& a) {
  const Progress progress(fmt::format("planning {} stages, {} microbatches",
                                      problem.profile.stages.size(), problem.microbatches));
  Solution solution;
  NW_TRY(solution.baseline, plan::pipeline_baseline(problem));
  NW_TRY(solution.deadline, deadline_of(a, solution.baseline.total.time));
  NW_TRY(solution.plan, plan::pipeline_plan(problem, solution.deadline));
  if (a.frontier || a.format == Format::html) {
    NW_TRY(solution.frontier, plan::pipeline_frontier(problem));
  }
  return solution;
}

Rendering rendering_of(const report::PipelineReport& report) {
  return {.bytes = [&report](Format format) -> Result<std::string> {
            switch (format) {
              case Format::csv:
                return report::pipeline_csv(report);
              case Format::trace:
                return report::pipeline_trace(report);
              case Format::html:
                return report::pipeline_html(report);
              case Format::text:
              case Format::json:
                break;
            }
            return report::pipeline_json(report);
          },
          .text = [&report](bool colour) { return report::pipeline_text(report, colour); }};
}

}  // namespace

Status run_pipeline(const PipelineArguments& arguments, const std::string& command) {
  NW_TRY(const auto problem, problem_of(arguments));
  const auto start = std::chrono::steady_clock::now();
  NW_TRY(const auto solution, solve(problem, arguments));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report::PipelineReport report{.problem = problem,
                                .baseline = solution.baseline,
                                .plan = solution.plan,
                                .deadline = solution.deadline,
                                .command = command,
                                .solve_time = Seconds(elapsed.count()),
                                .version = NEGAWATT_VERSION};
  if (solution.frontier) {
    report.frontier = solution.frontier->points();
    report.bound_corners = solution.frontier->bound_corners();
  }
  return deliver(rendering_of(report), arguments.format, arguments.out);
}

}  // namespace negawatt::cli
