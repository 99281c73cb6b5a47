// SPDX-License-Identifier: Apache-2.0
//
// Inside the simulated library: what every call has in common. Is NVML initialised, are the
// arguments there, does the fault script have something for it, what does it cost, may the caller
// do it; then the answer, from a GPU that was brought to the present. Costs and hangs pass with the
// GPU unlocked, before it is looked at.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/result.hpp"
#include "gpusim/nvml_session.hpp"
#include "gpusim/world.hpp"

namespace negawatt::gpusim {

/// A call that concerns no single GPU. `answer` is nvmlReturn_t(World&).
template <class Answer, class... Outputs>
nvmlReturn_t on_machine(std::string_view function, Answer answer, Outputs*... outputs) noexcept;

/// The entry of ReadCosts that a call has.
using Cost = std::int64_t ReadCosts::*;

struct GpuCall {
  std::string_view function;
  nvmlDevice_t device = nullptr;
  Cost cost = &ReadCosts::other_ns;
  bool of_mig_instances = false;  ///< answered for a MIG handle too, otherwise NOT_SUPPORTED
};

/// What a getter is answered from.
struct Asked {
  World& world;
  GpuAccess& gpu;
  const Target& target;

  [[nodiscard]] const GpuModel& model() const { return gpu.model(); }
  [[nodiscard]] Readings readings() const {
    return read_sensors(gpu.model(), gpu.state(), gpu.now_ns());
  }
};

/// A getter. `answer` is nvmlReturn_t(const Asked&); none of `outputs` may be null.
template <class Answer, class... Outputs>
nvmlReturn_t on_gpu(const GpuCall& call, Answer answer, Outputs*... outputs) noexcept;

struct Setting {
  std::uint32_t first = 0;  ///< for the log
  std::uint32_t second = 0;
};
/// A setter. `action` is nvmlReturn_t(const Device&, std::uint32_t pid); what it changes stays if
/// it succeeds. All who wait for the clock are told.
template <class Action>
nvmlReturn_t set_on_gpu(const GpuCall& call, Setting setting, Action action) noexcept;

// ---- below: how
// -----------------------------------------------------------------------------------

/// The part of a call that comes before its answer; holds the GPU.
class Admission {
 public:
  explicit Admission(const GpuCall& call);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission() = default;

  /// NVML_SUCCESS when the call may go on.
  [[nodiscard]] nvmlReturn_t result() const { return result_; }
  /// When holds_gpu().
  [[nodiscard]] Asked asked() {
    NW_ASSERT(gpu_.has_value());
    return {.world = *world_, .gpu = *gpu_, .target = target_};
  }
  [[nodiscard]] bool holds_gpu() const { return gpu_.has_value(); }
  /// NO_PERMISSION for who may not set.
  [[nodiscard]] nvmlReturn_t permission() const;
  void log_refused(const GpuCall& call, Setting setting, nvmlReturn_t result);
  /// Lets go of the GPU and tells all sleepers.
  void finish_change();

 private:
  std::shared_ptr<World> world_;
  Target target_;
  std::optional<GpuAccess> gpu_;
  nvmlReturn_t result_ = NVML_SUCCESS;
};

/// Before an answer that needs no GPU: its world, or why there is none.
[[nodiscard]] nvmlReturn_t admit_to_machine(std::string_view function,
                                            std::shared_ptr<World>& world);
[[nodiscard]] std::uint32_t own_pid();

template <class... Outputs>
bool is_missing(const Outputs*... outputs) {
  return (... || (outputs == nullptr));
}

template <class Answer, class... Outputs>
nvmlReturn_t on_machine(std::string_view function, Answer answer, Outputs*... outputs) noexcept
    try {
  std::shared_ptr<World> world;
  if (const auto refused = admit_to_machine(function, world); refused != NVML_SUCCESS)
    return refused;
  if (is_missing(outputs...)) return NVML_ERROR_INVALID_ARGUMENT;
  return answer(*world);
} catch (...) {
  return NVML_ERROR_UNKNOWN;  // no memory: the host program is not ours to end
}

template <class Answer, class... Outputs>
nvmlReturn_t on_gpu(const GpuCall& call, Answer answer, Outputs*... outputs) noexcept try {
  Admission admission(call);
  if (admission.result() != NVML_SUCCESS) return admission.result();
  if (is_missing(outputs...)) return NVML_ERROR_INVALID_ARGUMENT;
  return answer(admission.asked());
} catch (...) {
  return NVML_ERROR_UNKNOWN;
}

template <class Action>
nvmlReturn_t set_on_gpu(const GpuCall& call, Setting setting, Action action) noexcept try {
  Admission admission(call);
  if (!admission.holds_gpu()) return admission.result();
  auto result = admission.result();
  if (result == NVML_SUCCESS) result = admission.permission();
  if (result != NVML_SUCCESS) {
    admission.log_refused(call, setting, result);
    return result;
  }
  auto& gpu = admission.asked().gpu;
  result = action(gpu.draft(), own_pid());
  gpu.commit();  // of a refusal too: it is in the log
  admission.finish_change();
  return result;
} catch (...) {
  return NVML_ERROR_UNKNOWN;
}

}  // namespace negawatt::gpusim
