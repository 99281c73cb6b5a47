// SPDX-License-Identifier: Apache-2.0
//
// Writes the Trace Event Format that chrome://tracing and Perfetto read: complete events ("X") on
// named tracks and counter samples ("C"), times in microseconds. Every boundary is rounded to a
// nanosecond once and a duration is the difference of two boundaries, so that events that touch
// or lie within each other do so exactly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/units.hpp"

namespace negawatt::report {

/// A JSON string of foreign text, with its quotes; ASCII.
[[nodiscard]] std::string json_string(std::string_view foreign);

/// Collects the events of one process.
class TraceEvents {
 public:
  /// `bytes` is what the text will take, about; `process` names it to the viewer.
  TraceEvents(std::size_t bytes, std::string_view process);

  /// Tracks are shown in the order of their numbers.
  void name_track(int track, std::string_view name);
  struct Span {
    int track;
    std::string_view name;  ///< JSON, with its quotes
    Seconds start;
    Seconds end;
  };
  /// `args` is a JSON object.
  void span(const Span& span, std::string_view args);
  /// A sample that holds until the next one of the same name. `value` is a number as text.
  void counter(std::string_view name, Seconds at, std::string_view value);

  /// The whole file; `other_data` is a JSON object about all of it.
  [[nodiscard]] std::string finish(std::string_view other_data) &&;

 private:
  std::string out_;
};

}  // namespace negawatt::report
