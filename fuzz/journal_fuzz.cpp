// SPDX-License-Identifier: Apache-2.0
//
// gpu::read_journal on any bytes: what is outstanding can be written and read back, no knob is
// outstanding twice, and cutting the bytes off anywhere loses only what comes later.
#include <string>
#include <string_view>

#include "fuzz/reader.hpp"
#include "gpu/journal_records.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "journal";

void check_rewritten(const gpu::JournalContents& contents) {
  std::string bytes(gpu::journal_header());
  gpu::Outstanding again;
  for (const auto& backup : contents.outstanding.backups()) {
    require(gpu::is_journal_id(backup.gpu.text()), "an id can be written");
    require(again.save(backup), "no knob is outstanding twice");
    bytes += gpu::save_record(backup);
    for (const auto limit : backup.asked) bytes += gpu::asked_record(backup.gpu, limit);
  }
  const auto read = gpu::read_journal(bytes, kFile);
  require(read && read->damaged == 0 && read->whole == bytes.size(), "what we write is read whole");
  require(read->outstanding.backups() == contents.outstanding.backups(), "and is the same");
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto contents = gpu::read_journal(bytes, kFile);
  require_same_outcome(contents, gpu::read_journal(bytes, kFile));
  if (!contents) return refused(contents.error(), kFile);
  require(contents->whole <= bytes.size(), "no more is whole than there is");
  check_rewritten(*contents);
  const auto whole = gpu::read_journal(bytes.substr(0, contents->whole), kFile);
  require(whole && whole->outstanding.backups() == contents->outstanding.backups() &&
              whole->damaged == contents->damaged,
          "a torn tail counts for nothing");
  return true;
}

}  // namespace negawatt::fuzz
