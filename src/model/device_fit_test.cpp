// SPDX-License-Identifier: Apache-2.0
#include "model/device_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/device_keys.hpp"
#include "tests/made_up_device.hpp"
#include "tests/serving_energy.hpp"

namespace negawatt::model {
namespace {

TEST(DeviceFit, FactorsAreFoundFromMeasurements) {
  Device truth = true_device();
  truth.max_power = 1000;  // so that no cap hides what arithmetic takes
  const auto samples = measured_on(truth);
  Device fitted = fit_device(testing::shipped_device("l4"), samples, {.prior_weight = 1e-7});
  fitted.max_power = truth.max_power;
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

TEST(DeviceFit, AFactorThatIsZeroIsLearnedAgain) {
  Device truth = true_device();
  truth.max_power = 1000;
  const auto samples = measured_on(truth);
  Device start = testing::shipped_device("l4");
  start.time.sequence = 0.0;
  start.energy.compute = 0.0;
  const Device fitted = fit_device(start, samples, {.prior_weight = 1e-5});
  EXPECT_NEAR(fitted.time.sequence / 9e-5, 1.0, 0.2);
  EXPECT_NEAR(fitted.energy.compute / true_device().energy.compute, 1.0, 0.2);
}

TEST(DeviceFit, NoByteAndNoOperationIsFree) {
  // Measured ten times faster than the sheet allows, and at idle power.
  auto samples = measured_on(true_device());
  const Device start = testing::shipped_device("l4");
  for (auto& sample : samples) {
    sample.seconds *= 0.1;
    sample.joules = start.idle_power * sample.seconds;
  }
  const Device fitted = fit_device(start, samples, {});
  const EnergyFactors typical = typical_energies(start);
  EXPECT_EQ(fitted.time.weights, 1.0);
  EXPECT_GE(fitted.time.kv, 1.0);
  EXPECT_DOUBLE_EQ(fitted.energy.weights, 0.25 * typical.weights);
  EXPECT_GE(fitted.energy.kv, 0.25 * typical.kv);
  EXPECT_GE(fitted.energy.compute, 0.25 * typical.compute);
}

TEST(DeviceFit, AFitBeginsAtTheSheetAndAtWhatIsHeld) {
  const auto samples = measured_on(true_device());
  Device fitted_before = true_device();
  fitted_before.calibrations = {{"Qwen/Qwen3-8B", 0, 2, 2, 2, 2}};
  const Device start = unfitted(fitted_before, samples, {.held = {"weights", "active_w"}});
  EXPECT_EQ(start.time.weights, 1.6);
  EXPECT_EQ(start.energy.active, fitted_before.energy.active);
  EXPECT_EQ(start.time.step, TimeFactors{}.step);
  EXPECT_EQ(start.energy.compute, typical_energies(fitted_before).compute);
  EXPECT_TRUE(start.calibrations.empty());
}

TEST(DeviceFit, WithoutEnergiesOnlyTimesAreLearned) {
  auto samples = measured_on(true_device());
  for (auto& sample : samples) sample.joules = 0.0;
  const Device start = testing::shipped_device("l4");
  const Device fitted = fit_device(start, samples, {});
  EXPECT_NE(fitted.time.weights, start.time.weights);
  EXPECT_EQ(fitted.energy.weights, start.energy.weights);
  Device known = start;
  known.energy.weights *= 0.5;  // of an earlier fit, about which these samples say nothing
  EXPECT_EQ(unfitted(known, samples, {}).energy.weights, known.energy.weights);
}

TEST(DeviceFit, ACorrectionStaysWithinBounds) {
  // What is measured costs next to nothing a step, and much a sequence.
  const Device device = true_device();
  Device odd = device;
  odd.calibrations = {{"Qwen/Qwen3-8B", 0, 0.01, 8, 0.01, 8}};
  std::vector<Sample> own;
  for (const auto& sample : measured_on(odd))
    if (sample.architecture->name == "Qwen/Qwen3-8B") own.push_back(sample);
  const Calibration found = fit_calibration(device, own);
  EXPECT_EQ(found.step_time, kLeastCorrection);
  EXPECT_EQ(found.sequence_time, kMostCorrection);
  EXPECT_GE(found.step_energy, kLeastCorrection);
  EXPECT_LE(found.sequence_energy, kMostCorrection);
}

TEST(DeviceFit, ACalibrationTakesUpWhatIsPeculiarToOneModel) {
  const Device device = true_device();
  Device peculiar = device;
  peculiar.calibrations = {{"Qwen/Qwen3-8B", 0, 1.3, 0.8, 1.2, 0.9}};
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

}  // namespace
}  // namespace negawatt::model
