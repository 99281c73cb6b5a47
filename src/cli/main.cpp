// SPDX-License-Identifier: Apache-2.0
//
// The negawatt binary: a table of verbs and their options. Exit codes: 0 done, 1 the work failed,
// 2 wrong input or usage, 3 something this machine lacks.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/verbs.hpp"
#include "core/text.hpp"
#include "govern/run.hpp"

namespace {

using negawatt::cli::AssignArguments;
using negawatt::cli::CompareArguments;
using negawatt::cli::DoctorArguments;
using negawatt::cli::FitArguments;
using negawatt::cli::Format;
using negawatt::cli::PipelineArguments;
using negawatt::cli::PlanArguments;
using negawatt::cli::RunArguments;
using negawatt::cli::SimulateArguments;
using negawatt::cli::SweepArguments;
using negawatt::cli::TopArguments;

const std::map<std::string, Format> kFormats = {{"text", Format::text},
                                                {"json", Format::json},
                                                {"csv", Format::csv},
                                                {"trace", Format::trace},
                                                {"html", Format::html}};

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeastMoreThanZero = 1e-9;

int exit_code_of(negawatt::Code code) {
  switch (code) {
    case negawatt::Code::invalid:
    case negawatt::Code::infeasible:
      return 2;
    case negawatt::Code::unavailable:
      return 3;
    case negawatt::Code::internal:
      break;
  }
  return 1;
}

/// CLI11's ranges let "nan" through, which is within none.
CLI::Validator finite_from(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) {
        double value = 0.0;
        const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (is_number && value >= least && value <= most) return std::string();
        return least == -kMost && most == kMost
                   ? fmt::format("'{}' is no finite number", text)
                   : fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
      },
      "");
}

CLI::Validator finite() { return finite_from(-kMost, kMost); }

/// CLI11 takes "-1", and what is too large, for 2^64 - 1.
CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        std::uint64_t value = 0;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_whole = code == std::errc{} && end == text.data() + text.size();
        return is_whole ? std::string() : fmt::format("'{}' is no whole number", text);
      },
      "");
}

void add_format(CLI::App& verb, Format& format, std::string& out) {
  verb.add_option("--format", format, "text, json, csv, trace (Perfetto, Chrome) or html")
      ->transform(CLI::CheckedTransformer(kFormats).description(""));
  verb.add_flag_callback("--json", [&format] { format = Format::json; }, "same as --format json");
  verb.add_option("--out", out, "file to write; '-' is standard output");
}

void add_plan_options(CLI::App& verb, PlanArguments& a) {
  verb.add_option("TABLE", a.table, "kernel table (CSV); '-' is standard input")->required();
  verb.add_option("--objective", a.objective,
                  "waste: least energy within the slowdown (default); edp, ed2p, energy, weighted")
      ->check(CLI::IsMember({"waste", "edp", "ed2p", "energy", "weighted"}).description(""));
  verb.add_option("--slowdown", a.slowdown_pct,
                  "tolerated slowdown in percent of the baseline time (default 0)")
      ->check(finite());
  verb.add_option("--granularity", a.granularity,
                  "what shares one clock pair: static, group, kernel (default), schedule")
      ->check(CLI::IsMember({"static", "group", "kernel", "schedule"}).description(""));
  verb.add_option("--scope", a.scope,
                  "global: the iteration keeps the slowdown (default); local: each item does")
      ->check(CLI::IsMember({"global", "local"}).description(""));
  verb.add_option("--lambda", a.lambda,
                  "for weighted: lambda * joules + (1 - lambda) * seconds (default 0.5)")
      ->check(finite());
  verb.add_option("--baseline", a.baseline,
                  "auto or CORE,MEMORY (default: auto where the table has it, else the highest)");
  verb.add_option("--switch-latency", a.switch_latency,
                  "for schedule: core=SECONDS,memory=SECONDS, or a CSV file per target clock");
  verb.add_option("--sequence", a.sequence, "order of the kernel invocations (CSV)");
  verb.add_option("--confidence", a.confidence,
                  "keep the budget with this probability; needs time_sd_s and energy_sd_j")
      ->check(finite());
  verb.add_flag("--frontier", a.frontier, "also compute the time-energy frontier");
  add_format(verb, a.format, a.out);
}

