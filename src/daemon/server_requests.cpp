// SPDX-License-Identifier: Apache-2.0
// Server: what clients ask for, and what becomes of their leases.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "daemon/granting.hpp"
#include "daemon/log.hpp"
#include "daemon/server.hpp"
#include "lease/client.hpp"

namespace negawatt::daemon {
namespace {

using Clock = std::chrono::steady_clock;

Duration to_duration(Seconds time) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(time.in_si()));
}

std::string describe(const lease::Owner& owner) {
  return fmt::format("process {} ({}) of user {}", owner.pid, owner.command, owner.uid);
}

std::string describe(const lease::Terms& terms) {
  auto text = fmt::format("core {} to {} MHz, memory {}", terms.core_min_mhz, terms.core_max_mhz,
                          terms.memory ? "may be locked" : "automatic");
  if (terms.power_limit) text += fmt::format(", power limit {:g} W", terms.power_limit->in_si());
  if (terms.duration) text += fmt::format(", for {:g} s", terms.duration->in_si());
  return text;
}

lease::Clock clock_of(std::uint32_t mhz) {
  return mhz == 0 ? lease::Clock() : lease::Clock::locked_mhz(mhz);
}

std::optional<lease::ClockPair> asked_of(const GpuCounters& counters) {
  if (counters.leases_active == 0) return std::nullopt;
  return lease::ClockPair{clock_of(counters.asked_core_mhz), clock_of(counters.asked_memory_mhz)};
}

}  // namespace

Status Server::answer(Client& client, const lease::Message& message) {
  if (const auto* hello = std::get_if<lease::Hello>(&message)) return answer(client, *hello);
  if (!client.greeted) return failure(Code::invalid, "its first message is not hello");
  if (std::holds_alternative<lease::Heartbeat>(message)) return {};
  if (const auto* list = std::get_if<lease::ListGpus>(&message)) return answer(client, *list);
  if (const auto* acquire = std::get_if<lease::Acquire>(&message)) return answer(client, *acquire);
  if (const auto* release = std::get_if<lease::Release>(&message)) return answer(client, *release);
  return failure(Code::invalid, "it sends what only the daemon may send");
}

Status Server::answer(Client& client, const lease::Hello& hello) {
  if (client.greeted) return failure(Code::invalid, "it says hello twice");
  if (hello.version != lease::kProtocolVersion) {
    client.farewell = true;
    return send(client, lease::Refused{.id = hello.id,
                                       .reason = lease::Refusal::version,
                                       .message = fmt::format("this daemon speaks version {}",
                                                              lease::kProtocolVersion)});
  }
  client.greeted = true;
  return send(client, lease::Welcome{.id = hello.id,
                                     .observe_only = config_.observe_only,
                                     .server = "negawattd " NEGAWATT_VERSION});
}

Status Server::answer(Client& client, const lease::ListGpus& list) {
  take_worker_events();  // what has happened by now
  lease::Gpus reply{.id = list.id};
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const auto& gpu = gpus_[i];
    const auto* writer = leases_.writer_of(i);
    reply.gpus.push_back(
        {.gpu = gpu.identity.id.text(),
         .name = gpu.identity.name,
         .state = state_of(gpu),
         .owner = writer != nullptr ? writer->owner : lease::Owner{},
         .limits = allowed_by(config_.policy_for(gpu.identity.id.text())),
         .asked = writer != nullptr ? asked_of(gpu.worker->counters) : std::nullopt});
  }
  return send(client, reply);
}

Status Server::answer(Client& client, const lease::Acquire& acquire) {
  auto refused = refusal(client, acquire);
  lease::Terms terms;
  if (!refused) {
    auto cut = granted(acquire.terms, config_.policy_for(acquire.gpu));
    if (cut)
      terms = *cut;
    else
      refused = lease::Refused{.reason = lease::Refusal::limits, .message = cut.error().message};
  }
  if (!refused && !may_lease_now(client.peer.uid))
    refused = lease::Refused{.reason = lease::Refusal::too_many,
                             .message = fmt::format("user {} has had too many leases in too short "
                                                    "a time; it may have one a second",
                                                    client.peer.uid)};
  if (!refused) return grant(client, acquire, terms);
  ++counters_.leases_refused;
  complain(client, refused->message);
  refused->id = acquire.id;
  return send(client, *refused);
}

