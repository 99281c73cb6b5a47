// SPDX-License-Identifier: Apache-2.0
//
// Records through the encoder and the decoder.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <variant>

#include "trace/recording_decoder.hpp"
#include "trace/recording_encoder.hpp"

namespace negawatt::trace {
namespace {

/// Fields in a fixed order, as numbers: to compare records and to fill them.
struct FieldList {
  std::vector<std::uint64_t> all;
  template <class... Numbers>
  void numbers(const Numbers&... some) {
    (all.push_back(some), ...);
  }
  template <class Enum>
  void name(const Enum& value, Enum) {
    all.push_back(static_cast<std::uint64_t>(value));
  }
  void flag(const bool& value) { all.push_back(value ? 1 : 0); }
  void if_known(const std::optional<std::uint64_t>& value) {
    all.push_back(value.has_value() ? 1 : 0);
    all.push_back(value.value_or(0));
  }
  void moment(const Instant& at) { all.push_back(static_cast<std::uint64_t>(at.ns)); }
  void span(const Instant& from, const Instant& to) { moment(from), moment(to); }
  void correlation(const std::uint32_t& value) { all.push_back(value); }
  void graph_node(const std::optional<std::uint64_t>& node) { if_known(node); }
  void sample(const std::uint32_t& sensor, const std::uint64_t& value) { numbers(sensor, value); }
  void bytes(const std::array<std::uint8_t, 16>& some) {
    all.insert(all.end(), some.begin(), some.end());
  }
  void text(std::string_view text) { all.insert(all.end(), text.begin(), text.end()); }
};

/// Any value a field may have, extremes among them.
struct AnyFields {
  std::uint32_t tables = 0;  ///< ids below this are defined
  std::string letters = {};

  static std::uint64_t any() {
    return *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(), rc::gen::just(UINT64_MAX),
                           rc::gen::inRange<std::uint64_t>(0, 3));
  }
  void one(std::uint64_t& value) { value = any(); }
  void one(std::uint32_t& value) {
    value =
        tables > 0 ? static_cast<std::uint32_t>(any() % tables) : static_cast<std::uint32_t>(any());
  }
  template <class... Numbers>
  void numbers(Numbers&... some) {
    (one(some), ...);
  }
  template <class Enum>
  void name(Enum& value, Enum greatest) {
    value = static_cast<Enum>(any() % (static_cast<std::uint64_t>(greatest) + 1));
  }
  void flag(bool& value) { value = any() % 2 == 1; }
  void if_known(std::optional<std::uint64_t>& value) {
    if (any() % 2 == 1) value = any();
  }
  void moment(Instant& at) { at.ns = static_cast<std::int64_t>(any()) & kLastMoment; }
  void span(Instant& from, Instant& to) {
    moment(from), moment(to);
    if (to < from) std::swap(from, to);
  }
  void correlation(std::uint32_t& value) { value = static_cast<std::uint32_t>(any()); }
  void graph_node(std::optional<std::uint64_t>& node) { if_known(node); }
  void sample(std::uint32_t& sensor, std::uint64_t& value) { one(sensor), one(value); }
  void bytes(std::array<std::uint8_t, 16>& some) {
    for (auto& byte : some) byte = static_cast<std::uint8_t>(any());
  }
  void text(std::string_view& text) { text = letters; }
};

template <class R>
std::vector<std::uint64_t> list_of(const R& record) {
  FieldList list;
  fields(record, list);
  return list.all;
}

template <std::size_t Tag = 0>
Record any_record(std::size_t tag, const AnyFields& limits) {
  if constexpr (Tag < std::variant_size_v<Record>) {
    if (tag != Tag) return any_record<Tag + 1>(tag, limits);
    std::variant_alternative_t<Tag, Record> record;
    AnyFields any = limits;
    fields(record, any);
    return record;
  }
  return {};
}

class Block {
 public:
  Block() : space_(kLargestBlock), encoder_(space_) {}
  template <class R>
  bool add(const R& record) {
    return encoder_.add(record);
  }
  [[nodiscard]] std::string_view payload() const { return encoder_.payload(); }
  [[nodiscard]] std::uint32_t records() const { return encoder_.records(); }