void add_pipeline_options(CLI::App& verb, PipelineArguments& a) {
  verb.add_option("PROFILE", a.profile, "stage,instruction,frequency,time,energy (CSV)")
      ->required();
  verb.add_option("--microbatches", a.microbatches, "microbatches of one iteration")->required();
  verb.add_option("--schedule", a.schedule, "1f1b (default) or gpipe")
      ->check(CLI::IsMember({"1f1b", "gpipe"}).description(""));
  verb.add_option("--blocking-watts", a.blocking_watts,
                  "power of a stage that waits for another (default 0)")
      ->check(finite());
  auto* slowdown =
      verb.add_option("--slowdown", a.slowdown_pct,
                      "tolerated slowdown in percent of all-highest clocks (default 0)")
          ->check(finite());
  verb.add_option("--deadline", a.deadline_s, "iteration deadline in seconds")
      ->check(finite())
      ->excludes(slowdown);
  verb.add_flag("--frontier", a.frontier, "also compute the whole time-energy frontier");
  add_format(verb, a.format, a.out);
}

void add_assign_options(CLI::App& verb, AssignArguments& a) {
  verb.add_option("--requests", a.requests,
                  "request trace (CSV or JSON lines); '-' is standard input")
      ->required();
  verb.add_option(
      "--format", a.request_format,
      "of the requests: azure, lmsys, vidur, splitwise, mooncake, burstgpt, own, lengths "
      "(default: by the header)");
  verb.add_option(
          "--systems", a.systems,
          "measured costs: system,model,input_tokens,output_tokens,energy_j,runtime_s (CSV)")
      ->required();
  verb.add_option("--model", a.model, "the model, where systems were measured with several");
  verb.add_option("--lambda", a.lambda,
                  "least lambda * joules + (1 - lambda) * seconds (default 1: energy)");
  verb.add_flag("--normalise", a.normalise, "joules and seconds as shares of the largest measured");
  verb.add_option(
      "--policy", a.policy,
      "optimal (default), input-threshold, output-threshold, both-thresholds, all:NAME, "
      "random, round-robin, follow-up");
  verb.add_option("--threshold", a.threshold,
                  "some of input=TOKENS, output=TOKENS, small=NAME (default: the best)");
  verb.add_option(
      "--capacity", a.capacity,
      "NAME=SHARE,... at most this share of the requests (0.33 or 33%), or whole number "
      "(above 1, or 1req)");
  verb.add_option("--outside", a.outside,
                  "beyond the measured sizes: extrapolate (default) or refuse")
      ->check(CLI::IsMember({"extrapolate", "refuse"}).description(""));
  verb.add_option("--seed", a.seed, "of policy random (default 1)")->check(whole_number());
  verb.add_flag("--json", a.json, "for programs");
  verb.add_option("--out", a.out, "file for the result as JSON; '-' is standard output");
}

void add_doctor_options(CLI::App& verb, DoctorArguments& a) {
  verb.add_flag("--quick", a.quick, "leave out what takes seconds: how often the sensors change");
  verb.add_flag("--json", a.json, "for programs");
}

void add_top_options(CLI::App& verb, TopArguments& a) {
  verb.add_flag("--once", a.once, "look once, and end");
  verb.add_option("--interval", a.interval_s, "seconds between two looks (default 1)")
      ->check(finite_from(0.1, 3600.0));
  verb.add_flag("--json", a.json, "one line of JSON for each look");
}

/// A command with its own options stands behind "--".
void add_command(CLI::App& verb, std::vector<std::string>& command) {
  verb.add_option("COMMAND", command, "what to run, behind --: its options are its own")
      ->required();
}

void add_sweep_options(CLI::App& verb, SweepArguments& a) {
  verb.add_option("--gpu", a.gpu, "UUID or the start of one (default: the first visible GPU)");
  verb.add_option("--core", a.core, "core clocks: auto,1410,1500:1980:60 (default: auto and 10)");
  verb.add_option("--memory", a.memory, "memory clocks (default: auto and all)");
  verb.add_option("--window", a.window_s, "seconds of one measurement (default 2)")
      ->check(finite_from(0.1, 3600.0));
  verb.add_option("--settle", a.settle_s, "seconds before it (default 0.3)")
      ->check(finite_from(0.0, 3600.0));
  verb.add_option("--half-width", a.half_width_pct,
                  "percent: stop at this 95 % interval of the energy (default 1)")
      ->check(finite_from(0.0, 100.0));
  verb.add_option("--visits", a.least_visits, "least measurements of a row (default 3)")
      ->check(CLI::Range(1, 1000).description(""));
  verb.add_option("--most-visits", a.most_visits, "most measurements of a row (default 10)");
  verb.add_option("--minutes", a.minutes, "stop after this long")
      ->check(finite_from(kLeastMoreThanZero, kMost));
  verb.add_option("--seed", a.seed, "of the order of measurements (default 1)")
      ->check(whole_number());
  verb.add_option("--out", a.out,
                  "kernel table to write; OUT.visits keeps every measurement, and "
                  "a sweep that was stopped goes on from it (default kernels.csv)");
  add_command(verb, a.command);
}

