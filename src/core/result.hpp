// SPDX-License-Identifier: Apache-2.0
//
// How a function says that the outside world failed it: Result<T> holds a value or an Error.
// No exception crosses a room. A broken invariant of our own is NW_ASSERT and ends the process.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace negawatt {

/// Few on purpose: each one changes what the caller does next.
enum class Code : unsigned char {
  invalid,      ///< the input or the usage is wrong: fix it
  infeasible,   ///< the input is right, and what is asked of it cannot be done
  unavailable,  ///< this machine lacks something
  internal,     ///< reading, writing or computing failed
};

/// One line for a person: what was being done, to what, what was expected.
struct [[nodiscard]] Error {
  Code code = Code::internal;
  std::string message;
  std::source_location where = std::source_location::current();
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> failure(
    Code code, std::string message, std::source_location where = std::source_location::current()) {
  return tl::unexpected<Error>(Error{code, std::move(message), where});
}

/// Prints what broke and aborts; called by NW_ASSERT only.
[[noreturn]] void assertion_failed(std::string_view condition, std::source_location where);

}  // namespace negawatt

#define NW_CONCAT_INNER(a, b) a##b
#define NW_CONCAT(a, b) NW_CONCAT_INNER(a, b)

/// NW_TRY(auto x, f()) declares x from the value of f(), or returns f()'s error.
#define NW_TRY(declaration, ...)                                            \
  auto NW_CONCAT(nw_try_, __LINE__) = (__VA_ARGS__);                        \
  if (!NW_CONCAT(nw_try_, __LINE__))                                        \
    return tl::unexpected(std::move(NW_CONCAT(nw_try_, __LINE__)).error()); \
  declaration = *std::move(NW_CONCAT(nw_try_, __LINE__))

/// NW_CHECK(f()) returns f()'s error, if any.
#define NW_CHECK(...)                                     \
  do {                                                    \
    if (auto nw_check = (__VA_ARGS__); !nw_check)         \
      return tl::unexpected(std::move(nw_check).error()); \
  } while (false)

/// Always on, in release builds too.
#define NW_ASSERT(condition)                                                                     \
  do {                                                                                           \
    if (!(condition)) ::negawatt::assertion_failed(#condition, std::source_location::current()); \
  } while (false)
