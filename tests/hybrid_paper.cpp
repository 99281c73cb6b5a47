// SPDX-License-Identifier: Apache-2.0
#include "tests/hybrid_paper.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/csv.hpp"

namespace negawatt::testing {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

using Columns = std::vector<std::size_t>;

/// Calls `take(csv, columns)` for every record.
Status each_record(const std::string& bytes, std::span<const std::string_view> names,
                   const std::function<Status(const CsvReader&, const Columns&)>& take) {
  CsvReader csv(bytes, "hybrid-paper");
  NW_CHECK(csv.read_header());
  NW_TRY(const auto columns, csv.require(names));
  while (true) {
    NW_TRY(const bool more, csv.next());
    if (!more) return {};
    NW_CHECK(take(csv, columns));
  }
}

/// The power of two that is nearest in logarithms, 8 at least: where the scripts look a curve up.
std::uint32_t nominal(std::uint32_t tokens) {
  const auto power = std::exp2(std::round(std::log2(static_cast<double>(tokens))));
  return std::max(static_cast<std::uint32_t>(power), 8U);
}

struct Bin {
  double low = 0.0;
  double high = 0.0;
  double share = 0.0;
};

/// Spreads a bin evenly over the whole numbers in it.
void spread(const Bin& bin, LengthShares& lengths) {
  auto first = static_cast<std::uint32_t>(std::ceil(bin.low));
  auto end = static_cast<std::uint32_t>(std::ceil(bin.high));
  if (first >= end) {
    first = static_cast<std::uint32_t>(std::lround((bin.low + bin.high) / 2.0));
    end = first + 1;
  }
  for (auto tokens = first; tokens < end; ++tokens) lengths[tokens] += bin.share / (end - first);
}

}  // namespace

Result<AlpacaLengths> alpaca_lengths(const std::string& histograms) {
  constexpr std::array<std::string_view, 5> kNames = {"axis", "dataset", "lo", "hi", "prob"};
  AlpacaLengths lengths;
  NW_CHECK(each_record(histograms, kNames, [&](const auto& csv, const auto& column) -> Status {
    if (csv.field(column[1]) != "Alpaca") return {};
    Bin bin;
    NW_TRY(bin.low, csv.number(column[2]));
    NW_TRY(bin.high, csv.number(column[3]));
    NW_TRY(bin.share, csv.number(column[4]));
    spread(bin, csv.field(column[0]) == "input" ? lengths.input : lengths.output);
    return {};
  }));
  return lengths;
}

Result<PaperCurves> paper_curves(const std::string& pooled_curves) {
  constexpr std::array<std::string_view, 4> kNames = {"sweep", "system", "tokens", "J_per_token"};
  PaperCurves curves;
  NW_CHECK(each_record(pooled_curves, kNames, [&](const auto& csv, const auto& column) -> Status {
    auto& sweep = csv.field(column[0]) == "input" ? curves.input : curves.output;
    NW_TRY(const auto tokens, csv.whole(column[2], 1));
    NW_TRY(const double joules, csv.positive(column[3]));
    if (csv.field(column[1]) == "M1-Pro") sweep.m1[tokens] = joules;
    if (csv.field(column[1]) == "Swing AMD+A100") sweep.a100[tokens] = joules;
    return {};
  }));
  return curves;
}

double threshold_kwh(const TokenCurves& curves, const LengthShares& lengths,
                     std::uint32_t threshold) {
  const auto largest = std::min(curves.m1.rbegin()->first, curves.a100.rbegin()->first);
  double joules = 0.0;
  for (const auto& [tokens, share] : lengths) {
    const auto& curve = tokens <= threshold ? curves.m1 : curves.a100;
    joules += tokens * share * curve.at(std::min(nominal(tokens), largest));
  }
  return AlpacaLengths::kRequests * joules / kJoulesPerKwh;
}

