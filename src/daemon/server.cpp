// SPDX-License-Identifier: Apache-2.0
#include "daemon/server.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "daemon/boot.hpp"
#include "daemon/log.hpp"
#include "daemon/service.hpp"

namespace negawatt::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// While leases exist, how often the workers are looked at for a driver call that hangs.
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kHelloTimeout{5};
constexpr rlim_t kDescriptorsOfOurOwn = 512;

Duration to_duration(Seconds time) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(time.in_si()));
}

tl::unexpected<Error> system_failure(const char* doing) {
  return failure(Code::internal, fmt::format("cannot {}: {}", doing, std::strerror(errno)));
}

timespec to_timespec(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  return {count / 1'000'000'000, count % 1'000'000'000};
}

/// As many descriptors as the clients that are allowed may need: each its socket and its process,
/// and a page and a doorbell for a lease of each GPU; and those of leases that are ending.
Status raise_descriptor_limit(std::size_t clients, std::size_t gpus) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return system_failure("read the descriptor limit");
  const rlim_t needed =
      (clients + kReservedForRoot) * (2 + 2 * gpus) + 2 * kMostEnding * gpus + kDescriptorsOfOurOwn;
  if (limit.rlim_cur >= needed) return {};
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < needed)
    return failure(Code::unavailable,
                   fmt::format("max_clients {} on {} GPUs needs {} open files, the limit is {} "
                               "(LimitNOFILE)",
                               clients, gpus, needed, limit.rlim_cur));
  return {};
}

}  // namespace

sigset_t handled_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

Server::Server(Config config, std::string config_path)
    : config_(std::move(config)), config_path_(std::move(config_path)), started_(Clock::now()) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(Config config, std::string config_path) {
  std::unique_ptr<Server> server(new Server(std::move(config), std::move(config_path)));
  NW_CHECK(server->open());
  return server;
}

Status Server::open() {
  NW_TRY(access_, Access::from(config_));
  NW_CHECK(open_loop());
  NW_CHECK(open_driver());
  NW_CHECK(raise_descriptor_limit(config_.max_clients, gpus_.size()));
  NW_TRY(auto listener, Listener::open(config_));
  listener_.emplace(std::move(listener));
  if (!config_.metrics.empty()) {
    std::vector<MeteredGpu> metered;
    metered.reserve(gpus_.size());
    for (const auto& gpu : gpus_) metered.push_back({gpu.identity.id.text(), gpu.worker.get()});
    NW_TRY(auto metrics, Metrics::serve(config_.metrics, std::move(metered), counters_));
    metrics_.emplace(std::move(metrics));
  }
  return {};
}

Status Server::open_driver() {
  const auto access = config_.observe_only ? gpu::Access::observe : gpu::Access::control;
  NW_TRY(auto driver, gpu::Driver::open(access));
  driver_ = std::make_shared<gpu::Driver>(std::move(driver));
  if (!config_.observe_only) {
    NW_TRY(journal_, gpu::Journal::open(config_.journal));
    if (journal_->damaged() > 0)
      log(Level::error, "the journal has lines that cannot be read",
          {{"journal", config_.journal}, {"lines", journal_->damaged()}});
  }
  const auto boot_note = config_.journal + ".boot";
  machine_restarted_ = !config_.observe_only && is_of_another_boot(boot_note);
  NW_CHECK(start_workers());
  warn_of_unknown_gpus();
  if (config_.observe_only) return {};
  // What is outstanding is restored all the same; but a later crash could not be told from a
  // restart.
  if (const auto noted = note_boot(boot_note); !noted) {
    why_no_leases_ = noted.error().message;
    log(Level::error, "no leases are given", {{"error", why_no_leases_}});
  }
  return {};
}

Status Server::start_workers() {
  const auto listed = driver_->list();
  if (!listed) return tl::unexpected(Error(listed.error()));
  for (const auto& place : *listed) {
    if (place.device)
      NW_CHECK(start_worker(*place.device, false));
    else
      log(Level::error, "a GPU does not answer and is not served",
          {{"index", place.display_index}, {"error", place.device.error().message}});
  }
  return start_absent_workers();
}

/// What the journal has of a GPU that does not answer is restored when it does.
Status Server::start_absent_workers() {
  if (!journal_) return {};
  for (const auto& backup : journal_->outstanding()) {
    if (find_gpu(backup.gpu.text()) != nullptr) continue;
    log(Level::error, "a GPU that is to be restored does not answer",
        {{"gpu", backup.gpu.text()}, {"previous", gpu::to_string(backup.previous)}});
    // More than a machine has: they stay in the journal, and the exit code says so.
    if (gpus_.size() < lease::kMaxGpus)
      NW_CHECK(start_worker(driver_->placeholder(backup.gpu), true));
  }
  return {};
}

