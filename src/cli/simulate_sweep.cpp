// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_sweep.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cli/files.hpp"
#include "core/csv.hpp"

namespace negawatt::cli {
namespace {

std::string key_of(const SimulateCase& one) {
  return fmt::format("{},{},{}", csv_field(one.policy), one.speed, one.seed);
}

std::string line_of(const SimulateCase& one, const sim::SimulationResult& result) {
  return key_of(one) + "," + sim::csv_values(result) + "\n";
}

std::string first_line(const SimulateInputs& inputs) {
  return fmt::format("# inputs: {:016x}\n", inputs.fingerprint);
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

/// Lines of the file by case; none when there is no file.
Result<std::map<std::string, std::string>> lines_of(const std::string& path,
                                                    const SimulateInputs& inputs) {
  std::map<std::string, std::string> lines;
  if (!exists(path)) return lines;
  NW_TRY(const auto bytes, read_input(path));
  if (!bytes.starts_with(first_line(inputs)))
    return failure(Code::invalid,
                   fmt::format("{}: holds results of another cluster or other requests; give "
                               "another file, or delete it",
                               path));
  CsvReader csv(bytes, path);
  NW_CHECK(csv.read_header());
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) return lines;
    std::string line;
    for (std::size_t i = 0; i < csv.columns().size(); ++i)
      line += (i == 0 ? "" : ",") + csv_field(csv.field(i));
    const auto key = fmt::format("{},{},{}", csv_field(csv.field(0)), csv.field(1), csv.field(2));
    lines[key] = line + "\n";
  }
}

/// What the threads share.
class Sweep {
 public:
  Sweep(const SimulateArguments& arguments, const SimulateInputs& inputs,
        const std::vector<SimulateCase>& cases, std::map<std::string, std::string> lines)
      : path_(arguments.sweep), inputs_(inputs), cases_(cases), lines_(std::move(lines)) {}

  [[nodiscard]] bool has(const SimulateCase& one) const { return lines_.contains(key_of(one)); }

  /// Takes the next case that has no line yet, until there is none or one has failed.
  void work() {
    for (std::size_t at = next_++; at < cases_.size(); at = next_++) {
      if (failed_.load()) return;
      const auto& one = cases_[at];
      if (std::lock_guard lock(mutex_); lines_.contains(key_of(one))) continue;
      add(one, simulate_case(inputs_, one));
    }
  }
  [[nodiscard]] Status status() const { return status_; }

 private:
  void add(const SimulateCase& one, Result<sim::SimulationResult> result) {
    const std::lock_guard lock(mutex_);
    if (!status_) return;
    if (result) {
      lines_[key_of(one)] = line_of(one, *result);
      std::fprintf(stderr, "negawatt: %zu of %zu: %s, speed %g, seed %llu: %.4g J, %.2g s\n",
                   count(), cases_.size(), one.policy.c_str(), one.speed,
                   static_cast<unsigned long long>(one.seed), result->energy.total().in_si(),
                   result->wall.in_si());
      status_ = write_output(path_, bytes());
    } else {
      status_ = tl::unexpected(std::move(result).error());
    }
    failed_ = !status_.has_value();
  }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(cases_, [&](const auto& one) { return has(one); }));
  }
  /// Those of the grid in its order, then those of earlier grids.
  [[nodiscard]] std::string bytes() const {
    std::string text =
        fmt::format("{}policy,speed,seed,{}\n", first_line(inputs_), sim::csv_columns());
    auto rest = lines_;
    for (const auto& one : cases_)
      if (const auto line = rest.extract(key_of(one))) text += line.mapped();
    for (const auto& [key, line] : rest) text += line;
    return text;
  }

  std::string path_;
  const SimulateInputs& inputs_;
  const std::vector<SimulateCase>& cases_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  // Guarded by mutex_ while threads run:
  std::mutex mutex_;
  std::map<std::string, std::string> lines_;
  Status status_;
};

}  // namespace

Status run_simulate_sweep(const SimulateArguments& arguments, const SimulateInputs& inputs,
                          const std::vector<SimulateCase>& cases) {
  NW_TRY(auto lines, lines_of(arguments.sweep, inputs));
  Sweep sweep(arguments, inputs, cases, std::move(lines));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto jobs =
      std::min<std::size_t>(arguments.jobs > 0 ? arguments.jobs : cores, cases.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(jobs);
    for (std::size_t i = 0; i < jobs; ++i) threads.emplace_back([&sweep] { sweep.work(); });
  }
  NW_CHECK(sweep.status());
  return write_output("-", arguments.sweep + "\n");
}

}  // namespace negawatt::cli
