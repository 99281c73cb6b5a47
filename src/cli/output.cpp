// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include "cli/files.hpp"
#include "cli/terminal.hpp"

namespace negawatt::cli {

Status deliver(const Rendering& rendering, Format format, const std::string& out) {
  const bool is_text = format == Format::text;
  if (is_text && out.empty()) return write_output("-", rendering.text(wants_colour()));
  NW_TRY(const auto bytes, rendering.bytes(is_text ? Format::json : format));
  if (out.empty() || out == "-") return write_output("-", bytes);
  NW_CHECK(write_output(out, bytes));
  if (is_text) return write_output("-", rendering.text(wants_colour()));
  return write_output("-", format == Format::json ? bytes : out + "\n");
}

}  // namespace negawatt::cli
