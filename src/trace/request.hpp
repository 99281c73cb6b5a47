// SPDX-License-Identifier: Apache-2.0
//
// The record of an LLM request as traces and the simulator know it, and where such records come
// from: a file that was read, or a generator, one request at a time, so that a week of requests
// needs no more memory than a minute of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace negawatt::trace {

struct Request {
  Seconds arrival;                  ///< since the start of the trace
  std::uint32_t input_tokens = 0;   ///< at least 1
  std::uint32_t output_tokens = 0;  ///< at least 1; a policy does not see it
  std::uint16_t request_class = 0;  ///< index into RequestTrace::classes
  std::int16_t priority = 0;        ///< higher goes first

  bool operator==(const Request&) const = default;
};

/// Requests in order of arrival.
struct RequestTrace {
  std::vector<Request> requests;
  std::vector<std::string> classes;  ///< names; at least one
  std::string name;                  ///< the file it came from
  /// Requests with the arrival time of the one before them: the clocks of real traces are coarse.
  std::size_t simultaneous = 0;
  bool has_arrivals = true;     ///< false: the file has lengths only, all arrive at 0
  bool last_line_open = false;  ///< no line end after the last record: it may be cut off
};

/// Gives requests in order of arrival; none: there are no more.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  virtual std::optional<Request> next() = 0;
};

}  // namespace negawatt::trace
