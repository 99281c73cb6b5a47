// SPDX-License-Identifier: Apache-2.0
//
// The driver, loaded and initialised. The library's path is the only seam between a real GPU and a
// simulated one: NEGAWATT_NVML, else libnvidia-ml.so.1. Opening fails with one line that says what
// is missing and what to do. The library stays loaded while a Driver or a Device of it lives.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "gpu/answer.hpp"
#include "gpu/device.hpp"
#include "gpu/device_clock.hpp"
#include "gpu/identity.hpp"

namespace negawatt::gpu {

enum class Access : unsigned char {
  observe,  ///< the setters are not even looked up in the library
  control,
};

/// NEGAWATT_NVML, or the driver's own library.
[[nodiscard]] std::string default_library();

/// One place in the driver's list. A GPU that is lost keeps its place and hides no other.
struct ListedDevice {
  unsigned display_index = 0;
  Answer<Device> device;
};

class Driver {
 public:
  [[nodiscard]] static Result<Driver> open(Access access, const std::string& path);
  [[nodiscard]] static Result<Driver> open(Access access) {
    return open(access, default_library());
  }

  /// In the driver's order. Fails when the driver cannot even count.
  [[nodiscard]] Answer<std::vector<ListedDevice>> list() const;
  /// The devices of list() that answered.
  [[nodiscard]] std::vector<Device> devices() const;
  /// By UUID, full or a prefix that fits only one.
  [[nodiscard]] Result<Device> device(const GpuId& id) const;

  /// Stands for a GPU that does not answer: it has the id, and every call of it fails.
  [[nodiscard]] Device placeholder(const GpuId& id) const {
    return {library_, nullptr, Identity{.id = id}};
  }

  [[nodiscard]] DeviceClock clock() const { return DeviceClock(library_); }
  [[nodiscard]] Access access() const;
  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] Answer<std::string> driver_version() const;
  [[nodiscard]] Answer<std::string> library_version() const;
  /// Functions of our table that this library lacks, for `doctor`.
  [[nodiscard]] std::vector<std::string> missing_functions() const;

 private:
  explicit Driver(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {}
  std::shared_ptr<const NvmlLibrary> library_;
};

}  // namespace negawatt::gpu