/// Each lease costs a page of memory and lines in the log. Root, and whoever runs the daemon, may
/// fill both anyway.
bool Server::may_lease_now(std::uint32_t uid) {
  return uid == 0 || uid == ::geteuid() || leases_a_user_.take(uid, Clock::now());
}

/// Why this client may not have this GPU now; none: it may.
std::optional<lease::Refused> Server::refusal(const Client& client,
                                              const lease::Acquire& acquire) const {
  using lease::Refusal;
  const auto because = [](Refusal reason, std::string message, lease::Owner owner = {}) {
    return lease::Refused{
        .reason = reason, .message = std::move(message), .owner = std::move(owner)};
  };
  if (config_.observe_only)
    return because(Refusal::denied, "this daemon only observes and changes nothing (observe_only)");
  if (!why_no_leases_.empty()) return because(Refusal::unavailable, why_no_leases_);
  if (stop_by_) return because(Refusal::unavailable, "the daemon is stopping");
  if (!access_.allows(client.peer))
    return because(Refusal::denied, fmt::format("user {} may not lease GPUs (users and groups in "
                                                "negawattd.toml)",
                                                client.peer.uid));
  const auto* gpu = find_gpu(acquire.gpu);
  if (gpu == nullptr)
    return because(Refusal::unknown_gpu, fmt::format("there is no GPU {}", acquire.gpu));
  const auto& policy = config_.policy_for(acquire.gpu);
  if (!policy.leasable)
    return because(Refusal::denied, fmt::format("{} may not be leased (leasable)", acquire.gpu));
  if (gpu->worker->mig_enabled() && !policy.mig) {
    gpu->worker->look_at_mig();  // it may be whole again by the next try
    return because(Refusal::denied, fmt::format("{} is split between tenants, and its clocks are "
                                                "everybody's (mig)",
                                                acquire.gpu));
  }
  if (state_of(*gpu) == lease::GpuState::unavailable)
    return because(Refusal::unavailable,
                   fmt::format("the driver does not answer for {}", acquire.gpu));
  if (const auto* writer = leases_.writer_of(place_of(*gpu)))
    return because(Refusal::busy,
                   fmt::format("{} is leased by {}", acquire.gpu, describe(writer->owner)),
                   writer->owner);
  if (!leases_.may_end_more(place_of(*gpu), client.peer.uid))
    return because(Refusal::too_many,
                   fmt::format("too many leases of {} are ending already", acquire.gpu));
  if (leases_.is_pending(place_of(*gpu), client.peer.uid))
    return because(Refusal::busy,
                   fmt::format("user {} waits for {} already", client.peer.uid, acquire.gpu));
  return std::nullopt;
}

Status Server::grant(Client& client, const lease::Acquire& acquire, const lease::Terms& terms) {
  const auto& policy = config_.policy_for(acquire.gpu);
  const auto* gpu = find_gpu(acquire.gpu);
  auto mailbox = lease::ServiceEnd::create();
  if (!mailbox)
    return send(client, lease::Refused{.id = acquire.id,
                                       .reason = lease::Refusal::unavailable,
                                       .message = mailbox.error().message});
  mailbox->publish(lease::LeaseState::pending, lease::EndReason::none);
  const auto now = Clock::now();
  auto& record = leases_.add({.gpu = place_of(*gpu),
                              .client = client.id,
                              .owner = {.pid = client.peer.process.pid,
                                        .uid = client.peer.uid,
                                        .command = printable(client.peer.process.command)},
                              .longest_silence = to_duration(policy.heartbeat),
                              .last_heard = now});
  if (terms.duration) record.expires = now + to_duration(*terms.duration);
  auto sent = send_with(
      client,
      lease::Granted{
          .id = acquire.id, .lease = record.id, .terms = terms, .heartbeat = policy.heartbeat},
      {mailbox->page_descriptor(), mailbox->doorbell()});
  if (!sent) {
    leases_.erase(record.id);
    return sent;
  }
  ++gpu->worker->counters.leases_granted;
  log(Level::info, "lease granted",
      {{"gpu", acquire.gpu},
       {"lease", record.id},
       {"pid", record.owner.pid},
       {"uid", record.owner.uid},
       {"command", record.owner.command},
       {"terms", describe(terms)}});
  gpu->worker->carry({.id = record.id,
                      .client = client.peer.process,
                      .uid = client.peer.uid,
                      .terms = terms,
                      .policy = policy,
                      .mailbox = *std::move(mailbox)});
  return {};
}

