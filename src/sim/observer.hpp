// SPDX-License-Identifier: Apache-2.0
//
// Who watches a simulation: energy meters, bounds, lists of requests. An observer is told what
// happened and cannot change it, so a run is the same with and without.
#pragma once

#include <cstdint>

#include "core/units.hpp"
#include "trace/request.hpp"

namespace negawatt::sim {

enum class Activity : std::uint8_t { busy, idle, asleep, starting };

/// What one instance drew from one time to another. The intervals of an instance follow each other
/// without a gap, from 0 to the end of the simulation.
struct Draw {
  std::uint32_t instance = 0;
  Activity activity = Activity::idle;
  Seconds from;
  Seconds to;
  Joules energy;
  std::uint64_t steps = 0;  ///< of the engine; 0 unless busy
};

/// A finished request.
struct RequestRecord {
  trace::Request request;
  std::uint64_t id = 0;
  std::uint32_t prefill_at = 0;
  std::uint32_t decode_at = 0;
  Seconds first_token;
  Seconds last_token;
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// An interval has ended.
  virtual void drew(const Draw& draw) = 0;
  /// From `now` on the instance draws `power`: the mean of what it begins.
  virtual void draws(std::uint32_t instance, Seconds now, Watts power) = 0;
  /// A link has moved the memory of a request.
  virtual void moved(Seconds now, Joules energy) = 0;
  virtual void completed(const RequestRecord& record) = 0;
};

}  // namespace negawatt::sim
