// SPDX-License-Identifier: Apache-2.0
//
// What a simulated driver exports beside NVML: its clock. A GPU that lives in virtual time moves
// only while all who joined it sleep, so programs that wait on that GPU must wait on its clock.
// A real driver lacks these symbols; there the clock is the machine's monotonic one.
// Times are nanoseconds since the simulated machine was started. Thread-safe.
#pragma once

#include <cstdint>

#include "nvml/nvml.hpp"

/// NW_SIMULATED_TIME_FUNCTIONS(X) expands X(symbol, (parameters)) for each; all return
/// nvmlReturn_t.
///
///   negawattSimNow         the time on the simulated clock
///   negawattSimJoin        the calling thread takes part: time stands still while it is awake
///   negawattSimLeave       it no longer does
///   negawattSimSleepUntil  sleeps until that time, or until negawattSimNotify, whichever is first;
///                          outside a join, and in real or scaled time, nobody waits for the caller
///   negawattSimNotify      wakes every sleeper of every process, to look at what has changed
#define NW_SIMULATED_TIME_FUNCTIONS(X)                  \
  X(negawattSimNow, (std::uint64_t* nanoseconds))       \
  X(negawattSimJoin, ())                                \
  X(negawattSimLeave, ())                               \
  X(negawattSimSleepUntil, (std::uint64_t nanoseconds)) \
  X(negawattSimNotify, ())
