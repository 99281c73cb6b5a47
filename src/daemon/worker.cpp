// SPDX-License-Identifier: Apache-2.0
#include "daemon/worker.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/log.hpp"

namespace negawatt::daemon {
namespace {

constexpr std::chrono::milliseconds kPendingLook{100};  // is a process of the client on the GPU?
constexpr std::chrono::seconds kActiveLook{1};  // does the GPU follow, is the process there?
constexpr std::chrono::seconds kFirstPause{1};  // between attempts to restore, doubled
constexpr std::chrono::seconds kLongestPause{60};
constexpr std::chrono::milliseconds kSensorsLast{100};  // however often they are asked for

std::int64_t now_ns() { return SteadyClock::now().time_since_epoch().count(); }

enum class Trigger : std::uint8_t { level, edge };

void add_to_poll(const lease::FileDescriptor& poll, int descriptor, Trigger trigger) {
  epoll_event event{};
  event.events = trigger == Trigger::edge ? EPOLLIN | EPOLLET : EPOLLIN;
  event.data.fd = descriptor;
  NW_ASSERT(::epoll_ctl(poll.number(), EPOLL_CTL_ADD, descriptor, &event) == 0);
}

}  // namespace

Result<EventQueue> EventQueue::create() {
  EventQueue queue;
  queue.bell_ = lease::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!queue.bell_.is_open())
    return failure(Code::internal,
                   fmt::format("cannot create an eventfd: {}", std::strerror(errno)));
  queue.guarded_ = std::make_unique<Guarded>();
  return queue;
}

void EventQueue::push(WorkerEvent event) {
  {
    const std::scoped_lock lock(guarded_->mutex);
    guarded_->events.push_back(std::move(event));
  }
  const std::uint64_t ring = 1;
  [[maybe_unused]] const auto written = ::write(bell_.number(), &ring, sizeof ring);
}

std::vector<WorkerEvent> EventQueue::take() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto read = ::read(bell_.number(), &rings, sizeof rings);
  const std::scoped_lock lock(guarded_->mutex);
  return std::exchange(guarded_->events, {});
}

Result<std::unique_ptr<GpuWorker>> GpuWorker::start(WorkerSetup setup) {
  lease::FileDescriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  lease::FileDescriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!bell.is_open() || !poll.is_open())
    return failure(Code::internal,
                   fmt::format("cannot start a GPU's worker: {}", std::strerror(errno)));
  return std::make_unique<GpuWorker>(std::move(setup),
                                     std::array{std::move(bell), std::move(poll)});
}

GpuWorker::GpuWorker(WorkerSetup setup, std::array<lease::FileDescriptor, 2> bell_and_poll)
    : gpu_(setup.gpu),
      journal_(setup.journal),
      events_(setup.events),
      find_device_(std::move(setup.find_device)),
      machine_restarted_(setup.machine_restarted),
      bell_(std::move(bell_and_poll[0])),
      poll_(std::move(bell_and_poll[1])),
      device_(std::move(setup.device)),
      absent_(setup.absent),
      model_(device_.identity().name) {
  add_to_poll(poll_, bell_.number(), Trigger::level);
  thread_ = std::jthread([this] { run(); });
}

GpuWorker::~GpuWorker() { shut_down(); }

void GpuWorker::ring() const {
  const std::uint64_t ring = 1;
  [[maybe_unused]] const auto written = ::write(bell_.number(), &ring, sizeof ring);
}

void GpuWorker::carry(LeaseOrder order) {
  {
    const std::scoped_lock lock(mutex_);
    commands_.orders.push_back(std::move(order));
  }
  ring();
}

void GpuWorker::end(std::uint64_t lease, lease::EndReason reason) {
  {
    const std::scoped_lock lock(mutex_);
    commands_.ends.push_back({lease, reason});
  }
  ring();
}

void GpuWorker::shut_down() {
  {
    const std::scoped_lock lock(mutex_);
    commands_.shut_down = true;
  }
  ring();
}

void GpuWorker::look_at_mig() {
  {
    const std::scoped_lock lock(mutex_);
    commands_.look_at_mig = true;
  }
  ring();
}

std::optional<Sensors> GpuWorker::read_sensors(Seconds timeout) {
  std::unique_lock lock(mutex_);
  if (sensors_ && SteadyClock::now() - sensors_at_ < kSensorsLast) return sensors_;
  commands_.read_sensors = true;
  const auto before = sensor_readings_;
  ring();
  const auto is_new = [&] { return sensor_readings_ != before; };
  if (!sensors_are_new_.wait_for(lock, std::chrono::duration<double>(timeout.in_si()), is_new))
    return std::nullopt;
  return sensors_;
}

std::string GpuWorker::model() const {
  const std::scoped_lock lock(mutex_);
  return model_;
}

std::optional<Seconds> GpuWorker::calling_for() const {
  const auto started = call_started_ns_.load();
  if (started == 0) return std::nullopt;
  return Seconds(static_cast<double>(now_ns() - started) * 1e-9);
}

