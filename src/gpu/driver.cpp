// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/text.hpp"
#include "gpu/call.hpp"
#include "gpu/nvml_library.hpp"

namespace negawatt::gpu {
namespace {

constexpr std::string_view kDriver = "the driver";
constexpr unsigned kMostDevices = 1024;

template <std::size_t Size>
std::string text_of(const std::array<char, Size>& buffer) {
  return {buffer.data(), strnlen(buffer.data(), Size)};
}

/// Who a handle is. Without a UUID it is nobody; name and bus id may be missing.
Answer<Identity> identify(const NvmlLibrary& library, nvmlDevice_t handle, unsigned index) {
  const std::string place = fmt::format("GPU number {}", index);
  std::array<char, NVML_DEVICE_UUID_V2_BUFFER_SIZE> uuid{};
  NW_CHECK(
      call(library, place, library.nvmlDeviceGetUUID, handle, uuid.data(), unsigned{uuid.size()}));
  std::array<char, NVML_DEVICE_NAME_V2_BUFFER_SIZE> name{};
  if (!call(library, place, library.nvmlDeviceGetName, handle, name.data(),
            unsigned{name.size()})) {
    name.fill('\0');
  }
  nvmlPciInfo_t pci{};
  if (!call(library, place, library.nvmlDeviceGetPciInfo_v3, handle, &pci)) pci = {};
  return Identity{.id = GpuId(text_of(uuid)),
                  .pci_bus_id = {pci.busId, strnlen(pci.busId, sizeof pci.busId)},
                  .name = text_of(name),
                  .display_index = index};
}

Answer<Device> device_at(const std::shared_ptr<const NvmlLibrary>& library, unsigned index) {
  nvmlDevice_t handle = nullptr;
  NW_CHECK(call(*library, fmt::format("GPU number {}", index),
                library->nvmlDeviceGetHandleByIndex_v2, index, &handle));
  NW_TRY(Identity identity, identify(*library, handle, index));
  return Device(library, handle, std::move(identity));
}

}  // namespace

std::string default_library() {
  const char* const path = std::getenv("NEGAWATT_NVML");
  return path != nullptr && *path != '\0' ? path : "libnvidia-ml.so.1";
}

Result<Driver> Driver::open(Access access, const std::string& path) {
  NW_TRY(auto library,
         NvmlLibrary::load(path, access == Access::control ? Setters::present : Setters::absent));
  return Driver(std::move(library));
}

Answer<std::vector<ListedDevice>> Driver::list() const {
  unsigned count = 0;
  NW_CHECK(call(*library_, kDriver, library_->nvmlDeviceGetCount_v2, &count));
  std::vector<ListedDevice> listed;
  for (unsigned index = 0; index < count && index < kMostDevices; ++index) {
    listed.push_back({index, device_at(library_, index)});
  }
  return listed;
}

std::vector<Device> Driver::devices() const {
  std::vector<Device> devices;
  const auto listed = list();
  if (!listed) return devices;
  for (const auto& entry : *listed) {
    if (entry.device) devices.push_back(*entry.device);
  }
  return devices;
}

Result<Device> Driver::device(const GpuId& id) const {
  NW_TRY(const auto listed, list());
  std::optional<Device> found;
  for (const auto& entry : listed) {
    if (!entry.device) continue;
    if (entry.device->id() == id) return *entry.device;
    if (id.text().empty() || !entry.device->id().text().starts_with(id.text())) continue;
    if (found) {
      return failure(Code::invalid,
                     fmt::format("more than one GPU begins with '{}'", printable(id.text())));
    }
    found = *entry.device;
  }
  if (found) return *std::move(found);
  for (const auto& entry : listed) {
    if (!entry.device) {
      return failure(Code::unavailable,
                     fmt::format("no GPU '{}' that answers; {}", printable(id.text()),
                                 entry.device.error().message));
    }
  }
  return failure(Code::unavailable, fmt::format("no GPU '{}' on this machine (it has {})",
                                                printable(id.text()), listed.size()));
}

Access Driver::access() const {
  return library_->setters() == Setters::present ? Access::control : Access::observe;
}

const std::string& Driver::path() const { return library_->path(); }

Answer<std::string> Driver::driver_version() const {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
  NW_CHECK(call(*library_, kDriver, library_->nvmlSystemGetDriverVersion, version.data(),
                unsigned{version.size()}));
  return text_of(version);
}

Answer<std::string> Driver::library_version() const {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
  NW_CHECK(call(*library_, kDriver, library_->nvmlSystemGetNVMLVersion, version.data(),
                unsigned{version.size()}));
  return text_of(version);
}

std::vector<std::string> Driver::missing_functions() const { return library_->missing_functions(); }

}  // namespace negawatt::gpu
