// SPDX-License-Identifier: Apache-2.0
//
// How long a clock request takes from the client to the driver's setter, with the real negawattd
// and the simulated driver as processes of their own. The simulated GPU notes the time of every
// setter call on the same monotonic clock: to_call is from just before Lease::request() until then,
// and to_answer until Lease::wait_applied() has returned. Setter calls cost nothing here (read_cost
// 0): what is measured is ours. Requests are 1 ms apart, or follow each other at once.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <csignal>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpusim/environment.hpp"
#include "gpusim/simulated_process.hpp"
#include "gpusim/target.hpp"
#include "gpusim/world.hpp"
#include "lease/client.hpp"
#include "process/child.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using namespace negawatt;  // NOLINT(google-build-using-namespace)

const std::string kGpu = "GPU-51000000-4e57-4a10-8200-000000000000";

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "lease_bench: {}\n", result.error().message);
  std::exit(1);
}
void must(Status status) {
  if (status) return;
  fmt::print(stderr, "lease_bench: {}\n", status.error().message);
  std::exit(1);
}

/// The daemon, this process on the GPU, and an active lease.
struct Setup {
  Setup() {
    ::setenv("NEGAWATT_GPUSIM",
             folder
                 .file("machine.toml",
                       "[[gpu]]\nbase = \"" NEGAWATT_SOURCE_DIR "/data/gpusim/h200.toml\"\n"
                       "[gpu.sensors.read_cost]\nenergy_s = 0\npower_s = 0\nclock_s = 0\n"
                       "set_s = 0\nother_s = 0\n")
                 .c_str(),
             1);
    ::setenv("NEGAWATT_GPUSIM_STATE", folder.path("world").c_str(), 1);
    ::setenv("NEGAWATT_NVML", NEGAWATT_SIMULATED_NVML, 1);
    ::setenv("NEGAWATTD_SOCKET", folder.path("socket").c_str(), 1);
    world = must(gpusim::world_of_environment());
    gpu.emplace(must(gpusim::SimulatedProcess::open(
        *world, gpusim::target_named(world->machine(), kGpu).value())));
    const auto config = folder.file(
        "negawattd.toml",
        fmt::format("socket = \"{}\"\njournal = \"{}\"\n[limits]\nmin_change_interval_s = 0\n",
                    folder.path("socket"), folder.path("journal")));
    daemon.emplace(
        must(process::Child::start({.command = {NEGAWATTD_BINARY, "--config", config}})));
    for (int tries = 0; tries < 500 && !client; ++tries) {
      auto connected = lease::Client::connect();
      if (connected)
        client.emplace(std::move(*connected));
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!client) must(Status(failure(Code::internal, "negawattd does not serve")));
    held.emplace(must(client->acquire(kGpu, {.memory = true})));
    must(held->wait_active(Seconds(10)));
    // The first change of a knob waits for the disk, once a lease.
    (void)must(held->request({lease::Clock::locked_mhz(900), {}}));
    (void)must(held->wait_applied(Seconds(10)));
  }
  ~Setup() {
    held.reset();
    client.reset();
    daemon->signal(SIGTERM);
    (void)daemon->wait();
  }

  [[nodiscard]] std::int64_t last_call_ns() const {
    gpusim::GpuAccess access(*world, 0);
    const auto& writes = access.state().writes;
    return writes[writes.end - 1].at_ns;
  }

  testing::TemporaryFolder folder;
  std::unique_ptr<gpusim::World> world;
  std::optional<gpusim::SimulatedProcess> gpu;
  std::optional<process::Child> daemon;
  std::optional<lease::Client> client;
  std::optional<lease::Lease> held;
};

double at_share(std::vector<double>& values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

void request_to_driver_call(benchmark::State& state) {
  Setup setup;
  std::vector<double> to_call_us;
  std::vector<double> to_answer_us;
  bool low = false;
  for (auto _ : state) {
    if (state.range(0) != 0) std::this_thread::sleep_for(std::chrono::microseconds(state.range(0)));
    low = !low;
    const auto begin_ns = setup.world->clock().now_ns();
    (void)must(setup.held->request({lease::Clock::locked_mhz(low ? 600 : 900), {}}));
    (void)must(setup.held->wait_applied(Seconds(10)));
    const auto end_ns = setup.world->clock().now_ns();
    to_call_us.push_back(static_cast<double>(setup.last_call_ns() - begin_ns) * 1e-3);
    to_answer_us.push_back(static_cast<double>(end_ns - begin_ns) * 1e-3);
    state.SetIterationTime(to_call_us.back() * 1e-6);
  }
  state.counters["to_call_p50_us"] = at_share(to_call_us, 0.5);
  state.counters["to_call_p90_us"] = at_share(to_call_us, 0.9);
  state.counters["to_call_p99_us"] = at_share(to_call_us, 0.99);
  state.counters["to_answer_p50_us"] = at_share(to_answer_us, 0.5);
  state.counters["to_answer_p99_us"] = at_share(to_answer_us, 0.99);
}
BENCHMARK(request_to_driver_call)
    ->ArgName("pause_us")
    ->Arg(1000)
    ->Arg(0)
    ->Iterations(3000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
