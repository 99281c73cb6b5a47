// SPDX-License-Identifier: Apache-2.0
#include "govern/companion.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <stop_token>
#include <utility>

namespace negawatt::govern {
namespace {

/// Why a run with a lease changed no clocks, or not to the end.
std::string shortcoming(const Followed& followed, const std::string& gpu,
                        const std::optional<std::string>& end_reason) {
  const auto reason = end_reason.value_or("");
  const auto ended = end_reason ? " (" + reason + ")" : "";
  if (followed.accepted > 0)
    return followed.lost_clocks ? fmt::format("The lease ended before the command: {}.", reason)
                                : "";
  if (!followed.problem.empty())
    return fmt::format("No clock was asked for: {}.", followed.problem);
  if (!followed.was_seen) return "No clock was asked for: the program never said where it is.";
  if (!followed.became_ready)
    return fmt::format("No clock was asked for: the command did not use {}{}.", gpu, ended);
  if (followed.requests == 0)
    return "No clock was asked for: the program runs another iteration than the plan's.";
  return fmt::format("No clock was changed: every request was refused{}.", ended);
}

}  // namespace

struct Companion::Shared {
  Shared(RunOrder of, PositionMap page) : order(std::move(of)), position(std::move(page)) {}

  void work(const std::stop_token& stop);
  [[nodiscard]] std::optional<Attached> meet();
  [[nodiscard]] Followed follow_with(Attached& attached, const std::stop_token& stop) const;
  void note(Followed followed, const Attached& attached);
  [[nodiscard]] std::string reason() const;

  const RunOrder order;
  const PositionMap position;
  /// Apart from the rest: a look at the GPU's processes that hangs must not keep the page.
  const std::shared_ptr<std::atomic<int>> program = std::make_shared<std::atomic<int>>(0);

  std::mutex mutex;  ///< guards what follows
  bool has_met = false;
  bool has_followed = false;
  std::string failure;  ///< to meet them
  Ran ran;
};

/// With the mutex held.
std::string Companion::Shared::reason() const {
  if (!has_met) return "runs without us: the driver or negawattd does not answer";
  return failure.empty() ? ran.note : "runs without us: " + failure;
}

std::optional<Attached> Companion::Shared::meet() {
  auto attached = order.attach();
  {
    const std::scoped_lock lock(mutex);
    has_met = true;
    if (attached) {
      ran.was_attached = true;
      ran.gpu = attached->gpu;
      ran.evidence = attached->evidence;
      ran.note = attached->note;
    } else {
      failure = attached.error().message;
    }
  }
  ::kill(::getpid(), SIGCHLD);
  if (!attached) return std::nullopt;
  return std::move(*attached);
}

Followed Companion::Shared::follow_with(Attached& attached, const std::stop_token& stop) const {
  auto& clocks = attached.clocks;
  const Actuator actuator{
      .is_ready = [&clocks](
                      Seconds patience,
                      const std::stop_token& until) { return clocks->is_ready(patience, until); },
      .ask = [&clocks](trace::ClockPair pair,
                       const std::stop_token& until) { return clocks->ask(pair, until); }};
  return follow(order.plan, position, attached.device, actuator,
                {.warm_up = order.warm_up,
                 .governs = clocks.has_value(),
                 .is_ours =
                     [root = program](std::uint32_t pid) {
                       const auto ancestor = static_cast<std::uint32_t>(root->load());
                       return ancestor != 0 && descends(pid, ancestor);
                     }},
                stop);
}

void Companion::Shared::note(Followed followed, const Attached& attached) {
  const auto& clocks = attached.clocks;
  const std::scoped_lock lock(mutex);
  if (clocks) ran.note = shortcoming(followed, attached.gpu, clocks->end_reason());
  has_followed = true;
  ran.governed = followed.accepted > 0;
  if (followed.use == Use::absent) {
    if (followed.achieved.has_energy)
      ran.energy_note = fmt::format(
          "The command was not seen on {}: that GPU's energy is not the command's.", attached.gpu);
    followed.achieved.has_energy = false;
  }
  ran.followed = std::move(followed);
}

void Companion::Shared::work(const std::stop_token& stop) {
  auto attached = meet();
  if (!attached) return;
  note(follow_with(*attached, stop), *attached);
  // A lease that has ended by itself is said in the note.
  if (!attached->clocks || attached->clocks->end_reason()) return;
  if (const auto released = attached->clocks->release(); !released) {
    const std::scoped_lock lock(mutex);
    ran.problem = released.error().message;
  }
}

Result<Companion> Companion::start(RunOrder order, PositionMap position) {
  auto shared = std::make_shared<Shared>(std::move(order), std::move(position));
  NW_TRY(auto thread, Apart::start([shared](const std::stop_token& stop) { shared->work(stop); }));
  return Companion(std::move(shared), std::move(thread));
}

bool Companion::has_met() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->has_met;
}

std::string Companion::reason() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->reason();
}

void Companion::accompany(int pid) { *shared_->program = pid; }

Ran Companion::finish(Seconds patience) {
  const bool has_ended = thread_.ends_within(patience);
  const std::scoped_lock lock(shared_->mutex);
  auto ran = shared_->ran;
  if (!ran.was_attached)
    ran.note = shared_->reason();
  else if (!shared_->has_followed)
    ran.note = "Nothing is known of this run: the driver or negawattd does not answer.";
  if (!has_ended && ran.was_attached && ran.problem.empty())
    ran.problem = "the driver or negawattd does not answer; it gives the clocks back when it does";
  return ran;
}

}  // namespace negawatt::govern
