// SPDX-License-Identifier: Apache-2.0
#include "gpusim/machine_record.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "gpusim/futex.hpp"

namespace negawatt::gpusim {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr unsigned kMostListed = 4096;

/// The machine's clock: the simulated one where there is one.
class RecordClock {
 public:
  explicit RecordClock(const NvmlSymbols& nvml) : nvml_(nvml) {
    if (nvml_.negawattSimJoin != nullptr) nvml_.negawattSimJoin();
  }
  RecordClock(const RecordClock&) = delete;
  RecordClock& operator=(const RecordClock&) = delete;
  ~RecordClock() {
    if (nvml_.negawattSimLeave != nullptr) nvml_.negawattSimLeave();
  }
  [[nodiscard]] std::int64_t now_ns() const {
    std::uint64_t now = 0;
    if (nvml_.negawattSimNow == nullptr || nvml_.negawattSimNow(&now) != NVML_SUCCESS)
      return monotonic_ns();
    return static_cast<std::int64_t>(now);
  }
  void wait_ns(std::int64_t duration_ns) const {
    if (nvml_.negawattSimSleepUntil == nullptr) return wait_exactly_ns(duration_ns);
    nvml_.negawattSimSleepUntil(static_cast<std::uint64_t>(now_ns() + duration_ns));
  }

 private:
  const NvmlSymbols& nvml_;
};

/// Calls functions of one GPU and keeps a list of what it does not support.
class Questions {
 public:
  Questions(const NvmlSymbols& nvml, nvmlDevice_t device) : nvml_(nvml), device_(device) {}

  /// ask("name", nvml.name, answers...): whether the GPU answered.
  template <class... Parameters, class... Answers>
  bool ask(std::string_view name, nvmlReturn_t (*function)(nvmlDevice_t, Parameters...),
           Answers... answers) {
    if (function == nullptr) return false;
    const auto result = function(device_, answers...);
    if (result == NVML_ERROR_NOT_SUPPORTED && std::ranges::find(refused_, name) == refused_.end())
      refused_.emplace_back(name);
    return result == NVML_SUCCESS;
  }
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  [[nodiscard]] const NvmlSymbols& nvml() const { return nvml_; }

