// SPDX-License-Identifier: Apache-2.0
#include "gpu/journal_records.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdio>

#include "core/crc32.hpp"

namespace negawatt::gpu {
namespace {

constexpr std::string_view kFile = "journal";
const GpuId kFirst("GPU-1");
const GpuId kSecond("GPU-2");

Backup core(const GpuId& gpu, std::optional<ClockRange> range = std::nullopt) {
  return {gpu, CoreLock{range}};
}

std::vector<Backup> backups_in(std::string_view bytes) {
  return read_journal(bytes, kFile).value().outstanding.backups();
}

TEST(JournalRecords, AreTheseBytes) {
  EXPECT_EQ(journal_header(), "negawatt-journal 2\n");
  // Checksums by another implementation (zlib).
  EXPECT_EQ(save_record({kFirst, CoreLock{ClockRange::between({345}, {1410})}}),
            "save GPU-1 core 345 1410 95c8f380\n");
  EXPECT_EQ(save_record({kFirst, MemoryLock{}}), "save GPU-1 memory none b550a489\n");
  EXPECT_EQ(save_record({kFirst, PowerLimit{{650'000}}}), "save GPU-1 power 650000 ab319d4f\n");
  EXPECT_EQ(restored_record(kFirst, Knob::power_limit), "restored GPU-1 power d438ae2a\n");
}

TEST(JournalRecords, TellWhichPowerLimitsWereOurs) {
  const Backup power{kFirst, PowerLimit{{700'000}}};
  const std::string bytes = std::string(journal_header()) + save_record(power) +
                            asked_record(kFirst, {500'000}) + asked_record(kFirst, {600'000}) +
                            asked_record(kFirst, {500'000}) + asked_record(kSecond, {400'000});
  EXPECT_EQ(backups_in(bytes),
            (std::vector<Backup>{
                {kFirst, PowerLimit{{700'000}}, {Milliwatts{500'000}, Milliwatts{600'000}}}}));
  // Restored, they are forgotten: the next backup starts anew.
  EXPECT_EQ(backups_in(bytes + restored_record(kFirst, Knob::power_limit) + save_record(power)),
            (std::vector<Backup>{power}));
}

TEST(JournalRecords, OfTheVersionBeforeAreRead) {
  const Backup power{kFirst, PowerLimit{{700'000}}};
  EXPECT_EQ(backups_in("negawatt-journal 1\n" + save_record(power)), (std::vector<Backup>{power}));
}

TEST(JournalRecords, KeepTheFirstStateThatWasSaved) {
  const auto first = core(kFirst, ClockRange::exactly({1410}));
  const std::string bytes = std::string(journal_header()) + save_record(first) +
                            save_record(core(kFirst)) + save_record(core(kSecond));
  EXPECT_EQ(backups_in(bytes), (std::vector<Backup>{first, core(kSecond)}));
}

TEST(JournalRecords, ForgetWhatWasRestored) {
  const std::string bytes = std::string(journal_header()) + save_record(core(kFirst)) +
                            save_record({kFirst, MemoryLock{}}) +
                            restored_record(kFirst, Knob::core_lock) +
                            restored_record(kSecond, Knob::core_lock);
  EXPECT_EQ(backups_in(bytes), (std::vector<Backup>{{kFirst, MemoryLock{}}}));
}

TEST(JournalRecords, AnEmptyFileIsAnEmptyJournal) { EXPECT_TRUE(backups_in("").empty()); }

TEST(JournalRecords, OfAnotherVersionAreRefused) {
  const auto contents = read_journal("negawatt-journal 3\n", kFile);
  ASSERT_FALSE(contents);
  EXPECT_NE(contents.error().message.find("'negawatt-journal 2'"), std::string::npos);
  EXPECT_FALSE(read_journal("negawatt-journal 2", kFile));
}

TEST(JournalRecords, SkipADamagedLineAndCountIt) {
  std::string bytes =
      std::string(journal_header()) + save_record(core(kFirst)) + save_record(core(kSecond));
  bytes[journal_header().size()] = 'S';
  const auto contents = read_journal(bytes, kFile);
  EXPECT_EQ(contents->damaged, 1U);
  EXPECT_EQ(contents->outstanding.backups(), (std::vector<Backup>{core(kSecond)}));
}

TEST(JournalRecords, RefuseLinesThatOnlyHaveARightChecksum) {
  for (const std::string body :
       {"save GPU-1 core 1410 345", "save GPU-1 core", "save GPU-1 power none", "save  core none",
        "save GPU-1 fan none", "save GPU-1 core 1 2 3", "save GPU-1 power 4294967296",
        "restored GPU-1 core none", "asked GPU-1 core 900", "asked GPU-1 power",
        "asked GPU-1 power 1 2", "asked GPU-1 power none", "forget GPU-1 core", ""}) {
    char checksum[16];
    std::snprintf(checksum, sizeof checksum, " %08x\n", crc32(body));
    const auto contents = read_journal(std::string(journal_header()) + body + checksum, kFile);
    EXPECT_EQ(contents->damaged, 1U) << body;
    EXPECT_TRUE(contents->outstanding.backups().empty()) << body;
  }
}

Setting any_setting() {
  const auto range = [] {
    return *rc::gen::arbitrary<bool>()
               ? std::optional<ClockRange>()
               : ClockRange::between({*rc::gen::arbitrary<std::uint32_t>()},
                                     {*rc::gen::arbitrary<std::uint32_t>()});
  };
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return CoreLock{range()};
    case 1:
      return MemoryLock{range()};
    default:
      return PowerLimit{{*rc::gen::arbitrary<std::uint32_t>()}};
  }
}

// Cutting a journal anywhere behind its header loses only what comes behind the last whole line.
RC_GTEST_PROP(JournalRecords, CutOffAnywhereHoldWhatWasWhole, ()) {
  std::string bytes(journal_header());
  std::vector<std::pair<std::size_t, std::vector<Backup>>> states = {{bytes.size(), {}}};
  Outstanding outstanding;
  const auto count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    const GpuId gpu = *rc::gen::arbitrary<bool>() ? kFirst : kSecond;
    const Setting setting = any_setting();
    if (*rc::gen::inRange(0, 4) == 0) {
      const Milliwatts limit{*rc::gen::arbitrary<std::uint32_t>()};
      outstanding.asked(gpu, limit);
      bytes += asked_record(gpu, limit);
    } else if (*rc::gen::arbitrary<bool>()) {
      outstanding.save({gpu, setting});
      bytes += save_record({gpu, setting});
    } else {
      outstanding.restored(gpu, knob_of(setting));
      bytes += restored_record(gpu, knob_of(setting));
    }
    states.emplace_back(bytes.size(), outstanding.backups());
  }
  const auto cut = *rc::gen::inRange(journal_header().size(), bytes.size() + 1);
  std::size_t whole = 0;
  while (whole + 1 < states.size() && states[whole + 1].first <= cut) ++whole;
  const auto contents = read_journal(std::string_view(bytes).substr(0, cut), kFile);
  RC_ASSERT(contents.has_value());
  RC_ASSERT(contents->damaged == 0U);
  RC_ASSERT(contents->whole == states[whole].first);
  RC_ASSERT(contents->outstanding.backups() == states[whole].second);
}

}  // namespace
}  // namespace negawatt::gpu
