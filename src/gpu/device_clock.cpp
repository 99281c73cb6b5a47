// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_clock.hpp"

#include <memory>

#include "gpu/nvml_library.hpp"

namespace negawatt::gpu {

Participation::Participation(std::shared_ptr<const NvmlLibrary> library)
    : library_(std::move(library)) {
  const auto join = library_->negawattSimJoin.pointer;
  if (join == nullptr || join() != NVML_SUCCESS) library_.reset();
}

Participation::~Participation() {
  if (library_ && library_->negawattSimLeave.pointer != nullptr) {
    library_->negawattSimLeave.pointer();
  }
}

TimePoint DeviceClock::now() const { return TimePoint::at_nanoseconds(library_->now()); }

void DeviceClock::wait_until(TimePoint time) const { library_->wait_until(time.nanoseconds()); }

void DeviceClock::sleep_until(TimePoint time) const { library_->sleep_until(time.nanoseconds()); }

void DeviceClock::notify() const {
  if (library_->negawattSimNotify.pointer != nullptr) library_->negawattSimNotify.pointer();
}

bool DeviceClock::is_simulated() const { return library_->has_simulated_clock(); }

}  // namespace negawatt::gpu
