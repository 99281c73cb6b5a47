// SPDX-License-Identifier: Apache-2.0
// The part of top that reads.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "gpu/driver.hpp"
#include "inspect/machine.hpp"
#include "inspect/patience.hpp"
#include "inspect/reading.hpp"
#include "inspect/top.hpp"
#include "lease/client.hpp"

namespace negawatt::inspect {
namespace {

constexpr Seconds kOpening{60};
constexpr Seconds kDaemonReply{0.5};
constexpr std::size_t kNamedProcesses = 8;

using MachineTime = std::chrono::steady_clock::time_point;

/// One GPU as it is watched.
struct Watched {
  gpu::ListedDevice listed;
  EnergyTally tally;
  std::optional<Reading> last;
  std::future<Reading> asked;  ///< valid while the driver has not answered
  MachineTime asked_at;

  void ask();
  void take(MachineTime until);
};

void Watched::ask() {
  if (!listed.device || asked.valid()) return;
  asked_at = std::chrono::steady_clock::now();
  asked = start_apart([device = *listed.device] { return read_all(device); });
}

void Watched::take(MachineTime until) {
  if (!asked.valid() || asked.wait_until(until) != std::future_status::ready) return;
  last = asked.get();
  tally.add(*last);
}

/// A lost GPU in few words: the driver's own do not fit a line of the screen.
std::string trouble_of(const gpu::DriverError& error) {
  return error.obstacle == gpu::Obstacle::lost ? "the GPU is lost: see dmesg for Xid messages"
                                               : error.message;
}

Power power_of(const Reading& reading, const EnergyTally& tally) {
  if (reading.power_instant) return {to_si(*reading.power_instant), PowerSource::instant};
  if (reading.power_average) return {to_si(*reading.power_average), PowerSource::average};
  if (reading.power_unspecified) return {to_si(*reading.power_unspecified), PowerSource::unstated};
  if (tally.counter_power()) return {tally.counter_power(), PowerSource::counter};
  return {};
}

std::vector<ProcessLine> named(const std::vector<gpu::ComputeProcess>& processes) {
  std::vector<ProcessLine> lines;
  lines.reserve(processes.size());
  for (const auto& process : processes) {
    lines.push_back({process.pid, lines.size() < kNamedProcesses
                                      ? printable(command_of("/", process.pid))
                                      : std::string()});
  }
  return lines;
}

void fill(GpuLine& line, const Reading& reading, const EnergyTally& tally) {
  line.energy = tally.energy();
  line.energy_source = tally.source();
  line.counter_resets = tally.resets();
  line.implausible_steps = tally.implausible();
  if (reading.lost) {
    line.trouble = trouble_of(*reading.lost);
    return;
  }
  line.power = power_of(reading, tally);
  if (reading.limit) line.limit = to_si(*reading.limit);
  line.clocks = reading.clocks;
  line.temperature_c = reading.temperature_c;
  if (reading.utilisation) line.busy_pct = reading.utilisation->gpu_pct;
  line.reasons = reading.reasons;
  if (reading.processes) line.processes = named(*reading.processes);
}

GpuLine line_of(const Watched& watched) {
  GpuLine line;
  line.display_index = watched.listed.display_index;
  if (!watched.listed.device) {
    line.trouble = trouble_of(watched.listed.device.error());
    return line;
  }
  const gpu::Identity& identity = watched.listed.device->identity();
  line.uuid = identity.id.text();
  line.name = identity.name;
  if (watched.asked.valid()) {  // what was read before says nothing of now
    line.silent = Seconds(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - watched.asked_at).count());
    line.energy = watched.tally.energy();
    line.energy_source = watched.tally.source();
  } else if (watched.last) {
    fill(line, *watched.last, watched.tally);
  }
  return line;
}

void add_lease(const std::vector<lease::GpuEntry>& entries, GpuLine& line) {
  const auto entry = std::ranges::find(entries, line.uuid, &lease::GpuEntry::gpu);
  if (entry == entries.end() || entry->state != lease::GpuState::leased) return;
  line.lease = entry->owner;
  line.asked = entry->asked;
}

}  // namespace

struct Watch::Seen {
  gpu::Driver driver;
  WatchOptions options;
  std::string driver_version;
  std::vector<Watched> gpus;
  std::optional<lease::Client> daemon;
  std::optional<gpu::TimePoint> start;

  std::vector<lease::GpuEntry> ask_daemon(DaemonLine& line);
};

/// Connects anew when the daemon was away.
std::vector<lease::GpuEntry> Watch::Seen::ask_daemon(DaemonLine& line) {
  if (!daemon) {
    auto client = lease::Client::connect(
        {.socket = options.socket, .program = "negawatt top", .reply_timeout = kDaemonReply});
    if (!client) return {};
    daemon = *std::move(client);
  }
  auto entries = daemon->gpus();
  if (!entries) {
    daemon.reset();
    return {};
  }
  line = {.reachable = true, .observe_only = daemon->observe_only()};
  return *std::move(entries);
}

Result<Watch> Watch::open(const WatchOptions& options) {
  auto opened = result_within(kOpening, [path = options.library]() -> Result<gpu::Driver> {
    return gpu::Driver::open(gpu::Access::observe, path);
  });
  if (!opened) {
    return failure(Code::unavailable,
                   "the driver was asked to start and has not returned; see dmesg");
  }
  NW_TRY(auto driver, *std::move(opened));
  NW_TRY(auto listed, driver.list());
  if (listed.empty()) return failure(Code::unavailable, "the driver has no GPU");
  std::string version = driver.driver_version().value_or("unknown");
  auto seen = std::make_unique<Seen>(Seen{.driver = std::move(driver),
                                          .options = options,
                                          .driver_version = std::move(version),
                                          .gpus = {},
                                          .daemon = {},
                                          .start = {}});
  for (auto& entry : listed) {
    seen->gpus.push_back(
        {.listed = std::move(entry), .tally = {}, .last = {}, .asked = {}, .asked_at = {}});
  }
  return Watch(std::move(seen));
}

Watch::Watch(std::unique_ptr<Seen> seen) : seen_(std::move(seen)) {}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

Snapshot Watch::look() {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(seen_->options.patience.in_si()));
  for (auto& gpu : seen_->gpus) gpu.ask();
  Snapshot snapshot;
  const auto entries = seen_->ask_daemon(snapshot.daemon);
  for (auto& gpu : seen_->gpus) gpu.take(until);

  const gpu::TimePoint now = seen_->driver.clock().now();
  const gpu::TimePoint start = seen_->start.value_or(now);
  seen_->start = start;
  snapshot.since_start = now - start;
  snapshot.driver_version = seen_->driver_version;
  snapshot.simulated = seen_->driver.clock().is_simulated();
  for (const auto& gpu : seen_->gpus) {
    snapshot.gpus.push_back(line_of(gpu));
    add_lease(entries, snapshot.gpus.back());
  }
  return snapshot;
}

}  // namespace negawatt::inspect
