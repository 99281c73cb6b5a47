// SPDX-License-Identifier: Apache-2.0
#include "daemon/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/temporary_folder.hpp"

namespace negawatt::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto config = parse_config(text, "negawattd.toml");
  return config ? "accepted" : config.error().message;
}

TEST(Config, AnEmptyFileHasTheDefaults) {
  const auto config = parse_config("", "negawattd.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->socket, "/run/negawatt/negawattd.sock");
  EXPECT_EQ(config->socket_mode, 0660U);
  EXPECT_FALSE(config->observe_only);
  EXPECT_TRUE(config->metrics.empty());
  EXPECT_EQ(config->defaults.heartbeat, Seconds(3));
}

TEST(Config, EveryKeyIsRead) {
  const auto config = parse_config(R"(
socket = "/tmp/s"
socket_mode = "0600"
socket_group = "gpu"
journal = "/tmp/j"
metrics = "127.0.0.1:9911"
observe_only = true
driver_timeout_s = 2.5
users = ["alice", "1000"]
groups = ["ml"]
max_clients = 10
max_clients_per_user = 2
[limits]
leasable = false
mig = true
core_min_mhz = 300
core_max_mhz = 1700
memory = false
power = false
power_min_w = 200
power_max_w = 600.5
unleased_core_mhz = [0, 1500]
unleased_memory_mhz = [9501, 9501]
heartbeat_s = 1
grace_s = 2
max_lease_s = 3600
min_change_interval_s = 0.001
[gpu."GPU-1"]
core_max_mhz = 1600
leasable = true
)",
                                   "negawattd.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->socket, "/tmp/s");
  EXPECT_EQ(config->socket_mode, 0600U);
  EXPECT_EQ(config->socket_group, "gpu");
  EXPECT_EQ(config->journal, "/tmp/j");
  EXPECT_EQ(config->metrics, "127.0.0.1:9911");
  EXPECT_TRUE(config->observe_only);
  EXPECT_EQ(config->driver_timeout, Seconds(2.5));
  EXPECT_THAT(config->users, ElementsAre("alice", "1000"));
  EXPECT_THAT(config->groups, ElementsAre("ml"));
  EXPECT_EQ(config->max_clients, 10U);
  EXPECT_EQ(config->max_clients_per_user, 2U);
  const auto& limits = config->defaults;
  EXPECT_FALSE(limits.leasable);
  EXPECT_TRUE(limits.mig);
  EXPECT_EQ(limits.core_min, gpu::Megahertz{300});
  EXPECT_EQ(limits.core_max, gpu::Megahertz{1700});
  EXPECT_FALSE(limits.memory);
  EXPECT_FALSE(limits.power);
  EXPECT_EQ(limits.power_min, Watts(200));
  EXPECT_EQ(limits.power_max, Watts(600.5));
  EXPECT_EQ(limits.unleased_core.range, gpu::ClockRange::at_most({1500}));
  EXPECT_EQ(limits.unleased_memory.range, gpu::ClockRange::exactly({9501}));
  EXPECT_EQ(limits.heartbeat, Seconds(1));
  EXPECT_EQ(limits.grace, Seconds(2));
  EXPECT_EQ(limits.max_lease, Seconds(3600));
  EXPECT_EQ(limits.min_change_interval, Seconds(0.001));

  // A GPU's own table changes what it names, and keeps the rest of [limits].
  const auto& own = config->policy_for("GPU-1");
  EXPECT_EQ(own.core_max, gpu::Megahertz{1600});
  EXPECT_EQ(own.core_min, gpu::Megahertz{300});
  EXPECT_TRUE(own.leasable);
  EXPECT_EQ(&config->policy_for("GPU-2"), &config->defaults);
}

TEST(Config, AnUnknownKeyNamesItsLineAndTheNearestKnownOne) {
  EXPECT_EQ(error_of("\nsoket = \"/tmp/s\"\n"),
            "negawattd.toml:2: 'soket' is not known, is 'socket' meant?");
  EXPECT_EQ(error_of("[limits]\ncore_max = 1\n"),
            "negawattd.toml:2: 'limits.core_max' is not known, is 'core_max_mhz' meant?");
  EXPECT_EQ(error_of("zzzzzz = 1\n"), "negawattd.toml:1: 'zzzzzz' is not known");
  EXPECT_THAT(error_of("[gpu.\"GPU-1\"]\nheartbeat = 1\n"), HasSubstr("'heartbeat_s'"));
}

TEST(Config, WhatAKeyCannotBeIsRefusedWithItsLine) {
  EXPECT_EQ(error_of("observe_only = 1"),
            "negawattd.toml:1: 'observe_only' is 1, expected true or false");
  EXPECT_EQ(error_of("\nmax_clients = 0"),
            "negawattd.toml:2: 'max_clients' is 0, expected a whole number from 1 to 1024");
  // Where the two are in different tables, the one that is named stands in either.
  EXPECT_EQ(error_of("[limits]\ncore_min_mhz = 900\n[gpu.\"GPU-1\"]\ncore_max_mhz = 800\n"),
            "negawattd.toml:2: 'gpu.GPU-1.core_min_mhz' is 900, expected at most core_max_mhz");
  EXPECT_EQ(error_of("[gpu.\"0\"]\nmemory = true\n"),
            "negawattd.toml:1: 'gpu.0' is a table, expected a table by UUID, as [gpu.\"GPU-...\"]");
  for (const std::string_view wrong : {"max_clients = 2.5",
                                       "max_clients = -1",
                                       "socket = 3",
                                       "socket_mode = \"0999\"",
                                       "socket_mode = \"1777\"",
                                       "users = \"alice\"",
                                       "users = [1]",
                                       "users = [\"\"]",
                                       "driver_timeout_s = \"1\"",
                                       "driver_timeout_s = nan",
                                       "driver_timeout_s = inf",
                                       "driver_timeout_s = 0",
                                       "socket = \"a\\u001b[2J\"",
                                       "limits = 1",
                                       "[limits]\nheartbeat_s = 0",
                                       "[limits]\nunleased_core_mhz = [2, 1]",
                                       "[limits]\nunleased_core_mhz = [1]",
                                       "[limits]\nunleased_core_mhz = [1, 2, 3]",
                                       "[limits]\nunleased_core_mhz = [1.5, 2]",
                                       "[limits]\nunleased_core_mhz = [1, 65536]",
                                       "[limits]\ncore_min_mhz = 2\ncore_max_mhz = 1",
                                       "[limits]\npower_min_w = 2\npower_max_w = 1",
                                       "socket = \"\"",
                                       "[gpu.\"0\"]\nmemory = true",
                                       "[gpu.\"GPU-\\u001b\"]\nmemory = true",
                                       "[gpu]\nmemory = true"})
    EXPECT_THAT(error_of(wrong), StartsWith("negawattd.toml:")) << wrong;
}

TEST(Config, WhatMayBeNoneMayBeSaidToBeNone) {
  const auto config = parse_config("metrics = \"\"\nsocket_group = \"\"\n", "negawattd.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->metrics.empty());
}

TEST(Config, WhatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_THAT(error_of("\n\nsocket = \n"), StartsWith("negawattd.toml:3: "));
  EXPECT_THAT(error_of(std::string("\0\xff", 2)), StartsWith("negawattd.toml:"));
}

TEST(Config, WhatIsNotAsciiIsRefusedWithItsLine) {
  const auto config = parse_config("max_clients = 4\nsocket \xEF\xBB\xBD\\u001b\"\n", "x.toml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "x.toml:2: expected plain ASCII");
}

TEST(Config, AChangeThatOnlyARestartBringsAboutIsNamed) {
  const auto before = parse_config("", "a");
  const auto after = parse_config("metrics = \"127.0.0.1:1\"\nmax_clients = 3\n", "a");
  EXPECT_THAT(needs_restart(*before, *after), ElementsAre("metrics"));
  EXPECT_TRUE(needs_restart(*before, *before).empty());
}

TEST(Config, AFileThatCannotBeReadIsAnError) {
  const testing::TemporaryFolder folder;
  const auto folder_instead = read_config(folder.path(""));
  ASSERT_FALSE(folder_instead);
  EXPECT_NE(folder_instead.error().message.find("Is a directory"), std::string::npos);
  EXPECT_FALSE(read_config(folder.path("nothing")));
}

}  // namespace
}  // namespace negawatt::daemon
