// SPDX-License-Identifier: Apache-2.0
//
// Where a picture that changes is shown: on a terminal it is redrawn in place, elsewhere each one
// is printed below the last. Whatever ends the program, short of SIGKILL, leaves the terminal as it
// was. While it lives, the calling thread's signals that end or stop a program wait for wait();
// make it before threads that should inherit that. One at a time.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::cli {

class Screen {
 public:
  enum class Kind : unsigned char {
    redrawn,  ///< in place, if standard output is a terminal
    printed,  ///< each picture below the last
  };
  explicit Screen(Kind kind);
  /// Gives the terminal back, with the last picture on it.
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Lines of plain ASCII; cut to the terminal. Fails when they cannot be written.
  Status show(const std::vector<std::string>& lines);

  enum class Woken : unsigned char {
    time,     ///< the time is over
    resized,  ///< the terminal has another size, or is back from a stop
    ended,    ///< a signal asks the program to end
  };
  [[nodiscard]] Woken wait(Seconds time);

 private:
  Status enter();
  void leave();

  bool terminal_;
  std::vector<std::string> last_;
};

}  // namespace negawatt::cli
