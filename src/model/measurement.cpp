// SPDX-License-Identifier: Apache-2.0
#include "model/measurement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/csv.hpp"
#include "core/nearest_name.hpp"
#include "core/text.hpp"
#include "model/deployment.hpp"

namespace negawatt::model {
namespace {

/// All prompts at once; each token attends to those before it and to itself.
StepLoad prompt_step(double sequences, double tokens) {
  return {sequences * tokens, sequences * tokens * (tokens + 1.0) / 2.0, 0, 0};
}

/// Output tokens 2, 3, ... of each sequence, on average.
StepLoad decode_step(const Measurement& m) {
  return {0, 0, m.sequences, m.sequences * (m.input_tokens + m.output_tokens / 2.0)};
}

/// Each step, 1 / output_tokens of the sequences end and as many prompts come in.
StepLoad serving_step(const Measurement& m) {
  StepLoad load = decode_step(m);
  const StepLoad prompts = prompt_step(m.sequences / m.output_tokens, m.input_tokens);
  load.prompt_tokens = prompts.prompt_tokens;
  load.prompt_attention = prompts.prompt_attention;
  return load;
}

/// The mean of the steps that compute input, input + 1, ... tokens.
StepLoad uncached_step(const Measurement& m) {
  const double more = m.output_tokens - 1.0;
  const double mean = m.input_tokens + more / 2.0;
  const double mean_square = mean * mean + more * (more + 2.0) / 12.0;
  return {m.sequences * mean, m.sequences * (mean_square + mean) / 2.0, 0, 0};
}

constexpr std::array<std::string_view, 5> kPhases{"prefill", "decode", "serving", "request",
                                                  "uncached"};

struct Columns {
  std::size_t model, phase, devices, sequences, input, output, time, energy, curve;
};

Result<Columns> columns_of(const CsvReader& csv) {
  constexpr std::array<std::string_view, 6> kNeeded{"model",     "phase",        "devices",
                                                    "sequences", "input_tokens", "output_tokens"};
  NW_TRY(const auto at, csv.require(kNeeded));
  return Columns{at[0],
                 at[1],
                 at[2],
                 at[3],
                 at[4],
                 at[5],
                 csv.find("time_s"),
                 csv.find("energy_j"),
                 csv.find("curve")};
}

Result<const Architecture*> model_in(const CsvReader& csv, std::size_t column,
                                     std::span<const Architecture> architectures) {
  const auto name = csv.field(column);
  const auto found = std::ranges::find(architectures, name, &Architecture::name);
  if (found != architectures.end()) return &*found;
  std::vector<std::string_view> names;
  for (const auto& architecture : architectures) names.push_back(architecture.name);
  const auto nearest = nearest_name(name, names);
  return csv.error(fmt::format("model '{}' is not known{}", printable(name),
                               nearest.empty() ? "" : fmt::format(", is '{}' meant?", nearest)));
}

/// A positive number that is not far beyond what exists, so that no sum of them overflows.
Result<double> positive_to(const CsvReader& csv, std::size_t column, double most) {
  NW_TRY(const double value, csv.positive(column));
  if (value <= most) return value;
  return csv.error_in(column, fmt::format("at most {:g}", most));
}

/// An optional column: 0 when it or the field is not there.
Result<double> optional_positive(const CsvReader& csv, std::size_t column) {
  constexpr double kMost = 1e12;
  if (column == csv.columns().size() || csv.field(column).empty()) return 0.0;
  return positive_to(csv, column, kMost);
}

/// Meters and sheets differ, and some meters leave out what flows anyway; kilojoules and
/// milliseconds are wrong by a thousand.
Status check_power(const CsvReader& csv, const Measurement& m, const Device& device) {
  if (m.seconds == 0.0 || m.joules == 0.0) return {};
  constexpr double kTooLittle = 30.0;
  constexpr double kTooMuch = 2.0;
  const double watts = m.joules / m.seconds / m.devices;
  if (watts >= device.idle_power / kTooLittle && watts <= device.max_power * kTooMuch) return {};
  return csv.error(fmt::format(
      "energy_j / time_s is {:.4g} W on each of {} devices, expected about {:g} to {:g} W, idle_w "
      "to max_w of {}; are units mixed up?",
      watts, m.devices, device.idle_power, device.max_power, device.name));
}

Result<Measurement> measurement_in(const CsvReader& csv, const Columns& at,
                                   std::span<const Architecture> architectures,
                                   const Device& device) {
  Measurement m;
  NW_TRY(m.architecture, model_in(csv, at.model, architectures));
  const auto phase = std::ranges::find(kPhases, csv.field(at.phase));
  if (phase == kPhases.end())
    return csv.error_in(at.phase, "prefill, decode, serving, request or uncached");
  m.phase = static_cast<Phase>(phase - kPhases.begin());
  NW_TRY(m.devices, csv.whole(at.devices, 1));
  const Status shared = check_sharing(*m.architecture, device, m.devices);
  if (!shared) return csv.error(shared.error().message);
  NW_TRY(m.sequences, positive_to(csv, at.sequences, 1e6));
  NW_TRY(m.input_tokens, positive_to(csv, at.input, 1e9));
  NW_TRY(m.output_tokens, positive_to(csv, at.output, 1e9));
  if (m.output_tokens < 1.0) return csv.error_in(at.output, "at least one token");
  NW_TRY(m.seconds, optional_positive(csv, at.time));
  NW_TRY(m.joules, optional_positive(csv, at.energy));
  if (m.seconds == 0.0 && m.joules == 0.0) return csv.error("neither time_s nor energy_j is given");
  NW_CHECK(check_power(csv, m, device));
  return m;
}

}  // namespace

Sample sample_of(const Measurement& m) {
  Sample sample{m.architecture, m.devices, {}, m.seconds, m.joules, m.curve};
  switch (m.phase) {
    case Phase::prefill:
      sample.steps = {{prompt_step(m.sequences, m.input_tokens), 1.0}};
      break;
    case Phase::decode:
      sample.steps = {{decode_step(m), 1.0}};
      break;
    case Phase::serving:
      sample.steps = {{serving_step(m), 1.0}};
      break;
    case Phase::request:
      sample.steps = {{prompt_step(m.sequences, m.input_tokens), 1.0},
                      {decode_step(m), m.output_tokens - 1.0}};
      break;
    case Phase::uncached:
      sample.steps = {{uncached_step(m), m.output_tokens}};
      break;
  }
  return sample;
}

Result<std::vector<Sample>> parse_measurements(std::string_view bytes, std::string_view file,
                                               std::span<const Architecture> architectures,
                                               const Device& device) {
  CsvReader csv(bytes, file);
  NW_CHECK(csv.read_header());
  NW_TRY(const Columns at, columns_of(csv));
  std::vector<Sample> samples;
  std::map<std::tuple<const Architecture*, std::uint32_t, std::string>, std::uint32_t> curves;
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) break;
    NW_TRY(Measurement m, measurement_in(csv, at, architectures, device));
    const std::string curve(at.curve == csv.columns().size() ? "" : csv.field(at.curve));
    m.curve = curves.try_emplace({m.architecture, m.devices, curve}, curves.size()).first->second;
    samples.push_back(sample_of(m));
  }
  if (samples.empty())
    return failure(Code::invalid, fmt::format("{}: expected at least one measurement", file));
  return samples;
}

}  // namespace negawatt::model
