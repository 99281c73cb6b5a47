// SPDX-License-Identifier: Apache-2.0
//
// The study behind docs/hybrid-papers.md: recomputes the papers' numbers from their measurements,
// and prices the same requests by input and output together. `hybrid_study DATA` prints the tables
// of the page, `hybrid_study DATA --csv` the points of its plots (panel,series,x,y), for
// bench/hybrid_plots. DATA is a folder with hybrid-paper/, requests/ and serving-energy/, which do
// not ship.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plan/assign.hpp"
#include "plan/assign_rules.hpp"
#include "tests/hybrid_paper.hpp"
#include "trace/request_readers.hpp"

namespace negawatt {
namespace {

using plan::Assignment;
using plan::AssignPlan;
using plan::AssignRequest;
using plan::AssignRule;
using plan::CostSurface;
using plan::Workload;

constexpr std::uint32_t kAll = 1'000'000;  // above every length
constexpr std::string_view kLlama = "Llama-2-7b-chat-hf";

template <class T>
T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "hybrid_study: %s\n", result.error().message.c_str());
  std::exit(1);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "hybrid_study: cannot read '%s'\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Study {
  explicit Study(const std::string& folder)
      : curves(value_or_exit(
            testing::paper_curves(read(folder + "/hybrid-paper/pooled_energy_per_token.csv")))),
        alpaca(value_or_exit(
            testing::alpaca_lengths(read(folder + "/requests/alpaca_gsm8k_python_hist.csv")))),
        arena(read(folder + "/serving-energy/mlenergy_v3_llm_text.csv")),
        a100_grid(read(folder + "/hybrid-paper/grid_a100_7models.csv")),
        m1_grid(read(folder + "/hybrid-paper/grid_m1pro_llama2_7b.csv")) {
    table.name = "the published grids";
    table.systems = {value_or_exit(testing::m1_system(m1_grid, true)),
                     value_or_exit(testing::a100_system(a100_grid, kLlama, 1.8))};
    workloads.push_back({"Alpaca (independent lengths)", testing::alpaca_workload(alpaca)});
    const auto add = [&](std::string name, const std::string& file) {
      const auto trace =
          value_or_exit(trace::parse_requests(read(folder + "/requests/" + file), file));
      workloads.push_back(
          {std::move(name), testing::workload_from_eight(plan::workload_of(trace.requests))});
    };
    add("LMSYS sample", "lmsys_025.csv");
    add("Azure 2023 code", "AzureLLMInferenceTrace_code.csv");
    add("Azure 2023 conversation", "AzureLLMInferenceTrace_conv.csv");
  }

  AssignPlan plan(const Workload& workload, const AssignRequest& request = {}) const {
    return value_or_exit(plan::plan_assignment(table, workload, request));
  }

  struct Named {
    std::string name;
    Workload workload;
  };
  testing::PaperCurves curves;
  testing::AlpacaLengths alpaca;
  std::string arena;  ///< ML.ENERGY
  std::string a100_grid;
  std::string m1_grid;
  trace::SystemTable table;
  std::vector<Named> workloads;
};

const Assignment& named(const AssignPlan& plan, std::string_view name) {
  if (plan.chosen.name == name) return plan.chosen;
  return *std::ranges::find(plan.baselines, name, &Assignment::name);
}

double saving_pct(const AssignPlan& plan, const Assignment& assignment) {
  return -change_pct(named(plan, "all:A100").total.energy, assignment.total.energy);
}

/// Requests up to the thresholds go to the M1; percent of the A100's energy that this saves.
double saving_at(const Study& study, const Workload& workload, AssignRule rule,
                 std::uint32_t threshold) {
  AssignRequest request{.rule = rule, .threshold = {.small = "M1"}};
  if (rule != AssignRule::output_threshold) request.threshold.input_tokens = threshold;
  if (rule != AssignRule::input_threshold) request.threshold.output_tokens = threshold;
  const auto plan = study.plan(workload, request);
  return saving_pct(plan, plan.chosen);
}