void GpuWorker::run() {
  call_started_ns_ = now_ns();
  if (!absent_) note_mig();
  restore_outstanding();
  tell({.kind = WorkerEvent::Kind::ready, .restored = clean_});
  while (!stopping_) {
    call_started_ns_ = 0;
    wait();
    call_started_ns_ = now_ns();
    Commands commands;
    {
      const std::scoped_lock lock(mutex_);
      commands = std::exchange(commands_, {});
    }
    handle(std::move(commands));
    serve_active();
    // Not in serve(): whoever rings is made to wait, also where nothing was asked for.
    if (std::exchange(rang_, false) && active() != nullptr) active()->rest();
    if (!sessions_.empty() && SteadyClock::now() >= next_look_) look_around();
    if (!clean_ && active() == nullptr && SteadyClock::now() >= next_restore_) {
      restore_outstanding();
      if (clean_) tell({.kind = WorkerEvent::Kind::restored});
    }
  }
  finish();
}

/// Waits for a command, a doorbell or the next deadline. While the clocks may not change yet, the
/// doorbell is not listened to, so that no client can keep this thread awake.
void GpuWorker::wait() {
  const auto now = SteadyClock::now();
  if (active() != nullptr && active()->next_change() > now) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(active()->next_change() - now);
    const timespec limit{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd bell{bell_.number(), POLLIN, 0};
    ::ppoll(&bell, 1, &limit, nullptr);
  } else {
    int timeout_ms = -1;
    if (const auto deadline = next_deadline(); deadline != SteadyClock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
    }
    std::array<epoll_event, 4> events{};
    const int count =
        ::epoll_wait(poll_.number(), events.data(), static_cast<int>(events.size()), timeout_ms);
    for (int i = 0; i < count; ++i)
      rang_ |= active() != nullptr &&
               events.at(static_cast<std::size_t>(i)).data.fd == active()->doorbell();
  }
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto read = ::read(bell_.number(), &rings, sizeof rings);
}

SteadyClock::time_point GpuWorker::next_deadline() const {
  auto next = SteadyClock::time_point::max();
  if (!sessions_.empty()) next = std::min(next, next_look_);
  if (!clean_ && active() == nullptr) next = std::min(next, next_restore_);
  return next;
}

void GpuWorker::handle(Commands commands) {
  for (auto& order : commands.orders) {
    sessions_.emplace_back(std::move(order),
                           LeaseSession::Surroundings{&device_, journal_, &counters});
    next_look_ = SteadyClock::now();
  }
  for (const auto& end : commands.ends) end_lease(end);
  if (commands.read_sensors) publish_sensors();
  if (commands.look_at_mig && !absent_) note_mig();
  stopping_ = commands.shut_down;
}

void GpuWorker::publish_sensors() {
  find_device_again();
  const auto sensors = absent_ ? Sensors{} : sensor_reader_.read(device_);
  const std::scoped_lock lock(mutex_);
  sensors_ = sensors;
  sensors_at_ = SteadyClock::now();
  ++sensor_readings_;
  sensors_are_new_.notify_all();
}

void GpuWorker::serve_active() {
  if (active() == nullptr || active()->next_change() > SteadyClock::now()) return;
  if (!active()->serve()) end_lease({active()->id(), lease::EndReason::failed, "the GPU is lost"});
}

void GpuWorker::look_around() {
  next_look_ = SteadyClock::now() + kActiveLook;
  look_at_active();
  look_at_pending();
  serve_active();  // what was asked for while the lease was pending
}

void GpuWorker::look_at_active() {
  if (active() == nullptr) return;
  // First, because a GPU that is lost has no processes either.
  if (!active()->observe())
    end_lease({active()->id(), lease::EndReason::failed, "the GPU is lost"});
  else if (!active()->check_on_gpu(processes_))
    end_lease({active()->id(), lease::EndReason::not_on_gpu});
}

void GpuWorker::look_at_pending() {
  std::vector<End> over;
  for (auto& session : sessions_) {
    if (session.is_active()) continue;
    next_look_ = std::min(next_look_, SteadyClock::now() + kPendingLook);
    if (active() != nullptr) {
      over.push_back({session.id(), lease::EndReason::busy});
    } else if (!session.check_on_gpu(processes_)) {
      over.push_back({session.id(), lease::EndReason::not_on_gpu});
      find_device_again();
    } else if (session.gpu_is_lost()) {
      find_device_again();
    } else if (session.on_gpu() && clean_) {
      if (!may_be_shared(session))
        over.push_back({session.id(), lease::EndReason::denied, "it is split by MIG"});
      else if (const auto activated = session.activate())
        activate(session);
      else
        over.push_back({session.id(), lease::EndReason::failed, activated.error().message});
    }
  }
  for (const auto& end : over) end_lease(end);
}

