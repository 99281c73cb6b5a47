// SPDX-License-Identifier: Apache-2.0
//
// lease::FrameReader on any stream of bytes: however it is cut into pieces, it gives the same
// messages, holds no more than one frame, and a message means exactly the bytes it came from.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "fuzz/reader.hpp"
#include "lease/protocol.hpp"

namespace negawatt::fuzz {
namespace {

struct Stream {
  std::vector<std::string> frames;  // encoded again
  std::optional<std::string> error;
  std::size_t left = 0;
};

Stream read(std::string_view bytes, std::size_t piece) {
  Stream stream;
  lease::FrameReader reader;
  for (; !bytes.empty() && !stream.error; bytes.remove_prefix(std::min(piece, bytes.size()))) {
    reader.append(bytes.substr(0, piece));
    while (true) {
      const auto message = reader.next();
      if (!message) stream.error = message.error().message;
      if (!message || !*message) break;
      stream.frames.push_back(lease::encode(**message));
    }
    require(stream.error || reader.buffered() < lease::kFrameHeader + lease::kMaxPayload,
            "no more than one frame is held");
  }
  stream.left = reader.buffered();
  return stream;
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto whole = read(bytes, bytes.size() + 1);
  const auto pieces = read(bytes, 3);
  require(whole.frames == pieces.frames && whole.error == pieces.error,
          "pieces of a stream have the messages of the whole");
  if (whole.error) require(is_printable(*whole.error), "a message is one printable line");
  std::string again;
  for (const auto& frame : whole.frames) again += frame;
  require(bytes.starts_with(again), "a message means the bytes it came from");
  return !whole.error && whole.left == 0 && !whole.frames.empty();
}

}  // namespace negawatt::fuzz
