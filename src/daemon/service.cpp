// SPDX-License-Identifier: Apache-2.0
#include "daemon/service.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace negawatt::daemon {

// A failure to notify cannot be acted on: systemd's own timeouts do.
void notify_ready() { ::sd_notify(0, "READY=1"); }
void notify_reloading() { ::sd_notify(0, "RELOADING=1"); }
void notify_stopping() { ::sd_notify(0, "STOPPING=1"); }
void notify_watchdog() { ::sd_notify(0, "WATCHDOG=1"); }
void notify_status(const std::string& status) { ::sd_notify(0, ("STATUS=" + status).c_str()); }

std::optional<Seconds> watchdog_interval() {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  return Seconds(static_cast<double>(microseconds) * 0.5e-6);
}

}  // namespace negawatt::daemon
