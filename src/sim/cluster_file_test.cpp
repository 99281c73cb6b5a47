// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster_file.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/workload_file.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::sim {
namespace {

constexpr const char* kDevice = R"(name = "Test GPU"
source = "made up"
checked = "made up"
[sheet]
memory_gib = 80
memory_bandwidth_gb_per_s = 3350
link_bandwidth_gb_per_s = 450
fp32_tflops = 67
fp16_tflops = 989
bf16_tflops = 989
idle_w = 75
max_w = 700
least_mhz = 345
most_mhz = 1980
)";

constexpr const char* kModel = R"(name = "test-8b"
source = "made up"
layers = 32
hidden = 4096
heads = 32
kv_heads = 8
head_size = 128
vocabulary = 128256
parameters_billion = 8.03
precision = "bf16"
)";

/// The model with something else in it.
std::string model_like(const std::string& what, const std::string& instead) {
  std::string text = kModel;
  return text.replace(text.find(what), what.size(), instead);
}

Result<std::string> read(const std::string& name) {
  const std::map<std::string, std::string> files = {
      {"../devices/fast.toml", kDevice},
      {"slow.toml", kDevice},
      {"8b.toml", kModel},
      {"8b-fp8.toml", model_like("bf16", "fp8")},
      {"4b.toml", model_like("layers = 32", "layers = 16")}};
  const auto found = files.find(name);
  if (found == files.end()) return failure(Code::invalid, "cannot read " + name);
  return found->second;
}

const std::string kFleet = R"(model = "8b.toml"
policy = "round-robin"
[[instances]]
device = "../devices/fast.toml"
count = 2
most_sequences = 128
most_step_tokens = 4096
[[instances]]
device = "slow.toml"
name = "small"
kv_tokens = 10000
sleep_after_s = 30
sleep_power_w = 20
start_time_s = 15
start_energy_j = 2000
[[slo]]
ttft_s = 2
[[slo]]
class = "chat"
ttft_s = 1
tbt_s = 0.1
)";

std::string message_of(const std::string& toml) {
  const auto read_it = parse_cluster(toml, "c.toml", read);
  return read_it ? "" : read_it.error().message;
}

TEST(ClusterFile, GivesInstancesWithWhatTheirDevicesAndModelMakeOfThem) {
  const auto fleet = parse_cluster(kFleet, "c.toml", read);
  ASSERT_TRUE(fleet) << fleet.error().message;
  const auto& instances = fleet->cluster.instances;
  ASSERT_EQ(instances.size(), 3U);
  EXPECT_EQ(instances[0].name, "fast/1");
  EXPECT_EQ(instances[1].name, "fast/2");
  EXPECT_EQ(instances[2].name, "small");
  EXPECT_EQ(instances[0].device, "Test GPU");
  EXPECT_EQ(instances[0].limits.most_sequences, 128U);
  EXPECT_EQ(instances[2].limits.kv_blocks, 625U);
  // 128 KiB a token; what 90 % of 80 GiB leaves beside 16 GB of weights.
  EXPECT_NEAR(static_cast<double>(kv_tokens(instances[0].limits)), 440'000.0, 40'000.0);
  EXPECT_EQ(instances[2].device_type, 1U);
  EXPECT_EQ(instances[2].power.sleep_after, Seconds(30));
  EXPECT_GT(fleet->device_types[0].busy_power, instances[0].model.idle_power());
  EXPECT_EQ(fleet->policy, "round-robin");
}

TEST(ClusterFile, GivesEachClassItsOwnSloOrThatOfAll) {
  const auto fleet = parse_cluster(kFleet, "c.toml", read);
  ASSERT_TRUE(fleet);
  const std::vector<std::string> classes = {"batch", "chat"};
  const auto slos = slos_of(*fleet, classes);
  ASSERT_TRUE(slos) << slos.error().message;
  EXPECT_EQ((*slos)[0].ttft, Seconds(2));
  EXPECT_FALSE((*slos)[0].tbt);
  EXPECT_EQ((*slos)[1].tbt, Seconds(0.1));
  const std::vector<std::string> others = {"chad"};
  EXPECT_EQ(slos_of(*fleet, others).error().message,
            "there is an SLO for the class 'chat', which no request has; is it 'chad'?");
}

TEST(ClusterFile, RefusesAKeyThatNobodyKnowsWithTheNearestOne) {
  const auto message = message_of(
      "model = \"8b.toml\"\n[[instances]]\ndevice = \"slow.toml\"\n"
      "most_sequence = 3\n");
  EXPECT_NE(message.find("c.toml:4"), std::string::npos) << message;
  EXPECT_NE(message.find("most_sequences"), std::string::npos) << message;
}

