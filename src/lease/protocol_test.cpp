// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/text.hpp"

namespace negawatt::lease {
namespace {

using std::string_literals::operator""s;

Terms some_terms() {
  return {.core_min_mhz = 210,
          .core_max_mhz = 1410,
          .memory = true,
          .power_limit = Watts(650),
          .duration = Seconds(2.5)};
}

std::vector<Message> one_of_each() {
  return {Hello{1, 1, "train.py"},
          ListGpus{2},
          Acquire{3, "GPU-1", some_terms()},
          Heartbeat{},
          Release{4, 0x1122334455667788},
          Welcome{1, 1, true, "negawattd 0.1"},
          Gpus{2,
               {{"GPU-1",
                 "H200",
                 GpuState::leased,
                 {7, 1000, "python3"},
                 some_terms(),
                 ClockPair{Clock::locked_mhz(1410), Clock()}}}},
          Granted{3, 9, some_terms(), Seconds(3)},
          Refused{3, Refusal::busy, "leased", {7, 1000, "python3"}},
          Released{4, true, ""}};
}

/// The only message in `bytes`, which must be one whole frame.
Message message_in(const std::string& bytes) {
  FrameReader reader;
  reader.append(bytes);
  auto message = reader.next();
  EXPECT_TRUE(message && *message);
  EXPECT_EQ(reader.buffered(), 0U);
  return message && *message ? **message : Message{};
}

TEST(Protocol, AcquireHasTheseBytes) {
  // Worked out by hand from the grammar: the bytes are what other programs rely on.
  EXPECT_EQ(encode(Acquire{3, "GPU-1", some_terms()}),
            "\x1c\0\0\0\x03\0"               // length 28, type 3
            "\x03\0\0\0\x05\0GPU-1"          // id, text
            "\xd2\0\0\0\x82\x05\0\0\x01"     // 210, 1410, memory
            "\x10\xeb\x09\0\xc4\x09\0\0"s);  // 650000 mW, 2500 ms
}

TEST(Protocol, GrantedHasTheseBytes) {
  EXPECT_EQ(encode(Granted{1, 0x0102, {}, Seconds(3)}),
            "\x21\0\0\0\x08\0"
            "\x01\0\0\0\x02\x01\0\0\0\0\0\0"
            "\x01\0\0\0\xff\xff\0\0\0\0\0\0\0\0\0\0\0"
            "\xb8\x0b\0\0"s);
}

TEST(Protocol, EveryMessageComesBackAsItWasSent) {
  const auto messages = one_of_each();
  ASSERT_EQ(messages.size(), std::variant_size_v<Message>);
  for (const auto& message : messages) {
    const auto bytes = encode(message);
    const auto back = message_in(bytes);
    EXPECT_EQ(back.index(), message.index());
    EXPECT_EQ(encode(back), bytes);
  }
  const auto back = std::get<Acquire>(message_in(encode(messages[2])));
  EXPECT_EQ(back.gpu, "GPU-1");
  EXPECT_EQ(back.terms.power_limit, Watts(650));
  EXPECT_EQ(back.terms.duration, Seconds(2.5));
}

TEST(Protocol, AFrameThatArrivesByteByByteIsWholeAtItsLastByte) {
  for (const auto& message : one_of_each()) {
    const auto bytes = encode(message);
    FrameReader reader;
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
      reader.append({&bytes[i], 1});
      const auto early = reader.next();
      ASSERT_TRUE(early && !*early) << "after byte " << i;
    }
    reader.append({&bytes.back(), 1});
    const auto whole = reader.next();
    EXPECT_TRUE(whole && *whole);
  }
}

TEST(Protocol, AMessageWithoutOneOfItsBytesOrWithOneMoreIsRefused) {
  for (const auto& message : one_of_each()) {
    const auto frame = encode(message);
    const auto type = static_cast<std::uint16_t>(message.index() + 1);
    const auto payload = frame.substr(kFrameHeader);
    for (std::size_t size = 0; size < payload.size(); ++size)
      EXPECT_FALSE(decode(type, payload.substr(0, size))) << "type " << type << " size " << size;
    EXPECT_FALSE(decode(type, payload + '\0'));
  }
}

TEST(Protocol, AFrameBeyondTheBoundIsRefusedBeforeItsPayloadIsThere) {
  FrameReader reader;
  reader.append("\x01\0\x01\0\x01\0"s);  // 65537
  EXPECT_FALSE(reader.next());
  FrameReader largest;
  largest.append("\0\0\x01\0\x01\0"s);  // 65536: allowed, so it waits
  const auto waits = largest.next();
  EXPECT_TRUE(waits && !*waits);
}

TEST(Protocol, WhatIsNotInTheGrammarIsRefused) {
  EXPECT_FALSE(decode(0, ""));
  EXPECT_FALSE(decode(11, ""));
  EXPECT_FALSE(decode(0xFFFF, ""));
  EXPECT_FALSE(decode(1, "\x01\0\0\0\x01\0\x02\0\x1b["s)) << "a control character";
  EXPECT_FALSE(decode(1, "\x01\0\0\0\x01\0\x01\0\xff"s)) << "not UTF-8";
  EXPECT_FALSE(decode(6, "\x01\0\0\0\x01\0\x02\0\0"s)) << "a bool that is 2";
  EXPECT_FALSE(decode(7, "\x01\0\0\0\xff\xff"s)) << "65535 GPUs";
  std::string no_reason = encode(Refused{1, Refusal::busy, "", {}}).substr(kFrameHeader);
  no_reason[4] = '\0';
  EXPECT_FALSE(decode(9, no_reason));
  no_reason[4] = '\x09';
  EXPECT_FALSE(decode(9, no_reason));
}

TEST(Protocol, AHeartbeatOfNoTimeIsRefused) {
  auto frame = encode(Granted{3, 9, some_terms(), Seconds(3)});
  frame.replace(frame.size() - 4, 4, 4, '\0');
  EXPECT_FALSE(decode(8, std::string_view(frame).substr(kFrameHeader)));
}

TEST(Protocol, AutomaticClocksAreNotNoClocks) {
  const auto entry_with = [](std::optional<ClockPair> asked) {
    return std::get<Gpus>(message_in(encode(Gpus{1, {GpuEntry{.asked = asked}}}))).gpus.at(0).asked;
  };
  EXPECT_EQ(entry_with({}), std::nullopt);
  EXPECT_EQ(entry_with(ClockPair{}), ClockPair{});
  EXPECT_EQ(entry_with(ClockPair{{}, Clock::locked_mhz(810)}),
            (ClockPair{{}, Clock::locked_mhz(810)}));
}

TEST(Protocol, WhatIsTooLongIsCutSoThatTheFrameCanBeRead) {
  const auto cut = std::get<Hello>(message_in(encode(Hello{1, 1, std::string(1000, 'x')})));
  EXPECT_EQ(cut.program, std::string(kMaxText, 'x'));
  std::string umlauts = "x";
  while (umlauts.size() < 300) umlauts += "\xc3\xa4";
  const auto at_character = std::get<Hello>(message_in(encode(Hello{1, 1, umlauts})));
  EXPECT_EQ(at_character.program, umlauts.substr(0, 255));
  const auto escaped = std::get<Hello>(message_in(encode(Hello{1, 1, "\x1b[31m"})));
  EXPECT_EQ(escaped.program, "\\x1b[31m");
  const auto gpus = std::get<Gpus>(message_in(encode(Gpus{1, std::vector<GpuEntry>(100)})));
  EXPECT_EQ(gpus.gpus.size(), kMaxGpus);
}

TEST(Protocol, APowerOrADurationThatRoundsToNothingIsNotNone) {
  const Terms tiny{.power_limit = Watts(1e-9), .duration = Seconds(0)};
  const auto back = std::get<Acquire>(message_in(encode(Acquire{1, "GPU-1", tiny})));
  EXPECT_EQ(back.terms.power_limit, Watts(1e-3));
  EXPECT_EQ(back.terms.duration, Seconds(1e-3));
}

RC_GTEST_PROP(Protocol, AnyPayloadIsRefusedOrMeansItsOwnEncoding,
              (std::uint16_t type, const std::vector<char>& bytes)) {
  const std::string payload(bytes.begin(), bytes.end());
  const auto kind = static_cast<std::uint16_t>(type % 12);
  const auto message = decode(kind, payload);
  if (!message) {
    RC_ASSERT(is_printable(message.error().message));
    return;
  }
  RC_ASSERT(encode(*message).substr(kFrameHeader) == payload);
}

RC_GTEST_PROP(Protocol, AChangedByteIsRefusedOrMeansItsOwnEncoding, ()) {
  const auto messages = one_of_each();
  auto frame = encode(messages[*rc::gen::inRange<std::size_t>(0, messages.size())]);
  const auto at = *rc::gen::inRange<std::size_t>(0, frame.size());
  frame[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  FrameReader reader;
  reader.append(frame);
  const auto message = reader.next();
  if (!message || !*message) return;
  RC_ASSERT(frame.starts_with(encode(**message)));
}

}  // namespace
}  // namespace negawatt::lease
