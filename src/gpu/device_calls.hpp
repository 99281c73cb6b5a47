// SPDX-License-Identifier: Apache-2.0
//
// The calls behind Device: each asks one function about one GPU and gives the number, the list or
// the reason for none. Private to the room.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/answer.hpp"
#include "gpu/call.hpp"
#include "gpu/device.hpp"
#include "gpu/nvml_library.hpp"
#include "gpu/settings.hpp"
#include "gpu/units.hpp"

namespace negawatt::gpu {

/// The calls behind Device: each asks one function about one GPU.
class DeviceCalls {
 public:
  explicit DeviceCalls(const Device& device)
      : library_(*device.library_), handle_(device.handle_), id_(device.id().text()) {}

  [[nodiscard]] const NvmlLibrary& library() const { return library_; }

  template <class... Parameters, class... Arguments>
  [[nodiscard]] Done ask(const Function<nvmlReturn_t(nvmlDevice_t, Parameters...)>& function,
                         Arguments... arguments) const {
    return call(library_, id_, function, handle_, arguments...);
  }

  /// One whole number through the function's last parameter.
  template <class Number, class... Parameters, class... Arguments>
  [[nodiscard]] Answer<Number> number(
      const Function<nvmlReturn_t(nvmlDevice_t, Parameters...)>& function,
      Arguments... arguments) const {
    Number value{};
    NW_CHECK(ask(function, arguments..., &value));
    return value;
  }

  [[nodiscard]] Answer<std::uint64_t> field(std::uint32_t id) const;
  [[nodiscard]] Answer<Milliwatts> power_field(std::uint32_t id) const;
  [[nodiscard]] Answer<Milliwatts> power(
      const Function<nvmlReturn_t(nvmlDevice_t, unsigned*)>& function) const;
  template <class Item, class... Parameters, class... Arguments>
  [[nodiscard]] Answer<std::vector<Item>> items(
      const Function<nvmlReturn_t(nvmlDevice_t, Parameters...)>& function,
      Arguments... arguments) const;
  [[nodiscard]] Done set(const CoreLock& lock) const;
  [[nodiscard]] Done set(const MemoryLock& lock) const;
  [[nodiscard]] Done set(const PowerLimit& power) const;
  [[nodiscard]] Answer<std::vector<ComputeProcess>> processes_of(nvmlDevice_t handle) const;
  [[nodiscard]] Answer<std::vector<nvmlDevice_t>> mig_handles() const;
  [[nodiscard]] Answer<MigId> mig_id(nvmlDevice_t handle) const;

  [[nodiscard]] tl::unexpected<DriverError> error(std::string_view function, Obstacle obstacle,
                                                  std::string_view what) const {
    return tl::unexpected(
        DriverError{obstacle, function, 0, fmt::format("{} on {}: {}", function, id_, what)});
  }

 private:
  const NvmlLibrary& library_;
  nvmlDevice_t handle_;
  const std::string& id_;
};

// Room for most lists at once, and an end to asking.
inline constexpr std::size_t kFirstItems = 256;
inline constexpr std::size_t kMostItems = 65536;

/// The first answer, or where the device lacks it the older function's.
template <class T, class Older>
Answer<T> or_older(Answer<T> newer, Older&& older) {
  if (newer || newer.error().obstacle != Obstacle::absent) return newer;
  return older();
}

/// Lists are asked for with a size; a list that grew meanwhile is asked for again.
template <class Item, class... Parameters, class... Arguments>
Answer<std::vector<Item>> DeviceCalls::items(
    const Function<nvmlReturn_t(nvmlDevice_t, Parameters...)>& function,
    Arguments... arguments) const {
  for (std::size_t size = kFirstItems; size <= kMostItems; size *= 4) {
    std::vector<Item> list(size);
    auto count = static_cast<unsigned>(size);
    const Done done = ask(function, arguments..., &count, list.data());
    if (done) {
      list.resize(std::min<std::size_t>(count, size));
      return list;
    }
    if (done.error().code != NVML_ERROR_INSUFFICIENT_SIZE) return tl::unexpected(done.error());
  }
  return error(function.name, Obstacle::failed, "the list has no end");
}

}  // namespace negawatt::gpu
