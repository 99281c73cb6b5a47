// SPDX-License-Identifier: Apache-2.0
//
// The restore journal: which knob of which GPU we have changed, and the state it goes back to. A
// state is on disk (file and folder synced) before save() returns, and stays until restored(). An
// existing backup is never overwritten: the first state saved is the one that returns. Survives
// kill -9 and power loss at any instant; one process at a time. Thread-safe. Format:
// journal_records.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "gpu/identity.hpp"
#include "gpu/journal_records.hpp"
#include "gpu/settings.hpp"

namespace negawatt::gpu {

class Journal {
 public:
  /// Reads what is there, or starts a new one (mode 0600; the folder must exist). Fails when the
  /// file is not a journal, is of a newer version, cannot be written, or another process holds it.
  [[nodiscard]] static Result<Journal> open(const std::string& path);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  /// Not yet restored, in the order they were saved.
  [[nodiscard]] std::vector<Backup> outstanding() const;
  /// Lines that could not be read when it was opened (a torn last line is none): say so loudly.
  [[nodiscard]] std::size_t damaged() const;

  /// On error nothing is saved, and the knob must not be touched.
  Status save(const Backup& backup);
  /// Notes a power limit before it is set; its previous state must be saved. On error it must not
  /// be set.
  Status asked(const GpuId& gpu, Milliwatts limit);
  /// On error the backup stays: restoring once more does no harm.
  Status restored(const GpuId& gpu, Knob knob);

 private:
  struct File;
  explicit Journal(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace negawatt::gpu
