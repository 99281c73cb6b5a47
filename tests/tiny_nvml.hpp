// SPDX-License-Identifier: Apache-2.0
//
// A scripted driver for tests of room gpu: a shared library with NVML's functions that answers from
// this state, which the test reaches through the symbol tiny_nvml. It obeys no physics (room gpusim
// does) and shows what a real GPU does not on demand: odd return codes, missing functions, counters
// that jump. Time is simulated, for one thread;
// the old driver has neither that nor the recent functions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace negawatt::testing {

struct TinyGpu {
  std::string uuid;
  std::string name = "Tiny";
  std::string bus;
  std::optional<std::pair<unsigned, unsigned>> core_lock;
  std::optional<std::pair<unsigned, unsigned>> memory_lock;
  unsigned core_mhz = 1980;
  unsigned memory_mhz = 3201;
  std::vector<unsigned> core_clocks = {1980, 1965, 1950, 1410, 345};
  std::vector<unsigned> memory_clocks = {3201, 2201};
  unsigned limit_mw = 700'000;
  unsigned least_mw = 200'000;
  unsigned most_mw = 700'000;
  unsigned long long reasons = 0;
  unsigned instant_mw = 300'000;
  unsigned average_mw = 290'000;
  std::vector<unsigned> pids;
  bool mig = false;
  std::vector<std::string> instances;
  /// Counter in mJ at a time in seconds, before it is held for its period.
  std::function<double(double)> counter_mj = [](double time) { return 300'000 * time; };
  double counter_period_s = 0.1;
  double counter_phase_s = 0.013;
};

struct TinyNvml {
  std::vector<TinyGpu> gpus = {
      {.uuid = "GPU-aaaa0000-1111-2222-3333-444455556666", .bus = "00000000:01:00.0"},
      {.uuid = "GPU-bbbb0000-1111-2222-3333-444455556666", .bus = "00000000:02:00.0"}};
  /// Return codes of the next calls of a function, then as scripted by `always`, then success.
  std::map<std::string, std::deque<int>> next;
  std::map<std::string, int> always;
  /// As above, for one field of nvmlDeviceGetFieldValues.
  std::map<unsigned, int> field_always;
  /// Setters that succeeded or failed, in order: "GPU-aaaa... core 345 1410", "... memory reset".
  std::vector<std::string> writes;
  std::map<std::string, int> calls;
  std::int64_t now_ns = 0;
  std::int64_t read_cost_ns = 0;    ///< of every sensor call
  bool ignore_power_limit = false;  ///< its setter succeeds and does nothing
  bool whole_watts = false;         ///< its setter rounds to whole watts
  int joined = 0;
  int notified = 0;
};

}  // namespace negawatt::testing

extern "C" negawatt::testing::TinyNvml* tiny_nvml();
