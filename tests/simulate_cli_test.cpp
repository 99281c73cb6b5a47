// SPDX-License-Identifier: Apache-2.0
//
// `negawatt simulate` as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/process.hpp"

namespace negawatt::testing {
namespace {

const std::string kDevice = R"(name = "Test GPU"
source = "made up"
checked = "made up, unchecked"
[sheet]
memory_gib = 80
memory_bandwidth_gb_per_s = 3350
fp32_tflops = 67
fp16_tflops = 989
bf16_tflops = 989
idle_w = 75
max_w = 700
)";

const std::string kModel = R"(name = "test-8b"
source = "made up"
layers = 32
hidden = 4096
heads = 32
kv_heads = 8
head_size = 128
vocabulary = 128256
parameters_billion = 8.03
)";

const std::string kCluster = R"(model = "model.toml"
[[instances]]
device = "gpu.toml"
count = 2
[[slo]]
ttft_s = 1
)";

class SimulateCli : public ::testing::Test {
 protected:
  SimulateCli() {
    folder.file("gpu.toml", kDevice);
    folder.file("model.toml", kModel);
    folder.file("c.toml", kCluster);
    std::string trace = "arrival_s,input_tokens,output_tokens,class\n";
    for (int i = 0; i < 200; ++i)
      trace += std::to_string(0.1 * i) + "," + std::to_string(100 + 37 * (i % 29)) + "," +
               std::to_string(10 + 11 * (i % 17)) + (i % 3 == 0 ? ",code\n" : ",chat\n");
    folder.file("r.csv", trace);
  }
  Finished simulate(const std::string& options) {
    return run_negawatt(folder, "simulate --cluster c.toml --requests r.csv " + options);
  }
  static void expect_refused(const Finished& run, const std::string& part) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.error.find(part), std::string::npos) << run.error;
    EXPECT_EQ(std::ranges::count(run.error, '\n'), 1) << run.error;
  }

  TemporaryFolder folder;
};

