// SPDX-License-Identifier: Apache-2.0
//
// What the administrator allows: negawattd.toml. Every key has a default; a key that is not known
// is an error that names the nearest known one. Reading is total: any bytes give a Config or an
// error that names file and line. docs/daemon.md describes the keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/settings.hpp"
#include "gpu/units.hpp"

namespace negawatt::daemon {

/// Rules for one GPU.
struct GpuPolicy {
  bool leasable = true;
  bool mig = false;  ///< whether a GPU that is split between tenants may be leased
  std::optional<gpu::Megahertz> core_min;
  std::optional<gpu::Megahertz> core_max;
  bool memory = true;  ///< whether the memory clock may be locked
  bool power = true;   ///< whether the power limit may be lowered
  std::optional<Watts> power_min;
  std::optional<Watts> power_max;
  /// The locks that hold while nobody has a lease; the driver cannot tell what an administrator
  /// set.
  gpu::CoreLock unleased_core;
  gpu::MemoryLock unleased_memory;
  Seconds heartbeat{3};                 ///< longest silence of a client
  Seconds grace{60};                    ///< longest time without a process on the GPU
  std::optional<Seconds> max_lease;     ///< longest lease; none: no limit
  Seconds min_change_interval{0.0001};  ///< least time between two changes of the clocks
};

struct Config {
  std::string socket = "/run/negawatt/negawattd.sock";
  std::uint32_t socket_mode = 0660;
  std::string socket_group;  ///< name or number; empty: the daemon's own
  std::string journal = "/var/lib/negawatt/journal";
  std::string metrics;  ///< ADDRESS:PORT; empty: none
  bool observe_only = false;
  Seconds driver_timeout{5};        ///< a driver call that takes longer is reported as hanging
  std::vector<std::string> users;   ///< who may lease, names or numbers; both empty: whoever
  std::vector<std::string> groups;  ///< can open the socket
  std::size_t max_clients = 64;
  std::size_t max_clients_per_user = 16;
  GpuPolicy defaults;
  std::map<std::string, GpuPolicy> gpus;  ///< by UUID

  [[nodiscard]] const GpuPolicy& policy_for(const std::string& gpu) const;
};

[[nodiscard]] Result<Config> parse_config(std::string_view bytes, std::string_view file);
[[nodiscard]] Result<Config> read_config(const std::string& path);

/// What `after` changes that only a restart brings about, by key; empty: nothing.
[[nodiscard]] std::vector<std::string> needs_restart(const Config& before, const Config& after);

}  // namespace negawatt::daemon
