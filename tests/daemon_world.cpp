// SPDX-License-Identifier: Apache-2.0
#include "tests/daemon_world.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>  // setenv is not in <cstdlib>

#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/result.hpp"
#include "gpusim/environment.hpp"
#include "gpusim/fault_script.hpp"
#include "gpusim/physics.hpp"
#include "lease/client.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::testing {
namespace {

constexpr Seconds kPatience{20};

std::string clock_text(const gpusim::ClockSetting& setting) {
  if (setting.is_automatic()) return "auto";
  if (setting.least_mhz == setting.most_mhz) return std::to_string(setting.most_mhz);
  return fmt::format("{}-{}", setting.least_mhz, setting.most_mhz);
}

std::string write_text(const gpusim::WriteRecord& write) {
  const auto name = gpusim::function_name(write.function);
  const std::string refused = write.result == NVML_SUCCESS ? "" : "refused ";
  const std::string domain = name.find("Memory") != std::string_view::npos ? "memory" : "core";
  if (name.find("Reset") != std::string_view::npos) return refused + "reset " + domain;
  if (name.find("Limit") != std::string_view::npos)
    return fmt::format("{}limit {}", refused, write.first / 1000);
  return fmt::format("{}lock {} {} {}", refused, domain, write.first, write.second);
}

/// Whether a daemon is there and serves: a socket alone is not enough.
bool answers() { return lease::Client::connect({.reply_timeout = Seconds(5)}).has_value(); }

}  // namespace

bool eventually(const std::function<bool()>& holds, Seconds patience) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.in_si());
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string User::operator()(const std::string& command) {
  if (const auto written = child_.write_line(command); !written) return written.error().message;
  const auto answer = child_.read_line(kPatience);
  return answer ? *answer : "no answer: " + answer.error().message;
}

DaemonWorld::DaemonWorld(DaemonWorldOptions options) : options_(std::move(options)) {
  std::string machine = "driver = \"580.159.04\"\n";
  for (int i = 0; i < options_.gpus; ++i) {
    machine += fmt::format(
        "[[gpu]]\nbase = \"{}/data/gpusim/h200.toml\"\n"
        "uuid = \"GPU-51000000-4e57-4a10-8200-{:012}\"\npci = \"00000000:{:02x}:00.0\"\n",
        NEGAWATT_SOURCE_DIR, i, 6 + i);
    if (i == 0 && !options_.faults.empty()) machine += "[gpu.faults]\n" + options_.faults + "\n";
  }
  configure(options_.config, options_.limits);
  // Of this process and of all that it starts.
  ::setenv("NEGAWATT_GPUSIM", folder_.file("machine.toml", machine).c_str(), 1);
  ::setenv("NEGAWATT_GPUSIM_STATE", folder_.path("world").c_str(), 1);
  ::setenv("NEGAWATT_NVML", NEGAWATT_SIMULATED_NVML, 1);
  ::setenv("NEGAWATTD_SOCKET", socket().c_str(), 1);
  auto world = gpusim::world_of_environment();
  if (!world) throw std::runtime_error(world.error().message);
  world_ = std::move(*world);
}

DaemonWorld::~DaemonWorld() {
  if (daemon_ && !daemon_->poll()) {
    daemon_->signal(SIGKILL);
    (void)daemon_->wait();
  }
  if (::testing::Test::HasFailure()) fmt::print(stderr, "negawattd's log:\n{}\n", log());
}

void DaemonWorld::configure(const std::string& config, const std::string& limits) const {
  folder_.file("negawattd.toml", fmt::format("socket = \"{}\"\njournal = \"{}\"\n{}\n[limits]\n"
                                             "{}{}\n",
                                             socket(), journal(), config,
                                             limits.find("_s = ") == std::string::npos
                                                 ? "heartbeat_s = 1.5\ngrace_s = 1\n"
                                                 : "",
                                             limits));
}

process::Child DaemonWorld::launch(const std::string& prefix) {
  auto command = fmt::format("{} '{}' --verbose --config '{}'", prefix, NEGAWATTD_BINARY,
                             folder_.path("negawattd.toml"));
  for (const auto& argument : options_.arguments) command += " '" + argument + "'";
  command += fmt::format(" 2>>'{}'", folder_.path("log"));
  auto child = process::Child::start({.command = {"/bin/sh", "-c", command}});
  if (!child) throw std::runtime_error(child.error().message);
  return std::move(*child);
}

void DaemonWorld::start(const std::string& prefix) {
  daemon_.emplace(launch(prefix));
  ASSERT_TRUE(eventually([&] { return answers() || daemon_->poll(); })) << log();
  ASSERT_TRUE(daemon_lives()) << log();
}

process::Ending DaemonWorld::start_and_wait(const std::string& prefix) {
  auto daemon = launch(prefix);
  return daemon.wait();
}

void DaemonWorld::signal_daemon(int number) { daemon_->signal(number); }
process::Ending DaemonWorld::wait_for_daemon() { return daemon_->wait(); }
bool DaemonWorld::daemon_lives() { return daemon_ && !daemon_->poll(); }

User DaemonWorld::user(const std::string& prefix) {
  auto child =
      process::Child::start({.command = {"/bin/sh", "-c", prefix + " " NEGAWATT_LEASE_USER},
                             .streams = process::Streams::piped});
  if (!child) throw std::runtime_error(child.error().message);
  return User(std::move(*child));
}

User DaemonWorld::active_user(const std::string& terms) {
  auto one = user();
  EXPECT_EQ(one("connect"), "ok");
  EXPECT_EQ(one("use " + kGpu0), "ok");
  EXPECT_TRUE(one("acquire " + kGpu0 + " " + terms).starts_with("granted"));
  EXPECT_EQ(one("active 10"), "active");
  return one;
}

gpusim::GpuState DaemonWorld::gpu(std::size_t index) {
  gpusim::GpuAccess access(*world_, index);
  EXPECT_TRUE(access.ok());
  return access.state();
}

std::vector<std::string> DaemonWorld::writes(std::size_t index) {
  const auto state = gpu(index);
  std::vector<std::string> texts;
  for (auto i = state.writes.oldest(); i < state.writes.end; ++i)
    texts.push_back(write_text(state.writes[i]));
  return texts;
}

std::string DaemonWorld::settings(std::size_t index) {
  const auto state = gpu(index);
  return fmt::format("core {}, memory {}, limit {} W", clock_text(state.core.asked),
                     clock_text(state.memory.asked), std::lround(state.power_limit.in_si()));
}

void DaemonWorld::set_without_daemon(unsigned watts) {
  gpusim::GpuAccess access(*world_, 0);
  const auto draft = access.draft();
  EXPECT_EQ(gpusim::reset_core(draft, 1), NVML_SUCCESS);
  EXPECT_EQ(gpusim::reset_memory(draft, 1), NVML_SUCCESS);
  EXPECT_EQ(gpusim::set_power_limit(draft, 1000 * watts, 1), NVML_SUCCESS);
  access.commit();
}

bool becomes(User& user, const std::string& state) {
  return eventually([&] { return user("state") == state; });
}

bool DaemonWorld::becomes(const std::string& wanted, Seconds patience) {
  return eventually([&] { return settings() == wanted; }, patience);
}

std::string DaemonWorld::log() const { return read_file(folder_.path("log")).value_or(""); }

bool DaemonWorld::logs(const std::string& text, Seconds patience) const {
  return eventually([&] { return log().find(text) != std::string::npos; }, patience);
}

}  // namespace negawatt::testing