Status Server::answer(Client& client, const lease::Release& release) {
  auto* record = leases_.find(release.lease);
  if (record == nullptr || record->client != client.id)
    return send(client, lease::Refused{.id = release.id,
                                       .reason = lease::Refusal::invalid,
                                       .message = "this client has no such lease"});
  record->release_request = release.id;
  end(*record, lease::EndReason::released);
  return {};
}

const Server::Gpu* Server::find_gpu(const std::string& uuid) const {
  const auto found =
      std::ranges::find_if(gpus_, [&](const Gpu& gpu) { return gpu.identity.id.text() == uuid; });
  return found == gpus_.end() ? nullptr : &*found;
}

std::size_t Server::place_of(const Gpu& gpu) const {
  return static_cast<std::size_t>(&gpu - gpus_.data());
}

lease::GpuState Server::state_of(const Gpu& gpu) const {
  if (gpu.hung || !gpu.ready || gpu.worker->is_absent()) return lease::GpuState::unavailable;
  if (gpu.dirty) return lease::GpuState::restoring;
  return leases_.writer_of(place_of(gpu)) != nullptr ? lease::GpuState::leased
                                                     : lease::GpuState::free;
}

void Server::end(LeaseRecord& record, lease::EndReason reason) {
  if (std::exchange(record.ending, true)) return;
  gpus_[record.gpu].worker->end(record.id, reason);
}

void Server::take_worker_events() {
  NW_ASSERT(events_.has_value());
  for (const auto& event : events_->take()) take(event);
  say_ready();
}

void Server::take(const WorkerEvent& event) {
  auto& gpu = gpus_[event.gpu];
  auto* record = leases_.find(event.lease);
  switch (event.kind) {
    case WorkerEvent::Kind::ready:
      gpu.ready = true;
      gpu.dirty = !event.restored;
      return;
    case WorkerEvent::Kind::activated:
      if (record != nullptr) record->active = true;
      log(Level::info, "lease active", {{"gpu", gpu.identity.id.text()}, {"lease", event.lease}});
      return;
    case WorkerEvent::Kind::ended:
      // A lease that had nothing to restore says nothing of what another one has left.
      if (!event.restored) gpu.dirty = true;
      log(event.restored ? Level::info : Level::error, "lease ended",
          {{"gpu", gpu.identity.id.text()},
           {"lease", event.lease},
           {"reason", lease::name_of(event.reason)},
           {"restored", event.restored ? "yes" : "no"},
           {"error", event.message}});
      if (record == nullptr) return;
      tell_released(*record, event.restored, event.message);
      leases_.erase(event.lease);
      return;
    case WorkerEvent::Kind::restored:
      gpu.dirty = false;
      log(Level::info, "previous state restored", {{"gpu", gpu.identity.id.text()}});
      return;
    case WorkerEvent::Kind::found:
      gpu.identity = event.identity;
      return;
    case WorkerEvent::Kind::finished:
      gpu.finished = true;
      gpu.dirty = !event.restored;
      return;
  }
}

void Server::tell_released(LeaseRecord& record, bool restored, const std::string& message) {
  const auto request = std::exchange(record.release_request, std::nullopt);
  const auto client = clients_.find(record.client);
  if (!request || client == clients_.end()) return;
  const auto sent = send(client->second,
                         lease::Released{.id = *request, .restored = restored, .message = message});
  if (sent) watch_for_room(client->second);
  // A client that cannot be written to is closed when the loop hears of it.
}

}  // namespace negawatt::daemon
