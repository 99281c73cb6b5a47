// SPDX-License-Identifier: Apache-2.0
//
// Whether a program uses a GPU, as the driver's list of compute processes has it: a GPU's joules
// are a program's only then. Looks on a thread of its own (apart.hpp) until it has seen the program
// there. A list that cannot be read, or that holds processes this machine does not know (those of
// another PID namespace: we are in a container), tells nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/units.hpp"
#include "govern/apart.hpp"
#include "gpu/device.hpp"

namespace negawatt::govern {

enum class Use : unsigned char { unknown, absent, present };

/// The parent of a process; none when it has ended, or this machine does not know it.
[[nodiscard]] std::optional<std::uint32_t> parent_of(std::uint32_t pid);
/// Whether it is `ancestor` or was started by it, over any number of generations that still live.
[[nodiscard]] bool descends(std::uint32_t pid, std::uint32_t ancestor);

class UseWatch {
 public:
  /// `is_ours` says whether a process belongs to the program; called on the watch's thread.
  UseWatch(gpu::Device device, std::function<bool(std::uint32_t pid)> is_ours);

  /// Looks again at once and waits for what it finds, at most so long.
  void look(Seconds patience);
  [[nodiscard]] Use use() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::optional<Apart> thread_;
};

}  // namespace negawatt::govern
