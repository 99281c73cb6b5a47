// SPDX-License-Identifier: Apache-2.0
//
// A position page in a file of its own that the observed program maps as well, and waiting for what
// it writes there. The file is readable by its owner only, and goes with this. It is locked as long
// as this lives: what a killed process left behind is known by that, and removed by the next one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/result.hpp"
#include "core/units.hpp"
#include "trace/position.hpp"

namespace negawatt::govern {

/// The variable that names the page's file to the program.
inline constexpr const char* kPositionVariable = "NEGAWATT_POSITION";

class PositionMap {
 public:
  /// A new page that nobody has written to, in memory (/dev/shm), else in the temporary folder.
  [[nodiscard]] static Result<PositionMap> create();
  /// In the first of these folders that has room for it.
  [[nodiscard]] static Result<PositionMap> create(std::span<const std::string> folders);
  ~PositionMap();
  PositionMap(PositionMap&& other) noexcept;
  PositionMap& operator=(PositionMap&&) = delete;
  PositionMap(const PositionMap&) = delete;
  PositionMap& operator=(const PositionMap&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const trace::PositionPage& page() const { return *page_; }
  /// Changes with every position: note it before the page is read, and wait for the next one.
  [[nodiscard]] std::uint32_t sequence() const;
  /// Sleeps until the sequence is another than `seen`, at most so long. May return early.
  void wait(std::uint32_t seen, Seconds most) const;

 private:
  PositionMap(std::string path, int file, trace::PositionPage* page)
      : path_(std::move(path)), file_(file), page_(page) {}
  [[nodiscard]] static Result<PositionMap> create_in(const std::string& folder);

  std::string path_;
  int file_;
  trace::PositionPage* page_;
};

}  // namespace negawatt::govern