Status Server::start_worker(gpu::Device device, bool absent) {
  NW_ASSERT(events_.has_value());
  const auto identity = device.identity();
  const auto access = driver_->access();
  NW_TRY(auto worker,
         GpuWorker::start({.gpu = gpus_.size(),
                           .device = std::move(device),
                           .absent = absent,
                           .journal = journal_ ? &*journal_ : nullptr,
                           .events = &*events_,
                           .machine_restarted = machine_restarted_,
                           .find_device = [access](const gpu::GpuId& id) -> Result<gpu::Device> {
                             NW_TRY(const auto again, gpu::Driver::open(access));
                             NW_TRY(auto found, again.device(id));
                             if (found.id() != id) return failure(Code::unavailable, "another GPU");
                             return found;
                           }}));
  gpus_.push_back({.identity = identity, .worker = std::move(worker)});
  return {};
}

Status Server::open_loop() {
  const auto signals = handled_signals();
  poll_ = lease::FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  signals_ = lease::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = lease::FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!poll_.is_open() || !signals_.is_open() || !timer_.is_open())
    return system_failure("start the loop");
  NW_TRY(events_, EventQueue::create());
  NW_CHECK(watch(signals_.number(), {Source::signals}, EPOLLIN));
  NW_CHECK(watch(timer_.number(), {Source::timer}, EPOLLIN));
  NW_CHECK(watch(events_->descriptor(), {Source::workers}, EPOLLIN));
  const auto interval = watchdog_interval();
  if (!interval) return {};
  watchdog_ = lease::FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const auto period = to_timespec(to_duration(*interval));
  const itimerspec setting{period, period};
  if (!watchdog_.is_open() || ::timerfd_settime(watchdog_.number(), 0, &setting, nullptr) != 0)
    return system_failure("start the watchdog");
  return watch(watchdog_.number(), {Source::watchdog}, EPOLLIN);
}