TEST_F(SimulateCli, PrintsJsonWithEveryKeyThatProgramsRelyOn) {
  const auto run = simulate("--policy round-robin --seed 3 --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  for (const char* key :
       {"requests", "completed", "energy_j", "energy_j_idle", "joules_per_output_token", "ttft_s",
        "tbt_s", "e2e_s", "slo_attainment", "mean_power_w", "peak_power_w", "events", "simulated_s",
        "wall_s", "per_instance", "evidence"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["requests"], 200);
  EXPECT_EQ(json["completed"], 200);
  EXPECT_EQ(json["evidence"], "simulated");
  EXPECT_EQ(json["per_instance"].size(), 2U);
  double sum = 0.0;
  for (const auto& instance : json["per_instance"]) sum += instance["energy_j"].get<double>();
  EXPECT_NEAR(sum, json["energy_j"].get<double>(), 1e-6 * sum);
  EXPECT_LE(json["bound"]["energy_j"].get<double>(), json["energy_j"].get<double>());
  EXPECT_GT(json["ttft_s"]["p99"].get<double>(), json["ttft_s"]["p50"].get<double>());
}

TEST_F(SimulateCli, TheSameSeedGivesTheSameBytesButForTheWallTime) {
  const auto bytes = [&](const std::string& options) {
    auto json = nlohmann::ordered_json::parse(simulate("--json " + options).out);
    json.erase("wall_s");
    return json.dump();
  };
  EXPECT_EQ(bytes("--policy random --seed 5"), bytes("--policy random --seed 5"));
  EXPECT_NE(bytes("--policy random --seed 5"), bytes("--policy random --seed 6"));
}

TEST_F(SimulateCli, TextFitsIntoEightyColumns) {
  for (const std::string options :
       {"--policy round-robin", "--policy round-robin --policy random"}) {
    const auto run = simulate(options);
    ASSERT_EQ(run.exit_code, 0) << run.error;
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_NE(run.out.find("round-robin"), std::string::npos);
  }
}

TEST_F(SimulateCli, ASweepGoesOnWhereItStopped) {
  const std::string grid = "--policy round-robin --policy random --speed 1,2 --sweep s.csv";
  const auto first = simulate(grid + " --seed 1");
  ASSERT_EQ(first.exit_code, 0) << first.error;
  const auto before = read_file(folder.path("s.csv")).value_or("");
  EXPECT_EQ(std::ranges::count(before, '\n'), 2 + 4);
  EXPECT_EQ(std::ranges::count(first.error, '\n'), 4) << first.error;
  const auto second = simulate(grid + " --seed 1,2");
  ASSERT_EQ(second.exit_code, 0) << second.error;
  EXPECT_EQ(std::ranges::count(second.error, '\n'), 4) << "four are new: " << second.error;
  const auto after = read_file(folder.path("s.csv")).value_or("");
  EXPECT_EQ(std::ranges::count(after, '\n'), 2 + 8);
  std::istringstream lines(before);
  for (std::string line; std::getline(lines, line);)
    EXPECT_NE(after.find(line + "\n"), std::string::npos) << line;
  folder.file("c.toml", kCluster + "tbt_s = 1\n");
  expect_refused(simulate(grid), "s.csv: holds results of another cluster or other requests");
}

TEST_F(SimulateCli, ASweepThatWasKilledAtAnyByteEndsAsIfItHadNotBeen) {
  const std::string grid =
      "--policy round-robin --policy 'lambda-cost:lambda=*' --lambda 0,1 --sweep s.csv";
  ASSERT_EQ(simulate(grid).exit_code, 0);
  const auto whole = read_file(folder.path("s.csv")).value_or("");
  ASSERT_EQ(std::ranges::count(whole, '\n'), 2 + 3);
  const auto head = whole.find('\n', whole.find('\n') + 1) + 1;
  const auto first_end = whole.find('\n', head) + 1;
  const auto second_end = whole.find('\n', first_end) + 1;
  for (const auto size :
       {std::size_t{0}, head / 2, head - 1, head, head + 1, first_end - 2, first_end - 1, first_end,
        first_end + 20, second_end - 1, second_end, whole.size() - 1}) {
    folder.file("s.csv", whole.substr(0, size));
    const auto run = simulate(grid);
    ASSERT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(read_file(folder.path("s.csv")).value_or(""), whole) << "cut to " << size;
    const auto lines = std::ranges::count(whole.substr(0, size), '\n');
    EXPECT_EQ(std::ranges::count(run.error, '\n'), 3 - std::max<std::ptrdiff_t>(0, lines - 2))
        << run.error;
  }
  const auto first = whole.substr(head, first_end - head);
  const auto second = whole.substr(first_end, second_end - first_end);
  folder.file("s.csv", whole.substr(0, head) + second + first);
  ASSERT_EQ(simulate(grid).exit_code, 0);
  EXPECT_EQ(read_file(folder.path("s.csv")).value_or(""), whole) << "in the order of the grid";
}

TEST_F(SimulateCli, RefusesOutputsThatCannotBeBeforeAnyWork) {
  for (const std::string option : {"--report", "--sweep", "--out"}) {
    expect_refused(simulate(option + " missing/file"), "cannot write 'missing/file'");
    expect_refused(simulate(option + " ."), option == "--sweep" ? "--sweep is '.'" : "directory");
  }
  expect_refused(simulate("--sweep -"), "--sweep is '-', expected a regular file");
  expect_refused(simulate("--sweep /dev/full"), "--sweep is '/dev/full', expected a regular file");
  expect_refused(simulate("--sweep s.csv --json"), "leave out --json and --out");
  expect_refused(simulate("--report - --json"), "--report is '-'");
  expect_refused(simulate("--report a --out a"), "--report and --out both name 'a'");
  for (const std::string name : {"s.csv", "a", "a.XXXXXX"})
    EXPECT_FALSE(read_file(folder.path(name))) << name;
}

TEST_F(SimulateCli, WritesToWhatIsNoRegularFileAsItIs) {
  folder.file("kept.json", "something longer than nothing");
  std::filesystem::create_symlink("kept.json", folder.path("link.json"));
  const auto run = simulate("--policy round-robin --out link.json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.json")));
  const auto bytes = read_file(folder.path("kept.json")).value_or("");
  EXPECT_EQ(nlohmann::json::parse(bytes)["completed"], 200);
  expect_refused(simulate("--sweep link.json"), "--sweep is 'link.json'");
}

TEST_F(SimulateCli, RefusesWhatWouldHaveNoEffect) {
  expect_refused(simulate("--policy round-robin --lambda 0,1"), "no policy has lambda=* for it");
  expect_refused(simulate("--speed 1e-320"), "expected numbers from 1e-06 to 1000000");
  expect_refused(run_negawatt(folder, "simulate --cluster - --requests - <c.toml"),
                 "standard input can be read once");
  folder.file("w.toml",
              "requests = 5\n[[stream]]\nrate_per_s = 1\nlengths = \"constant\"\n"
              "input_tokens = 10\noutput_tokens = 10\n");
  expect_refused(run_negawatt(folder, "simulate --cluster c.toml --requests w.toml --format azure"),
                 "--format is of traces");
  folder.file("c.toml", kCluster + "class = \"typo\"\n");
  expect_refused(simulate(""), "c.toml: there is an SLO for the class 'typo'");
}

