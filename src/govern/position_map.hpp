// SPDX-License-Identifier: Apache-2.0
//
// A position page in a file of its own that the observed program maps as well. The file is in
// memory (/dev/shm, else the temporary folder), readable by its owner only, and goes with this.
#pragma once

#include <string>

#include "core/result.hpp"
#include "trace/position.hpp"

namespace negawatt::govern {

/// The variable that names the page's file to the program.
inline constexpr const char* kPositionVariable = "NEGAWATT_POSITION";

class PositionMap {
 public:
  /// A new page that nobody has written to.
  [[nodiscard]] static Result<PositionMap> create();
  ~PositionMap();
  PositionMap(PositionMap&& other) noexcept;
  PositionMap& operator=(PositionMap&&) = delete;
  PositionMap(const PositionMap&) = delete;
  PositionMap& operator=(const PositionMap&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const trace::PositionPage& page() const { return *page_; }

 private:
  PositionMap(std::string path, trace::PositionPage* page) : path_(std::move(path)), page_(page) {}
  std::string path_;
  trace::PositionPage* page_;
};

}  // namespace negawatt::govern
