// SPDX-License-Identifier: Apache-2.0
#include "gpusim/nvml_session.hpp"

#include <fmt/core.h>
#include <pthread.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "gpusim/environment.hpp"

/// A handle is an address and nothing else.
struct nvmlDevice_st {
  char unused;
};

namespace negawatt::gpusim {
namespace {

constexpr std::size_t kHandlesPerGpu = 16;  // the GPU, then its MIG instances; cards have 7 at most
std::array<nvmlDevice_st, kMostGpus * kHandlesPerGpu> handles;

/// A variable without a destructor: a thread of the program may still be in the library when the
/// process exits.
template <class T>
union NeverDestroyed {
  T value{};
  ~NeverDestroyed() {}  // NOLINT(modernize-use-equals-default): that would be deleted
};

std::mutex session_mutex;  // its own destructor does nothing
NeverDestroyed<std::shared_ptr<World>> world_in_session;
std::shared_ptr<World>& open_world = world_in_session.value;  // guarded by session_mutex
std::uint64_t sessions = 0;                                   // likewise

/// A child must not inherit the mutex in the hands of a thread that it lacks.
[[maybe_unused]] const int kForkHandlers = ::pthread_atfork(
    [] { session_mutex.lock(); }, [] { session_mutex.unlock(); }, [] { session_mutex.unlock(); });

struct ThreadSeat {
  std::shared_ptr<World> world;
  Seat seat;

  ThreadSeat() = default;
  ThreadSeat(const ThreadSeat&) = delete;
  ThreadSeat& operator=(const ThreadSeat&) = delete;
  ~ThreadSeat() { move_to(nullptr); }

  void move_to(const std::shared_ptr<World>& next) {
    if (world != nullptr) world->clock().leave(seat);
    world = next;
    seat = Seat();
  }
};
thread_local ThreadSeat thread_seat;

}  // namespace

nvmlReturn_t begin_session() {
  const std::lock_guard lock(session_mutex);
  if (open_world == nullptr) {
    auto world = world_of_environment();
    if (!world) {
      // NVML has codes but no words; without these nobody would find the mistake in a description.
      fmt::print(stderr, "libnvidia-ml.so.1 (simulated): {}\n", world.error().message);
      return world.error().code == Code::unavailable ? NVML_ERROR_DRIVER_NOT_LOADED
                                                     : NVML_ERROR_UNKNOWN;
    }
    open_world = *std::move(world);
  }
  const auto decision = open_world->decide_call("nvmlInit_v2");
  if (decision.result == NVML_SUCCESS)
    ++sessions;
  else if (sessions == 0)
    open_world.reset();
  return decision.result;
}

nvmlReturn_t end_session() {
  const std::lock_guard lock(session_mutex);
  if (sessions == 0) return NVML_ERROR_UNINITIALIZED;
  if (--sessions == 0) open_world.reset();
  return NVML_SUCCESS;
}

std::shared_ptr<World> session() {
  const std::lock_guard lock(session_mutex);
  return open_world;
}

Seat& seat_at(const std::shared_ptr<World>& world) {
  if (thread_seat.world != world) thread_seat.move_to(world);
  return thread_seat.seat;
}

nvmlDevice_t handle_of(Target target) {
  return &handles[target.gpu * kHandlesPerGpu + (target.mig ? *target.mig + 1 : 0)];
}

std::optional<Target> target_of(const MachineModel& machine, nvmlDevice_t handle) {
  const auto address = reinterpret_cast<std::uintptr_t>(handle);
  const auto first = reinterpret_cast<std::uintptr_t>(handles.data());
  if (address < first || address - first >= handles.size()) return std::nullopt;
  Target target{.gpu = (address - first) / kHandlesPerGpu};
  const auto instance = (address - first) % kHandlesPerGpu;
  if (target.gpu >= machine.gpus.size()) return std::nullopt;
  if (instance > machine.gpus[target.gpu].mig.size()) return std::nullopt;
  if (instance > 0) target.mig = instance - 1;
  return target;
}

}  // namespace negawatt::gpusim