void add_run_options(CLI::App& verb, RunArguments& a) {
  verb.add_option("--plan", a.plan, "plan to carry out: JSON of negawatt plan --out")->required();
  verb.add_option("--gpu", a.gpu, "UUID or the start of one (default: the first visible GPU)");
  verb.add_flag("--watch", a.watch, "change nothing, only measure");
  verb.add_option("--warm-up", a.warm_up, "iterations that do not count (default 2)");
  verb.add_flag("--json", a.json, "report as JSON");
  verb.add_option("--out", a.out, "file for the report as JSON");
  add_command(verb, a.command);
}

void add_fit_options(CLI::App& verb, FitArguments& a) {
  verb.add_option("SAMPLES", a.samples, "measurements of serving (CSV, docs/formats.md)")
      ->required();
  verb.add_option("--device", a.device, "the device's sheet (TOML, as in data/devices)")
      ->required();
  verb.add_option("--models", a.models, "the models measured (TOML, as in data/models)")
      ->required();
  verb.add_option("--hold", a.held,
                  "factors that stay as the device has them, as compute,attention")
      ->delimiter(',');
  verb.add_option("--source", a.source, "what the measurements are, for the device's source");
  verb.add_flag("!--no-calibration", a.calibrate, "no corrections for each model by itself");
  verb.add_option("--out", a.out, "device to write (default: standard output)");
}

void add_compare_options(CLI::App& verb, CompareArguments& a) {
  verb.add_option("RUN", a.runs,
                  "reports of negawatt run --out, in the order to show them; one made with --watch "
                  "is the measured baseline")
      ->required();
  add_format(verb, a.format, a.out);
}

void add_simulate_options(CLI::App& verb, SimulateArguments& a) {
  verb.add_option("--cluster", a.clusters,
                  "what serves: instances, SLOs, link (TOML); with --report may be given several "
                  "times, to compare clusters")
      ->required();
  verb.add_option("--requests", a.requests,
                  "request trace (CSV or JSON lines; '-' is standard input), or a description of "
                  "made-up requests (a name that ends in .toml)")
      ->required();
  verb.add_option("--format", a.request_format,
                  "of the trace: azure, lmsys, vidur, splitwise, mooncake, burstgpt, own, lengths "
                  "(default: by the header)");
  verb.add_option("--policy", a.policies,
                  "NAME or NAME:KEY=VALUE,...; may be given several times; "
                  "lambda=* stands for each --lambda, device=* for each device type (default: the "
                  "cluster's, else negawatt)");
  verb.add_option("--lambda", a.lambdas, "0.1,0.5,...: what lambda=* of a policy stands for")
      ->delimiter(',');
  verb.add_option("--speed", a.speeds, "0.5,1,2,...: requests arrive so many times as fast")
      ->delimiter(',');
  verb.add_option("--seed", a.seeds, "1,2,...: of policies and made-up requests (default 1)")
      ->delimiter(',')
      ->check(whole_number());
  verb.add_option("--sweep", a.sweep,
                  "CSV file: simulate every combination on all cores, one line each; what the file "
                  "has already is not done again");
  verb.add_option("--report", a.report,
                  "HTML page with every combination side by side, simulated on all cores");
  verb.add_option("--attainment", a.attainment_pct,
                  "percent of the requests that must meet their SLO for a policy to count in the "
                  "report (default 99)")
      ->check(finite_from(0.0, 100.0));
  verb.add_option("--jobs", a.jobs, "simulations at a time (default: one a core)")
      ->check(CLI::Range(1, 1024).description(""));
  verb.add_flag("--json", a.json, "for programs");
  verb.add_option("--out", a.out, "file for the result as JSON");
}

