// SPDX-License-Identifier: Apache-2.0
//
// negawatt-play: a process that uses a simulated GPU. Plays the iterations of a kernel trace and
// prints one line of JSON, or serves a sweep. Exit codes as in negawatt: 0 done, 1 failed, 2 wrong
// input or usage, 3 something is lacking.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "gpusim/environment.hpp"
#include "gpusim/kernel_server.hpp"
#include "gpusim/player.hpp"
#include "gpusim/target.hpp"
#include "gpusim/workload.hpp"

namespace negawatt::gpusim {
namespace {

struct Arguments {
  std::string table;
  std::string sequence;
  std::string gpu;
  std::string kernel;
  std::string log;
  std::uint64_t calls = 1;
  std::optional<double> seconds;
  PlayOrder order;
  bool serve = false;
};

/// Where every played invocation is noted; nowhere when no path is given.
class Log {
 public:
  static Result<Log> open(const std::string& path) {
    Log log;
    if (path.empty()) return log;
    log.file_.reset(std::fopen(path.c_str(), "we"));
    if (log.file_ == nullptr) return failure(Code::invalid, fmt::format("cannot write '{}'", path));
    fmt::print(log.file_.get(), "iteration,invocation,kernel,start_s,end_s,energy_j\n");
    return log;
  }
  void note(const Played& played) {
    if (file_ == nullptr) return;
    fmt::print(file_.get(), "{},{},{},{:.9f},{:.9f},{:.9g}\n", played.iteration, played.invocation,
               quoted(played.kernel), static_cast<double>(played.begin_ns) * 1e-9,
               static_cast<double>(played.end_ns) * 1e-9, played.energy.in_si());
  }
  Status close(const std::string& path) {
    if (file_ == nullptr || std::fclose(file_.release()) == 0) return {};
    return failure(Code::internal, fmt::format("cannot write '{}'", path));
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  static std::string quoted(std::string_view field) {
    if (field.find_first_of(",\"\n") == std::string_view::npos) return std::string(field);
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  }
  std::unique_ptr<std::FILE, Closer> file_;
};

Result<Target> find_target(const MachineModel& machine, const std::string& uuid) {
  if (uuid.empty()) return Target{};
  const auto target = target_named(machine, uuid);
  if (target) return *target;
  return failure(Code::invalid, fmt::format("there is no GPU '{}'", uuid));
}

Status play_iterations(World& world, Target target, const Workload& workload,
                       const Arguments& arguments) {
  NW_TRY(auto log, Log::open(arguments.log));
  NW_TRY(const auto summary, play(world, target, workload, arguments.order,
                                  [&](const Played& played) { log.note(played); }));
  NW_CHECK(log.close(arguments.log));
  fmt::print("{{\"iterations\":{},\"invocations\":{},\"time_s\":{:.9f},\"energy_j\":{:.9g}}}\n",
             summary.iterations, summary.invocations, summary.time.in_si(), summary.energy.in_si());
  return {};
}

Status run(const Arguments& arguments) {
  NW_TRY(const auto world, world_of_environment());
  NW_TRY(const auto target, find_target(world->machine(), arguments.gpu));
  NW_TRY(auto workload, load_workload(world->machine().gpus[target.gpu],
                                      {.table = arguments.table, .sequence = arguments.sequence}));
  if (arguments.serve) {
    NW_TRY(auto server, KernelServer::open(*world, target, workload));
    server.serve(std::cin, std::cout);
    return {};
  }
  if (!arguments.kernel.empty()) {
    NW_TRY(auto only, only_kernel(std::move(workload), arguments.kernel, arguments.calls));
    return play_iterations(*world, target, only, arguments);
  }
  return play_iterations(*world, target, workload, arguments);
}

int exit_code_of(Code code) {
  switch (code) {
    case Code::invalid:
      return 2;
    case Code::unavailable:
      return 3;
    default:
      return 1;
  }
}

int main_with(int count, const char* const* words) {
  Arguments arguments;
  CLI::App app("Runs a kernel trace on a simulated GPU (NEGAWATT_GPUSIM names the machine).");
  app.add_option("--table", arguments.table, "kernel table; default: the description's kernels");
  app.add_option("--sequence", arguments.sequence, "order of invocations in one iteration");
  app.add_option("--gpu", arguments.gpu, "UUID of a GPU or MIG instance; default: the first GPU");
  auto* iterations = app.add_option("--iterations", arguments.order.iterations, "how many");
  app.add_option("--seconds", arguments.seconds, "starts iterations for that long instead")
      ->check(CLI::Validator(  // CLI11's own numbers let "nan" through
          [](std::string& text) {
            double seconds = 0.0;
            const bool is_time =
                CLI::detail::lexical_cast(text, seconds) && std::isfinite(seconds) && seconds > 0.0;
            return is_time ? "" : "'" + text + "' is no finite number above 0";
          },
          ""))
      ->excludes(iterations);
  app.add_option("--kernel", arguments.kernel, "only this kernel");
  app.add_option("--calls", arguments.calls, "calls of it in an iteration")
      ->check(CLI::PositiveNumber);
  app.add_option("--launch-ahead", arguments.order.launch_ahead, "invocations queued in advance")
      ->check(CLI::Range(0, 200));
  app.add_option("--log", arguments.log, "CSV file with every invocation");
  app.add_flag("--serve", arguments.serve, "run kernels as told on standard input");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (arguments.seconds) arguments.order.duration = Seconds(*arguments.seconds);
  const auto status = run(arguments);
  if (status) return 0;
  fmt::print(stderr, "negawatt-play: {}\n", status.error().message);
  return exit_code_of(status.error().code);
}

}  // namespace
}  // namespace negawatt::gpusim

int main(int argc, char** argv) {
  // CLI11 and the standard library may throw; nothing of ours does.
  try {
    return negawatt::gpusim::main_with(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "negawatt-play: {}\n", error.what());
    return 1;
  }
}