TEST(ClusterFile, RefusesWhatCannotBe) {
  EXPECT_EQ(message_of("model = \"8b.toml\"\n"),
            "c.toml: 0 instances, expected 1 to 10000 ([[instances]])");
  EXPECT_EQ(message_of("model = \"8b.toml\"\n[[instances]]\ndevice = \"gone.toml\"\n"),
            "cannot read gone.toml");
  const std::string slow = "model = \"8b.toml\"\n[[instances]]\ndevice = \"slow.toml\"\n";
  EXPECT_EQ(message_of(slow + "role = \"decode\"\n"),
            "c.toml: instance 'slow': computes only prompts or only answers, and there is no link");
  EXPECT_NE(message_of(slow + "role = \"decoder\"\n").find("\"prefill\" or \"decode\""),
            std::string::npos);
  EXPECT_NE(message_of(slow + "sleep_after_s = 3e9\n").find("from 0 to 10000000"),
            std::string::npos);
  EXPECT_NE(message_of(slow + "power_cap_w = 70\n").find("power cap"), std::string::npos);
  EXPECT_EQ(message_of(slow + "[[instances]]\ndevice = \"slow.toml\"\n"),
            "c.toml: two tables of instances are named 'slow'");
}

TEST(ClusterFile, RefusesAModelUnlikeTheFirst) {
  const std::string first = "model = \"8b.toml\"\n[[instances]]\ndevice = \"slow.toml\"\n";
  const std::string other = "[[instances]]\nname = \"other\"\ndevice = \"slow.toml\"\nmodel = ";
  EXPECT_EQ(message_of(first + other + "\"4b.toml\"\n"),
            "c.toml:4: 'instances': serves test-8b, expected test-8b as the first: requests do not "
            "say which model they are for");
  EXPECT_EQ(message_of(first + other + "\"8b-fp8.toml\"\n"), "") << "the same in another format";
}

TEST(ClusterFile, RefusesWhatOnlyASleeperHas) {
  const std::string slow = "model = \"8b.toml\"\n[[instances]]\ndevice = \"slow.toml\"\n";
  for (const std::string key : {"sleep_power_w", "start_time_s", "start_energy_j"}) {
    EXPECT_EQ(message_of(slow + key + " = 10\n"),
              "c.toml:4: 'instances." + key +
                  "' is 10, expected 'sleep_after_s' beside it: without that key it never sleeps");
    EXPECT_EQ(message_of(slow + key + " = 10\nsleep_after_s = 5\n"), "");
  }
  EXPECT_NE(message_of(slow + "starts_asleep = true\n").find("c.toml:4"), std::string::npos);
}

TEST(ClusterFile, RefusesASecondSloOfAClass) {
  const std::string one =
      "model = \"8b.toml\"\n[[instances]]\ndevice = \"slow.toml\"\n"
      "[[slo]]\nttft_s = 1\n";
  EXPECT_EQ(message_of(one + "[[slo]]\nttft_s = 2\n"),
            "c.toml:6: 'slo': a second SLO of all classes, expected one");
  const std::string chat = "[[slo]]\nclass = \"chat\"\nttft_s = 2\n";
  EXPECT_EQ(message_of(one + chat), "");
  EXPECT_EQ(message_of(one + chat + chat),
            "c.toml:9: 'slo': a second SLO of the class 'chat', expected one");
}

TEST(ClusterFile, ALinkMovesTheMemoryOfATokenAtItsBandwidth) {
  const auto fleet = parse_cluster(
      "model = \"8b.toml\"\n[link]\nbandwidth_bytes_per_s = 25e9\nlatency_s = 0.002\n"
      "energy_j_per_byte = 1e-9\n[[instances]]\ndevice = \"slow.toml\"\n",
      "c.toml", read);
  ASSERT_TRUE(fleet) << fleet.error().message;
  // 32 layers, keys and values of 8 heads of 128, two bytes each: 131072 bytes.
  EXPECT_DOUBLE_EQ(fleet->cluster.link->time_per_token.in_si(), 131072.0 / 25e9);
  EXPECT_DOUBLE_EQ(fleet->cluster.link->energy_per_token.in_si(), 131072.0 * 1e-9);
}

TEST(ClusterFile, EveryClusterThatShipsCanBeSimulated) {
  const auto beside = [](const std::string& name) -> Result<std::string> {
    return negawatt::testing::repository_file("data/clusters/" + name);
  };
  for (const std::string name : {"mixed.toml", "four-h100.toml", "split.toml", "forty.toml"}) {
    const auto cluster =
        parse_cluster(negawatt::testing::repository_file("data/clusters/" + name), name, beside);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_FALSE(cluster->policy.empty());
    for (const auto& spec : cluster->cluster.instances)
      EXPECT_GT(kv_tokens(spec.limits), 20'000U) << spec.name;
  }
  const auto week = parse_workload(negawatt::testing::repository_file("data/workloads/week.toml"),
                                   "week.toml", beside);
  ASSERT_TRUE(week) << week.error().message;
  EXPECT_EQ(week->workload.most_requests, 27'000'000U);
}

}  // namespace
}  // namespace negawatt::sim