void print_figures(const Study& study) {
  fmt::print("| kWh | T=8 | 16 | 32 | 64 | 128 | 256 | 512 | all M1 | all A100 |\n");
  const auto row = [&](std::string_view name, const testing::TokenCurves& curves,
                       const testing::LengthShares& lengths) {
    fmt::print("| {} ", name);
    for (const auto threshold : {8U, 16U, 32U, 64U, 128U, 256U, 512U, kAll, 0U})
      fmt::print("| {:.4f} ", testing::threshold_kwh(curves, lengths, threshold));
    fmt::print("|\n");
  };
  row("Fig. 4a: equation 9", study.curves.input, study.alpaca.input);
  row("Fig. 5a: input lengths on output curves", study.curves.output, study.alpaca.input);
  row("equation 10 as written", study.curves.output, study.alpaca.output);
}

void print_workloads(const Study& study) {
  fmt::print(
      "\n| workload | optimum | to M1 | T_in=32 | T_out=32 | both=32 | best thresholds | "
      "mean seconds | outside the M1's grid |\n");
  for (const auto& [name, workload] : study.workloads) {
    const auto best = study.plan(workload);
    double requests = 0.0;
    for (const auto& group : workload.groups) requests += static_cast<double>(group.requests);
    const auto& both = named(best, "both-thresholds");
    fmt::print(
        "| {} | {:.2f} % | {:.1f} % | {:.2f} % | {:.2f} % | {:.2f} % | in<={} out<={}: "
        "{:.2f} % | {:.1f} -> {:.1f} | {:.0f} % |\n",
        name, saving_pct(best, best.chosen),
        100.0 * static_cast<double>(best.chosen.requests[0]) / requests,
        saving_at(study, workload, AssignRule::input_threshold, 32),
        saving_at(study, workload, AssignRule::output_threshold, 32),
        saving_at(study, workload, AssignRule::both_thresholds, 32), *both.threshold->input_tokens,
        *both.threshold->output_tokens, saving_pct(best, both),
        named(best, "all:A100").total.time.in_si() / requests,
        best.chosen.total.time.in_si() / requests,
        100.0 * static_cast<double>(named(best, "all:M1").extrapolated) / requests);
  }
}

void print_fits(const Study& study) {
  fmt::print(
      "\n| model | a0 | a1 | a2 | R2 uncentred | R2 centred | mean error | median | "
      "negative |\n");
  const auto row = [](std::string_view name, const trace::MeasuredSystem& system) {
    const auto fit = value_or_exit(plan::fit_bilinear(system));
    fmt::print(
        "| {} | {:.4g} | {:.5g} | {:.3g} | {:.3f} | {:.3f} | {:.0f} % | {:.0f} % | {} of {} "
        "|\n",
        name, fit.joules[0], fit.joules[1], fit.joules[2], fit.energy.r2_uncentred,
        fit.energy.r2_centred, fit.energy.mean_pct, fit.energy.median_pct, fit.energy.negative,
        system.runs.size());
  };
  for (const std::string_view model :
       {"falcon-7b", "falcon-40b", "Llama-2-7b-chat-hf", "Llama-2-13b-chat-hf",
        "Llama-2-70b-chat-hf", "Mistral-7B-v0.1", "Mixtral-8x7B-v0.1"})
    row(model, value_or_exit(testing::a100_system(study.a100_grid, model, 0.0)));
  row("Llama-2-7b on M1 Pro", value_or_exit(testing::m1_system(study.m1_grid, false)));
}

struct FollowUp {
  explicit FollowUp(const Study& study)
      : fits{value_or_exit(
                 plan::fit_bilinear(value_or_exit(testing::m1_system(study.m1_grid, false)))),
             value_or_exit(plan::fit_bilinear(
                 value_or_exit(testing::a100_system(study.a100_grid, kLlama, 0.0))))} {
    for (const auto& system : study.table.systems)
      surfaces.push_back(value_or_exit(CostSurface::of(system)));
  }
  std::vector<plan::BilinearFit> fits;
  std::vector<CostSurface> surfaces;
};

