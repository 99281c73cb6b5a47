// SPDX-License-Identifier: Apache-2.0
#include "cli/request_file.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <optional>

#include "cli/files.hpp"
#include "cli/terminal.hpp"
#include "trace/request_readers.hpp"

namespace negawatt::cli {

Result<trace::RequestTrace> load_requests(const std::string& path, const std::string& format) {
  std::optional<trace::RequestFormat> named;
  if (!format.empty()) {
    named = trace::request_format_named(format);
    if (!named)
      return failure(Code::invalid, fmt::format("--format is '{}', expected {}", format,
                                                trace::request_format_names()));
  }
  NW_TRY(const auto bytes, read_input(path));
  NW_TRY(auto trace, trace::parse_requests(bytes, path, named));
  if (trace.last_line_open) note_open_last_line(path);
  return trace;
}

void note_simultaneous(const trace::RequestTrace& trace) {
  if (trace.simultaneous == 0) return;
  std::fprintf(stderr,
               "negawatt: note: %zu of %zu requests of %s arrive at the time of the one before; "
               "they keep the order of the file\n",
               trace.simultaneous, trace.requests.size(), trace.name.c_str());
}

}  // namespace negawatt::cli
