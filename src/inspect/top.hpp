// SPDX-License-Identifier: Apache-2.0
//
// negawatt top: what every GPU does now, on one screen. A Watch reads, a Snapshot is what it saw,
// and the rest is pure: lines of at most 80 columns, or one line of JSON. "-" and null stand for
// what is not known. A GPU whose driver calls hang keeps its line and hides no other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "gpu/device.hpp"
#include "inspect/energy_tally.hpp"
#include "lease/clock_pair.hpp"
#include "lease/protocol.hpp"

namespace negawatt::inspect {

/// Which sensor a power comes from.
enum class PowerSource : unsigned char { none, instant, average, unstated, counter };
/// "unavailable", "instant", "average", "unstated", "counter".
[[nodiscard]] std::string_view name_of(PowerSource source);

struct Power {
  std::optional<Watts> watts;
  PowerSource source = PowerSource::none;
};

struct ProcessLine {
  std::uint32_t pid = 0;
  std::string command;  ///< empty: another user's container, or gone
};

struct GpuLine {
  unsigned display_index = 0;
  std::string uuid;
  std::string name;
  Power power;
  std::optional<Watts> limit;
  std::optional<lease::ClockPair> asked;  ///< through negawattd; none: nobody, or not known
  std::optional<gpu::Clocks> clocks;
  std::optional<std::int32_t> temperature_c;
  std::optional<std::uint32_t> busy_pct;
  std::optional<Joules> energy;  ///< since the Watch began
  EnergySource energy_source = EnergySource::none;
  std::uint64_t counter_resets = 0;
  std::uint64_t implausible_steps = 0;
  std::optional<gpu::EventReasons> reasons;
  std::optional<std::vector<ProcessLine>> processes;
  std::optional<lease::Owner> lease;  ///< who holds it
  std::optional<Seconds> silent;      ///< how long the driver has not answered, when it hangs
  std::string trouble;                ///< why there is nothing to show; empty: none
};

struct DaemonLine {
  bool reachable = false;
  bool observe_only = false;
};

struct Snapshot {
  std::string driver_version;
  bool simulated = false;
  Seconds since_start;  ///< on the device's clock
  DaemonLine daemon;
  std::vector<GpuLine> gpus;
};

[[nodiscard]] std::vector<std::string> top_lines(const Snapshot& snapshot);
/// One line, without its end.
[[nodiscard]] std::string top_json(const Snapshot& snapshot);

struct WatchOptions {
  std::string library;  ///< the driver's
  std::string socket;   ///< negawattd's
  Seconds patience;     ///< how long one look waits for the GPUs
};

class Watch {
 public:
  /// Opens the driver to observe. Fails when it cannot be opened or counts no GPU.
  [[nodiscard]] static Result<Watch> open(const WatchOptions& options);
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  /// Reads every GPU at once. Energies start at the first look.
  [[nodiscard]] Snapshot look();

 private:
  struct Seen;
  explicit Watch(std::unique_ptr<Seen> seen);
  std::unique_ptr<Seen> seen_;
};

}  // namespace negawatt::inspect
