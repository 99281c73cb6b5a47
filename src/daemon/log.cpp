// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/common.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <initializer_list>
#include <memory>
#include <utility>

#include "core/text.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::size_t kQueuedLines = 1024;
constexpr std::size_t kLongestValue = 512;

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::string value_of(std::string_view text) {
  std::string value(text.substr(0, kLongestValue));
  if (!is_printable(value)) value = printable(value);
  const bool is_word = !value.empty() && value.find_first_of(" \"=\\") == std::string::npos;
  if (is_word) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

Log::Log(Level least) {
  spdlog::init_thread_pool(kQueuedLines, 1);
  auto logger = std::make_shared<spdlog::async_logger>(
      "negawattd", std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  logger->set_level(level_of(least));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e level=%l %v");
  spdlog::set_default_logger(std::move(logger));
}

Log::~Log() { spdlog::shutdown(); }

void log(Level level, std::string_view event, std::initializer_list<Field> fields) {
  auto* logger = spdlog::default_logger_raw();
  if (logger == nullptr || !logger->should_log(level_of(level))) return;
  logger->log(level_of(level), spdlog::string_view_t(line_of(event, fields)));
}

std::string line_of(std::string_view event, std::initializer_list<Field> fields) {
  std::string line = "event=" + value_of(event);
  for (const auto& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    line += value_of(field.value);
  }
  return line;
}

}  // namespace negawatt::daemon
