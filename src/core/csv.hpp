// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes comma-separated text as RFC 4180 writes it, and as spreadsheets do: quoted
// fields, CRLF, a byte-order mark, blank lines, and comment lines ('#') above the header. Works on
// bytes that are already in memory; opening files is the caller's job. Every error names file and
// line.
//
//   file    = [BOM] *( comment | blank ) header *( record | blank )
//   comment = "#" text EOL
//   record  = field *( "," field ) EOL          ; as many fields as the header
//   field   = text | DQUOTE *( text | DQUOTE DQUOTE | "," | EOL ) DQUOTE
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace negawatt {

/// A field to write: quoted when it has to be, otherwise unchanged.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Walks through the records of one file. Fields are views into the file, or into a buffer that
/// lives until the next record when a quoted field holds a doubled quote.
class CsvReader {
 public:
  /// `bytes` must outlive the reader; `file` names it in messages.
  CsvReader(std::string_view bytes, std::string_view file);

  /// Reads comments and the header. Fails when there is none or a column is named twice.
  Status read_header();

  /// True when a record was read, false at the end of the file.
  Result<bool> next();

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] std::uint64_t line() const { return record_line_; }
  /// Text of a comment line "# key: value" above the header; empty when there is none.
  [[nodiscard]] std::string_view comment(std::string_view key) const;
  /// False when the file's last record has no line end, so that it may have been cut off.
  [[nodiscard]] bool ended_with_newline() const;

  /// Column positions of `names`, all required; or the error that names what is missing.
  Result<std::vector<std::size_t>> require(std::span<const std::string_view> names) const;
  /// Position of an optional column, or columns().size().
  [[nodiscard]] std::size_t find(std::string_view name) const;

  /// "FILE:LINE: what" as an error about the current record.
  [[nodiscard]] tl::unexpected<Error> error(std::string what) const;
  /// The error that a field is not what is expected: "FILE:LINE: COLUMN is 'FIELD', expected ...".
  [[nodiscard]] tl::unexpected<Error> error_in(std::size_t column, std::string_view expected) const;
  /// The field as text that is fit to be printed: UTF-8 without control characters.
  [[nodiscard]] Result<std::string_view> text(std::size_t column) const;
  /// The field as a finite number; `name` names the column in the message.
  Result<double> number(std::size_t column) const;
  /// The field as a finite number above 0: a time or an energy that was measured.
  Result<double> positive(std::size_t column) const;
  /// The field as a whole number from `least` to 4294967295.
  Result<std::uint32_t> whole(std::size_t column, std::uint32_t least) const;

 private:
  /// Cuts the record that starts at at_ into fields_ and moves behind its line end.
  Status split_record();
  /// Reads a field that starts with a quote; stops behind the closing quote.
  Result<std::string_view> quoted_field();
  void skip_line_end();
  void skip_blank_lines();

  std::string_view bytes_;
  std::string file_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t record_line_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::string> comments_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // a deque: views into its strings stay valid
};

}  // namespace negawatt