 private:
  std::vector<char> space_;
  BlockEncoder encoder_;
};

RC_GTEST_PROP(RecordingCodec, GivesBackEveryEvent, ()) {
  Block block;
  for (std::uint32_t i = 0; i < 3; ++i) {  // with entry 0: ids below 4 are defined
    RC_ASSERT(block.add(Text{"text"}) && block.add(KernelClass{}) && block.add(Lane{}) &&
              block.add(Sensor{}));
  }
  const std::size_t definitions = 4;
  std::vector<Record> sent;
  const auto tags = *rc::gen::container<std::vector<std::size_t>>(
      rc::gen::inRange(definitions, std::variant_size_v<Record>));
  for (const std::size_t tag : tags) {
    sent.push_back(any_record(tag, {.tables = 4}));
    std::visit([&](const auto& one) { RC_ASSERT(block.add(one)); }, sent.back());
  }
  BlockDecoder decoder;
  std::vector<Event> got;
  RC_ASSERT(decoder.decode(block.payload(), block.records(), got).has_value());
  RC_ASSERT(got.size() == sent.size());
  const auto list = [](const auto& one) { return list_of(one); };
  for (std::size_t i = 0; i < got.size(); ++i) {
    RC_ASSERT(got[i].index() + definitions == sent[i].index());
    RC_ASSERT(std::visit(list, got[i]) == std::visit(list, sent[i]));
  }
}

RC_GTEST_PROP(RecordingCodec, GivesBackEveryDefinition, (const std::string& letters)) {
  Block block;
  const Text text{letters};
  RC_ASSERT(block.add(text));
  const auto shape = std::get<KernelClass>(any_record(1, {.tables = 2}));
  const auto lane = std::get<Lane>(any_record(2, {}));
  const auto sensor = std::get<Sensor>(any_record(3, {.tables = 2}));
  RC_ASSERT(block.add(shape) && block.add(lane) && block.add(sensor));
  BlockDecoder decoder;
  std::vector<Event> none;
  RC_ASSERT(decoder.decode(block.payload(), 4, none).has_value() && none.empty());
  const RecordingTables& tables = decoder.tables();
  RC_ASSERT(tables.text(1) == letters && tables.text(0).empty());
  RC_ASSERT(tables.classes()[1] == shape && tables.lanes()[1] == lane);
  RC_ASSERT(tables.sensors()[1] == sensor && tables.sensors().size() == 2);
}

RC_GTEST_PROP(RecordingCodec, GivesBackAHeader,
              (const std::vector<std::string>& command, std::int64_t wall)) {
  const RecordingHeader header{7,      6,      CommonClock::monotonic_raw, {123}, wall, "host",
                               "boot", command};
  const auto again = BlockDecoder::header(encode_header(header));
  RC_ASSERT(again.has_value() && *again == header);
}

TEST(RecordingCodec, WritesAKernelInTheseBytes) {
  Block block;
  ASSERT_TRUE(block.add(Lane{0, 1, 7}) && block.add(KernelClass{}));
  const std::size_t before = block.payload().size();
  ASSERT_TRUE(block.add(KernelRun{{1000}, {1300}, 1, 1, 5, {}}));
  ASSERT_TRUE(block.add(KernelRun{{1302}, {1402}, 1, 1, 4, 9}));
  // tag; start 1000 -> zigzag 2000 = 0x50 + 15 * 128; duration 300 = 0x2C + 2 * 128; class; lane;
  // correlation 5 -> 10; no node. Then start 2 after the end -> 4; 100; ...; -1 -> 1; node 9 -> 18.
  EXPECT_EQ(
      block.payload().substr(before),
      std::string_view("\x04\xD0\x0F\xAC\x02\x01\x01\x0A\x00\x04\x04\x64\x01\x01\x01\x01\x12", 17));
}

TEST(RecordingCodec, NeedsLessThanTheRoomItAsksFor) {
  AnyFields any;
  KernelClass widest;
  widest.name = UINT32_MAX, widest.grid = widest.block = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  widest.static_shared_bytes = widest.dynamic_shared_bytes = widest.registers_per_thread =
      UINT32_MAX;
  Block block;
  ASSERT_TRUE(block.add(widest));
  EXPECT_EQ(block.payload().size(), 1U + 10 * 5);
  const std::size_t before = block.payload().size();
  ASSERT_TRUE(block.add(KernelRun{
      {kLastMoment}, {kLastMoment}, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX / 2 + 1}));
  EXPECT_LE(block.payload().size() - before, kLargestRecord);
  std::vector<char> small(kLargestRecord + 9);
  BlockEncoder encoder(small);
  EXPECT_FALSE(encoder.add(Text{"0123456789"}));
  EXPECT_TRUE(encoder.add(Text{"012345678"}));
  EXPECT_EQ(encoder.records(), 1U);
}

/// What a decoder says of a payload of so many records.
std::string complaint(std::string_view payload, std::uint32_t records) {
  BlockDecoder decoder;
  std::vector<Event> events(1);
  const auto done = decoder.decode(payload, records, events);
  EXPECT_EQ(events.size(), 1U) << "an error leaves the events as they were";
  return done ? "" : done.error().message;
}

TEST(RecordingCodec, RefusesWhatNoRecorderWrites) {
  const std::string out_of_range = "a record is cut off or has a field out of range";
  EXPECT_EQ(complaint("\x7F", 1), "there is no record of kind 127");
  EXPECT_EQ(complaint("\x04\xD0", 1), out_of_range);
  EXPECT_EQ(complaint(std::string("\x02\x01\x02\x03", 4), 2),
            "this block has 1 records, 2 are expected");
  EXPECT_EQ(complaint(std::string("\x04\x02\x02\x01\x00\x00\x00", 7), 1),
            "a record refers to what is not defined");
  EXPECT_EQ(complaint(std::string("\x10\x02\x01\x00", 4), 1),
            "a record refers to what is not defined");
  EXPECT_EQ(complaint(std::string("\x01\x01", 2) + std::string(9, '\0'), 1),
            "a record refers to what is not defined");
  EXPECT_EQ(complaint("\x08\x01", 1), out_of_range) << "a moment before 0";
  EXPECT_EQ(complaint("\x02\xFF\xFF\xFF\xFF\x1F\x01\x01", 1), out_of_range) << "33 bits";
  EXPECT_EQ(complaint(std::string("\x00\xFF\xFF\x7F", 4), 1), out_of_range) << "a text of 2 MiB";
  EXPECT_EQ(complaint("\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 1), out_of_range)
      << "varint";
  EXPECT_EQ(complaint(std::string("\x04\x00", 2) + std::string(9, '\xFF') + "\x01", 1),
            out_of_range)
      << "a duration beyond time";
}

TEST(RecordingCodec, RefusesMoreLanesThanItHolds) {
  Block block;
  BlockDecoder decoder;
  std::vector<Event> none;
  for (std::uint32_t i = 0; i < kMostLanes / 2; ++i) ASSERT_TRUE(block.add(Lane{0, 0, 0}));
  EXPECT_TRUE(decoder.decode(block.payload(), block.records(), none));
  const auto again = decoder.decode(block.payload(), block.records(), none);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "there are more lanes than a recording may have");
}

TEST(RecordingCodec, KeepsOfALongCommandWhatFits) {
  RecordingHeader header;
  header.host = std::string(1000, 'h');
  header.command.assign(5000, std::string(1000, 'a'));
  header.command[1] = std::string(100'000, 'b');
  const auto payload = encode_header(header);
  EXPECT_LE(payload.size(), kLargestBlock);
  const auto again = BlockDecoder::header(payload).value();
  EXPECT_EQ(again.host.size(), 256U);
  EXPECT_GT(again.command.size(), 200U);
  EXPECT_EQ(again.command[0], header.command[0]);
  EXPECT_EQ(again.command[1].size(), kLongestText);
}

}  // namespace
}  // namespace negawatt::trace