Result<trace::MeasuredSystem> a100_system(const std::string& grid, std::string_view model,
                                          double host_watts) {
  constexpr std::array<std::string_view, 5> kNames = {"model", "input_tokens", "output_tokens",
                                                      "runtime_s", "gpu_energy_J"};
  trace::MeasuredSystem system{.name = "A100", .model = std::string(model)};
  NW_CHECK(each_record(grid, kNames, [&](const auto& csv, const auto& column) -> Status {
    if (csv.field(column[0]) != model) return {};
    trace::SystemRun run;
    NW_TRY(run.size.input_tokens, csv.whole(column[1], 1));
    NW_TRY(run.size.output_tokens, csv.whole(column[2], 1));
    NW_TRY(const double seconds, csv.positive(column[3]));
    NW_TRY(const double joules, csv.positive(column[4]));
    run.cost = {.time = Seconds(seconds), .energy = Joules(joules + host_watts * seconds)};
    system.runs.push_back(run);
    return {};
  }));
  return system;
}

Result<trace::MeasuredSystem> m1_system(const std::string& grid, bool only_whole) {
  constexpr std::array<std::string_view, 5> kNames = {
      "input_tokens", "output_tokens_requested", "output_tokens_produced", "runtime_s", "energy_J"};
  trace::MeasuredSystem system{.name = "M1", .model = "Llama-2-7b-chat-hf"};
  NW_CHECK(each_record(grid, kNames, [&](const auto& csv, const auto& column) -> Status {
    trace::SystemRun run;
    NW_TRY(run.size.input_tokens, csv.whole(column[0], 1));
    NW_TRY(run.size.output_tokens, csv.whole(column[1], 1));
    NW_TRY(const auto produced, csv.whole(column[2], 0));
    NW_TRY(const double seconds, csv.positive(column[3]));
    NW_TRY(const double joules, csv.positive(column[4]));
    run.cost = {.time = Seconds(seconds), .energy = Joules(joules)};
    const auto requested = run.size.output_tokens;
    const bool is_whole = produced >= 0.85 * requested && std::has_single_bit(requested) &&
                          requested >= 8 && requested <= 512;
    if (is_whole || !only_whole) system.runs.push_back(run);
    return {};
  }));
  return system;
}

plan::Workload alpaca_workload(const AlpacaLengths& lengths) {
  std::map<trace::RequestSize, double> shares;
  for (const auto& [input, input_share] : lengths.input)
    for (const auto& [output, output_share] : lengths.output)
      shares[{std::max(input, 8U), std::max(output, 4U)}] += input_share * output_share;
  plan::Workload workload;
  for (const auto& [size, share] : shares) {
    const double requests = AlpacaLengths::kRequests * share * kAlpacaCopies;
    if (requests >= 0.5)
      workload.groups.push_back({size, static_cast<std::uint64_t>(std::llround(requests))});
  }
  return workload;
}

plan::Workload workload_from_eight(const plan::Workload& workload) {
  std::map<trace::RequestSize, std::uint64_t> requests;
  for (const auto& group : workload.groups)
    requests[{std::max(group.size.input_tokens, 8U), group.size.output_tokens}] += group.requests;
  plan::Workload longer;
  for (const auto& [size, count] : requests) longer.groups.push_back({size, count});
  return longer;
}

Result<std::vector<double>> arena_energy_spans(const std::string& arena) {
  constexpr std::array<std::string_view, 5> kNames = {"task", "gpu_model", "model", "num_gpus",
                                                      "energy_per_token_J"};
  struct Span {
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
  };
  std::map<std::string, Span> curves;
  NW_CHECK(each_record(arena, kNames, [&](const auto& csv, const auto& column) -> Status {
    if (csv.field(column[0]) != "lm-arena-chat") return {};
    NW_TRY(const double joules, csv.positive(column[4]));
    auto& span = curves[fmt::format("{},{},{}", csv.field(column[1]), csv.field(column[2]),
                                    csv.field(column[3]))];
    span = {std::min(span.least, joules), std::max(span.most, joules)};
    return {};
  }));
  std::vector<double> spans;
  for (const auto& [name, span] : curves) spans.push_back(span.most / span.least);
  std::ranges::sort(spans);
  return spans;
}

double quantile_of(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace negawatt::testing
