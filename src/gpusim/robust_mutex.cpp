// SPDX-License-Identifier: Apache-2.0
#include "gpusim/robust_mutex.hpp"

#include <pthread.h>

#include <cerrno>
#include <memory>

#include "core/result.hpp"

namespace negawatt::gpusim {
namespace {

static_assert(sizeof(pthread_mutex_t) <= 40 && alignof(pthread_mutex_t) <= 8);

pthread_mutex_t* native(std::array<std::byte, 40>& bytes) {
  return reinterpret_cast<pthread_mutex_t*>(bytes.data());
}

}  // namespace

void RobustMutex::format() {
  mutex_.fill(std::byte{0});
  pthread_mutexattr_t attributes;
  NW_ASSERT(::pthread_mutexattr_init(&attributes) == 0);
  NW_ASSERT(::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
  NW_ASSERT(::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
  NW_ASSERT(::pthread_mutex_init(std::construct_at(native(mutex_)), &attributes) == 0);
  ::pthread_mutexattr_destroy(&attributes);
}

RobustMutex::Locked RobustMutex::lock() {
  const int result = ::pthread_mutex_lock(native(mutex_));
  if (result == 0) return Locked::cleanly;
  if (result != EOWNERDEAD) return Locked::never;
  ::pthread_mutex_consistent(native(mutex_));
  return Locked::after_a_death;
}

void RobustMutex::unlock() { ::pthread_mutex_unlock(native(mutex_)); }

bool LifeLock::take() {
  const int result = ::pthread_mutex_trylock(native(mutex_.mutex_));
  if (result == EOWNERDEAD) ::pthread_mutex_consistent(native(mutex_.mutex_));
  return result == 0 || result == EOWNERDEAD;
}

bool LifeLock::holder_lives() {
  if (!take()) return true;
  release();
  return false;
}

}  // namespace negawatt::gpusim
