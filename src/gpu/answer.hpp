// SPDX-License-Identifier: Apache-2.0
//
// What the driver answers: a value, or why there is none. The reasons are few because each changes
// what the caller does next. A DriverError turns into an Error by itself where a Result is wanted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/result.hpp"

namespace negawatt::gpu {

enum class Obstacle : unsigned char {
  absent,     ///< this device or driver does not have it: say "unavailable", do not ask again
  denied,     ///< it has it, and we may not: root or the daemon is needed
  not_ready,  ///< it was asked again for a quarter of a second and is still busy: later
  lost,       ///< the GPU fell off the bus or the driver was unloaded: this device is over
  refused,    ///< the value asked for is not accepted
  failed,     ///< the driver broke
};

struct [[nodiscard]] DriverError {
  Obstacle obstacle = Obstacle::failed;
  std::string_view call;  ///< the driver's function; static storage
  std::int32_t code = 0;  ///< what it returned; 0 when it was never called
  std::string message;    ///< one line: what was asked of which GPU, what came back, what to do

  // Implicit on purpose: NW_TRY and NW_CHECK pass it on in functions that return a Result.
  operator Error() const;  // NOLINT(google-explicit-constructor)
};

template <class T>
using Answer = tl::expected<T, DriverError>;
using Done = Answer<void>;

/// "absent", "denied", "not ready", ...
[[nodiscard]] std::string_view name_of(Obstacle obstacle);
/// The driver's return code in words, and what to do about it where there is something.
[[nodiscard]] std::string explain(std::int32_t code);
[[nodiscard]] Obstacle obstacle_of(std::int32_t code);

}  // namespace negawatt::gpu
