// SPDX-License-Identifier: Apache-2.0
//
// negawatt run: a command under a clock plan; what was promised and what came of it.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/gpu_choice.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "core/text.hpp"
#include "govern/apart.hpp"
#include "govern/execution.hpp"
#include "govern/leased_clocks.hpp"
#include "govern/outcome.hpp"
#include "govern/run.hpp"

namespace negawatt::cli {
namespace {

constexpr std::size_t kWidth = 80;
// A thread between two looks at the GPU needs a moment to notice that it shall end.
constexpr Seconds kThreadPatience(0.25);

bool needs_memory(const govern::Execution& plan) {
  for (const auto& segment : plan.segments)
    if (!segment.clocks.memory.is_automatic()) return true;
  return false;
}

/// The GPU, and a lease of it or why there is none: the command runs either way.
Result<govern::Attached> attach(const std::string& uuid, bool watches, bool with_memory) {
  NW_TRY(const auto gpu, choose_gpu(uuid));
  govern::Attached attached{
      .device = gpu.device, .gpu = gpu.description(), .evidence = gpu.evidence()};
  if (watches) return attached;
  auto clocks = govern::LeasedClocks::acquire(gpu.device.id(), "negawatt run", with_memory);
  if (clocks)
    attached.clocks.emplace(std::move(*clocks));
  else
    attached.note = "Runs without clock changes: " + clocks.error().message;
  return attached;
}

void say(const std::string& sentence) {
  const auto text = "negawatt: " + sentence;
  for (const auto line : wrapped(text, kWidth)) fmt::print(stderr, "{}\n", line);
}

Status deliver(const govern::RunReport& report, const RunArguments& a) {
  const auto json = govern::run_json(report);
  // Standard output is the command's; what we say goes to standard error.
  if (a.json || report.ran.was_attached) {
    const auto text = a.json ? json : govern::run_text(report);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return a.out.empty() ? Status() : write_output(a.out, json);
}

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// A driver that hangs does not keep the command's ending from whoever waits for it.
int with_threads_ended(int code) {
  if (govern::Apart::all_ended_within(kThreadPatience)) return code;
  std::fflush(nullptr);
  ::_exit(code);
}

Result<int> run_and_report(const RunArguments& arguments, const govern::RunOrder& order) {
  NW_TRY(const auto ran, govern::run(order));
  if (!ran.was_started) return ran.ending.shell_code();
  if (!ran.problem.empty()) say(ran.problem);
  const auto delivered = deliver({.plan = order.plan,
                                  .ran = ran,
                                  .governed = ran.governed,
                                  .gpu = ran.gpu,
                                  .plan_file = arguments.plan,
                                  .command = command_line(arguments.command),
                                  .evidence = ran.evidence,
                                  .note = ran.note,
                                  .note_was_said = ran.note_was_said},
                                 arguments);
  // The command's ending is the user's; a report that could not be written must not change it.
  if (!delivered) say(delivered.error().message);
  return ran.ending.shell_code();
}

}  // namespace

Result<int> run_run(const RunArguments& arguments) {
  NW_TRY(const auto bytes, read_input(arguments.plan));
  NW_TRY(const auto plan, govern::parse_execution(bytes, arguments.plan));
  const bool with_memory = needs_memory(plan);
  const govern::RunOrder order{
      .plan = plan,
      .command = arguments.command,
      .warm_up = arguments.warm_up,
      .attach = [uuid = arguments.gpu, watches = arguments.watch,
                 with_memory] { return attach(uuid, watches, with_memory); },
      .say = say};
  auto code = run_and_report(arguments, order);
  if (code) return with_threads_ended(*code);
  // What main would say, and do without regard to threads.
  if (govern::Apart::all_ended_within(kThreadPatience)) return code;
  say(code.error().message);
  return with_threads_ended(code.error().code == Code::invalid ? 2 : 1);
}

}  // namespace negawatt::cli