void print_winners(const Study& study) {
  const FollowUp model(study);
  const auto count = plan::count_winners(model.surfaces, model.fits, {.per_joule = 1.0},
                                         model.surfaces[0].measured());
  fmt::print("\nThe follow-up's model names the right system at {} of {} sizes.\n", count.right,
             count.sizes);
  for (std::size_t s = 0; s < model.fits.size(); ++s) {
    double promised = 0.0;
    double measured = 0.0;
    for (const auto& [size, requests] : study.workloads[0].workload.groups) {
      const double weight = static_cast<double>(requests) / testing::kAlpacaCopies / 3.6e6;
      promised += weight * model.fits[s].at(size).energy.in_si();
      measured += weight * model.surfaces[s].at(size).cost.energy.in_si();
    }
    fmt::print("All of Alpaca on {}: {:.1f} kWh by the model, {:.1f} by interpolation.\n",
               study.table.systems[s].name, promised, measured);
  }
}

void print_batches(const Study& study) {
  const auto spans = value_or_exit(testing::arena_energy_spans(study.arena));
  fmt::print(
      "\nOver batch sizes, joules an output token of {} ML.ENERGY chat curves differ by {:.1f} to "
      "{:.1f} times, quartiles {:.1f}, {:.1f}, {:.1f}.\n",
      spans.size(), spans.front(), spans.back(), testing::quantile_of(spans, 0.25),
      testing::quantile_of(spans, 0.5), testing::quantile_of(spans, 0.75));
}

void print_points(const Study& study) {
  fmt::print("# source: computed from the measurements of arXiv 2407.00010 and 2407.04014\n");
  fmt::print("panel,series,x,y\n");
  const auto curve = [](std::string_view series, const testing::TokenCurves& curves,
                        const testing::LengthShares& lengths) {
    const double all = testing::threshold_kwh(curves, lengths, 0);
    for (const auto threshold : {8U, 16U, 32U, 64U, 128U, 256U, 512U})
      fmt::print("published,{},{},{:.4f}\n", series, threshold,
                 100.0 * (1.0 - testing::threshold_kwh(curves, lengths, threshold) / all));
  };
  curve("Fig. 4a", study.curves.input, study.alpaca.input);
  curve("Fig. 5a", study.curves.output, study.alpaca.input);
  curve("Eq. 10", study.curves.output, study.alpaca.output);
  const auto& alpaca = study.workloads[0].workload;
  for (const auto threshold : {8U, 16U, 32U, 64U, 128U, 256U, 512U}) {
    const auto point = [&](std::string_view series, AssignRule rule) {
      fmt::print("joint,{},{},{:.4f}\n", series, threshold,
                 saving_at(study, alpaca, rule, threshold));
    };
    point("input <= T", AssignRule::input_threshold);
    point("output <= T", AssignRule::output_threshold);
    point("both <= T", AssignRule::both_thresholds);
  }
  // Who is cheaper, by sign: a prediction below 0 has no ratio.
  const FollowUp model(study);
  for (const auto size : model.surfaces[0].measured()) {
    const auto point = [&](std::string_view panel, Joules m1, Joules a100) {
      fmt::print("{},{},{},{}\n", panel, size.input_tokens, size.output_tokens, m1 < a100 ? -1 : 1);
    };
    point("measured", model.surfaces[0].at(size).cost.energy,
          model.surfaces[1].at(size).cost.energy);
    point("model", model.fits[0].at(size).energy, model.fits[1].at(size).energy);
  }
}

}  // namespace
}  // namespace negawatt

int main(int argc, char** argv) {
  const bool points = argc == 3 && std::string_view(argv[2]) == "--csv";
  if (argc != 2 && !points) {
    std::fprintf(stderr, "usage: hybrid_study DATA [--csv]\n");
    return 2;
  }
  const negawatt::Study study(argv[1]);
  if (points) {
    negawatt::print_points(study);
    return 0;
  }
  negawatt::print_figures(study);
  negawatt::print_workloads(study);
  negawatt::print_fits(study);
  negawatt::print_winners(study);
  negawatt::print_batches(study);
  return 0;
}
