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
#include "lease/protocol.hpp"
#include "sweep/log_file.hpp"
#include "sweep/pair_list.hpp"
#include "sweep/runner.hpp"
#include "sweep/sweep.hpp"
#include "sweep/table.hpp"
#include "sweep/visits.hpp"

namespace negawatt::cli {
namespace {

// Enough for the shape of the time-energy surface; a finer grid is asked for with --core.
constexpr std::size_t kDefaultCoreClocks = 10;
// Until the program has loaded its kernels onto the GPU.
constexpr Seconds kLeasePatience(60.0);

// More lines than this say nothing to a person; the counts are told.
constexpr std::size_t kMostNamed = 20;

using Pairs = std::vector<trace::ClockPair>;

/// In MHz, descending.
struct SupportedClocks {
  std::vector<std::uint32_t> core;
  std::vector<std::uint32_t> memory;
};

SupportedClocks supported_by(const gpu::Device& device) {
  SupportedClocks supported;
  const auto memory = device.memory_clocks();
  if (!memory || memory->empty()) return supported;
  for (const auto clock : *memory) supported.memory.push_back(clock.count);
  if (const auto core = device.core_clocks(memory->front()))
    for (const auto clock : *core) supported.core.push_back(clock.count);
  return supported;
}

SupportedClocks within(const lease::Terms& terms, SupportedClocks clocks) {
  std::erase_if(clocks.core, [&terms](std::uint32_t mhz) {
    return mhz < terms.core_min_mhz || mhz > terms.core_max_mhz;
  });
  if (!terms.memory) clocks.memory.clear();
  return clocks;
}

/// What was asked for by name; otherwise spread over the supported clocks.
Result<Pairs> pairs_to_sweep(const SweepArguments& a, const SupportedClocks& supported) {
  auto core = sweep::spread(supported.core, kDefaultCoreClocks);
  auto memory = sweep::spread(supported.memory, supported.memory.size());
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
  return sweep::setup_text(
      fmt::format("{}, windows of {} s after {} s", gpu.description(), a.window_s, a.settle_s),
      a.command);
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

/// Over what is left of a line of progress.
void note(const std::string& text) {
  const bool is_shown = ::isatty(STDERR_FILENO) == 1;
  std::fprintf(stderr, "%snegawatt: %s\n", is_shown ? "\r\x1b[K" : "", text.c_str());
}

/// What would have been swept and is not, because the administrator does not allow it.
void note_limits(const SweepArguments& a, const SupportedClocks& supported,
                 const lease::Terms& terms) {
  const auto allowed = within(terms, supported);
  if (a.core.empty() && allowed.core.size() < supported.core.size())
    note(fmt::format("negawattd allows core clocks from {} to {} MHz: others are not swept",
                     terms.core_min_mhz, terms.core_max_mhz));
  if (a.memory.empty() && allowed.memory.size() < supported.memory.size())
    note("negawattd does not allow to lock the memory clock: it is not swept");
}

void note_warm_up(sweep::WarmUp warm_up, Seconds limit) {
  if (warm_up == sweep::WarmUp::still_heating)
    note(
        "the temperature did not hold at the end of the warm-up: early windows are of another one");
  if (warm_up == sweep::WarmUp::unreadable)
    note(
        fmt::format("this GPU tells no temperature: it was warmed up for at most {:.0f} s, and "
                    "nobody knows whether that was enough",
                    limit.in_si()));
}

/// Names what the table does not have, or has less of than it should.
void note_what_is_missing(const sweep::SweepOutcome& outcome,
                          const std::vector<std::string>& kernels) {
  std::vector<std::string> missing;
  missing.reserve(outcome.dropped.size() + outcome.given_up.size());
  for (const auto& pair : outcome.dropped) missing.push_back(pair.why);
  for (const auto& row : outcome.given_up)
    missing.push_back(
        fmt::format("'{}' at {}: {}", kernels[row.kernel], to_string(row.clocks), row.why));
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i)
    note("left out: " + missing[i]);
  if (missing.size() > kMostNamed)
    note(fmt::format("left out: {} more like these", missing.size() - kMostNamed));
}

void print_summary(const SweepArguments& a, const sweep::SweepOutcome& outcome) {
  const auto left_out = [](std::size_t count, const char* of) {
    return count == 0 ? std::string() : fmt::format(", {} {} left out", count, of);
  };
  std::printf("%s: %zu visits%s, %zu failed%s%s, %.0f s\n", a.out.c_str(), outcome.visits.size(),
              outcome.out_of_time ? " (out of time)" : "", outcome.failed,
              left_out(outcome.dropped.size(), "clock pairs").c_str(),
              left_out(outcome.given_up.size(), "rows").c_str(), outcome.passed.in_si());
}

Evidence evidence_of(const SweepArguments& a, const ChosenGpu& gpu) {
  return {gpu.evidence(),
          fmt::format("negawatt sweep, {}, NVML energy counter, {} s windows after {} s",
                      gpu.description(), a.window_s, a.settle_s)};
}

}  // namespace

Status run_sweep(const SweepArguments& arguments) {
  NW_TRY(const auto gpu, choose_gpu(arguments.gpu));
  const auto supported = supported_by(gpu.device);
  NW_TRY(auto pairs, pairs_to_sweep(arguments, supported));
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
    NW_TRY(pairs, pairs_to_sweep(arguments, within(clocks->terms(), supported)));
    note_limits(arguments, supported, clocks->terms());
  }

  const auto request = request_of(arguments, std::move(pairs));
  NW_TRY(const auto outcome, [&] {
    const auto participation = gpu.device.clock().participate();
    return sweep::sweep(
        request, runner, gpu.device,
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
  note_warm_up(outcome.warm_up, request.warm_up_limit);
  note_what_is_missing(outcome, names_of(kernels));
  print_summary(arguments, outcome);
  return {};
}

}  // namespace negawatt::cli
