// SPDX-License-Identifier: Apache-2.0
// The part of doctor that asks.
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/driver.hpp"
#include "inspect/doctor.hpp"
#include "inspect/machine.hpp"
#include "inspect/patience.hpp"
#include "lease/client.hpp"

namespace negawatt::inspect {
namespace {

// A driver without persistence mode starts every GPU of the machine first.
constexpr Seconds kOpening{60};
constexpr Seconds kAsking{20};
constexpr Seconds kMeasuring{60};
constexpr Seconds kPowerPatience{3};  // a steady load may leave the sensor where it is
constexpr int kMoreTries = 2;
constexpr Seconds kDaemonReply{2};
constexpr std::size_t kNamedProcesses = 3;

/// All that is asked of the driver as a whole.
struct Survey {
  gpu::Answer<std::string> driver_version;
  gpu::Answer<std::string> library_version;
  std::vector<std::string> missing_functions;
  gpu::Answer<std::vector<gpu::ListedDevice>> listed;
  std::vector<gpu::PhysicalGpu> physical;
};

Survey survey(const gpu::Driver& driver) {
  return {.driver_version = driver.driver_version(),
          .library_version = driver.library_version(),
          .missing_functions = driver.missing_functions(),
          .listed = driver.list(),
          .physical = gpu::physical_gpus(driver)};
}

GpuAnswers ask(const gpu::Device& device) {
  GpuAnswers answers{.energy = device.energy(),
                     .power_instant = device.power_instant(),
                     .power_average = device.power_average(),
                     .power_unspecified = device.power_unspecified(),
                     .clocks = device.clocks(),
                     .memory_clocks = device.memory_clocks(),
                     .core_clocks = {},
                     .reasons = device.event_reasons(),
                     .power_limits = device.power_limits(),
                     .persistence = device.persistence(),
                     .mig = device.mig_mode(),
                     .instances = device.mig_instances(),
                     .processes = device.compute_processes()};
  if (answers.memory_clocks && !answers.memory_clocks->empty()) {
    answers.core_clocks = device.core_clocks(answers.memory_clocks->front());
  }
  return answers;
}

/// On a busy machine some reads come late; once more then.
Result<gpu::Refresh> energy_refresh(const gpu::Device& device) {
  auto refresh = gpu::measure_refresh(device, gpu::Sensor::energy);
  for (int again = 0; again < kMoreTries && !refresh; ++again) {
    if (refresh.error().code != Code::internal) break;
    refresh = gpu::measure_refresh(device, gpu::Sensor::energy);
  }
  return refresh;
}

Measured measure(const gpu::Device& device) {
  const auto taking_part = device.clock().participate();
  const auto before = device.energy();
  Measured measured{
      .energy = energy_refresh(device),
      .counter_moves = false,
      .power_instant = gpu::measure_refresh(device, gpu::Sensor::power_instant, kPowerPatience),
      .power_average = gpu::measure_refresh(device, gpu::Sensor::power_average, kPowerPatience),
      .cross_check = failure(Code::unavailable, "without a counter there is nothing to compare")};
  const auto after = device.energy();
  measured.counter_moves = before && after && before->counter != after->counter;
  if (!measured.energy) return measured;
  // A power that stands still can be sampled at any pace.
  const gpu::Refresh power = measured.power_instant   ? *measured.power_instant
                             : measured.power_average ? *measured.power_average
                                                      : *measured.energy;
  measured.cross_check = gpu::cross_check(device, {*measured.energy, power});
  return measured;
}

/// Every GPU at once, each on a thread of its own: one that hangs does not hide the others.
template <class Ask>
auto of_each(const std::vector<gpu::ListedDevice>& listed, Seconds patience, Ask ask_one) {
  using Value = decltype(ask_one(*listed.front().device));
  std::vector<std::optional<std::future<Value>>> futures;
  for (const auto& entry : listed) {
    futures.emplace_back();
    if (!entry.device) continue;
    futures.back() = start_apart([device = *entry.device, ask_one] { return ask_one(device); });
  }
  std::vector<std::optional<Value>> values;
  for (auto& future : futures) {
    values.emplace_back();
    if (future && done_within(*future, patience)) values.back() = future->get();
  }
  return values;
}

std::vector<std::string> names_of(const std::vector<gpu::ComputeProcess>& processes,
                                  const std::filesystem::path& root) {
  std::vector<std::string> names;
  for (const auto& process : processes) {
    if (names.size() == kNamedProcesses) break;
    if (auto name = command_of(root, process.pid); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<GpuFacts> gpu_facts(const std::vector<gpu::ListedDevice>& listed,
                                const DoctorOptions& options) {
  auto answers = of_each(listed, kAsking, ask);
  std::vector<gpu::ListedDevice> to_measure;  // not those that already hang
  std::vector<GpuFacts> all;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    GpuFacts facts{.display_index = listed[i].display_index,
                   .identity = {},
                   .lost = {},
                   .answers = std::move(answers[i]),
                   .measured = {},
                   .process_names = {}};
    if (listed[i].device) {
      facts.identity = listed[i].device->identity();
    } else {
      facts.lost = listed[i].device.error();
    }
    if (facts.answers) {
      to_measure.push_back(listed[i]);
      if (facts.answers->processes) {
        facts.process_names = names_of(*facts.answers->processes, options.root);
      }
    }
    all.push_back(std::move(facts));
  }
  if (options.quick) return all;
  auto measured = of_each(to_measure, kMeasuring, measure);
  std::size_t next = 0;
  for (auto& facts : all) {
    if (facts.answers) facts.measured = std::move(measured[next++]);
  }
  return all;
}

DaemonFacts ask_daemon(const std::string& socket) {
  DaemonFacts facts{.socket = socket, .failure = {}, .observe_only = false, .gpus = {}};
  auto client = lease::Client::connect(
      {.socket = socket, .program = "negawatt doctor", .reply_timeout = kDaemonReply});
  if (!client) {
    facts.failure = client.error();
    return facts;
  }
  facts.observe_only = client->observe_only();
  auto gpus = client->gpus();
  if (gpus) {
    facts.gpus = *std::move(gpus);
  } else {
    facts.failure = gpus.error();
  }
  return facts;
}

void ask_driver(const DoctorOptions& options, DoctorFacts& facts) {
  DriverFacts& driver = facts.driver;
  driver.path = options.library;
  auto opened = result_within(
      kOpening, [path = options.library] { return gpu::Driver::open(gpu::Access::observe, path); });
  if (opened && !*opened) driver.failure = opened->error();
  if (opened && *opened) {
    const gpu::Driver open = **std::move(opened);
    driver.simulated = open.clock().is_simulated();
    if (auto seen = result_within(kAsking, [open] { return survey(open); })) {
      driver.driver_version = std::move(seen->driver_version);
      driver.library_version = std::move(seen->library_version);
      driver.missing_functions = std::move(seen->missing_functions);
      if (!seen->listed) {
        driver.listing = seen->listed.error();
        return;
      }
      facts.visible = gpu::visible_devices(facts.cuda, seen->physical);
      facts.gpus = gpu_facts(*seen->listed, options);
      return;
    }
  }
  driver.hangs = !driver.failure;
}

}  // namespace

DoctorFacts gather(const DoctorOptions& options) {
  DoctorFacts facts{.quick = options.quick,
                    .machine = read_machine(options.root),
                    .driver = {},
                    .daemon = ask_daemon(options.socket),
                    .cuda = gpu::cuda_environment(),
                    .visible = {},
                    .gpus = {}};
  ask_driver(options, facts);
  return facts;
}

}  // namespace negawatt::inspect
