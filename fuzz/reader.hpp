// SPDX-License-Identifier: Apache-2.0
//
// What a fuzz target is: one file that defines accepts() for one reader of foreign bytes. libFuzzer
// calls it with bytes it makes up (libfuzzer_main.cpp), ctest with the files of the corpus
// (replay_main.cpp). A broken property ends the process, which both report.
#pragma once

#include <string_view>

#include "core/result.hpp"
#include "core/units.hpp"

namespace negawatt::fuzz {

/// Reads `bytes`; true when the reader accepts them. Checks the reader's promises on the way.
bool accepts(std::string_view bytes);

/// Ends the process with a message that names the property, unless it holds.
void require(bool holds, std::string_view property);

/// Requires what every message keeps: one printable line that starts with the file's name, and a
/// code that says the input is wrong. Returns false, for accepts().
bool refused(const Error& error, std::string_view file);

/// Requires that a measured value is finite and more than 0.
void require_positive(Seconds time, Joules energy);

/// Requires that `first` and `second`, two results for the same bytes, are both an error with the
/// same message or both none.
template <class T>
void require_same_outcome(const Result<T>& first, const Result<T>& second) {
  require(first.has_value() == second.has_value(), "the same bytes have the same outcome");
  require(first || first.error().message == second.error().message,
          "the same bytes have the same message");
}

}  // namespace negawatt::fuzz
