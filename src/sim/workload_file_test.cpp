// SPDX-License-Identifier: Apache-2.0
#include "sim/workload_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "sim/trace_source.hpp"

namespace negawatt::sim {
namespace {

Result<std::string> read(const std::string& name) {
  if (name != "trace.csv") return failure(Code::invalid, "cannot read " + name);
  return "arrival_s,input_tokens,output_tokens\n0,10,20\n0,40,5\n";
}

TEST(WorkloadFile, GivesStreamsWithTheirClassesRatesAndLengths) {
  const auto described = parse_workload(R"(requests = 1000
[[stream]]
class = "chat"
rate_per_s = 3
variation = 2
input_median = 1000
input_sigma = 0.8
output_median = 130
output_sigma = 1.0
[[stream]]
class = "batch"
rate_per_s = 0.5
lengths = "constant"
input_tokens = 4000
output_tokens = 20
priority = -1
[[stream]]
class = "chat"
rate_per_s = 1
lengths = "trace"
trace = "trace.csv"
)",
                                        "w.toml", read);
  ASSERT_TRUE(described) << described.error().message;
  EXPECT_EQ(described->classes, (std::vector<std::string>{"chat", "batch"}));
  const auto& streams = described->workload.streams;
  ASSERT_EQ(streams.size(), 3U);
  EXPECT_EQ(streams[1].request_class, 1U);
  EXPECT_EQ(streams[1].priority, -1);
  EXPECT_EQ(streams[2].request_class, 0U);
  const auto source = trace::generate(described->workload, 1);
  std::size_t count = 0;
  while (source->next()) ++count;
  EXPECT_EQ(count, 1000U);
}

/// One stream of constant lengths, and what else is said of it.
std::string stream_with(const std::string& rest) {
  return "requests = 5\n[[stream]]\nlengths = \"constant\"\ninput_tokens = 1\noutput_tokens = 1\n" +
         rest;
}

std::string message(const std::string& toml) {
  const auto described = parse_workload(toml, "w.toml", read);
  return described ? std::string() : described.error().message;
}

TEST(WorkloadFile, FitsLengthsToATrace) {
  const auto described = parse_workload(R"(requests = 1
[[stream]]
rate_per_s = 1
lengths = "log-normal-of-trace"
trace = "trace.csv"
most_tokens = 99
)",
                                        "w.toml", read);
  ASSERT_TRUE(described) << described.error().message;
  const auto* fit = std::get_if<trace::LogNormalLengths>(&described->workload.streams[0].lengths);
  ASSERT_NE(fit, nullptr);
  // Inputs 10 and 40: the median is 20, each is a factor of 2 off; outputs 20 and 5 go the other
  // way.
  EXPECT_NEAR(fit->input_mu, std::log(20.0), 1e-12);
  EXPECT_NEAR(fit->input_sigma, std::log(2.0), 1e-12);
  EXPECT_NEAR(fit->output_mu, std::log(10.0), 1e-12);
  EXPECT_NEAR(fit->output_sigma, std::log(2.0), 1e-12);
  EXPECT_NEAR(fit->correlation, -1.0, 1e-12);
  EXPECT_EQ(fit->most, 99U);
  EXPECT_EQ(
      message("requests = 1\n[[stream]]\nrate_per_s = 1\nlengths = \"log-normal-of-trace\"\n"),
      "w.toml:2: 'stream.trace' is missing");
}

TEST(WorkloadFile, TakesWholeNumbersOnlyWhereThereIsNoPart) {
  const std::string good = stream_with("rate_per_s = 1\n");
  EXPECT_EQ(message(good), "");
  const auto with_requests = [&](const std::string& count) {
    return "requests = " + count + good.substr(good.find('\n'));
  };
  const auto million = parse_workload(with_requests("1e6"), "w.toml", read);
  ASSERT_TRUE(million);
  EXPECT_EQ(million->workload.most_requests, 1'000'000U);
  EXPECT_EQ(message(with_requests("10.7")),
            "w.toml:1: 'requests' is 10.7, expected a whole number from 1 to 1000000000000");
  EXPECT_EQ(message(stream_with("rate_per_s = 1\npriority = 1.5\n")),
            "w.toml:7: 'stream.priority' is 1.5, expected a whole number from -1000 to 1000");
}

