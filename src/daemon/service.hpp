// SPDX-License-Identifier: Apache-2.0
//
// What systemd is told, and what it asks for. Outside a systemd unit nothing happens.
#pragma once

#include <optional>
#include <string>

#include "core/units.hpp"

namespace negawatt::daemon {

void notify_ready();
void notify_reloading();
void notify_stopping();
void notify_watchdog();
/// One line for `systemctl status`.
void notify_status(const std::string& status);
/// How often notify_watchdog() is due: half the unit's WatchdogSec. None: no watchdog.
[[nodiscard]] std::optional<Seconds> watchdog_interval();

}  // namespace negawatt::daemon
