// SPDX-License-Identifier: Apache-2.0
#include "model/held_out.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/learned_device.hpp"
#include "tests/made_up_device.hpp"

namespace negawatt::model {
namespace {

TEST(HeldOut, ErrorsAreOfWhatTheFitHasNotSeen) {
  // One sample of a curve is wrong by a factor of 4: only without it can the fit say so.
  auto samples = measured_on(true_device());
  samples[3].seconds *= 4.0;
  const Device start = testing::shipped_device("l4");
  const auto ratios = held_out_ratios(start, samples, {}, {HeldOut::row, false});
  EXPECT_GT(ratios[3].time, 3.0);
  EXPECT_LT(ratios[4].time, 1.3);
}

TEST(HeldOut, RepeatsAreHeldOutTogether) {
  // Every row three times says nothing more: the errors are those of the rows.
  auto samples = measured_on(true_device());
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i].seconds *= 1.0 + 0.1 * static_cast<double>(i % 3);
  const Device start = testing::shipped_device("l4");
  const DeviceFitOptions weak{.prior_weight = 1e-9};  // three times the rows weigh thrice as much
  for (const HeldOut what : {HeldOut::row, HeldOut::curve}) {
    const auto once = time_error_of(held_out_ratios(start, samples, weak, {what, false}));
    auto thrice = samples;
    for (int repeat = 0; repeat < 2; ++repeat)
      for (Sample sample : samples) {
        sample.curve += 100;  // even where they are said to be of another curve
        thrice.push_back(sample);
      }
    const auto repeated = time_error_of(held_out_ratios(start, thrice, weak, {what, false}));
    EXPECT_NEAR(repeated.median_pct / once.median_pct, 1.0, 0.02);
  }
}

TEST(HeldOut, ManyRowsTakeNoMoreFits) {
  // One wrong sample among more configurations than there are fits is still not seen by its own.
  const auto& model = testing::architecture_named("Qwen/Qwen3-8B");
  const Device start = testing::shipped_device("l4");
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < kMostFits + 44; ++i) {
    Sample sample = sample_of({&model, Phase::decode, 1, 1.0 + i, 300, 200, 0, 0, i % 4});
    sample.seconds = predicted(start, sample).time.in_si();
    samples.push_back(sample);
  }
  samples[kMostFits].seconds *= 4.0;
  const auto ratios = held_out_ratios(start, samples, {}, {HeldOut::row, false});
  EXPECT_GT(ratios[kMostFits].time, 3.5);
  EXPECT_NEAR(ratios[1].time, 1.0, 0.1);
}

TEST(HeldOut, AFitThatHasSeenEverythingIsTheFitItself) {
  const auto samples = measured_on(true_device());
  const Device start = testing::shipped_device("l4");
  const auto ratios = held_out_ratios(start, samples, {}, {HeldOut::none, true});
  Device fitted = fit_device(start, samples, {});
  calibrate(fitted, samples);
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_DOUBLE_EQ(ratios[i].time,
                     samples[i].seconds / predicted(fitted, samples[i]).time.in_si());
}

TEST(LearnedDevice, AnEarlierFitIsNotSeen) {
  // What was learned, learned again from the same samples, is the same device with the same errors.
  auto samples = measured_on(true_device());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].seconds *= 1.0 + 0.07 * static_cast<double>(i % 5);
    samples[i].joules *= 1.0 + 0.07 * static_cast<double>(i % 3);
  }
  const auto first = learn_device(testing::shipped_device("l4"), samples, {});
  const auto second = learn_device(first.device, samples, {});
  EXPECT_EQ(to_toml(second.device), to_toml(first.device));
  EXPECT_EQ(errors_line(second), errors_line(first));
}

TEST(LearnedDevice, ErrorsAreThoseOfTheDeviceThatIsWritten) {
  // One model that takes 1.6 times as long: without corrections that shows in the errors of rows.
  Device peculiar = true_device();
  peculiar.calibrations = {{"Qwen/Qwen3-8B", 0, 1.6, 1.6, 1.6, 1.6}};
  const auto samples = measured_on(peculiar);
  const Device start = testing::shipped_device("l4");
  const auto with = learn_device(start, samples, {}, true);
  const auto without = learn_device(start, samples, {}, false);
  EXPECT_EQ(with.device.calibrations.size(), 2U);
  EXPECT_TRUE(without.device.calibrations.empty());
  EXPECT_GT(without.row.time.median_pct, 2.0 * with.row.time.median_pct);
  EXPECT_EQ(without.curve.time.median_pct, with.curve.time.median_pct);
}

TEST(LearnedDevice, WhatWasNotMeasuredHasNoError) {
  auto samples = measured_on(true_device());
  const Device start = testing::shipped_device("l4");
  auto energies = samples;
  for (auto& sample : energies) sample.seconds = 0.0;
  EXPECT_EQ(errors_line(learn_device(start, energies, {})).find("time"), std::string::npos);
  for (auto& sample : samples) sample.joules = 0.0;
  const auto learned = learn_device(start, samples, {});
  EXPECT_EQ(learned.row.energy.median_pct, 0.0);
  EXPECT_EQ(errors_line(learned).find("energy"), std::string::npos);
}

TEST(HeldOut, ErrorsAreWorkedOutByHand) {
  // Predictions of 1.25, 1, 0.8 times what was measured, and one that was not.
  const auto error = error_of({0.8, 1.0, 1.25, 0.0});
  EXPECT_NEAR(error.median_pct, 20.0, 1e-9);
  EXPECT_NEAR(error.mean_pct, 15.0, 1e-9);
  EXPECT_NEAR(error.p95_pct, 24.5, 1e-9);  // 90 % of the way from 20 to 25
  EXPECT_NEAR(error.band.low, 0.82, 1e-9);
  EXPECT_NEAR(error.band.high, 1.225, 1e-9);
}

}  // namespace
}  // namespace negawatt::model
