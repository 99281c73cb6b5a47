// SPDX-License-Identifier: Apache-2.0
#include "trace/recording_encoder.hpp"

#include <algorithm>

namespace negawatt::trace {
namespace {

constexpr std::size_t kLongestName = 256;

}  // namespace

std::string encode_header(const RecordingHeader& header) {
  RecordingHeader fitting = header;
  fitting.host.resize(std::min(header.host.size(), kLongestName));
  fitting.boot.resize(std::min(header.boot.size(), kLongestName));
  fitting.command.clear();
  std::size_t room = kLargestBlock - 2 * kLongestName - kLargestRecord;
  for (const auto& argument : header.command) {
    const std::size_t needed = std::min(argument.size(), kLongestText) + 10;  // and its length
    if (needed > room || fitting.command.size() == kMostArguments) break;
    fitting.command.push_back(argument.substr(0, kLongestText));
    room -= needed;
  }
  std::string payload(kLargestBlock, '\0');
  DeltaState none;
  FieldWriter writer(payload.data(), none);
  header_fields(fitting, writer);
  payload.resize(static_cast<std::size_t>(writer.end() - payload.data()));
  return payload;
}

}  // namespace negawatt::trace