 private:
  const NvmlSymbols& nvml_;
  nvmlDevice_t device_;
  std::vector<std::string> refused_;
};
#define NW_ASK(questions, function, ...) \
  (questions).ask(#function, (questions).nvml().function, __VA_ARGS__)

/// A TOML basic string.
std::string quoted(std::string_view text) {
  std::string toml = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') toml += '\\';
    toml += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? '?' : c;
  }
  return toml + "\"";
}

template <class Function, class... First>
std::vector<unsigned> ascending_list(Function list, First... first) {
  std::vector<unsigned> items(kMostListed);
  unsigned count = kMostListed;
  if (!list(first..., &count, items.data())) return {};
  items.resize(std::min(count, kMostListed));
  std::ranges::sort(items);
  return items;
}

std::string_view architecture_name(unsigned value) {
  constexpr std::array<std::string_view, 11> kNames = {
      "volta",  "volta",  "volta", "volta",  "volta",    "volta",
      "turing", "ampere", "ada",   "hopper", "blackwell"};  // nvmlDeviceArchitecture; older: Volta
  return kNames[std::min<std::size_t>(value, kNames.size() - 1)];
}

void write_identity(std::string& out, Questions& gpu) {
  std::array<char, NVML_DEVICE_NAME_V2_BUFFER_SIZE> text{};
  const auto length = static_cast<unsigned>(text.size());
  const auto to = std::back_inserter(out);
  if (NW_ASK(gpu, nvmlDeviceGetName, text.data(), length))
    fmt::format_to(to, "name = {}\n", quoted(text.data()));
  if (NW_ASK(gpu, nvmlDeviceGetUUID, text.data(), length))
    fmt::format_to(to, "uuid = {}\n", quoted(text.data()));
  if (nvmlPciInfo_t pci{}; NW_ASK(gpu, nvmlDeviceGetPciInfo_v3, &pci))
    fmt::format_to(to,
                   "pci = \"{:08x}:{:02x}:{:02x}.0\"\npci_device_id = 0x{:08X}\n"
                   "pci_subsystem_id = 0x{:08X}\n",
                   pci.domain, pci.bus, pci.device, pci.pciDeviceId, pci.pciSubSystemId);
  unsigned architecture = 0;
  (void)NW_ASK(gpu, nvmlDeviceGetArchitecture, &architecture);
  fmt::format_to(to, "architecture = \"{}\"\n", architecture_name(architecture));
  if (nvmlMemory_t memory{}; NW_ASK(gpu, nvmlDeviceGetMemoryInfo, &memory))
    fmt::format_to(to, "memory_gib = {:.9f}\n",
                   static_cast<double>(memory.total) / (1024.0 * 1024.0 * 1024.0));
  if (nvmlEnableState_t mode{}; NW_ASK(gpu, nvmlDeviceGetPersistenceMode, &mode))
    fmt::format_to(to, "persistence_mode = {}\n", mode == NVML_FEATURE_ENABLED);
  if (nvmlPstates_t state{}; NW_ASK(gpu, nvmlDeviceGetPerformanceState, &state))
    fmt::format_to(to, "idle_performance_state = {}     # when it was recorded\n",
                   std::min(static_cast<int>(state), 15));
  if (unsigned mode = 0, pending = 0;
      NW_ASK(gpu, nvmlDeviceGetMigMode, &mode, &pending) && mode == 1)
    out += "mig_enabled = true\n";
  out += "switch_latency = \"15 ms\"     # assumed\n";
}

/// Memory clocks that the driver lists with fewer core clocks than the highest one has.
void write_holds(std::string& out, Questions& gpu, const std::vector<unsigned>& memory,
                 std::size_t most_cores) {
  std::vector<std::string> holds;
  for (std::size_t i = 0; i + 1 < memory.size(); ++i) {
    const auto cores = ascending_list(
        [&](auto... arguments) {
          return NW_ASK(gpu, nvmlDeviceGetSupportedGraphicsClocks, arguments...);
        },
        memory[i]);
    if (cores.empty() || cores.size() >= most_cores) continue;
    holds.push_back(fmt::format("{{memory_mhz = {}, core_at_most_mhz = {}, otherwise_mhz = {}}}",
                                memory[i], cores.back(), memory[i + 1]));
  }
  if (!holds.empty())
    fmt::format_to(std::back_inserter(out), "memory_holds = [{}]\n", fmt::join(holds, ", "));
}

void write_clocks(std::string& out, Questions& gpu) {
  unsigned highest_core = 1;
  unsigned highest_memory = 1;
  (void)NW_ASK(gpu, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM, &highest_core);
  (void)NW_ASK(gpu, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_MEM, &highest_memory);
  auto memory = ascending_list([&](auto... arguments) {
    return NW_ASK(gpu, nvmlDeviceGetSupportedMemoryClocks, arguments...);
  });
  if (memory.empty()) memory = {highest_memory};
  auto core = ascending_list(
      [&](auto... arguments) {
        return NW_ASK(gpu, nvmlDeviceGetSupportedGraphicsClocks, arguments...);
      },
      memory.back());
  if (core.empty()) core = {highest_core};
  fmt::format_to(std::back_inserter(out),
                 "\n[gpu.clocks]\ncore = [{}]\nmemory = [{}]\n"
                 "auto_core_mhz = {}     # these four are assumed\nauto_memory_mhz = {}\n"
                 "idle_core_mhz = {}\nidle_memory_mhz = {}\n",
                 fmt::join(core, ", "), fmt::join(memory, ", "), core.back(), memory.back(),
                 core.front(), memory.front());
  write_holds(out, gpu, memory, core.size());
  fmt::format_to(
      std::back_inserter(out),
      "voltage = [{{mhz = {}, volts = 0.75}}, {{mhz = {}, volts = 1.0}}]     # assumed\n",
      core.front(), core.back() + (core.size() == 1 ? 1 : 0));
}

void write_power(std::string& out, Questions& gpu) {
  unsigned usage_mw = 50'000;
  (void)NW_ASK(gpu, nvmlDeviceGetPowerUsage, &usage_mw);
  const double idle_w = usage_mw * 1e-3;
  fmt::format_to(std::back_inserter(out),
                 "\n[gpu.power]     # what it drew when it was recorded; the rest is assumed\n"
                 "without_context_w = {0:.3f}\nwith_context_w = {0:.3f}\nstatic_w = {0:.3f}\n"
                 "clock_w = {0:.3f}\nreference_c = 50\n"
                 "\n[gpu.thermal]     # assumed\nkelvin_per_watt = 0.06\ntime_constant_s = 20\n"
                 "ambient_c = 25\nslowdown_c = 88\nshutdown_c = 95\nperiod_s = 1\nstep_mhz = 45\n",
                 idle_w);
  unsigned least = 1'000;
  unsigned most = 1'000'000;
  (void)NW_ASK(gpu, nvmlDeviceGetPowerManagementLimitConstraints, &least, &most);
  unsigned standard = most;
  (void)NW_ASK(gpu, nvmlDeviceGetPowerManagementDefaultLimit, &standard);
  unsigned present = standard;
  (void)NW_ASK(gpu, nvmlDeviceGetPowerManagementLimit, &present);
  fmt::format_to(std::back_inserter(out),
                 "\n[gpu.limits]\nleast_w = {}\ndefault_w = {}\nmost_w = {}\ninitial_w = {}\n"
                 "\n[gpu.governor]     # assumed\nkind = \"equilibrium\"\n",
                 least * 1e-3, standard * 1e-3, most * 1e-3, present * 1e-3);
}

/// The mean time between changes of the energy counter; nothing when it hardly moves. The mean of
/// several, because each change is seen up to a poll and the cost of a read late.
std::optional<std::int64_t> sensor_period_ns(Questions& gpu, const RecordClock& clock) {
  constexpr int kPeriods = 10;
  const auto give_up = clock.now_ns() + 3000 * kMs;
  unsigned long long last = 0;
  std::int64_t first_change_ns = 0;
  int periods = -1;
  while (periods < kPeriods && clock.now_ns() < give_up) {
    unsigned long long energy = 0;
    if (!NW_ASK(gpu, nvmlDeviceGetTotalEnergyConsumption, &energy)) return std::nullopt;
    if (last != 0 && energy != last && ++periods == 0) first_change_ns = clock.now_ns();
    if (periods == kPeriods) return (clock.now_ns() - first_change_ns) / kPeriods;
    last = energy;
    clock.wait_ns(kMs / 2);
  }
  return std::nullopt;
}

void write_sensors(std::string& out, Questions& gpu, const RecordClock& clock) {
  const auto period = sensor_period_ns(gpu, clock);
  const auto rounded = std::llround(static_cast<double>(period.value_or(100 * kMs)) / kMs);
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "\n[gpu.sensors]\nperiod_s = {}     # {}\n",
                 static_cast<double>(rounded) * 1e-3, period ? "measured" : "assumed");
  unsigned long long reasons = 0;
  unsigned celsius = 0;
  nvmlTemperature_t temperature{.version = kNvmlTemperatureVersion1};
  nvmlUtilization_t utilization{};
  unsigned count = 0;
  (void)NW_ASK(gpu, nvmlDeviceGetCurrentClocksEventReasons, &reasons);
  (void)NW_ASK(gpu, nvmlDeviceGetCurrentClocksThrottleReasons, &reasons);
  (void)NW_ASK(gpu, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU, &celsius);
  (void)NW_ASK(gpu, nvmlDeviceGetTemperatureV, &temperature);
  (void)NW_ASK(gpu, nvmlDeviceGetUtilizationRates, &utilization);
  (void)NW_ASK(gpu, nvmlDeviceGetEnforcedPowerLimit, &count);
  count = 0;
  nvmlProcessInfo_t* const nobody = nullptr;
  (void)NW_ASK(gpu, nvmlDeviceGetComputeRunningProcesses_v3, &count, nobody);
}

