// SPDX-License-Identifier: Apache-2.0
//
// The public formats of request traces as a table: which columns hold the arrival, the prompt and
// the answer, and in which unit the arrival stands. Data only; request_readers reads by it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace negawatt::trace {

enum class RequestFormat : std::uint8_t {
  azure,
  lmsys,
  vidur,
  splitwise,
  mooncake,
  burstgpt,
  own,
  lengths,
};

[[nodiscard]] std::string_view name_of(RequestFormat format);
[[nodiscard]] std::optional<RequestFormat> request_format_named(std::string_view name);
/// "azure, lmsys, ...", for messages and help.
[[nodiscard]] std::string request_format_names();

enum class ArrivalUnit : std::uint8_t {
  calendar,  ///< YYYY-MM-DD hh:mm:ss, up to nine decimals, with or without a zone
  seconds,
  milliseconds,
  nanoseconds,
  none,  ///< the file has lengths only
};

/// A layout of columns; "" is a column that the format does not have. A format may have several.
struct RequestLayout {
  RequestFormat format = RequestFormat::own;
  ArrivalUnit unit = ArrivalUnit::seconds;
  std::string_view arrival;
  std::string_view input;
  std::string_view output;
  std::string_view request_class;  ///< optional in the file
  std::string_view priority;       ///< optional in the file
  std::string_view batch;          ///< required, and 1 in every record
};

/// In order of precedence: where several fit a header, the first is meant.
[[nodiscard]] std::span<const RequestLayout> request_layouts();

}  // namespace negawatt::trace
