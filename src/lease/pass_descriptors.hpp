// SPDX-License-Identifier: Apache-2.0
//
// Bytes and two file descriptors over a Unix socket, as the reply `granted` carries them
// (lease/protocol.hpp). Receiving them is the client's part (lease/connection.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace negawatt::lease {

/// Sends at once or not at all: never waits for room. The descriptors come with the first byte.
/// Returns how many bytes went out; -1 with errno set when none did.
[[nodiscard]] std::ptrdiff_t send_with_descriptors(int socket, std::string_view bytes,
                                                   const std::array<int, 2>& descriptors);

}  // namespace negawatt::lease