void write_mig(std::string& out, Questions& gpu) {
  unsigned current = 0;
  unsigned pending = 0;
  if (!NW_ASK(gpu, nvmlDeviceGetMigMode, &current, &pending) || current == 0) return;
  unsigned most = 0;
  (void)NW_ASK(gpu, nvmlDeviceGetMaxMigDeviceCount, &most);
  std::string instances;
  for (unsigned i = 0; i < most; ++i) {
    nvmlDevice_t instance = nullptr;
    if (!NW_ASK(gpu, nvmlDeviceGetMigDeviceHandleByIndex, i, &instance)) continue;
    Questions questions(gpu.nvml(), instance);
    std::array<char, NVML_DEVICE_UUID_V2_BUFFER_SIZE> text{};
    const auto length = static_cast<unsigned>(text.size());
    if (!NW_ASK(questions, nvmlDeviceGetUUID, text.data(), length)) continue;
    const auto to = std::back_inserter(instances);
    fmt::format_to(to, "\n[[gpu.mig]]\nuuid = {}\n", quoted(text.data()));
    (void)NW_ASK(questions, nvmlDeviceGetName, text.data(), length);
    const std::string_view name = text.data();
    const auto profile = name.rfind("MIG ");
    fmt::format_to(to, "profile = {}\ngpu_instance = {}     # assumed\n",
                   quoted(profile == std::string_view::npos ? name : name.substr(profile + 4)),
                   i + 1);
    if (nvmlMemory_t memory{}; NW_ASK(questions, nvmlDeviceGetMemoryInfo, &memory))
      fmt::format_to(to, "memory_gib = {:.9f}\n",
                     static_cast<double>(memory.total) / (1024.0 * 1024.0 * 1024.0));
  }
  out += instances;
}

