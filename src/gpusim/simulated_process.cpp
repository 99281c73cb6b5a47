// SPDX-License-Identifier: Apache-2.0
#include "gpusim/simulated_process.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <span>
#include <utility>

namespace negawatt::gpusim {
namespace {

// What a context of a CUDA program takes before it allocates anything; about right for Hopper.
constexpr std::uint64_t kContextBytes = std::uint64_t{512} << 20U;

tl::unexpected<Error> refuse(const World& world, std::size_t gpu, std::string_view why) {
  return failure(Code::unavailable,
                 fmt::format("GPU {}: {}", world.machine().gpus[gpu].identity.uuid, why));
}

}  // namespace

Result<SimulatedProcess> SimulatedProcess::open(World& world, Target target) {
  SimulatedProcess process(world, target.gpu);
  GpuAccess gpu(world, target.gpu);
  if (!gpu.ok()) return refuse(world, target.gpu, "its shared memory is damaged");
  process.cursor_ = gpu.state().completions.end;
  const auto context = gpu.open_context(
      {.pid = static_cast<std::uint32_t>(::getpid()),
       .memory_bytes = kContextBytes,
       .mig_instance = target.mig ? static_cast<std::uint32_t>(*target.mig) : kNvmlNoInstance});
  if (!context) return refuse(world, target.gpu, "it is lost, or has no room for another process");
  process.context_ = *context;
  return process;
}

SimulatedProcess::SimulatedProcess(SimulatedProcess&& other) noexcept
    : world_(other.world_),
      gpu_(other.gpu_),
      context_(std::exchange(other.context_, 0)),
      cursor_(other.cursor_),
      surfaces_(std::move(other.surfaces_)) {}

SimulatedProcess::~SimulatedProcess() {
  if (context_ == 0) return;
  GpuAccess gpu(*world_, gpu_);
  if (gpu.ok()) gpu.close_context(context_);
}

Status SimulatedProcess::load(const std::vector<WorkloadKernel>& kernels) {
  GpuAccess gpu(*world_, gpu_);
  for (const auto& kernel : kernels) {
    const auto place =
        gpu.ok() ? gpu.add_surface(context_, kernel.surface) : std::optional<std::uint32_t>();
    if (!place) return refuse(*world_, gpu_, "no room for the kernels of another process");
    surfaces_.push_back(*place);
  }
  return {};
}

Result<std::optional<std::uint64_t>> SimulatedProcess::submit(Invocation invocation) {
  GpuAccess gpu(*world_, gpu_);
  if (!gpu.ok() || gpu.state().lost != 0) return refuse(*world_, gpu_, "it is lost");
  const auto device = gpu.draft();
  if (device.state.queue.size() == kQueueItems) return std::nullopt;
  const auto ticket =
      gpusim::submit(device, context_, surfaces_[invocation.kernel], invocation.calls);
  if (!ticket) return refuse(*world_, gpu_, "the context is gone: the driver was reloaded");
  gpu.commit();
  return ticket;
}

Status SimulatedProcess::cancel() {
  GpuAccess gpu(*world_, gpu_);
  if (!gpu.ok()) return refuse(*world_, gpu_, "its shared memory is damaged");
  gpusim::cancel(gpu.draft(), context_);
  gpu.commit();
  return {};
}

Result<SimulatedProcess::Look> SimulatedProcess::look() {
  GpuAccess gpu(*world_, gpu_);
  if (!gpu.ok() || gpu.state().lost != 0) return refuse(*world_, gpu_, "it is lost");
  const auto& state = gpu.state();
  if (!gpu.is_open(context_))
    return refuse(*world_, gpu_, "the context is gone: the driver was reloaded");
  Look look{.now_ns = gpu.now_ns(), .next_event_ns = next_event(state)};
  std::array<Completion, 64> some{};
  while (const auto count = completions_since(state, context_, cursor_, some))
    look.completed.insert(look.completed.end(), some.begin(), some.begin() + count);
  look.running = running_work(state, gpu.now_ns());
  return look;
}

}  // namespace negawatt::gpusim
