// SPDX-License-Identifier: Apache-2.0
#include "model/device_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/device_keys.hpp"
#include "model/learned_device.hpp"
#include "model/measurement.hpp"
#include "tests/serving_energy.hpp"

namespace negawatt::model {
namespace {

/// A device whose factors are not the typical ones.
Device true_device() {
  Device device = testing::shipped_device("l4");
  device.calibrations.clear();
  device.time.step = 3e-3;
  device.time.weights = 1.6;
  device.time.sequence = 9e-5;
  device.time.compute = 1.9;
  device.energy.active *= 1.5;
  device.energy.weights *= 0.6;
  device.energy.compute *= 1.3;
  return device;
}

/// Prompts and decode steps of two small models, as the device does them.
std::vector<Sample> measured_on(const Device& device) {
  std::vector<Sample> samples;
  std::uint32_t curve = 0;
  for (const std::string model : {"Qwen/Qwen3-8B", "google/gemma-3-12b-it"}) {
    const Architecture& architecture = testing::architecture_named(model);
    for (const double sequences : {1.0, 4.0, 16.0, 64.0, 200.0, 500.0})
      for (const Phase phase : {Phase::decode, Phase::serving, Phase::prefill}) {
        Sample sample = sample_of({&architecture, phase, 1, sequences, 300, 200, 0, 0, curve});
        const Cost cost = predicted(device, sample);
        sample.seconds = cost.time.in_si();
        sample.joules = cost.energy.in_si();
        samples.push_back(sample);
      }
    ++curve;
  }
  return samples;
}

TEST(DeviceFit, FactorsAreFoundFromMeasurements) {
  Device truth = true_device();
  truth.max_power = 1000;  // so that no cap hides what arithmetic takes
  Device start = truth;
  start.time = TimeFactors{};
  start.energy = typical_energies(testing::shipped_device("l4"));
  const auto samples = measured_on(truth);
  const Device fitted = fit_device(start, samples, {.prior_weight = 1e-7});
  EXPECT_NEAR(fitted.time.weights, 1.6, 0.1);
  EXPECT_NEAR(fitted.time.compute, 1.9, 0.1);
  EXPECT_NEAR(fitted.time.sequence, 9e-5, 1e-5);
  EXPECT_NEAR(fitted.energy.weights / truth.energy.weights, 1.0, 0.1);
  EXPECT_NEAR(fitted.energy.compute / truth.energy.compute, 1.0, 0.1);
  for (const auto& sample : samples) {
    EXPECT_NEAR(predicted(fitted, sample).time.in_si() / sample.seconds, 1.0, 0.01);
    EXPECT_NEAR(predicted(fitted, sample).energy.in_si() / sample.joules, 1.0, 0.01);
  }
}

TEST(DeviceFit, HeldFactorsStayAndNothingBecomesNegative) {
  const auto samples = measured_on(true_device());
  const Device start = testing::shipped_device("l4");
  const Device fitted = fit_device(start, samples, {.held = {"compute", "active_w"}});
  EXPECT_EQ(fitted.time.compute, start.time.compute);
  EXPECT_EQ(fitted.energy.active, start.energy.active);
  for (const auto& key : kTimeKeys) EXPECT_GE(fitted.time.*key.member, 0.0) << key.key;
  for (const auto& key : kEnergyKeys) EXPECT_GE(fitted.energy.*key.member, 0.0) << key.key;
}

TEST(DeviceFit, WithoutEnergiesOnlyTimesAreLearned) {
  auto samples = measured_on(true_device());
  for (auto& sample : samples) sample.joules = 0.0;
  const Device start = testing::shipped_device("l4");
  const Device fitted = fit_device(start, samples, {});
  EXPECT_NE(fitted.time.weights, start.time.weights);
  EXPECT_NEAR(fitted.energy.weights, start.energy.weights, 1e-18);
  EXPECT_EQ(learn_device(start, samples, {}).row.energy.median_pct, 0.0);
}

TEST(DeviceFit, ACalibrationTakesUpWhatIsPeculiarToOneModel) {
  const Device device = true_device();
  Device peculiar = device;
  peculiar.calibrations = {{"Qwen/Qwen3-8B", 1.3, 0.8, 1.2, 0.9}};
  std::vector<Sample> own;
  for (const auto& sample : measured_on(peculiar))
    if (sample.architecture->name == "Qwen/Qwen3-8B") own.push_back(sample);
  const Calibration found = fit_calibration(device, own);
  EXPECT_EQ(found.model, "Qwen/Qwen3-8B");
  EXPECT_NEAR(found.step_time, 1.3, 0.05);
  EXPECT_NEAR(found.sequence_time, 0.8, 0.05);
  Device corrected = device;
  calibrate(corrected, own);
  for (const auto& sample : own)
    EXPECT_NEAR(predicted(corrected, sample).time.in_si() / sample.seconds, 1.0, 0.05);
}

TEST(DeviceFit, ErrorsAreOfWhatTheFitHasNotSeen) {
  // One sample of a curve is wrong by a factor of 4: only without it can the fit say so.
  auto samples = measured_on(true_device());
  samples[3].seconds *= 4.0;
  const Device start = testing::shipped_device("l4");
  const auto ratios = held_out_ratios(start, samples, {}, HeldOut::row, false);
  EXPECT_GT(ratios[3].time, 3.0);
  EXPECT_LT(ratios[4].time, 1.3);
}

TEST(DeviceFit, ErrorsAreWorkedOutByHand) {
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
