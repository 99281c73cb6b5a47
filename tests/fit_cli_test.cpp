// SPDX-License-Identifier: Apache-2.0
//
// negawatt fit as a person runs it: what it refuses, and that it says what it wrote.
#include <gtest/gtest.h>

#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

const std::string kData = NEGAWATT_SOURCE_DIR "/data/";
const std::string kHeader =
    "model,phase,devices,sequences,input_tokens,output_tokens,time_s,energy_j\n";
const std::string kRows =
    "Qwen/Qwen3-8B,serving,1,1,300,200,0.09,6\n"
    "Qwen/Qwen3-8B,serving,1,8,300,200,0.10,7\n"
    "Qwen/Qwen3-8B,serving,1,32,300,200,0.13,9\n"
    "Qwen/Qwen3-8B,prefill,1,1,2000,1,0.9,62\n";

class FitCli : public ::testing::Test {
 protected:
  Finished fit(const std::string& rows) {
    folder.file("s.csv", kHeader + rows);
    return run_negawatt(folder, "fit s.csv --device " + kData + "devices/l4.toml --models " +
                                    kData + "models/qwen3-8b.toml --out d.toml " + options);
  }
  /// Exit code 2, one line, and no device.
  void expect_refused(const Finished& run, const std::string& message) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.error, "negawatt: " + message + "\n");
    EXPECT_FALSE(read_file(folder.path("d.toml")).has_value());
  }

  TemporaryFolder folder;
  std::string options;
};

TEST_F(FitCli, RefusesWhatTheDeviceCannotHaveMeasured) {
  expect_refused(fit("Qwen/Qwen3-8B,serving,2,8,300,200,0.10,7\n"),
                 "s.csv:2: NVIDIA L4 24GB: 2 of them cannot work together, for no "
                 "link_bandwidth_gb_per_s is given");
  expect_refused(fit(kRows + "Qwen/Qwen3-8B,serving,3,8,300,200,0.10,7\n"),
                 "s.csv:6: Qwen/Qwen3-8B on 3 devices, expected 1, 2, 4, ... that share its 32 "
                 "heads and 8 KV heads evenly");
  expect_refused(fit(kRows + "Qwen/Qwen3-8B,serving,1,8,300,200,10,3e6\n"),
                 "s.csv:6: energy_j / time_s is 3e+05 W on each of 1 devices, expected about 16 to "
                 "72 W, idle_w to max_w of NVIDIA L4 24GB; are units mixed up?");
}

TEST_F(FitCli, RefusesASourceThatNoFileCanHold) {
  options = "--source 'two\nlines'";
  expect_refused(fit(kRows), "--source: 'two\\x0alines', expected one line of printable text");
  options = "--source 'caf\xc3\xa9'";
  EXPECT_EQ(fit(kRows).exit_code, 0);
  EXPECT_NE(read_file(folder.path("d.toml"))->find("factors fitted to caf\\U000000E9"),
            std::string::npos);
}

TEST_F(FitCli, RefusesToWriteWhatIsNoDevice) {
  // A step of a week: far from anything that a device's file may say.
  const auto run =
      fit("Qwen/Qwen3-8B,serving,1,1,300,200,1e9,\n"
          "Qwen/Qwen3-8B,serving,1,8,300,200,1e9,\n");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("what was learned is no device (DEVICE:"), std::string::npos)
      << run.error;
  EXPECT_FALSE(read_file(folder.path("d.toml")).has_value());
}

TEST_F(FitCli, ErrorsAreThoseOfWhatItWrites) {
  const auto with = fit(kRows);
  ASSERT_EQ(with.exit_code, 0) << with.error;
  EXPECT_NE(with.error.find("with corrections by model"), std::string::npos) << with.error;
  const auto corrected = *read_file(folder.path("d.toml"));
  options = "--no-calibration";
  const auto without = fit(kRows);
  ASSERT_EQ(without.exit_code, 0) << without.error;
  EXPECT_NE(without.error.find("without corrections by model"), std::string::npos);
  const auto plain = *read_file(folder.path("d.toml"));
  EXPECT_NE(corrected.find("[[calibration]]\nmodel = \"Qwen/Qwen3-8B\"\ndevices = 1\n"),
            std::string::npos);
  EXPECT_EQ(plain.find("[[calibration]]"), std::string::npos);
  EXPECT_NE(with.error, without.error);
}

TEST_F(FitCli, ADeviceThatWasFittedIsFittedAgainToTheSame) {
  options = "--source 'four runs'";
  ASSERT_EQ(fit(kRows).exit_code, 0);
  const auto first = *read_file(folder.path("d.toml"));
  const auto run = run_negawatt(folder, "fit s.csv --device d.toml --models " + kData +
                                            "models/qwen3-8b.toml --out again.toml "
                                            "--source 'four runs'");
  EXPECT_NE(first.find("; factors fitted to four runs"), std::string::npos);
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(*read_file(folder.path("again.toml")), first);
}

}  // namespace
}  // namespace negawatt::testing