/// The command of a page, as a reader copies it.
std::string command_of_page(const std::string& html) {
  const std::string open = "<pre><code>";
  const auto from = html.find(open) + open.size();
  auto command = html.substr(from, html.find("</code>", from) - from);
  for (const auto& [reference, text] :
       {std::pair{"&#39;", "'"}, {"&quot;", "\""}, {"&gt;", ">"}, {"&lt;", "<"}, {"&amp;", "&"}})
    for (auto at = command.find(reference); at != std::string::npos; at = command.find(reference))
      command.replace(at, std::string(reference).size(), text);
  return command;
}

TEST_F(SimulateCli, TheCommandOfAPageMakesThePageAgain) {
  folder.file("a b $(x)'s.csv", read_file(folder.path("r.csv")).value_or(""));
  const auto run = run_negawatt(folder,
                                "simulate --cluster c.toml --requests \"a b \\$(x)'s.csv\" "
                                "--policy 'lambda-cost:lambda=*' --lambda 0,1 --report 'p q.html'");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto page = read_file(folder.path("p q.html")).value_or("");
  const auto command = command_of_page(page);
  ASSERT_TRUE(command.starts_with("negawatt ")) << command;
  folder.file("p q.html", "");
  const auto again = run_negawatt(folder, command.substr(std::string("negawatt ").size()));
  ASSERT_EQ(again.exit_code, 0) << command << again.error;
  EXPECT_TRUE(read_file(folder.path("p q.html")).value_or("") == page);
}

TEST_F(SimulateCli, WhatIsUnknownIsNotZero) {
  folder.file("r.csv", "arrival_s,input_tokens,output_tokens\n0,3000000,5\n");
  for (const std::string options :
       {"--policy round-robin", "--policy round-robin --policy random"}) {
    const auto run = simulate(options);
    ASSERT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(run.out.find("nan"), std::string::npos) << run.out;
    EXPECT_EQ(run.out.find(" 0.0 %"), std::string::npos) << run.out;
  }
  EXPECT_NE(simulate("--policy round-robin").out.find("1 request was refused"), std::string::npos);
  const std::string both = "--policy round-robin --policy random ";
  ASSERT_EQ(simulate(both + "--report p.html").exit_code, 0);
  const auto page = read_file(folder.path("p.html")).value_or("");
  EXPECT_NE(page.find("No policy served any of 1 request: there"), std::string::npos);
  ASSERT_EQ(simulate(both + "--sweep s.csv").exit_code, 0);
  const auto csv = read_file(folder.path("s.csv")).value_or("");
  EXPECT_NE(csv.find("round-robin,1,1,1,0,0,0,0,,,,,,,0,,150,0,0\n"), std::string::npos)
      << "two instances idle at 75 W each: " << csv;
}

