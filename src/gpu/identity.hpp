// SPDX-License-Identifier: Apache-2.0
//
// Who a GPU is. A GPU is named by its UUID wherever it is named; the driver's index depends on the
// process and the boot, and is for display only. Strong types: an id is not just any text.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace negawatt::gpu {

/// "GPU-" and 36 characters, as the driver gives it; at most 95 characters.
class GpuId {
 public:
  GpuId() = default;  ///< no GPU
  explicit GpuId(std::string uuid) : uuid_(std::move(uuid)) {}
  [[nodiscard]] const std::string& text() const { return uuid_; }
  auto operator<=>(const GpuId&) const = default;

 private:
  std::string uuid_;
};

/// "MIG-" and a UUID: a slice of a GPU.
class MigId {
 public:
  MigId() = default;
  explicit MigId(std::string uuid) : uuid_(std::move(uuid)) {}
  [[nodiscard]] const std::string& text() const { return uuid_; }
  auto operator<=>(const MigId&) const = default;

 private:
  std::string uuid_;
};

struct Identity {
  GpuId id;
  std::string pci_bus_id;  ///< "00000000:81:00.0"
  std::string name;        ///< "NVIDIA H200"
  unsigned display_index = 0;
};

}  // namespace negawatt::gpu
