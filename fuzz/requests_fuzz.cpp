// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_requests on any bytes: an accepted trace is one that can be simulated.
#include "trace/request_readers.hpp"

#include <algorithm>
#include <string_view>

#include "core/text.hpp"
#include "fuzz/reader.hpp"

namespace negawatt::fuzz {

bool accepts(std::string_view bytes) {
  constexpr std::string_view kFile = "fuzz.csv";
  const auto trace = trace::parse_requests(bytes, kFile);
  const auto again = trace::parse_requests(bytes, kFile);
  require_same_outcome(trace, again);
  if (!trace) return refused(trace.error(), kFile);

  const auto& requests = trace->requests;
  require(!requests.empty(), "a trace has a request");
  require(requests.front().arrival == Seconds(0.0), "time starts with the first request");
  require(std::ranges::is_sorted(requests, {}, &trace::Request::arrival),
          "requests are in order of arrival");
  require(requests.back().arrival.is_finite(), "times are finite");
  require(trace->has_arrivals || requests.back().arrival == Seconds(0.0),
          "without arrivals all requests are there at once");
  require(trace->simultaneous < requests.size(), "the first request follows none");
  require(std::ranges::all_of(requests,
                              [&](const trace::Request& r) {
                                return r.input_tokens > 0 && r.output_tokens > 0 &&
                                       r.request_class < trace->classes.size();
                              }),
          "a request has tokens and a class");
  require(std::ranges::all_of(trace->classes,
                              [](const auto& name) { return !name.empty() && is_printable(name); }),
          "a class has a printable name");
  require(requests == again->requests, "the same bytes have the same requests");
  return true;
}

}  // namespace negawatt::fuzz
