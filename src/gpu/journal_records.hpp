// SPDX-License-Identifier: Apache-2.0
//
// The bytes of the restore journal, readable by a person. Works on bytes in memory. What cannot be
// read is skipped and counted, so that one bad line does not leave the other knobs changed.
//
//   journal  = header *record [ torn ]
//   header   = "negawatt-journal " version LF
//   version  = "2" / "1"                    ; 1 has no "asked"; what is written is 2
//   record   = body SP checksum LF
//   body     = "save" SP gpu SP setting / "restored" SP gpu SP knob
//            / "asked" SP gpu SP "power" SP mW     ; a limit of ours, noted before it is set
//   setting  = "core" SP range / "memory" SP range / "power" SP mW
//   range    = "none" / MHz SP MHz          ; least, most
//   knob     = "core" / "memory" / "power"
//   gpu      = 1*95 graphic ASCII           ; the GPU's UUID
//   checksum = 8 hex digits, lower case     ; CRC-32 (IEEE 802.3) of body
//   torn     = a last line without LF       ; a write that a crash cut off: as if never begun
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "gpu/identity.hpp"
#include "gpu/settings.hpp"

namespace negawatt::gpu {

/// A knob that was changed and has not been restored.
struct Backup {
  GpuId gpu;
  Setting previous;
  /// Every power limit that we may have set since, which tells ours from an administrator's. Empty
  /// for locks, and in journals of version 1.
  std::vector<Milliwatts> asked = {};
  auto operator<=>(const Backup&) const = default;
};

/// More limits than leases set on one GPU before its first one is restored.
inline constexpr std::size_t kMostAsked = 64;

/// Backups by knob and GPU, in the order they were saved. The first state of a knob stays.
class Outstanding {
 public:
  /// False when the knob has a backup already, which is left alone.
  bool save(const Backup& backup);
  /// False when there was none.
  bool restored(const GpuId& gpu, Knob knob);
  /// A limit of ours. False when it was noted before, or there is no backup of the power limit.
  bool asked(const GpuId& gpu, Milliwatts limit);
  [[nodiscard]] bool has(const GpuId& gpu, Knob knob) const { return find(gpu, knob) != nullptr; }
  /// None: nothing of the knob is outstanding.
  [[nodiscard]] const Backup* find(const GpuId& gpu, Knob knob) const;
  [[nodiscard]] const std::vector<Backup>& backups() const { return backups_; }

 private:
  std::vector<Backup> backups_;  // few: three for each GPU at most
};

struct JournalContents {
  Outstanding outstanding;
  std::size_t damaged = 0;  ///< lines that are no record
  std::size_t whole = 0;    ///< bytes up to the end of the last whole line
};

/// Empty bytes are an empty journal. Fails when the header is another one.
[[nodiscard]] Result<JournalContents> read_journal(std::string_view bytes, std::string_view file);

[[nodiscard]] std::string_view journal_header();
[[nodiscard]] std::string save_record(const Backup& backup);
[[nodiscard]] std::string asked_record(const GpuId& gpu, Milliwatts limit);
[[nodiscard]] std::string restored_record(const GpuId& gpu, Knob knob);
/// Whether the grammar can hold this id.
[[nodiscard]] bool is_journal_id(std::string_view gpu);

}  // namespace negawatt::gpu