/// As it can be given to a shell again.
std::string command_line(int argc, char** argv) {
  std::string line = "negawatt";
  for (int i = 1; i < argc; ++i) line += " " + negawatt::shell_word(argv[i]);
  return line;
}

/// CLI11's own message may have several lines; a usage error is one.
int usage_error(const CLI::ParseError& error) {
  std::string message = error.what();
  for (char& c : message)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "negawatt: %s (see negawatt --help)\n", message.c_str());
  return 2;
}

int failed(const negawatt::Error& error) {
  std::fprintf(stderr, "negawatt: %s\n", error.message.c_str());
  return exit_code_of(error.code);
}

int run_governed(const RunArguments& arguments) {
  negawatt::govern::block_passed_signals();
  const auto code = negawatt::cli::run_run(arguments);
  return code ? *code : failed(code.error());
}

int run(int argc, char** argv) {
  CLI::App app("negawatt plans GPU clocks that use least energy within a time budget.", "negawatt");
  app.set_version_flag("--version", "negawatt " NEGAWATT_VERSION);
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);

  PlanArguments plan;
  PlanArguments report{.frontier = true, .format = Format::html, .out = "report.html"};
  PipelineArguments pipeline;
  AssignArguments assign;
  SweepArguments sweep;
  RunArguments governed;
  CompareArguments compared;
  auto* plan_verb = app.add_subcommand("plan", "choose clocks for the kernels of one iteration");
  auto* report_verb = app.add_subcommand("report", "the same plan, explained in one HTML page");
  auto* pipeline_verb = app.add_subcommand("pipeline", "choose clocks in a pipeline iteration");
  auto* assign_verb = app.add_subcommand("assign", "choose a system for each request of a trace");
  auto* sweep_verb = app.add_subcommand("sweep", "measure a kernel table at many clocks");
  auto* run_verb = app.add_subcommand("run", "run a command under a clock plan");
  auto* compare_verb = app.add_subcommand("compare", "promised against achieved of several runs");
  add_plan_options(*plan_verb, plan);
  add_plan_options(*report_verb, report);
  add_pipeline_options(*pipeline_verb, pipeline);
  add_assign_options(*assign_verb, assign);
  add_sweep_options(*sweep_verb, sweep);
  add_run_options(*run_verb, governed);
  DoctorArguments doctor;
  TopArguments top;
  auto* doctor_verb = app.add_subcommand("doctor", "what works on this machine, and what does not");
  auto* top_verb = app.add_subcommand("top", "what the GPUs do now: watts, clocks, joules, leases");
  add_doctor_options(*doctor_verb, doctor);
  add_top_options(*top_verb, top);
  add_compare_options(*compare_verb, compared);
  SimulateArguments simulate;
  auto* simulate_verb =
      app.add_subcommand("simulate", "serve requests on a simulated cluster, policy by policy");
  add_simulate_options(*simulate_verb, simulate);
  FitArguments fit;
  auto* fit_verb = app.add_subcommand("fit", "learn a device's time and energy from measurements");
  add_fit_options(*fit_verb, fit);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return usage_error(error);
  }
  const auto command = command_line(argc, argv);
  if (run_verb->parsed()) return run_governed(governed);
  negawatt::Status done;
  if (plan_verb->parsed()) done = negawatt::cli::run_plan(plan, command);
  if (report_verb->parsed()) done = negawatt::cli::run_plan(report, command);
  if (sweep_verb->parsed()) done = negawatt::cli::run_sweep(sweep);
  if (pipeline_verb->parsed()) done = negawatt::cli::run_pipeline(pipeline, command);
  if (assign_verb->parsed()) done = negawatt::cli::run_assign(assign, command);
  if (doctor_verb->parsed()) done = negawatt::cli::run_doctor(doctor);
  if (top_verb->parsed()) done = negawatt::cli::run_top(top);
  if (simulate_verb->parsed()) done = negawatt::cli::run_simulate(simulate, command);
  if (fit_verb->parsed()) done = negawatt::cli::run_fit(fit);
  if (compare_verb->parsed()) done = negawatt::cli::run_compare(compared, command);
  if (done) return 0;
  return failed(done.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory; ours do not leave a room
    std::fprintf(stderr, "negawatt: %s\n", error.what());
    return 1;
  }
}
