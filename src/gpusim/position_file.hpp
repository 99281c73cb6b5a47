// SPDX-License-Identifier: Apache-2.0
//
// The page that tells a governor where this process is in its iteration (trace/position.hpp), in
// the file that NEGAWATT_POSITION names. Without the variable there is no page; a page that cannot
// be mapped is reported once and the program goes on without.
#pragma once

#include <string>

#include "trace/position.hpp"

namespace negawatt::gpusim {

class PositionFile {
 public:
  /// Of the environment.
  PositionFile();
  PositionFile(const PositionFile&) = delete;
  PositionFile& operator=(const PositionFile&) = delete;
  ~PositionFile();

  /// And wakes who waits for it.
  void write(const trace::Position& position);
  /// Why there is no page although one was asked for; empty otherwise.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  trace::PositionPage* page_ = nullptr;
  std::string problem_;
};

}  // namespace negawatt::gpusim
