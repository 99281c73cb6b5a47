// SPDX-License-Identifier: Apache-2.0
#include "sim/workload_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/same_functions.hpp"
#include "core/toml_reader.hpp"
#include "trace/request_readers.hpp"

namespace negawatt::sim {
namespace {

constexpr NumberRange kTokens{1.0, 1 << 24};
constexpr NumberRange kSigma{0.0, 10.0};
constexpr std::string_view kOfTrace = "trace";
constexpr std::string_view kFittedToTrace = "log-normal-of-trace";

/// What one [[stream]] table says.
struct StreamEntry {
  trace::Stream stream;
  std::string request_class = "default";
  std::string lengths = "log-normal";
  std::string trace;
  std::uint32_t most_tokens = trace::LogNormalLengths{}.most;
};

/// A number that must be whole; a count may be written as 1e6.
double take_whole(TomlTable& table, std::string_view key, NumberRange range) {
  double value = 0.0;
  table.take(key, value, range);
  if (value != std::floor(value))
    table.refuse(key, fmt::format("a whole number from {} to {}", range.least, range.most));
  return value;
}

void read_arrivals(TomlTable& table, trace::Arrivals& arrivals) {
  auto& rate = arrivals.rate;
  table.need("rate_per_s", rate.mean, {1e-9, 1e9});
  table.take("variation", arrivals.variation, {0.0, trace::kMostVariation});
  table.take("swing", rate.swing, {0.0, 1.0});
  table.take("phase", rate.phase, {0.0, 1.0});
  table.take("rates", rate.table, {0.0, 1e9});
  double period = rate.period.in_si();
  table.take("period_s", period, {1.0, 1e9});
  rate.period = Seconds(period);
  if (table.kind("rates") == TomlTable::Kind::absent) return;
  for (const std::string_view key : {"swing", "phase"})
    if (table.kind(key) != TomlTable::Kind::absent)
      table.refuse(key, "either 'rates', or 'swing' and 'phase'");
  if (std::ranges::all_of(rate.table, [](double part) { return part == 0.0; }))
    table.refuse("rates", "one above 0 among them");
}

trace::Lengths read_log_normal(TomlTable& table) {
  double input = 0.0;
  double output = 0.0;
  trace::LogNormalLengths lengths;
  table.need("input_median", input, kTokens);
  table.need("output_median", output, kTokens);
  table.need("input_sigma", lengths.input_sigma, kSigma);
  table.need("output_sigma", lengths.output_sigma, kSigma);
  table.take("correlation", lengths.correlation, {-1.0, 1.0});
  table.take("most_tokens", lengths.most, kTokens);
  lengths.input_mu = same_log(std::max(1.0, input));
  lengths.output_mu = same_log(std::max(1.0, output));
  return lengths;
}

trace::Lengths read_constant(TomlTable& table) {
  trace::ConstantLengths lengths;
  table.need("input_tokens", lengths.input, kTokens);
  table.need("output_tokens", lengths.output, kTokens);
  return lengths;
}

trace::Lengths read_uniform(TomlTable& table) {
  trace::UniformLengths lengths;
  table.need("input_least", lengths.input_least, kTokens);
  table.need("input_most", lengths.input_most, kTokens);
  table.need("output_least", lengths.output_least, kTokens);
  table.need("output_most", lengths.output_most, kTokens);
  if (lengths.input_least > lengths.input_most) table.refuse("input_least", "at most input_most");
  if (lengths.output_least > lengths.output_most)
    table.refuse("output_least", "at most output_most");
  return lengths;
}

StreamEntry read_stream(TomlTable& table) {
  StreamEntry entry;
  table.take("class", entry.request_class);
  table.take("lengths", entry.lengths);
  entry.stream.priority =
      static_cast<std::int16_t>(take_whole(table, "priority", {-1000.0, 1000.0}));
  read_arrivals(table, entry.stream.arrivals);
  if (entry.lengths == "log-normal")
    entry.stream.lengths = read_log_normal(table);
  else if (entry.lengths == "constant")
    entry.stream.lengths = read_constant(table);
  else if (entry.lengths == "uniform")
    entry.stream.lengths = read_uniform(table);
  else if (entry.lengths == kOfTrace)
    table.need("trace", entry.trace);
  else if (entry.lengths == kFittedToTrace) {
    table.need("trace", entry.trace);
    table.take("most_tokens", entry.most_tokens, kTokens);
  } else
    table.refuse("lengths", "log-normal, constant, uniform, trace or log-normal-of-trace");
  table.finish();
  return entry;
}

/// The lengths of a stream that takes them from a trace.
Result<trace::Lengths> lengths_of_trace(const StreamEntry& entry, const ReadFile& read) {
  NW_TRY(const auto bytes, read(entry.trace));
  NW_TRY(const auto requests, trace::parse_requests(bytes, entry.trace));
  if (entry.lengths == kOfTrace) return trace::empirical_lengths(requests);
  auto fitted = trace::fit_log_normal(requests);
  fitted.most = entry.most_tokens;
  return fitted;
}

std::uint16_t class_index(std::vector<std::string>& classes, const std::string& name) {
  const auto found = std::ranges::find(classes, name);
  const auto index = static_cast<std::uint16_t>(found - classes.begin());
  if (found == classes.end()) classes.push_back(name);
  return index;
}

}  // namespace

Result<WorkloadDescription> parse_workload(std::string_view bytes, std::string_view file,
                                           const ReadFile& read) {
  NW_TRY(const auto document, TomlDocument::parse(bytes, file));
  auto root = document.root();
  WorkloadDescription description;
  double duration = 0.0;
  const double requests = take_whole(root, "requests", {1.0, 1e12});
  root.take("duration_s", duration, {1e-3, 1e10});
  std::vector<StreamEntry> entries;
  for (auto& table : root.tables("stream")) entries.push_back(read_stream(table));
  root.finish();
  NW_CHECK(root.status());
  auto& workload = description.workload;
  workload.most_requests = static_cast<std::uint64_t>(requests);
  workload.duration = Seconds(duration);
  for (auto& entry : entries) {
    entry.stream.request_class = class_index(description.classes, entry.request_class);
    if (!entry.trace.empty()) {
      NW_TRY(entry.stream.lengths, lengths_of_trace(entry, read));
    }
    workload.streams.push_back(std::move(entry.stream));
  }
  if (const auto valid = trace::check(workload); !valid)
    return failure(valid.error().code, fmt::format("{}: {}", file, valid.error().message));
  return description;
}

}  // namespace negawatt::sim
