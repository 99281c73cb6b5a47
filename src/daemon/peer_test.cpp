// SPDX-License-Identifier: Apache-2.0
#include "daemon/peer.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "daemon/whole_file.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::daemon {
namespace {

/// Two ends; the peer of each is this process.
struct Pair {
  Pair() {
    int numbers[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers), 0);
    near = lease::FileDescriptor(numbers[0]);
    far = lease::FileDescriptor(numbers[1]);
  }
  lease::FileDescriptor near;
  lease::FileDescriptor far;
};

TEST(Peer, IsTheProcessThatConnected) {
  const Pair pair;
  const auto peer = peer_of(pair.near.number(), ProcessTree());
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_EQ(peer->process.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(peer->uid, ::geteuid());
  pollfd ended{peer->process_descriptor.number(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 0), 0) << "it lives";
}

/// A /proc in which this process has another user.
TEST(Peer, AProcessOfAnotherUserIsNotTheOneThatConnected) {
  const testing::TemporaryFolder proc;
  const auto pid = ::getpid();
  std::filesystem::create_directories(proc.path(std::to_string(pid)));
  proc.file(fmt::format("{}/stat", pid),
            whole_file(fmt::format("/proc/{}/stat", pid), 4096).value());
  const auto refusal_with = [&](const std::string& status) {
    proc.file(fmt::format("{}/status", pid), status);
    const Pair pair;
    const auto peer = peer_of(pair.near.number(), ProcessTree(proc.path("")));
    return peer ? "" : peer.error().message;
  };
  const auto other = ::geteuid() + 7;
  EXPECT_NE(refusal_with(fmt::format("Name:\ta\nUid:\t{0}\t{0}\t{0}\t{0}\n", other))
                .find("another one by now"),
            std::string::npos);
  // One that has changed its user keeps one of the three.
  EXPECT_EQ(refusal_with(fmt::format("Name:\ta\nUid:\t{0}\t{0}\t{1}\t{0}\n", other, ::geteuid())),
            "");
  EXPECT_NE(refusal_with("Name:\ta\n").find("has ended"), std::string::npos);
}

TEST(Peer, AProcessThatHasEndedIsRefused) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path("socket");
  const lease::FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.number(), generic, sizeof address), 0);
  ASSERT_EQ(::listen(listener.number(), 1), 0);
  const auto child = ::fork();
  if (child == 0) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ::_exit(::connect(socket, generic, sizeof address));
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const lease::FileDescriptor accepted(::accept(listener.number(), nullptr, nullptr));
  const auto peer = peer_of(accepted.number(), ProcessTree());
  ASSERT_FALSE(peer);
  EXPECT_NE(peer.error().message.find("has ended"), std::string::npos);
}

}  // namespace
}  // namespace negawatt::daemon
