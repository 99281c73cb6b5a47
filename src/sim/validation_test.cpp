// SPDX-License-Identifier: Apache-2.0
//
// Two runs of vLLM 0.19 on real GPUs against the simulator: 300 ShareGPT requests each, at 10 a
// second, Llama-3.1-8B (LLMServingSim, KAIST, MIT licence). The coefficients start from data sheets
// and are calibrated on the timings of the first 100 requests; the other 200 are predicted. Prefix
// caching was on in the runs and cannot be reconstructed from lengths: the simulator has none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/calibrate.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::sim {
namespace {

constexpr std::size_t kCalibrated = 100;

struct Run {
  std::vector<trace::Request> requests;
  std::vector<Timing> timings;
};

Run read_run(const std::string& bytes) {
  Run run;
  double start = -1.0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto end = std::min(bytes.find('\n', at), bytes.size());
    const auto json = nlohmann::json::parse(bytes.substr(at, end - at));
    at = end + 1;
    const double queued = json["queued_ts"];
    if (start < 0.0) start = queued;
    run.requests.push_back({.arrival = Seconds(queued - start),
                            .input_tokens = json["input_toks"],
                            .output_tokens = json["output_toks"]});
    run.timings.push_back({Seconds(json["first_token_ts"].get<double>() - start),
                           Seconds(json["last_token_ts"].get<double>() - start)});
  }
  return run;
}

struct Sheet {
  double flops = 0;
  double bytes_per_s = 0;
  double sequences = 0;
  double kv_tokens = 0;
};

/// Llama-3.1-8B in 16 bits: 8.03 G parameters, 32 layers of 32 heads of 128, 128 KiB of KV a token.
InstanceSpec from_sheet(const Sheet& sheet) {
  model::StepCoefficients c;
  c.overhead = 2e-3;
  c.overhead_per_sequence = 2e-5;
  c.compute_per_token = 2.0 * 8.03e9 / sheet.flops;
  c.compute_per_attended = 4.0 * 32 * 32 * 128 / sheet.flops;
  c.memory_weights = 2.0 * 7.5e9 / sheet.bytes_per_s;
  c.memory_per_context = 131072.0 / sheet.bytes_per_s;
  return {.name = "vllm",
          .device = "sheet",
          .model = model::ServingModel(c),
          .limits = {.most_sequences = static_cast<std::uint32_t>(sheet.sequences),
                     .most_step_tokens = 2048,
                     .kv_block_tokens = 16,
                     .kv_blocks = static_cast<std::uint64_t>(sheet.kv_tokens / 16)}};
}

struct Statistics {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
};

Statistics statistics(std::vector<double> values) {
  std::ranges::sort(values);
  double sum = 0.0;
  for (const double value : values) sum += value;
  const auto at = [&](double q) {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  };
  return {sum / static_cast<double>(values.size()), at(0.5), at(0.9)};
}

/// Compares a quantity of the requests that the calibration has not seen.
template <class Quantity>
void compare(const std::string& what, const Run& run, const std::vector<Timing>& predicted,
             Quantity quantity) {
  std::vector<double> real;
  std::vector<double> simulated;
  for (std::size_t i = kCalibrated; i < run.requests.size(); ++i) {
    real.push_back(quantity(run.requests[i], run.timings[i]));
    simulated.push_back(quantity(run.requests[i], predicted[i]));
  }
  const auto is = statistics(real);
  const auto was = statistics(simulated);
  const auto pct = [](double a, double b) { return 100.0 * (a / b - 1.0); };
  GTEST_LOG_(INFO) << what << ": real mean " << is.mean << " p50 " << is.p50 << " p90 " << is.p90
                   << "; simulated " << pct(was.mean, is.mean) << " % " << pct(was.p50, is.p50)
                   << " % " << pct(was.p90, is.p90) << " %";
  EXPECT_NEAR(pct(was.mean, is.mean), 0.0, 10.0) << what << ", mean";
  EXPECT_NEAR(pct(was.p50, is.p50), 0.0, 10.0) << what << ", p50";
  EXPECT_NEAR(pct(was.p90, is.p90), 0.0, 10.0) << what << ", p90";
}

void validate_run(const std::string& bytes, const Sheet& sheet) {
  const auto run = read_run(bytes);
  ASSERT_EQ(run.requests.size(), 300U);
  const auto calibrated =
      calibrate(from_sheet(sheet), run.requests, std::span(run.timings).first(kCalibrated));
  ASSERT_TRUE(calibrated) << calibrated.error().message;
  for (std::size_t i = 0; i < calibrated->factors.size(); ++i)
    GTEST_LOG_(INFO) << Calibrated::kNames[i] << " x " << calibrated->factors[i];
  GTEST_LOG_(INFO) << "root mean square error of the calibration " << calibrated->error;
  const auto predicted = timings_on(calibrated->spec, run.requests);
  ASSERT_TRUE(predicted);
  using trace::Request;
  compare("time to first token", run, *predicted, [](const Request& request, const Timing& t) {
    return (t.first_token - request.arrival).in_si();
  });
  compare("time between tokens", run, *predicted, [](const Request& request, const Timing& t) {
    return (t.last_token - t.first_token).in_si() / (request.output_tokens - 1.0);
  });
  compare("end to end", run, *predicted, [](const Request& request, const Timing& t) {
    return (t.last_token - request.arrival).in_si();
  });
}

TEST(Validation, VllmOnAnRtx4090ThatIsOverloadedAndRunsOutOfMemory) {
  NW_SHARED_FILE_OR_SKIP(bytes, "serving-timings/RTX4090_Llama-3.1-8B_requests.jsonl");
  validate_run(bytes,
               {.flops = 165e12, .bytes_per_s = 1008e9, .sequences = 256, .kv_tokens = 41'408});
}

TEST(Validation, VllmOnAnRtxPro6000WhoseBatchIsFull) {
  NW_SHARED_FILE_OR_SKIP(bytes, "serving-timings/RTXPRO6000_Llama-3.1-8B_requests.jsonl");
  // Memory of the KV cache is not stated: 90 % of 96 GB less the weights, enough for all of them.
  validate_run(bytes,
               {.flops = 400e12, .bytes_per_s = 1597e9, .sequences = 128, .kv_tokens = 530'000});
}

TEST(Calibrate, FindsTheCoefficientsThatMadeTheTimings) {
  const auto start =
      from_sheet({.flops = 1e14, .bytes_per_s = 1e12, .sequences = 64, .kv_tokens = 60'000});
  auto c = start.model.coefficients();
  c.compute_per_token *= 1.3;
  c.compute_per_attended *= 1.3;
  c.memory_weights *= 0.8;
  c.overhead *= 2.0;
  auto truth = start;
  truth.model = model::ServingModel(c);
  std::vector<trace::Request> requests;
  for (unsigned i = 0; i < 60; ++i)
    requests.push_back({.arrival = Seconds(0.37 * i),
                        .input_tokens = 50 + 97 * (i * 7 % 23),
                        .output_tokens = 5 + 13 * (i * 5 % 17)});
  const auto timings = timings_on(truth, requests);
  ASSERT_TRUE(timings);
  const auto calibrated = calibrate(start, requests, std::span(*timings).first(30));
  ASSERT_TRUE(calibrated);
  EXPECT_LT(calibrated->error, 0.01);
  EXPECT_NEAR(calibrated->factors[0], 1.3, 0.05);
}

}  // namespace
}  // namespace negawatt::sim