TEST(WorkloadFile, RefusesARateThatIsTwo) {
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nrates = [1, 2]\nperiod_s = 60\n")), "");
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nrates = [1, 2]\nswing = 0.5\n")),
            "w.toml:8: 'stream.swing' is 0.5, expected either 'rates', or 'swing' and 'phase'");
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nphase = 0.25\nrates = [1, 2]\n")),
            "w.toml:7: 'stream.phase' is 0.25, expected either 'rates', or 'swing' and 'phase'");
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nrates = [0, 0]\n")),
            "w.toml:7: 'stream.rates' is a list, expected one above 0 among them");
}

TEST(WorkloadFile, EveryRangeIsTheOneOfTheGenerator) {
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nvariation = 30\n")), "");
  EXPECT_EQ(message(stream_with("rate_per_s = 1\nvariation = 50\n")),
            "w.toml:7: 'stream.variation' is 50, expected a number from 0 to 30");
  EXPECT_EQ(message("requests = 5\n[[stream]]\nlengths = \"uniform\"\nrate_per_s = 1\n"
                    "input_least = 9\ninput_most = 8\noutput_least = 1\noutput_most = 1\n"),
            "w.toml:5: 'stream.input_least' is 9, expected at most input_most");
}

TEST(WorkloadFile, RefusesWhatCannotBe) {
  EXPECT_EQ(message("requests = 5\n[[stream]]\nlengths = \"normal\"\nrate_per_s = 1\n"),
            "w.toml:3: 'stream.lengths' is 'normal', expected log-normal, constant, uniform, trace "
            "or log-normal-of-trace");
  EXPECT_NE(message("requests = 5\n[[stream]]\nlengths = \"constant\"\ninput_tokens = 1\n"
                    "output_tokens = 1\nrate_per_s = -1\n")
                .find("rate_per_s"),
            std::string::npos);
  EXPECT_NE(message("[[stream]]\nlengths = \"constant\"\ninput_tokens = 1\noutput_tokens = 1\n"
                    "rate_per_s = 1\n")
                .find("w.toml: "),
            std::string::npos)
      << "it would never end";
}

TEST(WorkloadFile, AtAnySpeedTheSameRequestsCome) {
  const auto described = parse_workload(R"(duration_s = 6000
[[stream]]
rate_per_s = 2
swing = 0.9
period_s = 4000
input_median = 100
input_sigma = 1
output_median = 20
output_sigma = 1
[[stream]]
rate_per_s = 1
rates = [1, 0, 3]
period_s = 500
lengths = "constant"
input_tokens = 4000
output_tokens = 20
)",
                                        "w.toml", read);
  ASSERT_TRUE(described) << described.error().message;
  for (const double speed : {1.0, 2.0, 4.0}) {
    const auto plain = trace::generate(described->workload, 1);
    SpedUp fast(trace::generate(described->workload, 1), speed);
    std::size_t count = 0;
    while (const auto request = plain->next()) {
      const auto faster = fast.next();
      ASSERT_TRUE(faster);
      EXPECT_EQ(faster->arrival, request->arrival / speed);
      EXPECT_EQ(faster->input_tokens, request->input_tokens);
      ++count;
    }
    EXPECT_FALSE(fast.next());
    // 2 a second for a period and a half of the sine, the half in which it is high: 4000 x 0.9 / pi
    // more; and 1 a second. The deviation of a Poisson process is the root of its mean.
    const double expected = 3 * 6000 + 2 * 4000 * 0.9 / std::numbers::pi;
    EXPECT_NEAR(static_cast<double>(count), expected, 4 * std::sqrt(expected));
  }
}

}  // namespace
}  // namespace negawatt::sim
