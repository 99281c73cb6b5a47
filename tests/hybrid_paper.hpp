// SPDX-License-Identifier: Apache-2.0
//
// The measurements behind arXiv 2407.00010 and 2407.04014 as systems and workloads, and the papers'
// own arithmetic (equations 9 and 10), for the tests and the study that reproduce them. Reads files
// of ../shared/data, which may not be redistributed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "plan/workload.hpp"
#include "trace/system_table.hpp"

namespace negawatt::testing {

/// Share of the requests by tokens.
using LengthShares = std::map<std::uint32_t, double>;

struct AlpacaLengths {
  static constexpr double kRequests = 52'002;
  LengthShares input;
  LengthShares output;
};

/// Joules per token at the nominal lengths 8, 16, 32, ..., as the figures average them.
struct TokenCurves {
  std::map<std::uint32_t, double> m1;
  std::map<std::uint32_t, double> a100;
};

struct PaperCurves {
  TokenCurves input;
  TokenCurves output;
};

[[nodiscard]] Result<AlpacaLengths> alpaca_lengths(const std::string& histograms);
[[nodiscard]] Result<PaperCurves> paper_curves(const std::string& pooled_curves);

/// Equation 9 with input lengths and curves, 10 with those of outputs, in kWh for all of Alpaca:
/// requests up to `threshold` tokens go to the M1.
[[nodiscard]] double threshold_kwh(const TokenCurves& curves, const LengthShares& lengths,
                                   std::uint32_t threshold);

/// A model's grid on the A100. `host_watts` adds to the energy of the GPU what two cores of the
/// host draw: 1.8 W in the data's README; the follow-up has none.
[[nodiscard]] Result<trace::MeasuredSystem> a100_system(const std::string& grid,
                                                        std::string_view model, double host_watts);

/// Llama-2 7B on the M1 Pro. `only_whole`: without answers that ended early (less than 85 % of what
/// was asked for) or were asked for at no power of two up to 512.
[[nodiscard]] Result<trace::MeasuredSystem> m1_system(const std::string& grid, bool only_whole);

/// Alpaca with inputs and outputs drawn independently (the joint lengths are not published), a
/// million requests for each real one. Inputs below 8 tokens count as 8, outputs below 4 as 4.
[[nodiscard]] plan::Workload alpaca_workload(const AlpacaLengths& lengths);
inline constexpr double kAlpacaCopies = 1e6;

/// Requests of at least 8 input tokens each; shorter ones count as 8.
[[nodiscard]] plan::Workload workload_from_eight(const plan::Workload& workload);

/// Of every curve of the ML.ENERGY chat benchmark (a model on a GPU, over batch sizes): the most
/// joules an output token by the least. Sorted.
[[nodiscard]] Result<std::vector<double>> arena_energy_spans(const std::string& arena);
/// Between the sorted values, linearly; `part` from 0 to 1.
[[nodiscard]] double quantile_of(const std::vector<double>& sorted, double part);

}  // namespace negawatt::testing
