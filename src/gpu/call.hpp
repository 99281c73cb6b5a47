// SPDX-License-Identifier: Apache-2.0
//
// How every function of the driver is called: absent when the library lacks it, asked again when
// the driver is only busy, and every other return an error that names call and GPU. Private to the
// room.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/units.hpp"
#include "gpu/answer.hpp"
#include "gpu/nvml_library.hpp"

namespace negawatt::gpu {

/// Pauses of 1, 2, 4 ... 128 ms between tries: a quarter of a second in all.
inline constexpr Seconds kFirstPause{0.001};
inline constexpr Seconds kLongestPause{0.128};

/// `on` says whom the call is about. NOT_READY and IN_USE are tried again, on the device clock.
template <class... Parameters>
[[nodiscard]] Done call(const NvmlLibrary& library, std::string_view on,
                        const Function<nvmlReturn_t(Parameters...)>& function,
                        std::type_identity_t<Parameters>... arguments) {
  if (function.pointer == nullptr) {
    return tl::unexpected(call_error(function.name, on, NVML_ERROR_FUNCTION_NOT_FOUND));
  }
  nvmlReturn_t code = function.pointer(arguments...);
  for (Seconds pause = kFirstPause; is_transient(code) && pause <= kLongestPause; pause *= 2) {
    library.sleep_until(library.now() + static_cast<std::int64_t>(pause.in_si() * 1e9));
    code = function.pointer(arguments...);
  }
  if (code != NVML_SUCCESS) return tl::unexpected(call_error(function.name, on, code));
  return {};
}

}  // namespace negawatt::gpu
