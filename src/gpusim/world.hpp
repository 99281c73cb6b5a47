// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine that processes share: its clock and its GPUs, in one file of memory. A
// GPU's state lies there twice; a change is made in the copy and then becomes the state in one
// store, so that a process killed at any instruction leaves a whole GPU. A context belongs to the
// thread that opened it and goes when that thread ends. Thread-safe. Times are simulated
// nanoseconds. What constantly holds (MachineModel) every process reads for itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "gpusim/description.hpp"
#include "gpusim/fault_script.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/kernel_surface.hpp"
#include "gpusim/physics.hpp"
#include "gpusim/robust_mutex.hpp"
#include "gpusim/shared_file.hpp"
#include "gpusim/world_clock.hpp"

namespace negawatt::gpusim {

inline constexpr std::size_t kSurfaces = 256;  // of all contexts of a GPU

struct GpuRecord {
  RobustMutex mutex;  ///< guards all of this
  std::atomic<std::uint32_t> current;
  std::array<GpuState, 2> states;
  std::array<LifeLock, kContexts> lives;  ///< of the threads that opened GpuState::contexts
  /// Ids of the contexts that `lives` were last taken for. A driver that is reloaded takes the
  /// contexts and leaves the threads, which still have their locks to give back.
  std::array<std::uint32_t, kContexts> life_owners;
  std::array<std::uint32_t, kSurfaces> surface_owners;  ///< context ids; of no living one: free
  std::array<KernelSurface, kSurfaces> surfaces;
};

struct WorldHead {
  std::uint64_t whole;  ///< SharedFile's
  std::uint32_t version;
  std::uint32_t gpus;
  std::uint64_t fingerprint;
  std::int64_t epoch_ns;  ///< real time at simulated time 0, since 1970
  RobustMutex calls_mutex;
  CallCounts calls;  ///< of functions without a device
  ClockState clock;
};

class World {
 public:
  /// The world in `path`, made if there is none yet; `access` are its permission bits then.
  /// Fails when the file is another machine's, or from before this machine was started.
  static Result<World> open(MachineModel machine, const std::string& path, unsigned access);

  [[nodiscard]] const MachineModel& machine() const { return machine_; }
  [[nodiscard]] WorldClock& clock() { return clock_; }
  /// Real time at a simulated time, in nanoseconds since 1970.
  [[nodiscard]] std::int64_t epoch_ns(std::int64_t simulated_ns) const;
  /// What the machine's fault script has for a call that concerns no GPU; counts the call.
  [[nodiscard]] FaultDecision decide_call(std::string_view function);

 private:
  friend class GpuAccess;
  World(MachineModel machine, SharedFile file);
  [[nodiscard]] WorldHead& head() const { return *static_cast<WorldHead*>(file_.data()); }
  [[nodiscard]] GpuRecord& record(std::size_t gpu) const;

  MachineModel machine_;
  SharedFile file_;
  WorldClock clock_;
};

/// One GPU, for this thread alone as long as this lives: hold it briefly, and only one.
class GpuAccess {
 public:
  /// `gpu` counts the machine's GPUs from 0. Contexts whose thread has ended are gone from here on.
  GpuAccess(World& world, std::size_t gpu);
  GpuAccess(const GpuAccess&) = delete;
  GpuAccess& operator=(const GpuAccess&) = delete;
  ~GpuAccess();

  /// False when the shared memory was damaged: nothing else may be called then.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }
  [[nodiscard]] const GpuModel& model() const { return model_; }
  /// The state as of now.
  [[nodiscard]] const GpuState& state();
  /// What the GPU's fault script has for this call; counts the call.
  [[nodiscard]] FaultDecision decide_call(std::string_view function);

  /// A copy of the state as of now, to be changed. Without commit() nothing will have happened.
  [[nodiscard]] Device draft();
  void commit();

  /// Opens a context of the calling thread, by itself. The thread closes it, or ends, before its
  /// World goes: the kernel and the C library keep a list of the locks that a thread holds.
  [[nodiscard]] std::optional<std::uint32_t> open_context(const Context& process);
  [[nodiscard]] bool is_open(std::uint32_t context) const;
  /// Closes it and frees its surfaces, by itself; needed, too, when the driver has been reloaded
  /// and the context is gone. By the thread that opened it.
  void close_context(std::uint32_t context);
  /// Puts a kernel where submit() finds it, by itself. Nothing when all places are taken.
  [[nodiscard]] std::optional<std::uint32_t> add_surface(std::uint32_t context,
                                                         const KernelSurface& surface);

 private:
  [[nodiscard]] GpuState& current() const;
  void remove_the_dead();

  const GpuModel& model_;
  GpuRecord& record_;
  std::int64_t now_ns_ = 0;
  bool ok_ = false;
};

}  // namespace negawatt::gpusim