// An event carries its source in the high byte, and below it the client it is about: numbers of
// clients are never used again, descriptors are.
Status Server::watch(int descriptor, Origin origin, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{static_cast<std::uint8_t>(origin.source)} << 56U | origin.client;
  if (::epoll_ctl(poll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return system_failure("watch a descriptor");
}

Server::Outcome Server::run() {
  while (!has_stopped()) {
    set_timer();
    std::array<epoll_event, 64> events{};
    const int count =
        ::epoll_wait(poll_.number(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const auto data = events.at(static_cast<std::size_t>(i)).data.u64;
      handle({static_cast<Source>(data >> 56U), data & ~(std::uint64_t{0xFF} << 56U)},
             events.at(static_cast<std::size_t>(i)).events);
    }
  }
  if (std::ranges::any_of(gpus_, [](const Gpu& gpu) { return !gpu.finished; })) {
    log(Level::error,
        "stopping while a driver call hangs; the journal keeps what is to be restored");
    return Outcome::hung;
  }
  const bool dirty =
      std::ranges::any_of(gpus_, &Gpu::dirty) || (journal_ && !journal_->outstanding().empty());
  log(dirty ? Level::error : Level::info, "stopped", {{"restored", dirty ? "no" : "yes"}});
  return dirty ? Outcome::unrestored : Outcome::done;
}

void Server::handle(Origin origin, std::uint32_t events) {
  std::uint64_t expirations = 0;
  switch (origin.source) {
    case Source::listener:
      return accept_clients();
    case Source::signals:
      return take_signal();
    case Source::workers:
      return take_worker_events();
    case Source::timer: {
      [[maybe_unused]] const auto read = ::read(timer_.number(), &expirations, sizeof expirations);
      return tick();
    }
    case Source::watchdog: {
      [[maybe_unused]] const auto read =
          ::read(watchdog_.number(), &expirations, sizeof expirations);
      return notify_watchdog();
    }
    case Source::client:
      if (const auto client = clients_.find(origin.client); client != clients_.end())
        serve(client->second, events);
      return;
    case Source::process:
      return close(origin.client, lease::EndReason::died, "its process has ended");
  }
}

void Server::take_signal() {
  signalfd_siginfo info{};
  if (::read(signals_.number(), &info, sizeof info) != sizeof info) return;
  if (info.ssi_signo == SIGHUP)
    reload();
  else if (!stop_by_)
    begin_stopping();
}

/// A configuration that is wrong changes nothing. Leases that exist keep what was granted.
void Server::reload() {
  if (config_path_.empty()) return log(Level::warn, "no configuration file to read again");
  notify_reloading();
  auto config = read_config(config_path_);
  const auto taken = config ? adopt(*std::move(config)) : Status(tl::unexpected(config.error()));
  if (taken)
    log(Level::info, "configuration read again", {{"path", config_path_}});
  else
    log(Level::error, "configuration not changed", {{"error", taken.error().message}});
  notify_ready();
}

Status Server::adopt(Config config) {
  NW_TRY(auto access, Access::from(config));
  NW_CHECK(raise_descriptor_limit(config.max_clients, gpus_.size()));
  config.observe_only = config.observe_only || config_.observe_only;
  for (const auto& key : needs_restart(config_, config))
    log(Level::warn, "takes effect after a restart", {{"key", key}});
  config.observe_only = config_.observe_only;  // not half of it now
  config_ = std::move(config);
  access_ = std::move(access);
  warn_of_unknown_gpus();
  return {};
}

/// Rules for a GPU that is not there are a mistake, or for a GPU that does not answer.
void Server::warn_of_unknown_gpus() const {
  for (const auto& [gpu, policy] : config_.gpus)
    if (find_gpu(gpu) == nullptr)
      log(Level::warn, "the configuration names a GPU that is not there", {{"gpu", gpu}});
}

void Server::begin_stopping() {
  NW_ASSERT(listener_.has_value());
  log(Level::info, "stopping");
  notify_stopping();
  // A worker tries for a fraction of a second; what takes longer hangs.
  stop_by_ = Clock::now() + 2 * to_duration(config_.driver_timeout);
  ::epoll_ctl(poll_.number(), EPOLL_CTL_DEL, listener_->descriptor(), nullptr);
  for (auto& gpu : gpus_) gpu.worker->shut_down();
}

bool Server::has_stopped() {
  if (!stop_by_) return false;
  return std::ranges::all_of(gpus_, &Gpu::finished) || Clock::now() >= *stop_by_;
}

/// Everything that comes with time.
void Server::tick() {
  NW_ASSERT(listener_.has_value());
  const auto now = Clock::now();
  for (const auto& due : leases_.due(now))
    if (auto* record = leases_.find(due.id)) end(*record, due.reason);
  std::vector<std::uint64_t> mute;
  for (const auto& [id, client] : clients_)
    if (!client.greeted && now >= client.connected + kHelloTimeout) mute.push_back(id);
  for (const auto id : mute) close(id, lease::EndReason::silent, "it has not said hello");
  if (accept_again_ && now >= *accept_again_) {
    accept_again_.reset();
    if (!watch(listener_->descriptor(), {Source::listener}, EPOLLIN))
      log(Level::error, "cannot listen any more");
  }
  if (next_look_ && now >= *next_look_) {
    next_look_.reset();
    look_for_hangs();
  }
  say_ready();
}

void Server::set_timer() {
  auto next = leases_.next_deadline().value_or(TimePoint::max());
  for (const auto& [id, client] : clients_)
    if (!client.greeted) next = std::min(next, client.connected + kHelloTimeout);
  if (accept_again_) next = std::min(next, *accept_again_);
  const bool drivers_at_work = !leases_.empty() || stop_by_ || !said_ready_ ||
                               std::ranges::any_of(gpus_, [](const Gpu& gpu) {
                                 return !gpu.ready || gpu.dirty || gpu.hung;
                               });
  // Kept until it comes: what happens meanwhile must not put it off.
  if (!drivers_at_work) next_look_.reset();
  if (drivers_at_work && !next_look_) next_look_ = Clock::now() + kTick;
  if (next_look_) next = std::min(next, *next_look_);
  itimerspec setting{};
  // 0 would switch the timer off; a point in the past expires at once.
  if (next != TimePoint::max())
    setting.it_value = to_timespec(std::max(next.time_since_epoch(), Duration(1)));
  ::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

void Server::look_for_hangs() {
  for (auto& gpu : gpus_) {
    const auto calling = gpu.worker->calling_for();
    const bool hangs = calling && *calling > config_.driver_timeout;
    if (hangs && !gpu.hung) {
      ++gpu.worker->counters.driver_hangs;
      log(Level::error, "driver does not answer",
          {{"gpu", gpu.identity.id.text()}, {"seconds", calling->in_si()}});
    }
    if (!hangs && gpu.hung)
      log(Level::info, "driver answers again", {{"gpu", gpu.identity.id.text()}});
    gpu.hung = hangs;
  }
  for (auto& record : leases_.records())
    if (record.release_request && gpus_[record.gpu].hung)
      tell_released(record, false, "the driver does not answer");
}

/// Nobody is served before every GPU that answers has been tried to restore.
void Server::say_ready() {
  NW_ASSERT(listener_.has_value());
  if (said_ready_) return;
  if (!std::ranges::all_of(gpus_, [](const Gpu& gpu) { return gpu.ready || gpu.hung; })) return;
  said_ready_ = true;
  if (!watch(listener_->descriptor(), {Source::listener}, EPOLLIN))
    log(Level::error, "cannot listen");
  log(Level::info, "ready",
      {{"socket", config_.socket},
       {"gpus", gpus_.size()},
       {"observe_only", config_.observe_only ? "yes" : "no"}});
  notify_ready();
  notify_status(
      fmt::format("{} GPUs{}", gpus_.size(), config_.observe_only ? ", observe only" : ""));
}

}  // namespace negawatt::daemon
