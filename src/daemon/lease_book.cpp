// SPDX-License-Identifier: Apache-2.0
#include "daemon/lease_book.hpp"

#include <algorithm>
#include <utility>

namespace negawatt::daemon {

LeaseRecord& LeaseBook::add(LeaseRecord record) {
  record.id = ++last_id_;
  return records_.emplace_back(std::move(record));
}

LeaseRecord* LeaseBook::find(std::uint64_t id) {
  const auto found = std::ranges::find(records_, id, &LeaseRecord::id);
  return found == records_.end() ? nullptr : &*found;
}

void LeaseBook::erase(std::uint64_t id) {
  std::erase_if(records_, [&](const LeaseRecord& record) { return record.id == id; });
}

const LeaseRecord* LeaseBook::writer_of(std::size_t gpu) const {
  const auto found = std::ranges::find_if(records_, [&](const LeaseRecord& record) {
    return record.gpu == gpu && record.active && !record.ending;
  });
  return found == records_.end() ? nullptr : &*found;
}

bool LeaseBook::is_pending(std::size_t gpu, std::uint32_t uid) const {
  return std::ranges::any_of(records_, [&](const LeaseRecord& record) {
    return record.gpu == gpu && record.owner.uid == uid && !record.active && !record.ending;
  });
}

bool LeaseBook::may_end_more(std::size_t gpu, std::uint32_t uid) const {
  const auto in_all = std::ranges::count_if(
      records_, [&](const LeaseRecord& record) { return record.gpu == gpu && record.ending; });
  const auto of_user = std::ranges::count_if(records_, [&](const LeaseRecord& record) {
    return record.gpu == gpu && record.ending && record.owner.uid == uid;
  });
  return std::cmp_less(of_user, kMostEndingOfUser) && std::cmp_less(in_all, kMostEnding);
}

std::vector<std::uint64_t> LeaseBook::of_client(std::uint64_t client) const {
  std::vector<std::uint64_t> ids;
  for (const auto& record : records_)
    if (record.client == client) ids.push_back(record.id);
  return ids;
}

void LeaseBook::heard(std::uint64_t client, TimePoint now) {
  for (auto& record : records_)
    if (record.client == client) record.last_heard = now;
}

std::vector<LeaseBook::Due> LeaseBook::due(TimePoint now) const {
  std::vector<Due> due;
  for (const auto& record : records_) {
    if (record.ending) continue;
    if (record.expires && *record.expires <= now)
      due.push_back({record.id, lease::EndReason::expired});
    else if (record.last_heard + record.longest_silence <= now)
      due.push_back({record.id, lease::EndReason::silent});
  }
  return due;
}

std::optional<TimePoint> LeaseBook::next_deadline() const {
  std::optional<TimePoint> next;
  for (const auto& record : records_) {
    if (record.ending) continue;
    auto deadline = record.last_heard + record.longest_silence;
    if (record.expires) deadline = std::min(deadline, *record.expires);
    next = next ? std::min(*next, deadline) : deadline;
  }
  return next;
}

}  // namespace negawatt::daemon
