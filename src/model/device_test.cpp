// SPDX-License-Identifier: Apache-2.0
#include "model/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/device_keys.hpp"
#include "tests/serving_energy.hpp"

namespace negawatt::model {
namespace {

using ::testing::HasSubstr;

const std::string kSheet = R"(name = "d"
source = "made up"
checked = "never"
[sheet]
memory_gib = 80
memory_bandwidth_gb_per_s = 2000
bf16_tflops = 300
idle_w = 50
max_w = 400
)";

std::string problem(const std::string& toml) {
  const auto read = parse_device(toml, "d.toml");
  return read ? "" : read.error().message;
}

std::string with(const std::string& from, const std::string& to) {
  std::string toml = kSheet;
  return toml.replace(toml.find(from), from.size(), to);
}

TEST(Device, ASheetAloneHasTypicalFactors) {
  const auto device = parse_device(kSheet, "d.toml").value();
  EXPECT_EQ(device.memory, 80.0 * 1073741824.0);
  EXPECT_EQ(device.memory_bandwidth, 2e12);
  EXPECT_EQ(device.time.weights, TimeFactors{}.weights);
  // At full bandwidth idle, active and memory power are 65 % of the range from idle to highest.
  EXPECT_DOUBLE_EQ(device.energy.active + device.energy.weights * 2e12, 0.65 * 350.0);
}

TEST(Device, WritingAndReadingKeepsEverything) {
  auto device = parse_device(kSheet, "d.toml").value();
  double value = 1.0;
  for (const auto& key : kTimeKeys) device.time.*key.member = (value += 0.25) * key.unit;
  for (const auto& key : kEnergyKeys) device.energy.*key.member = (value += 0.25) * key.unit;
  device.least_mhz = 210;
  device.most_mhz = 1410;
  device.link_bandwidth = 3e11;
  device.source = "a \"quoted\" \\ source, caf\xc3\xa9, \xe2\x82\xac, \xf0\x9f\x94\x8b";
  device.calibrations = {{"a/model", 0, 1.5, 0.5, 2.0, 0.25}, {"a/model", 2, 1, 1, 1, 1}};
  device.time_error = {7.5, 0.75, 1.25};
  device.energy_error = {8.5, 0.5, 1.5};

  const std::string toml = to_toml(device);
  const auto read = parse_device(toml, "d.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_toml(*read), toml);
  EXPECT_THAT(toml, HasSubstr("caf\\U000000E9, \\U000020AC, \\U0001F50B"));
  EXPECT_EQ(read->source, device.source);
  for (const auto& key : kTimeKeys)
    EXPECT_NEAR(read->time.*key.member, device.time.*key.member, 1e-12) << key.key;
  for (const auto& key : kEnergyKeys)
    EXPECT_NEAR(read->energy.*key.member / (device.energy.*key.member), 1.0, 1e-5) << key.key;
  EXPECT_EQ(read->calibrations.front().sequence_energy, 0.25);
  EXPECT_EQ(read->calibrations.back().devices, 2U);
  EXPECT_EQ(read->calibration_of("another", 1).step_time, 1.0);
  EXPECT_EQ(read->energy_error.high, 1.5);
}

TEST(Device, CorrectionsAreThoseOfTheNearestNumberOfDevices) {
  Device device;
  device.calibrations = {{"m", 4, 4, 1, 1, 1}, {"m", 1, 1, 1, 1, 1}, {"any", 0, 7, 1, 1, 1}};
  EXPECT_EQ(device.calibration_of("m", 1).step_time, 1.0);
  EXPECT_EQ(device.calibration_of("m", 2).step_time, 1.0);  // as near as 4
  EXPECT_EQ(device.calibration_of("m", 4).step_time, 4.0);
  EXPECT_EQ(device.calibration_of("m", 8).step_time, 4.0);
  EXPECT_EQ(device.calibration_of("any", 8).step_time, 7.0);
  device.calibrations.push_back({"any", 2, 3, 1, 1, 1});
  EXPECT_EQ(device.calibration_of("any", 8).step_time, 3.0);
}

TEST(Device, UnitsThatAreMixedUpAreRefused) {
  EXPECT_EQ(problem(with("= 2000", "= 2000000000000")),
            "d.toml:6: 'sheet.memory_bandwidth_gb_per_s' is 2000000000000, expected 10 to 100000 "
            "GB/s; are units mixed up?");
  EXPECT_THAT(problem(with("= 2000", "= 2")), HasSubstr("are units mixed up?"));
  EXPECT_THAT(problem(with("= 80", "= 85899345920")), HasSubstr("1 to 4096 GiB; are units"));
  EXPECT_THAT(problem(with("= 300", "= 3e14")), HasSubstr("10^12 operations a second; are units"));
  EXPECT_THAT(problem(with("= 400", "= 400000")), HasSubstr("1 to 10000 watts; are units"));
  EXPECT_THAT(problem(kSheet + "[energy]\nweights_pj_per_byte = 9e13\n"),
              HasSubstr("picojoules a byte; are units mixed up?"));
  EXPECT_THAT(problem(kSheet + "[time]\nstep_us = 1e9\n"), HasSubstr("0 to 1e+06 microseconds"));
}

TEST(Device, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(problem(with("bf16_tflops", "bf16_tflop")),
              HasSubstr("'sheet.bf16_tflop' is not known, is 'bf16_tflops' meant?"));
  EXPECT_EQ(problem(kSheet + "[time]\nlayers_us = 3\n"),
            "d.toml:11: 'time.layers_us' is not known, is 'layer_us' meant?");
  EXPECT_THAT(problem(with("= 400", "= 50")),
              HasSubstr("'sheet.max_w' is 50, expected more than idle_w"));
  EXPECT_EQ(problem(kSheet + "[energy]\nactive_w = 350\n"),
            "d.toml:11: 'energy.active_w' is 350, expected less than max_w without idle_w");
  EXPECT_THAT(problem(kSheet + "[[calibration]]\nmodel = \"m\"\n[[calibration]]\nmodel = \"m\"\n"),
              HasSubstr("expected each model and number of devices once"));
  EXPECT_THAT(problem("checked = \"\"\n"), HasSubstr("d.toml:1: 'name' is missing"));
}

TEST(Device, ASheetNeedsAPeakOfSixteenBitsOrMore) {
  EXPECT_EQ(problem(with("bf16_tflops", "fp8_tflops")), "d.toml:4: 'sheet.bf16_tflops' is missing");
  EXPECT_EQ(problem(with("bf16_tflops", "fp32_tflops")), "");
}

TEST(Device, ClocksAreKnownFromBothEndsOrNotAtAll) {
  EXPECT_EQ(problem(kSheet + "most_mhz = 1980\n"), "d.toml:4: 'sheet.least_mhz' is missing");
  EXPECT_EQ(problem(kSheet + "least_mhz = 345\n"), "d.toml:4: 'sheet.most_mhz' is missing");
  EXPECT_EQ(problem(kSheet + "least_mhz = 345\nmost_mhz = 1980\n"), "");
}

TEST(Device, APrecisionThatTheHardwareLacksRunsInTheNextWiderOne) {
  Device device;
  device.peak = {1.0, 0.0, 8.0, 0.0, 0.0};
  EXPECT_EQ(device.peak_of(Precision::fp16), 8.0);  // one of 16 bits stands in for the other
  device.peak = {1.0, 8.0, 0.0, 0.0, 0.0};
  EXPECT_EQ(device.peak_of(Precision::fp4), 8.0);
  EXPECT_EQ(device.peak_of(Precision::bf16), 8.0);
  EXPECT_EQ(device.peak_of(Precision::fp32), 1.0);
}

TEST(Device, EveryShippedDeviceIsReadAndDrawsLessThanItsMostAtRest) {
  for (const std::string name :
       {"a100", "b200", "h100", "h200", "l4", "m1pro", "rtx4090", "rtxpro6000", "v100"}) {
    const Device device = testing::shipped_device(name);
    EXPECT_LT(device.idle_power + device.energy.active, device.max_power) << name;
    EXPECT_FALSE(device.checked.empty()) << name;
    ASSERT_GT(device.memory_bandwidth, 0.0) << name;
    // Nothing is faster than the sheet, no byte and no operation is free.
    for (const double ratio : {device.time.weights, device.time.experts, device.time.kv,
                               device.time.state, device.time.compute, device.time.attention})
      EXPECT_GE(ratio, 1.0) << name;
    const EnergyFactors& energy = device.energy;
    for (const double joules : {energy.active, energy.weights, energy.experts, energy.kv,
                                energy.state, energy.compute, energy.link})
      EXPECT_GT(joules, 0.0) << name;
    for (const auto& one : device.calibrations)
      for (const double factor :
           {one.step_time, one.sequence_time, one.step_energy, one.sequence_energy}) {
        EXPECT_GE(factor, 0.3) << name << " " << one.model;
        EXPECT_LE(factor, 3.0) << name << " " << one.model;
      }
  }
}

}  // namespace
}  // namespace negawatt::model