TEST_F(SimulateCli, MakesUpRequestsAsAFileDescribesThem) {
  folder.file("w.toml",
              "requests = 500\n[[stream]]\nrate_per_s = 10\nlengths = \"uniform\"\n"
              "input_least = 10\ninput_most = 500\noutput_least = 1\noutput_most = 100\n");
  const auto run = run_negawatt(
      folder, "simulate --cluster c.toml --requests w.toml --policy round-robin --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(nlohmann::json::parse(run.out)["completed"], 500);
  folder.file("w.toml",
              "duration_s = 100\n[[stream]]\nrate_per_s = 5\nlengths = \"constant\"\n"
              "input_tokens = 10\noutput_tokens = 10\n");
  const auto of_speed = [&](const std::string& speed) {
    const auto result = nlohmann::json::parse(
        run_negawatt(folder, "simulate --cluster c.toml --requests w.toml --json --speed " + speed)
            .out);
    return std::pair(result["requests"].get<int>(), result["last_arrival_s"].get<double>());
  };
  const auto [count, last] = of_speed("1");
  EXPECT_NEAR(count, 500, 100);
  EXPECT_EQ(of_speed("4"), std::pair(count, last / 4));
}

nlohmann::json data_of_page(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST_F(SimulateCli, WritesAPageThatHoldsWhatWasSimulated) {
  const auto run = simulate(
      "--policy round-robin --policy 'all-on-one:device=*' --policy 'lambda-cost:lambda=*' "
      "--lambda 0,1 --speed 1,4 --seed 1,2 --report page.html");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.out, "page.html\n");
  EXPECT_EQ(std::ranges::count(run.error, '\n'), 4 * 2 * 2) << run.error;
  const auto page = read_file(folder.path("page.html")).value_or("");
  const auto data = data_of_page(page);
  ASSERT_EQ(data["policies"].size(), 4U);
  const auto json = nlohmann::json::parse(simulate("--policy round-robin --json").out);
  const auto policy = std::ranges::find_if(
      data["policies"], [](const auto& each) { return each["name"] == "round-robin"; });
  ASSERT_NE(policy, data["policies"].end());
  EXPECT_NEAR((*policy)["energy_j"].get<double>(), json["energy_j"].get<double>(), 1e-3);
  EXPECT_DOUBLE_EQ((*policy)["p99_s"].get<double>(), json["e2e_s"]["p99"].get<double>());
  EXPECT_DOUBLE_EQ(data["bound_j"].get<double>(), json["bound"]["energy_j"].get<double>());
  EXPECT_EQ(data["work"].size(), 2U);
  EXPECT_EQ(data["sensitivity"]["lambda"][0]["name"], "lambda-cost:lambda=*");
  EXPECT_EQ(data["sensitivity"]["lambda"][0]["points"].size(), 2U);
  EXPECT_EQ(data["sensitivity"]["speed"].size(), 4U);
  EXPECT_NE(page.find("negawatt simulate --cluster c.toml"), std::string::npos);
  EXPECT_NE(page.find("<bdi>chat</bdi><span class=\"clocks\">133 requests"), std::string::npos);
}

TEST_F(SimulateCli, APageComparesClusters) {
  folder.file("one.toml",
              "model = \"model.toml\"\n[[instances]]\nname = \"only\"\ndevice = \"gpu.toml\"\n");
  const std::string both =
      "--cluster one.toml --policy round-robin --policy all-on-one:device=only ";
  const auto run = simulate(both + "--report page.html --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("note: not simulated on c.toml"), std::string::npos) << run.error;
  const auto results = nlohmann::json::parse(run.out);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0]["cluster"], "c.toml");
  EXPECT_EQ(results[2]["cluster"], "one.toml");
  const auto data = data_of_page(read_file(folder.path("page.html")).value_or(""));
  EXPECT_EQ(data["clusters"], (nlohmann::json{"c", "one"}));
  const auto& points = data["sensitivity"]["cluster"][0]["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1]["x"], "one");
  EXPECT_NEAR(points[1]["energy"].get<double>(),
              results[1]["joules_per_output_token"].get<double>(), 1e-9);

  expect_refused(simulate(both), "several clusters are compared in a page only");
  expect_refused(simulate(both + "--policy all-on-one:device=none --report page.html"), "'none'");
}

TEST_F(SimulateCli, BadInputIsOneLineThatSaysWhat) {
  expect_refused(simulate("--policy round-robbin"), "there is no policy 'round-robbin'");
  expect_refused(simulate("--format azur"), "--format is 'azur', expected");
  expect_refused(simulate("--speed 0"), "--speed is 0, expected numbers from");
  expect_refused(simulate("--policy negawatt:lambda=*"), "needs --lambda");
  expect_refused(simulate("--report p.html --sweep s.csv"), "give either --sweep or --report");
  expect_refused(simulate("--report p.html --attainment 101"), "--attainment");
  folder.file("c.toml", "model = \"model.toml\"\n[[instances]]\ndevise = \"gpu.toml\"\n");
  expect_refused(simulate(""), "c.toml:");
  folder.file("c.toml", kCluster);
  folder.file("r.csv", "arrival_s,input_tokens,output_tokens\n0,0,5\n");
  expect_refused(simulate(""), "r.csv:2");
  folder.file("r.csv", "arrival_s,input_tokens,output_tokens\n5,1,5\n1,1,5\n");
  expect_refused(simulate(""), "r.csv:3");
}

TEST_F(SimulateCli, ARequestThatIsLargerThanAnyMemoryIsCounted) {
  folder.file("r.csv", "arrival_s,input_tokens,output_tokens\n0,3000000,5\n0,10,5\n");
  const auto run = simulate("--policy round-robin --json");
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["completed"], 1);
  EXPECT_EQ(json["rejected"]["no_instance"].get<int>() + json["rejected"]["too_large"].get<int>(),
            1);
}

}  // namespace
}  // namespace negawatt::testing