bool GpuWorker::note_mig() {
  const auto mode = device_.mig_mode();
  if (mode) mig_enabled_ = mode->enabled;
  // A GPU that does not know MIG is not split; what cannot be told may be.
  return mode ? mode->enabled : mode.error().obstacle != gpu::Obstacle::absent;
}

bool GpuWorker::may_be_shared(const LeaseSession& session) {
  return session.may_have_mig() || !note_mig();
}

void GpuWorker::activate(LeaseSession& session) {
  active_ = &session;
  add_to_poll(poll_, session.doorbell(), Trigger::edge);
  // Before the client: what it asks the daemon for next shall find it the writer.
  tell({.kind = WorkerEvent::Kind::activated, .lease = session.id()});
  session.say_active();
}

void GpuWorker::end_lease(const End& end) {
  const auto session = std::ranges::find(sessions_, end.lease, &LeaseSession::id);
  if (session == sessions_.end()) return;  // over already
  if (active() == &*session) {
    // The client holds the doorbell open too: closing ours would leave it in the set.
    ::epoll_ctl(poll_.number(), EPOLL_CTL_DEL, session->doorbell(), nullptr);
    active_ = nullptr;
  }
  auto restored = session->end(end.reason);
  if (!restored) {
    clean_ = false;
    restore_pause_ = kFirstPause;
    next_restore_ = SteadyClock::now() + restore_pause_;
    log(Level::error, "previous state not restored",
        {{"gpu", device_.id().text()}, {"lease", end.lease}, {"error", restored.error().message}});
  }
  tell({.kind = WorkerEvent::Kind::ended,
        .lease = end.lease,
        .reason = end.reason,
        .restored = restored.has_value(),
        .message = restored ? end.message : restored.error().message});
  sessions_.erase(session);
}

std::vector<gpu::Backup> GpuWorker::outstanding() const {
  if (journal_ == nullptr) return {};
  return gpu::outstanding_of(*journal_, device_.id());
}

/// Tries to bring back every knob that the journal has, and sets the time of the next attempt.
void GpuWorker::restore_outstanding() {
  if (absent_) find_device_again();
  const auto backups = outstanding();
  if (!backups.empty() && absent_) {
    counters.restore_failures += backups.size();
    clean_ = false;
  } else if (!backups.empty()) {
    const auto restoration = gpu::restore_backups(
        device_, *journal_, backups,
        machine_restarted_ ? gpu::Since::machine_start : gpu::Since::our_change);
    report(restoration);
    clean_ = restoration.failures.empty();
  } else {
    clean_ = true;
  }
  if (clean_) {
    machine_restarted_ = false;
    return;
  }
  find_device_again();
  restore_pause_ =
      std::clamp<SteadyClock::duration>(2 * restore_pause_, kFirstPause, kLongestPause);
  next_restore_ = SteadyClock::now() + restore_pause_;
}

void GpuWorker::report(const gpu::Restoration& restoration) {
  const auto line = [&](Level level, std::string_view event, const gpu::Setting& setting) {
    log(level, event, {{"gpu", device_.id().text()}, {"previous", gpu::to_string(setting)}});
  };
  for (const auto& setting : restoration.back) line(Level::info, "knob restored", setting);
  for (const auto& setting : restoration.left)
    line(Level::warn, "left, as somebody else has lowered it meanwhile", setting);
  counters.restores += restoration.back.size();
  counters.left += restoration.left.size();
  for (const auto& failed : restoration.failures) {
    ++counters.restore_failures;
    log(Level::error, "knob not restored",
        {{"gpu", device_.id().text()},
         {"previous", gpu::to_string(failed.previous)},
         {"error", failed.error.message}});
  }
}

bool GpuWorker::is_lost() {
  const auto clocks = device_.clocks();
  return !clocks && clocks.error().obstacle == gpu::Obstacle::lost;
}

/// A reloaded driver does not know the devices of the one before.
void GpuWorker::find_device_again() {
  if (!absent_ && !is_lost()) return;
  if (SteadyClock::now() < next_find_) return;
  next_find_ = SteadyClock::now() + kFirstPause;
  auto found = find_device_(device_.id());
  if (!found) return;
  device_ = *std::move(found);
  {
    const std::scoped_lock lock(mutex_);
    model_ = device_.identity().name;
  }
  note_mig();
  const bool is_new = absent_.exchange(false);
  log(Level::warn, is_new ? "GPU found that had not answered" : "GPU found again after it was lost",
      {{"gpu", device_.id().text()}});
  if (is_new) tell({.kind = WorkerEvent::Kind::found, .identity = device_.identity()});
}

void GpuWorker::finish() {
  while (!sessions_.empty()) end_lease({sessions_.front().id(), lease::EndReason::shutdown});
  if (!clean_) restore_outstanding();
  tell({.kind = WorkerEvent::Kind::finished, .restored = clean_});
  call_started_ns_ = 0;
}

void GpuWorker::tell(WorkerEvent event) {
  event.gpu = gpu_;
  events_->push(std::move(event));
}

}  // namespace negawatt::daemon
