// SPDX-License-Identifier: Apache-2.0
#include "lease/mailbox.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <utility>

namespace negawatt::lease {
namespace {

constexpr std::uint32_t kMagic = 0x584D574E;  // "NWMX"
constexpr std::size_t kPageSize = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// The page. Client and daemon write to cache lines of their own.
struct Page {
  std::uint32_t magic = kMagic;
  std::uint32_t version = 1;
  // Written by the client.
  // sequence in the high 32 bits, then core and memory MHz in 16 bits each (0: automatic).
  alignas(64) std::atomic<std::uint64_t> request{0};
  // Written by the daemon.
  alignas(64) std::atomic<std::uint32_t> publications{0};  // futex; also a seqlock: odd is midway
  std::atomic<std::uint32_t> state{0};                     // LeaseState, EndReason << 8
  std::atomic<std::uint64_t> applied{0};                   // packed as request is
  std::atomic<std::uint32_t> outcome{0};
  std::atomic<std::int64_t> time_ns{0};
};
static_assert(sizeof(Page) <= kPageSize);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

Page& page_at(const MappedPage& mapped) { return *static_cast<Page*>(mapped.address()); }

constexpr std::uint64_t pack(std::uint32_t sequence, ClockPair clocks) {
  return std::uint64_t{sequence} << 32U | std::uint64_t{clocks.core.mhz()} << 16U |
         clocks.memory.mhz();
}

constexpr Clock clock_of(std::uint64_t bits) {
  const auto mhz = static_cast<std::uint32_t>(bits & 0xFFFFU);
  return mhz == 0 ? Clock() : Clock::locked_mhz(mhz);
}

constexpr Request unpack(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 32U), {clock_of(word >> 16U), clock_of(word)}};
}

tl::unexpected<Error> system_failure(const char* doing) {
  return failure(Code::internal, fmt::format("{}: {}", doing, std::strerror(errno)));
}

Result<MappedPage> map(int file) {
  void* address = ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) return system_failure("cannot map a mailbox");
  return MappedPage(address);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

timespec to_timespec(Seconds time) {
  const double si = std::fmin(std::fmax(time.in_si(), 0.0), 1e6);
  const double whole = std::floor(si);
  return {static_cast<time_t>(whole), static_cast<long>((si - whole) * 1e9)};
}

}  // namespace

MappedPage::~MappedPage() {
  if (address_ != nullptr) ::munmap(address_, kPageSize);
}

ServiceEnd::ServiceEnd(FileDescriptor page_file, FileDescriptor doorbell, MappedPage page)
    : page_file_(std::move(page_file)), doorbell_(std::move(doorbell)), page_(std::move(page)) {}

Result<ServiceEnd> ServiceEnd::create() {
  FileDescriptor file(::memfd_create("negawatt-mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open() || ::ftruncate(file.number(), kPageSize) != 0)
    return system_failure("cannot create a mailbox");
  NW_TRY(auto page, map(file.number()));
  new (page.address()) Page;
  // A client that could shrink the file would end the daemon by SIGBUS.
  if (::fcntl(file.number(), F_ADD_SEALS, kSeals) != 0)
    return system_failure("cannot seal a mailbox");
  FileDescriptor doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell.is_open()) return system_failure("cannot create a doorbell");
  return ServiceEnd(std::move(file), std::move(doorbell), std::move(page));
}

std::optional<Request> ServiceEnd::take() {
  const auto request = unpack(page_at(page_).request.load(std::memory_order_acquire));
  if (request.sequence == taken_) return std::nullopt;
  taken_ = request.sequence;
  return request;
}

void ServiceEnd::publish(const Applied& applied) {
  auto& page = page_at(page_);
  page.publications.store(++publications_, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page.applied.store(pack(applied.sequence, applied.clocks), std::memory_order_relaxed);
  page.outcome.store(static_cast<std::uint32_t>(applied.outcome), std::memory_order_relaxed);
  page.time_ns.store(applied.time_ns, std::memory_order_relaxed);
  page.publications.store(++publications_, std::memory_order_release);
  futex_wake(page.publications);
}

void ServiceEnd::publish(LeaseState state, EndReason reason) {
  auto& page = page_at(page_);
  page.state.store(static_cast<std::uint32_t>(state) | static_cast<std::uint32_t>(reason) << 8U,
                   std::memory_order_release);
  publications_ += 2;
  page.publications.store(publications_, std::memory_order_release);
  futex_wake(page.publications);
}

RequestEnd::RequestEnd(FileDescriptor doorbell, MappedPage page)
    : doorbell_(std::move(doorbell)), page_(std::move(page)) {}

Result<RequestEnd> RequestEnd::open(std::array<FileDescriptor, 2> page_and_doorbell) {
  auto& [page_file, doorbell] = page_and_doorbell;
  struct stat file{};
  if (::fstat(page_file.number(), &file) != 0) return system_failure("cannot look at a mailbox");
  if (file.st_size < static_cast<off_t>(kPageSize))
    return failure(Code::invalid, "what came with the lease is no mailbox");
  NW_TRY(auto page, map(page_file.number()));
  if (page_at(page).magic != kMagic || page_at(page).version != 1)
    return failure(Code::invalid, "what came with the lease is no mailbox of version 1");
  return RequestEnd(std::move(doorbell), std::move(page));
}

std::uint32_t RequestEnd::request(ClockPair clocks) {
  page_at(page_).request.store(pack(++sequence_, clocks), std::memory_order_release);
  const std::uint64_t ring = 1;
  // Full only after 2^64 requests; the daemon looks at the page, not at the count.
  [[maybe_unused]] const auto written = ::write(doorbell_.number(), &ring, sizeof ring);
  return sequence_;
}

Result<Applied> RequestEnd::applied() const {
  const auto& page = page_at(page_);
  constexpr int kTries = 1000;  // a publication takes nanoseconds
  for (int i = 0; i < kTries; ++i) {
    const auto before = page.publications.load(std::memory_order_acquire);
    const auto said = unpack(page.applied.load(std::memory_order_relaxed));
    const auto outcome = page.outcome.load(std::memory_order_relaxed);
    const auto time_ns = page.time_ns.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && page.publications.load(std::memory_order_relaxed) == before)
      return Applied{said.sequence, said.clocks, static_cast<Outcome>(outcome), time_ns};
  }
  return failure(Code::internal, "negawattd stopped in the middle of an answer");
}

LeaseState RequestEnd::state() const {
  return static_cast<LeaseState>(page_at(page_).state.load(std::memory_order_acquire) & 0xFFU);
}

EndReason RequestEnd::end_reason() const {
  return static_cast<EndReason>(page_at(page_).state.load(std::memory_order_acquire) >> 8U & 0xFFU);
}

std::uint32_t RequestEnd::publications() const {
  return page_at(page_).publications.load(std::memory_order_acquire);
}

void RequestEnd::wait(std::uint32_t seen, Seconds timeout) const {
  const auto relative = to_timespec(timeout);
  ::syscall(SYS_futex, &page_at(page_).publications, FUTEX_WAIT, seen, &relative, nullptr, 0);
}

}  // namespace negawatt::lease
