// SPDX-License-Identifier: Apache-2.0
//
// negawatt run: a command under a clock plan; what was promised and what came of it.
#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/gpu_choice.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "govern/execution.hpp"
#include "govern/leased_clocks.hpp"
#include "govern/outcome.hpp"
#include "govern/run.hpp"

namespace negawatt::cli {
namespace {

bool needs_memory(const govern::Execution& plan) {
  for (const auto& segment : plan.segments)
    if (!segment.clocks.memory.is_automatic()) return true;
  return false;
}

/// A lease, or why there is none: the command runs either way.
std::pair<std::optional<govern::LeasedClocks>, std::string> lease_for(const govern::Execution& plan,
                                                                      const gpu::Device& device) {
  auto clocks = govern::LeasedClocks::acquire(device.id(), "negawatt run", needs_memory(plan));
  if (clocks) return {std::move(*clocks), ""};
  return {std::nullopt, "Runs without clock changes: " + clocks.error().message};
}

/// The command matters more than our part in it.
Result<int> run_unobserved(const RunArguments& arguments, const Error& why) {
  std::fprintf(stderr, "negawatt: runs without us: %s\n", why.message.c_str());
  NW_TRY(const auto ending, govern::run_alone(arguments.command));
  return ending.shell_code();
}

Status deliver(const govern::RunReport& report, const RunArguments& a) {
  const auto json = govern::run_json(report);
  if (!a.out.empty()) {
    NW_CHECK(write_output(a.out, json));
  }
  // Standard output is the command's; what we say goes to standard error.
  const auto text = a.json ? json : govern::run_text(report);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return {};
}

}  // namespace

Result<int> run_run(const RunArguments& arguments) {
  NW_TRY(const auto bytes, read_input(arguments.plan));
  NW_TRY(const auto plan, govern::parse_execution(bytes, arguments.plan));
  const auto chosen = choose_gpu(arguments.gpu);
  if (!chosen) return run_unobserved(arguments, chosen.error());
  const auto& gpu = *chosen;

  std::optional<govern::LeasedClocks> clocks;
  std::string note;
  if (!arguments.watch) std::tie(clocks, note) = lease_for(plan, gpu.device);
  if (!note.empty()) std::fprintf(stderr, "negawatt: %s\n", note.c_str());
  const govern::Actuator actuator{
      .is_ready = [&clocks](Seconds patience) { return clocks && clocks->is_ready(patience); },
      .ask = [&clocks](trace::ClockPair pair) { return clocks->ask(pair); }};

  NW_TRY(const auto ran,
         govern::run(plan, arguments.command, gpu.device, actuator,
                     {.warm_up = arguments.warm_up, .governs = clocks.has_value()}));
  if (clocks) {
    if (const auto released = clocks->release(); !released)
      std::fprintf(stderr, "negawatt: %s\n", released.error().message.c_str());
  }
  std::string command;
  for (const auto& word : arguments.command) command += (command.empty() ? "" : " ") + word;
  const auto delivered = deliver({.plan = plan,
                                  .ran = ran,
                                  .governed = clocks.has_value(),
                                  .gpu = gpu.description(),
                                  .plan_file = arguments.plan,
                                  .command = command,
                                  .evidence = gpu.evidence(),
                                  .note = note},
                                 arguments);
  // The command's ending is the user's; a report that could not be written must not change it.
  if (!delivered) std::fprintf(stderr, "negawatt: %s\n", delivered.error().message.c_str());
  return ran.ending.shell_code();
}

}  // namespace negawatt::cli
