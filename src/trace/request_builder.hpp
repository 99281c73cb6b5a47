// SPDX-License-Identifier: Apache-2.0
//
// What the readers of request traces share, whatever the syntax: arrivals in the unit of a file
// become seconds since the first, out of order they are refused, together they are counted; class
// names become indices. A complaint is a clause for a message that already names file and line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/request.hpp"
#include "trace/request_format.hpp"

namespace negawatt::trace {

/// A time in a file's own unit. 64 bits of mantissa hold nanoseconds since 1970 exactly.
using FileTime = long double;

/// The time that `text` states; calendar times in nanoseconds. None: it is no finite number of 0 or
/// more, or no calendar time.
[[nodiscard]] std::optional<FileTime> file_time(std::string_view text, ArrivalUnit unit);
/// What is expected where file_time() gives none.
[[nodiscard]] std::string_view expected_time(ArrivalUnit unit);

/// One record as its file has it.
struct RequestRecord {
  FileTime arrival = 0;
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::string_view request_class;
  std::int16_t priority = 0;
};

class RequestBuilder {
 public:
  explicit RequestBuilder(ArrivalUnit unit) : unit_(unit) {}

  /// Adds a request, or says what is wrong with it.
  [[nodiscard]] std::optional<std::string> add(const RequestRecord& record);
  [[nodiscard]] bool empty() const { return trace_.requests.empty(); }
  /// The trace; at least one request has been added.
  [[nodiscard]] RequestTrace finish(std::string_view file, std::string_view bytes) &&;

 private:
  struct StringHash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  /// None: there are too many.
  std::optional<std::uint16_t> class_index(std::string_view name);

  ArrivalUnit unit_;
  FileTime first_ = 0;
  FileTime latest_ = 0;
  RequestTrace trace_;
  std::unordered_map<std::string, std::uint16_t, StringHash, std::equal_to<>> class_of_name_;
};

}  // namespace negawatt::trace
