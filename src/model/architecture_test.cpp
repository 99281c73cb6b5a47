// SPDX-License-Identifier: Apache-2.0
#include "model/architecture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/serving_energy.hpp"

namespace negawatt::model {
namespace {

using ::testing::HasSubstr;

const std::string kDense = R"(name = "small"
source = "made up"
layers = 32
hidden = 4096
heads = 32
kv_heads = 8
head_size = 128
vocabulary = 128256
parameters_billion = 8.03
)";

std::string problem(const std::string& toml) {
  const auto read = parse_architecture(toml, "m.toml");
  return read ? "" : read.error().message;
}

TEST(Architecture, ADenseModelIsWorkedOutByHand) {
  const auto a = parse_architecture(kDense, "m.toml").value();
  EXPECT_DOUBLE_EQ(a.active_parameters, 8.03e9);
  EXPECT_EQ(a.expert_parameters(), 0.0);
  EXPECT_DOUBLE_EQ(a.dense_parameters(), 8.03e9 - 128256.0 * 4096.0);
  EXPECT_EQ(a.weight_bytes, 2.0);
  EXPECT_EQ(a.kv_bytes_per_token, 131072.0);               // 2 x 32 x 8 x 128 x 2 bytes
  EXPECT_EQ(a.attention_flop, 4.0 * 32.0 * 32.0 * 128.0);  // two products of 2 operations
}

TEST(Architecture, ExpertsFollowFromTotalAndActiveParameters) {
  // Qwen3-30B-A3B: 48 layers of 128 experts of three 2048 x 768 matrices are 28.99 billion.
  const auto& a = testing::architecture_named("Qwen/Qwen3-30B-A3B-Instruct-2507");
  EXPECT_NEAR(a.expert_parameters(), 28.99e9, 0.05e9);
  // DeepSeek-V3.1: 58 layers of 256 experts of three 7168 x 2048 matrices; 70.3 KB of cache a
  // token.
  const auto& latent = testing::architecture_named("deepseek-ai/DeepSeek-V3.1");
  EXPECT_NEAR(latent.expert_parameters(), 653.9e9, 1e9);
  EXPECT_EQ(latent.kv_bytes_per_token, 61.0 * 576.0 * 2.0);
}

TEST(Architecture, EveryShippedModelIsReadAndNamesItsSource) {
  EXPECT_GE(testing::shipped_architectures().size(), 23U);
  for (const auto& a : testing::shipped_architectures()) {
    EXPECT_FALSE(a.source.empty()) << a.name;
    EXPECT_GT(a.dense_parameters(), 0.0) << a.name;
  }
}

TEST(Architecture, CheckpointsInEightBitsWeighWhatTheyKeepInSixteen) {
  const auto bytes = [](const std::string& name) {
    const auto& a = testing::architecture_named(name);
    return a.parameters * a.weight_bytes;
  };
  // Three matrices of 16384 x 53248 in 124 of 126 layers have one byte, everything else two.
  const double narrow = 124.0 * 3.0 * 16384.0 * 53248.0;
  EXPECT_NEAR(bytes("meta-llama/Llama-3.1-405B-Instruct-FP8"), 2.0 * 405.85e9 - narrow, 0.1e9);
  // Embedding and output have two.
  EXPECT_NEAR(bytes("nvidia/Llama-3.1-8B-Instruct-FP8"), 8.03e9 + 2.0 * 128256.0 * 4096.0, 0.01e9);
}

TEST(Architecture, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(problem(kDense + "layer = 3\n"), "m.toml:10: 'layer' is not known, is 'layers' meant?");
  EXPECT_EQ(problem("name = \"x\"\n"), "m.toml:1: 'source' is missing");
  EXPECT_THAT(problem(kDense + "precision = \"bf17\"\n"),
              HasSubstr("m.toml:10: 'precision' is 'bf17', expected fp32, fp16, bf16, fp8 or fp4"));
  EXPECT_THAT(problem(kDense + "experts = 8\nactive_parameters_billion = 3\n"),
              HasSubstr("'experts_per_token' is missing"));
  EXPECT_THAT(
      problem(kDense + "experts = 8\nexperts_per_token = 9\nactive_parameters_billion = 3\n"),
      HasSubstr("'experts_per_token' is 9, expected at most as many as experts"));
  EXPECT_THAT(
      problem(kDense + "experts = 8\nexperts_per_token = 2\nactive_parameters_billion = 9\n"),
      HasSubstr("'active_parameters_billion' is 9, expected no more than parameters_billion"));
  EXPECT_THAT(problem(kDense + "attention_layers = 33\n"), HasSubstr("at most as many as layers"));
}

TEST(Architecture, HeadsThatDoNotShareTheirKvHeadsEvenlyAreRefused) {
  std::string toml = kDense;
  toml.replace(toml.find("kv_heads = 8"), 12, "kv_heads = 5");
  EXPECT_EQ(problem(toml), "m.toml:6: 'kv_heads' is 5, expected a divisor of the 32 heads");
}

TEST(Architecture, ExpertsThatAModelCannotHoldAreRefused) {
  // The numbers of Qwen3-30B-A3B, and each fact wrong by itself.
  const auto mixture = [](const std::string& layers, const std::string& all,
                          const std::string& active) {
    return problem(R"(name = "mixture"
source = "made up"
layers = 48
hidden = 2048
heads = 32
kv_heads = 4
head_size = 128
vocabulary = 151936
experts = 128
experts_per_token = 8
expert_layers = )" +
                   layers + "\nparameters_billion = " + all +
                   "\nactive_parameters_billion = " + active + "\n");
  };
  EXPECT_EQ(mixture("48", "30.53", "3.35"), "");
  EXPECT_THAT(mixture("900", "30.53", "3.35"),
              HasSubstr("m.toml:11: 'expert_layers' is 900, expected at most as many as layers"));
  // 30.53 - 1.9 and all experts 16/15 of it: more than there are.
  EXPECT_THAT(mixture("48", "30.53", "1.9"),
              HasSubstr("the experts of all layers have 30.54 of 30.53 (1e9) parameters"));
  EXPECT_THAT(mixture("48", "30530", "3350"), HasSubstr("are units mixed up?"));
}

TEST(Architecture, ParametersThatSuchLayersCannotHaveAreRefused) {
  auto with = [](const std::string& count) {
    std::string toml = kDense;
    return toml.replace(toml.find("8.03"), 4, count);
  };
  EXPECT_THAT(problem(with("8030000000")), HasSubstr("are units mixed up?"));
  EXPECT_THAT(problem(with("0.00803")), HasSubstr("are units mixed up?"));
  EXPECT_EQ(
      problem(with("8030")),
      "m.toml:9: 'parameters_billion' is 8030, expected about the parameters of such layers, 0.671 "
      "to 74.7 (1e9), of which the attention alone has 1.34; are units mixed up?");
  EXPECT_EQ(problem(with("6.0")), "");
}

TEST(Architecture, AStateInBytesIsRefused) {
  EXPECT_EQ(problem(kDense + "state_megabytes_per_sequence = 70000000\n"),
            "m.toml:10: 'state_megabytes_per_sequence' is 70000000, expected 0.001 to 100000 "
            "megabytes; are units mixed up?");
}

}  // namespace
}  // namespace negawatt::model
