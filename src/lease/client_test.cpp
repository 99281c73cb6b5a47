// SPDX-License-Identifier: Apache-2.0
#include "lease/client.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "lease/pass_descriptors.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::lease {
namespace {

/// A socket that somebody listens at, for any number of connections that wait.
class Socket {
 public:
  explicit Socket(int backlog) : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(
        ::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.number(), backlog), 0);
  }
  [[nodiscard]] std::string path() const { return folder_.path("socket"); }
  [[nodiscard]] FileDescriptor accept() const {
    return FileDescriptor(::accept(listener_.number(), nullptr, nullptr));
  }
  void close() { ::shutdown(listener_.number(), SHUT_RDWR); }

 private:
  testing::TemporaryFolder folder_;
  FileDescriptor listener_;
};

/// A daemon for one client that grants everything. Its leases end when the test says so.
class GrantingDaemon {
 public:
  /// The longest silence of each lease, in the order they are granted.
  explicit GrantingDaemon(std::vector<Seconds> heartbeats)
      : heartbeats_(std::move(heartbeats)), thread_([this] { serve(); }) {}
  ~GrantingDaemon() { socket_.close(); }

  [[nodiscard]] ConnectOptions options() const {
    return {.socket = socket_.path(), .reply_timeout = Seconds(5)};
  }
  [[nodiscard]] int beats() const { return beats_; }
  void end_leases() {
    for (auto& mailbox : mailboxes_) mailbox.publish(LeaseState::ended, EndReason::expired);
  }

 private:
  void serve() {
    const auto client = socket_.accept();
    FrameReader reader;
    std::array<char, 4096> bytes;
    for (ssize_t size = 0; (size = ::recv(client.number(), bytes.data(), bytes.size(), 0)) > 0;) {
      reader.append({bytes.data(), static_cast<std::size_t>(size)});
      while (const auto message = reader.next().value()) answer(client, *message);
    }
  }
  void answer(const FileDescriptor& client, const Message& message) {
    if (const auto* hello = std::get_if<Hello>(&message)) say(client, Welcome{.id = hello->id});
    if (std::holds_alternative<Heartbeat>(message)) ++beats_;
    if (const auto* release = std::get_if<Release>(&message))  // as negawattd for what has ended
      say(client, Refused{.id = release->id, .message = "this client has no such lease"});
    if (const auto* acquire = std::get_if<Acquire>(&message)) grant(client, *acquire);
  }
  static void say(const FileDescriptor& client, const Message& message) {
    const auto bytes = encode(message);
    // A client that has ended already, at the end of its test, hears nothing more.
    (void)::send(client.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void grant(const FileDescriptor& client, const Acquire& acquire) {
    auto& mailbox = mailboxes_.emplace_back(ServiceEnd::create().value());
    const auto bytes = encode(Granted{.id = acquire.id,
                                      .lease = mailboxes_.size(),
                                      .terms = acquire.terms,
                                      .heartbeat = heartbeats_.at(mailboxes_.size() - 1)});
    const std::array descriptors = {mailbox.page_descriptor(), mailbox.doorbell()};
    EXPECT_GT(send_with_descriptors(client.number(), bytes, descriptors), 0);
  }

  std::vector<Seconds> heartbeats_;
  Socket socket_{8};
  std::vector<ServiceEnd> mailboxes_;
  std::atomic<int> beats_ = 0;
  std::jthread thread_;
};

TEST(Client, ALeaseThatEndedByItselfDoesNotSpoilTheNextCall) {
  GrantingDaemon daemon({Seconds(60), Seconds(60)});
  auto client = Client::connect(daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  {
    const auto lease = client->acquire("GPU-1");
    ASSERT_TRUE(lease) << lease.error().message;
    daemon.end_leases();
    EXPECT_EQ(lease->end_reason(), EndReason::expired);
  }
  // The daemon has refused the release, which nobody waits for.
  const auto next = client->acquire("GPU-1");
  EXPECT_TRUE(next) << next.error().message;
}

TEST(Client, HeartbeatsKeepTheLeaseThatNeedsThemMost) {
  const GrantingDaemon daemon({Seconds(3600), Seconds(0.2)});
  auto client = Client::connect(daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  const auto patient = client->acquire("GPU-1");
  const auto strict = client->acquire("GPU-2");
  ASSERT_TRUE(patient && strict);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (daemon.beats() < 3 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(daemon.beats(), 3);
}

TEST(Client, ConnectingToADaemonThatDoesNotAcceptEnds) {
  const Socket stopped(0);
  std::vector<Result<Client>> waiting;
  const auto begin = std::chrono::steady_clock::now();
  // The first ones find a place among those that wait, and get no reply; the last one does not.
  for (int i = 0; i < 3; ++i)
    waiting.push_back(Client::connect({.socket = stopped.path(), .reply_timeout = Seconds(0.2)}));
  for (const auto& client : waiting) EXPECT_FALSE(client);
  EXPECT_NE(waiting.back().error().message.find("cannot reach negawattd"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace negawatt::lease