std::string record_gpu(const NvmlSymbols& nvml, nvmlDevice_t device, const RecordClock& clock) {
  Questions gpu(nvml, device);
  std::string out = "\n[[gpu]]\n";
  write_identity(out, gpu);
  write_clocks(out, gpu);
  write_power(out, gpu);
  write_sensors(out, gpu, clock);
  write_mig(out, gpu);
  if (gpu.refused().empty()) return out;
  std::vector<std::string> names;
  for (const auto& name : gpu.refused()) names.push_back(quoted(name));
  return out + fmt::format("\n[gpu.faults]\nnot_supported = [{}]\n", fmt::join(names, ", "));
}

std::string record_head(const NvmlSymbols& nvml) {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
  const auto length = static_cast<unsigned>(text.size());
  std::string out = "# What NVML answered on one machine; written by negawatt-record-machine.\n";
  const auto to = std::back_inserter(out);
  const auto ask = [&](nvmlReturn_t (*function)(char*, unsigned)) {
    return function != nullptr && function(text.data(), length) == NVML_SUCCESS;
  };
  if (ask(nvml.nvmlSystemGetDriverVersion))
    fmt::format_to(to, "driver = {}\n", quoted(text.data()));
  if (ask(nvml.nvmlSystemGetNVMLVersion)) fmt::format_to(to, "nvml = {}\n", quoted(text.data()));
  std::vector<std::string> missing;
  missing.reserve(nvml.missing.size());
  for (const auto& symbol : nvml.missing) missing.push_back(quoted(symbol));
  if (!missing.empty())
    fmt::format_to(to, "\n[faults]\nmissing_symbols = [{}]\n", fmt::join(missing, ", "));
  return out;
}

}  // namespace

Result<std::string> record_machine(const NvmlSymbols& nvml) {
  unsigned count = 0;
  if (nvml.nvmlInit_v2 == nullptr || nvml.nvmlDeviceGetCount_v2 == nullptr ||
      nvml.nvmlDeviceGetHandleByIndex_v2 == nullptr)
    return failure(Code::unavailable, "the library lacks nvmlInit_v2 and what goes with it");
  if (const auto result = nvml.nvmlInit_v2(); result != NVML_SUCCESS)
    return failure(Code::unavailable, fmt::format("nvmlInit answers {}", static_cast<int>(result)));
  (void)nvml.nvmlDeviceGetCount_v2(&count);
  const RecordClock clock(nvml);
  auto text = record_head(nvml);
  bool found = false;
  for (unsigned i = 0; i < count; ++i) {
    nvmlDevice_t device = nullptr;
    if (nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) == NVML_SUCCESS) {
      text += record_gpu(nvml, device, clock);
      found = true;
    } else {
      text += fmt::format("\n# GPU {} cannot be reached\n", i);
    }
  }
  if (!found) return failure(Code::unavailable, "NVML shows no GPU that answers");
  return text;
}

}  // namespace negawatt::gpusim
