// SPDX-License-Identifier: Apache-2.0
#include "model/deployment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/serving_energy.hpp"

namespace negawatt::model {
namespace {

using ::testing::HasSubstr;

/// Factors are ones or zeroes, so that coefficients can be worked out by hand.
Device plain_device() {
  Device device;
  device.name = "plain";
  device.memory = 100e9;
  device.memory_bandwidth = 1e12;
  device.link_bandwidth = 1e11;
  device.peak = {1e13, 0, 1e14, 2e14, 0};
  device.idle_power = 50;
  device.max_power = 500;
  device.least_mhz = 500;
  device.most_mhz = 1000;
  device.time = {1e-3, 1e-5, 0, 2e-5, 1e-6, 1e-6, 1, 1, 1, 1, 1, 0, 1, 0.5, 1};
  device.energy = {100, 1e-11, 1e-11, 2e-11, 2e-11, 1e-12, 0, 1e-11, 1e-3};
  return device;
}

Architecture plain_model() {
  Architecture a;
  a.name = "plain";
  a.layers = 10;
  a.attention_layers = 10;
  a.hidden = 1000;
  a.heads = 8;
  a.kv_heads = 2;
  a.head_size = 125;
  a.vocabulary = 1000;
  a.parameters = a.active_parameters = 1.001e9;
  a.weight_bytes = 2;
  a.kv_bytes_per_token = 10000;
  a.attention_flop = 40000;
  return a;
}

TEST(Deployment, CoefficientsOfOneDeviceAreWorkedOutByHand) {
  const auto c = coefficients_of(plain_model(), plain_device(), 1);
  EXPECT_DOUBLE_EQ(c.overhead, 1e-3 + 10 * 1e-5);
  EXPECT_DOUBLE_EQ(c.compute_per_token, 2e9 / 1e14);
  EXPECT_DOUBLE_EQ(c.memory_per_token, 0.5 * 2e9 / 1e14);
  EXPECT_DOUBLE_EQ(c.compute_per_attended, 40000 / 1e14);
  EXPECT_DOUBLE_EQ(c.memory_weights, 2e9 / 1e12);
  EXPECT_DOUBLE_EQ(c.memory_per_context, 10000 / 1e12);
  EXPECT_EQ(c.link, 0.0);
  EXPECT_EQ(c.link_per_token, 0.0);
  EXPECT_EQ(c.active_power, 100.0);
  EXPECT_DOUBLE_EQ(c.energy_weights, 1e-11 * 2e9);
  EXPECT_DOUBLE_EQ(c.energy_per_token, 1e-12 * 2e9);
  EXPECT_EQ(c.power_cap, 500.0);
}

TEST(Deployment, FourDevicesShareTheWorkAndTalk) {
  const auto one = coefficients_of(plain_model(), plain_device(), 1);
  const auto four = coefficients_of(plain_model(), plain_device(), 4);
  EXPECT_DOUBLE_EQ(four.memory_weights, one.memory_weights / 4);
  EXPECT_DOUBLE_EQ(four.energy_weights, one.energy_weights);
  EXPECT_DOUBLE_EQ(four.memory_per_context, one.memory_per_context / 2);  // of two KV heads
  EXPECT_DOUBLE_EQ(four.idle_power, 200.0);
  EXPECT_DOUBLE_EQ(four.link, 2 * 10 * 2 * 1e-6);  // log2 4 = 2
  const double bytes = 2 * 10 * 2 * 1000 * 2 * 0.75;
  EXPECT_DOUBLE_EQ(four.link_per_token, bytes / 1e11);
  EXPECT_DOUBLE_EQ(four.energy_per_token, one.energy_per_token + 4 * 1e-11 * bytes);
}

TEST(Deployment, BytesAWeightHalveMemoryAndArithmetic) {
  Architecture quantised = plain_model();
  quantised.precision = Precision::fp8;
  quantised.weight_bytes = 1;
  const auto wide = coefficients_of(plain_model(), plain_device(), 1);
  const auto narrow = coefficients_of(quantised, plain_device(), 1);
  EXPECT_DOUBLE_EQ(narrow.memory_weights, wide.memory_weights / 2);
  EXPECT_DOUBLE_EQ(narrow.compute_per_token, wide.compute_per_token / 2);
  EXPECT_DOUBLE_EQ(narrow.energy_per_token, wide.energy_per_token / 2);
  EXPECT_DOUBLE_EQ(narrow.overhead, wide.overhead + 10 * 2e-5);
}

TEST(Deployment, ACalibrationScalesWhatItNames) {
  Device device = plain_device();
  device.calibrations = {{"plain", 0, 2, 3, 5, 7}};
  const auto one = coefficients_of(plain_model(), plain_device(), 2);
  const auto c = coefficients_of(plain_model(), device, 2);
  EXPECT_DOUBLE_EQ(c.memory_weights, 2 * one.memory_weights);
  EXPECT_DOUBLE_EQ(c.link, 2 * one.link);
  EXPECT_DOUBLE_EQ(c.compute_per_token, 3 * one.compute_per_token);
  EXPECT_DOUBLE_EQ(c.energy_weights, 5 * one.energy_weights);
  EXPECT_DOUBLE_EQ(c.energy_per_context, 7 * one.energy_per_context);
  EXPECT_EQ(c.active_power, one.active_power);
}

TEST(Deployment, KvCapacityIsWhatIsLeft) {
  // 90 GB less 2.002 GB of weights, at 10000 bytes a token.
  const auto d = deploy(plain_model(), plain_device(), {.reserve_bytes = 0}).value();
  EXPECT_EQ(d.kv_capacity, 8799800U);
}

TEST(Deployment, TheCacheOfARealEngineIsForeseen) {
  // vLLM 0.19 on an RTX 4090 with Llama-3.1-8B: 41,408 tokens (the engine's own log).
  const auto d = deploy(testing::architecture_named("meta-llama/Llama-3.1-8B-Instruct"),
                        testing::shipped_device("rtx4090"), {})
                     .value();
  EXPECT_NEAR(static_cast<double>(d.kv_capacity), 41408.0, 0.02 * 41408.0);
}

TEST(Deployment, ALowerClockSlowsArithmeticAndSparesEnergy) {
  const Device device = plain_device();
  const auto full = deploy(plain_model(), device, {}).value().steps.coefficients();
  const auto half = deploy(plain_model(), device, {.core_mhz = 500.0}).value().steps.coefficients();
  EXPECT_DOUBLE_EQ(half.compute_per_token, full.compute_per_token * std::pow(2.0, 0.87));
  EXPECT_DOUBLE_EQ(half.memory_weights, full.memory_weights);
  EXPECT_DOUBLE_EQ(half.energy_per_token, full.energy_per_token * 0.64);  // voltage 0.8
  EXPECT_DOUBLE_EQ(half.active_power, full.active_power * 0.5 * 0.64);
  EXPECT_DOUBLE_EQ(half.energy_weights, full.energy_weights);
}

TEST(Deployment, ACapIsOfEachDevice) {
  const auto d = deploy(plain_model(), plain_device(), {.devices = 2, .power_cap = Watts(300)});
  EXPECT_EQ(d->steps.coefficients().power_cap, 600.0);
}

std::string refused(const EngineLimits& limits, const Device& device = plain_device()) {
  const auto d = deploy(plain_model(), device, limits);
  return d ? "" : d.error().message;
}

TEST(Deployment, WhatCannotBeIsRefused) {
  EXPECT_THAT(refused({.power_cap = Watts(150)}), HasSubstr("a power cap of 150 W, expected more "
                                                            "than the 150 W"));
  EXPECT_THAT(refused({.core_mhz = 1001.0}),
              HasSubstr("a core clock of 1001 MHz, expected 500 to"));
  EXPECT_THAT(refused({.devices = 3}), HasSubstr("expected 1, 2, 4, ..."));
  EXPECT_EQ(refused({.devices = 16}),
            "plain on 16 devices, expected 1, 2, 4, ... that share its 8 heads and 2 KV heads "
            "evenly");
  Device small = plain_device();
  small.memory = 2e9;
  EXPECT_THAT(refused({}, small), HasSubstr("plain does not fit on 1 x plain"));
  Device alone = plain_device();
  alone.link_bandwidth = 0;
  EXPECT_THAT(refused({.devices = 2}, alone), HasSubstr("2 of them cannot work together"));
  Device clockless = plain_device();
  clockless.most_mhz = 0;
  EXPECT_THAT(refused({.core_mhz = 900.0}, clockless), HasSubstr("its clocks are not known"));
}

TEST(Deployment, ACapAboveTheDevicesOwnIsRefused) {
  EXPECT_EQ(refused({.power_cap = Watts(50000)}),
            "plain: a power cap of 50000 W, expected at most its max_w, 500 W");
  EXPECT_EQ(refused({.power_cap = Watts(500)}), "");
}

TEST(Deployment, HeadsAreNotCut) {
  Architecture forty = plain_model();
  forty.heads = 40;
  forty.kv_heads = 8;
  EXPECT_TRUE(deploy(forty, plain_device(), {.devices = 8}));
  EXPECT_FALSE(deploy(forty, plain_device(), {.devices = 16}));
  forty.kv_heads = 5;
  EXPECT_FALSE(deploy(forty, plain_device(), {.devices = 2}));
}

TEST(Deployment, APrecisionWithoutAPeakIsRefused) {
  Architecture wide = plain_model();
  wide.precision = Precision::fp32;
  Device device = plain_device();
  EXPECT_TRUE(deploy(wide, device, {}));
  device.peak = {0, 0, 1e14, 2e14, 0};
  const auto refusal = deploy(wide, device, {});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().message,
            "plain computes in fp32, for which plain has no peak (fp32_tflops or that of a wider "
            "precision)");
}

TEST(Deployment, LayersThatAreOneMixerTalkOnce) {
  Architecture mixers = plain_model();
  mixers.collectives_per_layer = 1;
  const auto twice = coefficients_of(plain_model(), plain_device(), 2);
  const auto once = coefficients_of(mixers, plain_device(), 2);
  EXPECT_DOUBLE_EQ(once.link, twice.link / 2);
  EXPECT_DOUBLE_EQ(once.link_per_token, twice.link_per_token / 2);
}

TEST(Deployment, ALargeModelNeedsSeveralDevices) {
  const auto& model = testing::architecture_named("meta-llama/Llama-3.1-70B-Instruct");
  const Device device = testing::shipped_device("h100");
  EXPECT_FALSE(deploy(model, device, {}));
  EXPECT_TRUE(deploy(model, device, {.devices = 4}));
}

}  // namespace
}  // namespace negawatt::model
