// SPDX-License-Identifier: Apache-2.0
//
// The daemon's log: one line an event on standard error, `level=... event="..." key=value ...`.
// Lines are handed to a thread of the log's own through a bounded queue that drops the oldest line
// when it is full: a reader that has stopped reading can never keep a GPU from being restored.
// Thread-safe. What comes from outside is made printable here.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace negawatt::daemon {

enum class Level : unsigned char { debug, info, warn, error };

struct Field {
  Field(std::string_view name, std::string_view text) : key(name), value(text) {}
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  Field(std::string_view name, Number number) : key(name), value(std::to_string(number)) {}

  std::string_view key;
  std::string value;
};

/// Starts the log's thread; before that, and after the Log has ended, lines are dropped.
class Log {
 public:
  explicit Log(Level least);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();  ///< writes what is queued
};

void log(Level level, std::string_view event, std::initializer_list<Field> fields = {});

/// The line's text without its level: exposed for tests.
[[nodiscard]] std::string line_of(std::string_view event, std::initializer_list<Field> fields);

}  // namespace negawatt::daemon
