// SPDX-License-Identifier: Apache-2.0
#include "gpusim/world.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <type_traits>
#include <utility>

#include "gpusim/futex.hpp"

namespace negawatt::gpusim {
namespace {

constexpr std::uint32_t kVersion = 2;

// Only the locks and atomics are not trivially copyable; they are never copied.
static_assert(std::is_standard_layout_v<WorldHead> && std::is_standard_layout_v<GpuRecord>);
static_assert(std::is_trivially_destructible_v<WorldHead>);
static_assert(std::is_trivially_destructible_v<GpuRecord>);

constexpr std::size_t records_begin() {
  return (sizeof(WorldHead) + alignof(GpuRecord) - 1) / alignof(GpuRecord) * alignof(GpuRecord);
}

/// FNV-1a (Fowler, Noll, Vo 1991) over what two processes must agree on to share GPUs.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) mix(static_cast<unsigned char>(byte));
    mix(0x100);
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      mix((number >> static_cast<unsigned>(shift)) & 0xFFU);
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t octet) { value_ = (value_ ^ octet) * 0x100000001B3; }
  std::uint64_t value_ = 0xCBF29CE484222325;
};

std::uint64_t fingerprint_of(const MachineModel& machine) {
  Fingerprint print;
  for (const auto& gpu : machine.gpus) {
    print.add(gpu.identity.name);
    print.add(gpu.identity.uuid);
    for (const auto mhz : gpu.clocks.core_mhz) print.add(mhz);
    for (const auto mhz : gpu.clocks.memory_mhz) print.add(mhz);
    print.add(gpu.mig.size());
  }
  return print.value();
}

GpuRecord* record_in(void* file, std::size_t gpu) {
  auto* bytes = static_cast<std::byte*>(file) + records_begin();
  return reinterpret_cast<GpuRecord*>(bytes) + gpu;
}

void format_world(void* file, const MachineModel& machine) {
  auto* head = static_cast<WorldHead*>(file);
  head->version = kVersion;
  head->gpus = static_cast<std::uint32_t>(machine.gpus.size());
  head->fingerprint = fingerprint_of(machine);
  head->epoch_ns =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  head->calls_mutex.format();
  WorldClock::format(head->clock, {.mode = machine.time_mode, .factor = machine.time_scale});
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    auto* record = record_in(file, i);
    record->mutex.format();
    for (auto& life : record->lives) life.format();
    record->states[0] = initial_state(machine.gpus[i], 0);
  }
}

Status check_world(const void* file, const MachineModel& machine, const std::string& path) {
  const auto& head = *static_cast<const WorldHead*>(file);
  const auto refuse = [&path](std::string_view why) {
    return failure(Code::invalid,
                   fmt::format("'{}' holds the simulated GPUs {}: remove it", path, why));
  };
  if (head.version != kVersion) return refuse("of another version");
  if (head.gpus != machine.gpus.size() || head.fingerprint != fingerprint_of(machine))
    return refuse("of another machine description");
  if (head.clock.started_ns > monotonic_ns()) return refuse("from before this machine was started");
  return {};
}

}  // namespace

World::World(MachineModel machine, SharedFile file)
    : machine_(std::move(machine)), file_(std::move(file)), clock_(head().clock) {}

Result<World> World::open(MachineModel machine, const std::string& path, unsigned access) {
  NW_TRY(
      auto file,
      SharedFile::open(
          {.path = path,
           .bytes = records_begin() + machine.gpus.size() * sizeof(GpuRecord),
           .access = access,
           .format = [&](void* bytes) { format_world(bytes, machine); },
           .check_whole = [&](const void* bytes) { return check_world(bytes, machine, path); }}));
  return World(std::move(machine), std::move(file));
}

GpuRecord& World::record(std::size_t gpu) const { return *record_in(file_.data(), gpu); }

std::int64_t World::epoch_ns(std::int64_t simulated_ns) const {
  return head().epoch_ns + simulated_ns;
}

FaultDecision World::decide_call(std::string_view function) {
  auto& shared = head();
  if (shared.calls_mutex.lock() == RobustMutex::Locked::never)
    return {.result = NVML_ERROR_UNKNOWN};
  const auto decision = decide(machine_.faults, shared.calls, function, clock_.now_ns());
  shared.calls_mutex.unlock();
  return decision;
}

GpuAccess::GpuAccess(World& world, std::size_t gpu)
    : model_(world.machine().gpus[gpu]), record_(world.record(gpu)) {
  // After a death inside, the current state is still whole and the copy is of no interest.
  ok_ = record_.mutex.lock() != RobustMutex::Locked::never;
  if (!ok_) return;
  now_ns_ = std::max(world.clock().now_ns(), current().now_ns);
  remove_the_dead();
}

GpuAccess::~GpuAccess() {
  if (ok_) record_.mutex.unlock();
}

GpuState& GpuAccess::current() const { return record_.states[record_.current.load() & 1U]; }

const GpuState& GpuAccess::state() {
  if (now_ns_ >= next_event(current())) {
    (void)draft();
    commit();
  }
  return current();
}

FaultDecision GpuAccess::decide_call(std::string_view function) {
  (void)state();
  // Only counts calls: whole words, which a kill cannot leave half written.
  return decide(model_, current(), function, now_ns_);
}

Device GpuAccess::draft() {
  auto& copy = record_.states[1U - (record_.current.load() & 1U)];
  copy = current();
  const Device device{.model = model_, .surfaces = record_.surfaces, .state = copy};
  advance(device, now_ns_);
  return device;
}

void GpuAccess::commit() { record_.current.store(1U - (record_.current.load() & 1U)); }

void GpuAccess::remove_the_dead() {
  for (std::size_t i = 0; i < kContexts; ++i) {
    const auto id = current().contexts[i].id;
    if (id == 0 || record_.lives[i].holder_lives()) continue;
    remove_context(draft(), id);
    commit();
  }
}

std::optional<std::uint32_t> GpuAccess::open_context(const Context& process) {
  const auto device = draft();
  for (std::size_t slot = 0; slot < kContexts; ++slot) {
    // Before the context can be seen: whoever sees it must find its thread alive. An empty slot may
    // still have one, whose context went with a reloaded driver.
    if (device.state.contexts[slot].id != 0 || !record_.lives[slot].take()) continue;
    const auto id = create_context(device, process, slot);
    if (!id) {
      record_.lives[slot].release();
      return std::nullopt;
    }
    commit();
    record_.life_owners[slot] = *id;
    return id;
  }
  return std::nullopt;
}

void GpuAccess::close_context(std::uint32_t context) {
  const auto place = std::ranges::find(record_.life_owners, context);
  if (context == 0 || place == record_.life_owners.end()) return;
  remove_context(draft(), context);
  commit();
  *place = 0;
  record_.lives[static_cast<std::size_t>(place - record_.life_owners.begin())].release();
}

bool GpuAccess::is_open(std::uint32_t context) const {
  return context != 0 &&
         std::ranges::find(current().contexts, context, &Context::id) != current().contexts.end();
}

std::optional<std::uint32_t> GpuAccess::add_surface(std::uint32_t context,
                                                    const KernelSurface& surface) {
  if (!is_open(context)) return std::nullopt;
  for (std::uint32_t i = 0; i < kSurfaces; ++i) {
    if (is_open(record_.surface_owners[i])) continue;
    record_.surfaces[i] = surface;
    record_.surface_owners[i] = context;
    return i;
  }
  return std::nullopt;
}

}  // namespace negawatt::gpusim
