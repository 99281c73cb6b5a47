// SPDX-License-Identifier: Apache-2.0
#include "model/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace negawatt::model {
namespace {

using ::testing::HasSubstr;

const std::string kHeader =
    "model,phase,devices,sequences,input_tokens,output_tokens,time_s,energy_j\n";

std::array<Architecture, 2> models() {
  std::array<Architecture, 2> all;
  all[0].name = "first";
  all[1].name = "second";
  for (auto& architecture : all) architecture.heads = architecture.kv_heads = 8;
  return all;
}

/// Draws 50 to 500 W.
Device device() {
  Device device;
  device.name = "gpu";
  device.link_bandwidth = 1e11;
  device.peak[static_cast<std::size_t>(Precision::bf16)] = 1e14;
  device.idle_power = 50;
  device.max_power = 500;
  return device;
}

std::string problem(const std::string& rows) {
  const auto architectures = models();
  const auto read = parse_measurements(rows, "s.csv", architectures, device());
  return read ? "" : read.error().message;
}

Sample sample(Phase phase) { return sample_of({nullptr, phase, 1, 8, 100, 50, 1.0, 2.0, 0}); }

TEST(Measurement, PhasesConsistOfSteps) {
  const auto prefill = sample(Phase::prefill).steps;
  ASSERT_EQ(prefill.size(), 1U);
  EXPECT_EQ(prefill[0].first.prompt_tokens, 800.0);
  EXPECT_EQ(prefill[0].first.prompt_attention, 8.0 * 5050.0);  // 1 + 2 + ... + 100

  const auto decode = sample(Phase::decode).steps;
  EXPECT_EQ(decode[0].first.sequences, 8.0);
  EXPECT_EQ(decode[0].first.context_tokens, 8.0 * 125.0);

  const auto serving = sample(Phase::serving).steps;
  EXPECT_EQ(serving[0].first.prompt_tokens, 16.0);  // 8 / 50 of the prompts
  EXPECT_EQ(serving[0].first.context_tokens, 1000.0);

  const auto request = sample(Phase::request).steps;
  ASSERT_EQ(request.size(), 2U);
  EXPECT_EQ(request[1].second, 49.0);
}

TEST(Measurement, WithoutACacheEveryStepComputesEverything) {
  const auto steps = sample(Phase::uncached).steps;
  double tokens = 0.0;
  double attended = 0.0;
  for (double length = 100.0; length < 150.0; length += 1.0) {
    tokens += 8.0 * length;
    attended += 8.0 * length * (length + 1.0) / 2.0;
  }
  EXPECT_DOUBLE_EQ(steps[0].second * steps[0].first.prompt_tokens, tokens);
  EXPECT_NEAR(steps[0].second * steps[0].first.prompt_attention, attended, 1e-6);
}

TEST(Measurement, RowsOfAModelAndItsDevicesAreACurve) {
  const auto architectures = models();
  const auto read = parse_measurements(kHeader +
                                           "first,serving,1,8,100,50,0.01,2\n"
                                           "second,serving,1,8,100,50,,2\n"
                                           "first,decode,1,16,100,50,0.02,\n"
                                           "first,serving,2,8,100,50,0.01,3\n",
                                       "s.csv", architectures, device())
                        .value();
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].curve, read[2].curve);
  EXPECT_NE(read[0].curve, read[1].curve);
  EXPECT_NE(read[0].curve, read[3].curve);
  EXPECT_EQ(read[1].seconds, 0.0);
  EXPECT_EQ(read[2].joules, 0.0);
  EXPECT_EQ(read[1].architecture, &architectures[1]);
}

TEST(Measurement, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(problem(kHeader + "frist,serving,1,8,100,50,1,2\n"),
            "s.csv:2: model 'frist' is not known");
  EXPECT_EQ(problem(kHeader + "secnd,serving,1,8,100,50,1,2\n"),
            "s.csv:2: model 'secnd' is not known, is 'second' meant?");
  EXPECT_THAT(problem(kHeader + "first,serve,1,8,100,50,1,2\n"),
              HasSubstr("phase is 'serve', expected prefill, decode"));
  EXPECT_THAT(problem(kHeader + "first,serving,0,8,100,50,1,2\n"), HasSubstr("s.csv:2: devices"));
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,100,50,-1,2\n"), HasSubstr("s.csv:2: time_s"));
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,100,0.5,1,2\n"),
              HasSubstr("expected at least one token"));
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,100,50,,\n"),
              HasSubstr("neither time_s nor energy_j is given"));
  EXPECT_THAT(problem(kHeader), HasSubstr("expected at least one measurement"));
  EXPECT_THAT(problem("model,phase\n"), HasSubstr("devices"));
}

TEST(Measurement, PowersThatTheDevicesCannotDrawAreRefused) {
  EXPECT_EQ(
      problem(kHeader + "first,serving,1,8,100,50,10,3e6\n"),
      "s.csv:2: energy_j / time_s is 3e+05 W on each of 1 devices, expected about 50 to 500 W, "
      "idle_w to max_w of gpu; are units mixed up?");
  EXPECT_THAT(problem(kHeader + "first,serving,2,8,100,50,0.01,2.1e1\n"), HasSubstr("1050 W"));
  EXPECT_EQ(problem(kHeader + "first,serving,4,8,100,50,0.01,2.1e1\n"), "");
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,100,50,10,10\n"), HasSubstr("units mixed up"));
  EXPECT_EQ(problem(kHeader + "first,serving,1,8,100,50,,10\n"), "");
}

TEST(Measurement, DevicesThatCannotShareTheModelAreRefused) {
  const std::string evenly =
      "s.csv:2: first on 3 devices, expected 1, 2, 4, ... that share its 8 "
      "heads and 8 KV heads evenly";
  EXPECT_EQ(problem(kHeader + "first,serving,3,8,100,50,1,200\n"), evenly);
  EXPECT_THAT(problem(kHeader + "first,serving,1000000,8,100,50,1,200\n"), HasSubstr("s.csv:2: "));
  const auto architectures = models();
  const auto refusal = [&](const Device& device, const std::string& row) {
    const auto read = parse_measurements(kHeader + row, "s.csv", architectures, device);
    return read ? "" : read.error().message;
  };
  Device alone = device();
  alone.link_bandwidth = 0;
  EXPECT_THAT(refusal(alone, "first,serving,2,8,100,50,1,200\n"),
              HasSubstr("s.csv:2: gpu: 2 of them cannot work together"));
  Device narrow = device();
  narrow.peak = {};
  EXPECT_THAT(refusal(narrow, "first,serving,1,8,100,50,1,200\n"),
              HasSubstr("s.csv:2: first computes in bf16, for which gpu has no peak"));
}

TEST(Measurement, NumbersWhoseSumsWouldOverflowAreRefused) {
  EXPECT_EQ(problem(kHeader + "first,serving,1,1e300,100,50,1,200\n"),
            "s.csv:2: sequences is '1e300', expected at most 1e+06");
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,1e300,50,1,200\n"), HasSubstr("input_tokens"));
  EXPECT_THAT(problem(kHeader + "first,serving,1,8,100,50,1e300,\n"), HasSubstr("time_s"));
}

}  // namespace
}  // namespace negawatt::model
