// SPDX-License-Identifier: Apache-2.0
#include "gpusim/nvml_call.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

namespace negawatt::gpusim {
namespace {

/// A library that is newer than its driver has symbols that answer so.
bool is_missing(const MachineModel& machine, std::string_view function) {
  return std::ranges::find(machine.faults.missing_symbols, function) !=
         machine.faults.missing_symbols.end();
}

}  // namespace

std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

nvmlReturn_t admit_to_machine(std::string_view function, std::shared_ptr<World>& world) {
  world = session();
  if (world == nullptr) return NVML_ERROR_UNINITIALIZED;
  if (is_missing(world->machine(), function)) return NVML_ERROR_FUNCTION_NOT_FOUND;
  const auto decision = world->decide_call(function);
  world->clock().spend(seat_at(world), decision.hang_ns);
  return decision.result;
}

Admission::Admission(const GpuCall& call) : world_(session()) {
  result_ = NVML_ERROR_UNINITIALIZED;
  if (world_ == nullptr) return;
  result_ = NVML_ERROR_INVALID_ARGUMENT;
  const auto target = target_of(world_->machine(), call.device);
  if (!target) return;
  target_ = *target;
  result_ = NVML_ERROR_FUNCTION_NOT_FOUND;
  if (is_missing(world_->machine(), call.function)) return;
  result_ = NVML_ERROR_NOT_SUPPORTED;
  if (target_.mig && !call.of_mig_instances) return;

  auto& clock = world_->clock();
  auto& seat = seat_at(world_);
  clock.spend(seat, world_->machine().gpus[target_.gpu].sensors.costs.*call.cost);
  gpu_.emplace(*world_, target_.gpu);
  const auto decision =
      gpu_->ok() ? gpu_->decide_call(call.function) : FaultDecision{.result = NVML_ERROR_UNKNOWN};
  result_ = decision.result;
  if (decision.hang_ns == 0) return;
  gpu_.reset();
  clock.spend(seat, decision.hang_ns);
  gpu_.emplace(*world_, target_.gpu);
}

nvmlReturn_t Admission::permission() const {
  return ::geteuid() == 0 || world_->machine().anyone_may_set ? NVML_SUCCESS
                                                              : NVML_ERROR_NO_PERMISSION;
}

void Admission::log_refused(const GpuCall& call, Setting setting, nvmlReturn_t result) {
  if (!gpu_ || !gpu_->ok()) return;
  const auto device = gpu_->draft();
  log_refusal(device.state, {.at_ns = gpu_->now_ns(),
                             .function = static_cast<std::uint32_t>(function_index(call.function)),
                             .result = result,
                             .first = setting.first,
                             .second = setting.second,
                             .pid = own_pid()});
  gpu_->commit();
}

void Admission::finish_change() {
  gpu_.reset();
  world_->clock().notify(seat_at(world_));
}

}  // namespace negawatt::gpusim
