// SPDX-License-Identifier: Apache-2.0
//
// recording_corpus FOLDER: writes the corpora recording/ and recording_block/ there, as a recorder
// would write them, and then cut, damaged or made hostile. Run it when the format changes:
//   build/check/fuzz/recording_corpus fuzz/corpus
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>

#include "core/crc32.hpp"
#include "tests/recording_bytes.hpp"

namespace negawatt {
namespace {

using namespace trace;

const RecordingHeader kHeader{
    42, 41, CommonClock::monotonic, {5000}, 1'700'000'000'000'000'000, "node7", "b00t", {"train"}};

void write(const std::filesystem::path& folder, const std::string& name, std::string_view bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

/// One record of every kind.
template <class Sink>
void add_all_kinds(Sink& sink) {
  sink.add(Text{"gemm"});
  sink.add(Text{"forward"});
  sink.add(KernelClass{1, {64, 2, 1}, {128, 1, 1}, 1024, 49152, 168});
  sink.add(Lane{0, 1, 7});
  sink.add(Sensor{0, SensorQuantity::instant_power_mw, 25'000'000, 25'000'000, 1});
  sink.add(Sensor{0, SensorQuantity::energy_counter_mj, {}, {}, 1});
  sink.add(DeviceSeen{{10'000}, 0, 1, {1, 2, 3}});
  sink.add(ContextCreated{{11'000}, 0, 1});
  sink.add(StreamCreated{{12'000}, 1, 7});
  sink.add(Coverage{{12'000}, {90'000}, true});
  sink.add(RangePush{{13'000}, 99, 0, 2});
  sink.add(HostCall{{13'100}, {13'900}, 99, 5});
  sink.add(KernelRun{{20'000}, {30'000}, 1, 1, 5, {}});
  sink.add(GraphLaunch{{31'000}, {60'000}, 3, 1, 6});
  sink.add(KernelRun{{31'500}, {40'000}, 1, 1, 6, 17});
  sink.add(KernelRun{{41'000}, {59'000}, 1, 1, 6, 18});
  sink.add(MemoryCopy{{61'000}, {62'000}, 1 << 20U, 1, 7, CopyKind::device_to_host});
  sink.add(MemorySet{{63'000}, {64'000}, 4096, 1, 8});
  sink.add(RangePop{{64'500}, 99, 0});
  sink.add(RangeStart{{65'000}, 1, 0, 2});
  sink.add(RangeEnd{{66'000}, 1});
  sink.add(Sample{{67'000}, 1, 650'000});
  sink.add(Sample{{68'000}, 2, 123'456'789});
  sink.add(Sample{{92'000}, 1, 648'500});
  sink.add(Dropped{{93'000}, {94'000}, 12, DropReason::no_room});
}

std::string every_kind(bool closed) {
  testing::RecordingBytes file(kHeader);
  add_all_kinds(file);
  file.end_block();
  for (std::int64_t at = 100'000; at < 200'000; at += 1000) {
    file.add(KernelRun{{at}, {at + 900}, 1, 1, 9, {}});
  }
  if (closed) file.add(Closed{{200'000}, 0});
  file.end_block();
  return file.bytes();
}

/// With four bytes at `at` of the block at `block` replaced, and its checksum made right again.
std::string forged(std::string bytes, std::size_t block, std::size_t at, std::uint32_t number) {
  const auto put = [&](std::size_t where, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) bytes[where + i] = static_cast<char>(value >> (8U * i));
  };
  put(block + at, number);
  const std::string_view all = std::string_view(bytes).substr(block);
  put(block + 20, crc32(all.substr(kBlockHeader), crc32(all.substr(0, 20))));
  return bytes;
}

std::string with_payload(std::string_view payload, std::uint32_t records) {
  testing::RecordingBytes file(kHeader);
  file.add_payload(payload, records);
  return file.bytes();
}

void write_files(const std::filesystem::path& folder) {
  const std::string closed = every_kind(true);
  const std::string open = every_kind(false);
  const std::size_t header = testing::RecordingBytes(kHeader).bytes().size();
  write(folder, "good-closed", closed);
  write(folder, "good-killed", open);
  write(folder, "good-cut", std::string_view(closed).substr(0, closed.size() - 7));
  write(folder, "good-header", std::string_view(closed).substr(0, header));
  write(folder, "bad-empty", "");
  write(folder, "bad-other", "SQLite format 3");
  write(folder, "bad-magic-alone", std::string_view(closed).substr(0, kRecordingPreamble));
  write(folder, "bad-cut-in-header", std::string_view(closed).substr(0, header - 1));
  write(folder, "bad-bytes-behind", closed + "x");
  std::string other = closed;
  other[kRecordingMagic.size()] = 2;
  write(folder, "bad-version", other);
  other = closed;
  other[header + kBlockHeader + 5] ^= 1;
  write(folder, "bad-checksum", other);
  write(folder, "bad-sequence", forged(closed, header, 4, 7));
  write(folder, "bad-stored-size", forged(closed, header, 8, 0xFFFFFFFFU));
  write(folder, "bad-raw-size", forged(closed, header, 12, 0x7FFFFFFFU));
  write(folder, "bad-raw-size-by-one", forged(closed, header, 12, 1));
  write(folder, "bad-records", forged(closed, header, 16, 9999));
  write(folder, "bad-kind", with_payload("\x7F", 1));
  write(folder, "bad-unknown-class",
        with_payload(std::string("\x04\x02\x02\x01\x00\x00\x00", 7), 1));
  write(folder, "bad-block-repeated",
        closed.substr(0, header) + closed.substr(kRecordingPreamble, header - kRecordingPreamble));
}

/// A payload behind its number of records.
class Payload {
 public:
  Payload() : space_(kLargestBlock), encoder_(space_) {}
  template <class R>
  void add(const R& record) {
    NW_ASSERT(encoder_.add(record));
  }
  [[nodiscard]] std::string bytes(std::uint32_t more = 0) const {
    const auto records = encoder_.records() + more;
    return std::string{static_cast<char>(records), static_cast<char>(records >> 8U)} +
           std::string(encoder_.payload());
  }

 private:
  std::vector<char> space_;
  BlockEncoder encoder_;
};

void write_payloads(const std::filesystem::path& folder) {
  using namespace std::string_literals;
  Payload all;
  add_all_kinds(all);
  write(folder, "good-every-kind", all.bytes());
  write(folder, "good-none", Payload().bytes());
  write(folder, "good-overlong-number", "\1\0\2\x81\x80\0\0\0"s);
  write(folder, "bad-one-more", all.bytes(1));
  write(folder, "bad-cut", all.bytes().substr(0, 100));
  write(folder, "bad-kind", "\1\0\x7F"s);
  write(folder, "bad-number-too-long", "\1\0\2\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\0\0"s);
  write(folder, "bad-33-bits", "\1\0\2\xFF\xFF\xFF\xFF\x1F\0\0"s);
  write(folder, "bad-text-length", "\1\0\0\xFF\xFF\xFF\xFF\x0Fx"s);
  write(folder, "bad-moment-before-zero", "\1\0\x0C\1\1"s);
  write(folder, "bad-duration", "\1\0\4\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\0\0\0\0"s);
  write(folder, "bad-enumerator", "\1\0\3\0\0\7\0\0"s);
  write(folder, "bad-flag", "\1\0\3\0\0\0\2\0"s);
  write(folder, "bad-unknown-text", "\1\0\1\1\1\1\1\1\1\1\0\0\0"s);
}

}  // namespace
}  // namespace negawatt

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: recording_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  negawatt::write_files(folder / "recording");
  negawatt::write_payloads(folder / "recording_block");
}
