// SPDX-License-Identifier: Apache-2.0
#include "gpusim/robust_mutex.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace negawatt::gpusim {
namespace {

/// Memory that a forked child shares.
template <class T>
class Shared {
 public:
  Shared()
      : at_(static_cast<T*>(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(at_, sizeof(T)); }
  T* operator->() { return at_; }

 private:
  T* at_;
};

/// Runs `action` in a child that then kills itself; leaves a zombie whose id is returned.
template <class Action>
pid_t killed_after(Action action) {
  const auto pid = ::fork();
  if (pid == 0) {
    action();
    ::raise(SIGKILL);
  }
  siginfo_t info{};
  ::waitid(P_PID, static_cast<unsigned>(pid), &info, WEXITED | WNOWAIT);
  return pid;
}

TEST(RobustMutex, TellsTheNextHolderThatTheLastOneDied) {
  Shared<RobustMutex> mutex;
  mutex->format();
  EXPECT_EQ(mutex->lock(), RobustMutex::Locked::cleanly);
  mutex->unlock();
  const auto child = killed_after([&] { (void)mutex->lock(); });
  EXPECT_EQ(mutex->lock(), RobustMutex::Locked::after_a_death);
  mutex->unlock();
  EXPECT_EQ(mutex->lock(), RobustMutex::Locked::cleanly);
  mutex->unlock();
  ::waitpid(child, nullptr, 0);
}

TEST(LifeLock, IsHeldUntilItsThreadEndsEvenWhileItsProcessLivesOn) {
  Shared<LifeLock> life;
  life->format();
  EXPECT_FALSE(life->holder_lives());
  std::thread([&] {
    EXPECT_TRUE(life->take());
    EXPECT_TRUE(life->holder_lives());
  }).join();
  EXPECT_FALSE(life->holder_lives());
}

TEST(LifeLock, KnowsAZombieForDead) {
  Shared<LifeLock> life;
  life->format();
  const auto child = killed_after([&] { (void)life->take(); });
  EXPECT_EQ(::kill(child, 0), 0) << "the zombie is gone, and this test with it";
  EXPECT_FALSE(life->holder_lives());
  EXPECT_TRUE(life->take());
  life->release();
  ::waitpid(child, nullptr, 0);
}

TEST(LifeLock, IsNotInheritedByAForkedChild) {
  Shared<LifeLock> life;
  life->format();
  ASSERT_TRUE(life->take());
  const auto child = killed_after([&] { life->release(); });
  EXPECT_TRUE(life->holder_lives());
  life->release();
  EXPECT_FALSE(life->holder_lives());
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace negawatt::gpusim
