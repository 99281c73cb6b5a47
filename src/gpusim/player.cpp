// SPDX-License-Identifier: Apache-2.0
#include "gpusim/player.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <utility>

#include "gpusim/simulated_process.hpp"

namespace negawatt::gpusim {
namespace {

/// While it lives, virtual time waits for this thread.
class Participation {
 public:
  explicit Participation(WorldClock& clock) : clock_(clock), joined_(clock.join(seat_)) {}
  Participation(const Participation&) = delete;
  Participation& operator=(const Participation&) = delete;
  ~Participation() { clock_.leave(seat_); }
  [[nodiscard]] bool joined() const { return joined_; }
  [[nodiscard]] Seat& seat() { return seat_; }

 private:
  WorldClock& clock_;
  Seat seat_;
  bool joined_;
};

class Play {
 public:
  Play(WorldClock& clock, SimulatedProcess& process, const Workload& workload,
       const PlayOrder& order, const PlayedSink& sink)
      : clock_(clock), process_(process), workload_(workload), order_(order), sink_(sink) {}

  Result<PlaySummary> run(Seat& seat) {
    if (!position_.problem().empty()) fmt::print(stderr, "{}\n", position_.problem());
    first_ns_ = clock_.now_ns();
    while (true) {
      NW_TRY(const bool has_more, launch());
      if (!has_more && in_flight_.empty()) break;
      NW_TRY(const auto look, process_.look());
      for (const auto& completion : look.completed) settle(completion);
      if (!look.completed.empty()) continue;
      tell_position(look, seat);
      clock_.sleep_until(seat, wake_ns(look));
    }
    position_.write({.iteration = summary_.iterations,
                     .started_ns = static_cast<std::uint64_t>(clock_.now_ns()),
                     .iteration_started_ns = iteration_started_ns_,
                     .state = trace::ProgramState::finished});
    clock_.notify(seat);
    summary_.time = Seconds(static_cast<double>(last_ns_ - first_ns_) * 1e-9);
    return summary_;
  }

 private:
  struct Launched {
    std::uint64_t ticket;
    std::uint64_t iteration;
    std::uint64_t invocation;
  };

  [[nodiscard]] bool is_over(std::uint64_t iteration) const {
    if (!order_.duration) return iteration >= order_.iterations;
    const auto since = static_cast<double>(clock_.now_ns() - first_ns_) * 1e-9;
    return since >= order_.duration->in_si();
  }

  /// Fills the queue up to the launch-ahead, as far as there is room. False when no work is left.
  Result<bool> launch() {
    while (in_flight_.size() <= order_.launch_ahead) {
      if (next_.invocation == 0 && is_over(next_.iteration)) return false;
      NW_TRY(const auto ticket, process_.submit(workload_.iteration[next_.invocation]));
      if (!ticket) break;
      in_flight_.push_back({*ticket, next_.iteration, next_.invocation});
      if (++next_.invocation < workload_.iteration.size()) continue;
      next_ = {.iteration = next_.iteration + 1, .invocation = 0};
    }
    return true;
  }

  void settle(const Completion& completion) {
    if (in_flight_.empty() || in_flight_.front().ticket != completion.ticket) return;
    const auto launched = in_flight_.front();
    in_flight_.pop_front();
    // A short first invocation may begin and end between two looks.
    if (launched.invocation == 0)
      iteration_started_ns_ = static_cast<std::uint64_t>(completion.begin_ns);
    if (summary_.invocations++ == 0) first_ns_ = completion.begin_ns;
    last_ns_ = completion.end_ns;
    summary_.energy += completion.energy;
    if (launched.invocation + 1 == workload_.iteration.size()) ++summary_.iterations;
    const auto kernel = workload_.iteration[launched.invocation].kernel;
    sink_({.iteration = launched.iteration,
           .invocation = launched.invocation,
           .kernel = workload_.kernels[kernel].name,
           .begin_ns = completion.begin_ns,
           .end_ns = completion.end_ns,
           .energy = completion.energy});
  }

  /// Once for each invocation that is seen to have started.
  void tell_position(const SimulatedProcess::Look& look, Seat& seat) {
    if (in_flight_.empty() || !look.running) return;
    const auto& launched = in_flight_.front();
    if (look.running->ticket != launched.ticket || told_ == launched.ticket) return;
    told_ = launched.ticket;
    const auto started_ns = static_cast<std::uint64_t>(look.running->begin_ns);
    if (launched.invocation == 0) iteration_started_ns_ = started_ns;
    const auto length = static_cast<std::uint32_t>(workload_.iteration.size());
    position_.write({.iteration = launched.iteration,
                     .invocation = launched.invocation,
                     .started_ns = started_ns,
                     .iteration_started_ns = iteration_started_ns_,
                     .previous_invocations = launched.iteration > 0 ? length : 0,
                     .state = trace::ProgramState::running});
    clock_.notify(seat);
  }

  /// A queue that is full with others' work says nothing when it has room: look again soon.
  [[nodiscard]] std::int64_t wake_ns(const SimulatedProcess::Look& look) const {
    constexpr std::int64_t kLookNs = 100'000'000;
    return std::min(look.next_event_ns, look.now_ns + kLookNs);
  }

  WorldClock& clock_;
  SimulatedProcess& process_;
  const Workload& workload_;
  const PlayOrder& order_;
  const PlayedSink& sink_;
  PositionFile position_;
  std::deque<Launched> in_flight_;
  struct {
    std::uint64_t iteration = 0;
    std::uint64_t invocation = 0;
  } next_;
  std::uint64_t told_ = 0;                  ///< tickets count from 1
  std::uint64_t iteration_started_ns_ = 0;  ///< of the newest iteration
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  PlaySummary summary_;
};

}  // namespace

Result<PlaySummary> play(World& world, Target target, const Workload& workload,
                         const PlayOrder& order, const PlayedSink& sink) {
  Participation participation(world.clock());
  if (!participation.joined())
    return failure(Code::unavailable, "too many threads take part in the simulated time");
  NW_TRY(auto process, SimulatedProcess::open(world, target));
  NW_CHECK(process.load(workload.kernels));
  Play playing(world.clock(), process, workload, order, sink);
  return playing.run(participation.seat());
}

}  // namespace negawatt::gpusim
