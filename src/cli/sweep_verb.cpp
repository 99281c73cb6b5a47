// SPDX-License-Identifier: Apache-2.0
//
// negawatt sweep: a program that runs kernels in, a measured kernel table out.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/gpu_choice.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "govern/leased_clocks.hpp"
#include "sweep/log_file.hpp"
#include "sweep/pair_list.hpp"
#include "sweep/runner.hpp"
#include "sweep/sweep.hpp"
#include "sweep/table.hpp"

namespace negawatt::cli {
namespace {

// Enough for the shape of the time-energy surface; a finer grid is asked for with --core.
constexpr std::size_t kDefaultCoreClocks = 10;
// Until the program has loaded its kernels onto the GPU.
constexpr Seconds kLeasePatience(60.0);

Result<std::vector<trace::ClockPair>> pairs_to_sweep(const SweepArguments& a,
                                                     const gpu::Device& device) {
  std::vector<std::uint32_t> memory_mhz;
  std::vector<std::uint32_t> core_mhz;
  if (const auto memory = device.memory_clocks(); memory && !memory->empty()) {
    for (const auto clock : *memory) memory_mhz.push_back(clock.count);
    if (const auto core = device.core_clocks(memory->front()))
      for (const auto clock : *core) core_mhz.push_back(clock.count);
  }
  auto core = sweep::spread(core_mhz, kDefaultCoreClocks);
  auto memory = sweep::spread(memory_mhz, memory_mhz.size());
  if (!a.core.empty()) {
    NW_TRY(core, sweep::parse_clocks(a.core));
  }
  if (!a.memory.empty()) {
    NW_TRY(memory, sweep::parse_clocks(a.memory));
  }
  return sweep::pairs_of(core, memory);
}

sweep::SweepRequest request_of(const SweepArguments& a, std::vector<trace::ClockPair> pairs) {
  sweep::SweepRequest request{
      .pairs = std::move(pairs),
      .rule = {.least_visits = a.least_visits,
               .most_visits = std::max(a.least_visits, a.most_visits),
               .half_width = a.half_width_pct / 100.0},
      .window = {.settle = Seconds(a.settle_s), .window = Seconds(a.window_s)},
      .seed = a.seed};
  if (a.minutes) request.budget = Seconds(60.0 * *a.minutes);
  return request;
}

/// What must be the same for a sweep to go on with an earlier one.
std::string setup_of(const SweepArguments& a, const ChosenGpu& gpu) {
  std::string setup = fmt::format("{}, window {} s", gpu.description(), a.window_s);
  for (const auto& word : a.command) setup += " " + word;
  return setup;
}

std::vector<std::string> names_of(const std::vector<sweep::RunnableKernel>& kernels) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const auto& kernel : kernels) names.push_back(kernel.name);
  return names;
}

void show(const sweep::SweepProgress& progress) {
  if (::isatty(STDERR_FILENO) != 1) return;
  const auto left = progress.time_left
                        ? fmt::format(", about {:.0f} min left", progress.time_left->in_si() / 60.0)
                        : std::string();
  std::fprintf(stderr, "\r\x1b[Knegawatt: %zu visits done, %zu to go%s", progress.visits,
               progress.left, left.c_str());
  if (progress.left == 0) std::fputc('\n', stderr);
}

Evidence evidence_of(const SweepArguments& a, const ChosenGpu& gpu) {
  return {gpu.evidence(),
          fmt::format("negawatt sweep, {}, NVML energy counter, {} s windows after {} s",
                      gpu.description(), a.window_s, a.settle_s)};
}

}  // namespace

Status run_sweep(const SweepArguments& arguments) {
  NW_TRY(const auto gpu, choose_gpu(arguments.gpu));
  NW_TRY(auto pairs, pairs_to_sweep(arguments, gpu.device));
  NW_TRY(auto runner, sweep::KernelRunner::start({.command = arguments.command}));
  const auto kernels = runner.kernels();
  NW_TRY(auto log, sweep::LogFile::open(arguments.out + ".visits", setup_of(arguments, gpu),
                                        names_of(kernels)));

  std::optional<govern::LeasedClocks> clocks;
  const bool locks =
      std::ranges::any_of(pairs, [](auto pair) { return pair != trace::ClockPair{}; });
  const bool locks_memory =
      std::ranges::any_of(pairs, [](auto pair) { return !pair.memory.is_automatic(); });
  if (locks) {  // else a GPU whose clocks may not be changed can be measured as it is
    NW_TRY(clocks, govern::LeasedClocks::acquire(gpu.device.id(), "negawatt sweep", locks_memory));
    NW_CHECK(clocks->wait_ready(kLeasePatience));
  }

  NW_TRY(const auto outcome, [&] {
    const auto participation = gpu.device.clock().participate();
    return sweep::sweep(
        request_of(arguments, std::move(pairs)), runner, gpu.device,
        [&clocks](trace::ClockPair pair) { return clocks ? clocks->ask(pair) : Status{}; },
        log.earlier(),
        [&log](const sweep::Visit& visit, const sweep::SweepProgress& progress) {
          show(progress);
          return log.append(visit);
        });
  }());
  if (clocks) {
    NW_CHECK(clocks->release());
  }
  NW_CHECK(write_output(arguments.out, sweep::kernel_table_csv(kernels, outcome.visits,
                                                               evidence_of(arguments, gpu))));
  std::printf("%s: %zu visits%s, %zu failed, %.0f s\n", arguments.out.c_str(),
              outcome.visits.size(), outcome.out_of_time ? " (out of time)" : "", outcome.failed,
              outcome.passed.in_si());
  return {};
}

}  // namespace negawatt::cli
