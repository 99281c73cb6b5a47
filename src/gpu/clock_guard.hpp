// SPDX-License-Identifier: Apache-2.0
//
// Settings of one GPU for as long as somebody wants them. Life of a setting: clamp, journal the
// previous state, arm, call the driver, read back, restore. "Previous" is for a power limit what
// the driver says was requested; for a lock, which the driver cannot tell, it is unlocked unless
// the administrator's policy says otherwise. Not thread-safe: one owner, one thread at a time.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "gpu/device.hpp"
#include "gpu/journal.hpp"
#include "gpu/limits.hpp"
#include "gpu/settings.hpp"

namespace negawatt::gpu {

/// A knob that is not back in its previous state. It stays in the journal.
struct RestoreFailure {
  GpuId gpu;
  Setting previous;
  DriverError error;
};
/// Told of every failure to restore, from any path, the destructor included. Must not throw.
using OnRestoreFailure = std::function<void(const RestoreFailure&)>;
/// Told of a knob that restore() has put back.
using OnBack = std::function<void(const Setting& previous)>;
/// Told of a power limit that was not raised to its previous state, as somebody else has lowered
/// it.
using OnLeft = std::function<void(const Setting& previous)>;

struct GuardOptions {
  Limits limits;
  /// The locks that the administrator wants when nobody holds the GPU.
  CoreLock policy_core;
  MemoryLock policy_memory;
  OnRestoreFailure on_failure;
  OnBack on_back = {};
  OnLeft on_left = {};
};

/// Whether the clocks follow what was asked: SUCCESS of a lock means installed, not enforced.
enum class Enforcement : unsigned char {
  honoured,
  limited,  ///< lower than asked: the driver says why, power or temperature; a power limit that
            ///< is lower than asked is somebody else's
  idle,     ///< nothing runs; clocks say nothing
  not_honoured,  ///< asked, accepted, and not so
};
[[nodiscard]] std::string_view name_of(Enforcement enforcement);

struct Observation {
  Request asked;
  Clocks clocks;
  std::optional<EventReasons> reasons;  ///< none where the device does not tell
  std::optional<Milliwatts> requested_limit;
  Enforcement core = Enforcement::honoured;
  Enforcement memory = Enforcement::honoured;
  Enforcement power = Enforcement::honoured;
};

class ClockGuard {
 public:
  /// Touches nothing. The journal must outlive the guard.
  ClockGuard(Device device, Journal& journal, GuardOptions options);
  /// Restores what is still set.
  ~ClockGuard();
  ClockGuard(ClockGuard&& other) noexcept;
  ClockGuard& operator=(ClockGuard&&) = delete;
  ClockGuard(const ClockGuard&) = delete;
  ClockGuard& operator=(const ClockGuard&) = delete;

  /// All knobs of the request, or on error the state before it: what had been set is put back. The
  /// first change of a knob waits for the disk; later ones are driver calls only.
  [[nodiscard]] Result<Request> apply(const Request& request);
  /// What was asked against what is. Clocks need their switching latency before they follow.
  [[nodiscard]] Answer<Observation> observe() const;
  /// Every knob by itself, several times, in both orders. On error the rest is still armed, and
  /// restore() may be called again.
  Status restore();

  /// The guard is over: what is still set is for the journal's reader to restore.
  void leave_to_journal();

  /// What holds now beyond the previous state.
  [[nodiscard]] const Request& asked() const { return asked_; }
  /// Whether the knob was touched, or may have been, and is not back.
  [[nodiscard]] bool armed(Knob knob) const;
  [[nodiscard]] bool armed() const;
  [[nodiscard]] const Device& device() const { return device_; }

 private:
  /// What one apply() has done so far.
  struct Attempt {
    std::vector<Knob> armed;    ///< by it, for the first time
    std::vector<Knob> touched;  ///< set, or perhaps set
  };
  /// Journals the knob's previous state, once. True when it was not armed before.
  [[nodiscard]] Result<bool> arm(Knob knob);
  void disarm(Knob knob);
  [[nodiscard]] Result<Setting> previous_of(Knob knob) const;
  [[nodiscard]] Setting state_of(Knob knob) const;
  void roll_back(const Attempt& attempt);
  void tell(const std::vector<RestoreFailure>& failures) const;

  Device device_;
  Journal* journal_;
  GuardOptions options_;
  Request asked_;
  std::array<std::optional<Setting>, kKnobs.size()> previous_;  ///< by knob; set: armed
};

/// Whether a clock is where it was asked to be, to within one step of 15 MHz.
[[nodiscard]] Enforcement enforcement_of(const std::optional<ClockRange>& asked, Megahertz now,
                                         const std::optional<EventReasons>& reasons);

/// Puts every knob back, each by itself, and returns those that would not go.
[[nodiscard]] std::vector<RestoreFailure> restore_settings(const Device& device,
                                                           const std::vector<Setting>& previous);

enum class Since : unsigned char {
  our_change,    ///< what we set holds, unless somebody else has changed it
  machine_start  ///< the machine was started again: nothing of ours holds any more
};
/// Whether the backup's power limit is not to be raised, because what holds now is lower and not
/// ours. False for a lock, and for journals of version 1, which do not tell what was ours.
[[nodiscard]] Answer<bool> lowered_by_another(const Device& device, const Backup& backup,
                                              Since since);

/// What became of one GPU's backups, which is noted in the journal.
struct Restoration {
  std::vector<Setting> back;
  std::vector<Setting> left;             ///< lowered by somebody else since, and not raised
  std::vector<RestoreFailure> failures;  ///< these stay in the journal
};
/// Puts back what a guard has changed, or a crash has left: the one way from a backup to a GPU.
/// `backups` are of this device. A GPU that does not answer keeps them.
[[nodiscard]] Restoration restore_backups(const Device& device, Journal& journal,
                                          const std::vector<Backup>& backups, Since since);

/// The journal's backups of one GPU.
[[nodiscard]] std::vector<Backup> outstanding_of(const Journal& journal, const GpuId& gpu);

}  // namespace negawatt::gpu
