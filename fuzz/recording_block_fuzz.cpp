// SPDX-License-Identifier: Apache-2.0
//
// trace::BlockDecoder on the payload of a block, behind the checksum that would keep a fuzzer out:
// a number of records (2 bytes, low one first), then the records.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuzz/reader.hpp"
#include "trace/recording_decoder.hpp"
#include "trace/recording_encoder.hpp"

namespace negawatt::fuzz {
namespace {

/// The events as a recorder would write them.
std::string encoded(const std::vector<trace::Event>& events) {
  std::vector<char> space(events.size() * trace::kLargestRecord + trace::kLargestRecord);
  trace::BlockEncoder encoder(space);
  for (const auto& event : events) {
    std::visit([&](const auto& one) { require(encoder.add(one), "an event fits its room"); },
               event);
  }
  return std::string(encoder.payload());
}

}  // namespace

bool accepts(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.size() > trace::kLargestBlock) return false;
  const auto records = static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[0]) |
                                                  static_cast<unsigned char>(bytes[1]) << 8U);
  trace::BlockDecoder decoder;
  std::vector<trace::Event> events;
  const auto done = decoder.decode(bytes.substr(2), records, events);
  require(done || events.empty(), "a block is taken whole or not at all");
  if (!done) {
    require(done.error().code == Code::invalid, "a decoder blames the input");
    return false;
  }
  const std::string once = encoded(events);
  std::vector<trace::Event> again;
  const auto count = static_cast<std::uint32_t>(events.size());
  require(decoder.decode(once, count, again).has_value(), "what was decoded can be encoded");
  require(encoded(again) == once, "events are the same when they are read again");
  return true;
}

}  // namespace negawatt::fuzz
