// SPDX-License-Identifier: Apache-2.0
//
// The engine, which jumps over decode steps and counts sequences together, against a simulator that
// does neither: it takes every step of every instance by itself and keeps every sequence's tokens
// and blocks. On random small clusters and workloads both give the same times and energies.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/energy_meter.hpp"
#include "sim/fleet_for_test.hpp"
#include "sim/simulate.hpp"
#include "tests/random_fleet.hpp"

namespace negawatt::sim {
namespace {

using testing::Least;
using testing::List;
using testing::random_cluster;
using testing::random_requests;
using testing::Watch;

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Sequence {
  trace::Request request;
  std::uint64_t id = 0;
  std::size_t prefill_at = 0;
  std::size_t decode_at = 0;
  std::uint32_t produced = 0;
  std::uint64_t held = 0;      ///< tokens in KV memory
  std::uint64_t prompt = 0;    ///< to be held before a token is produced
  std::uint64_t chunk = 0;     ///< of the step in progress
  bool moved = false;          ///< its memory came along and it has not taken a step yet
  std::vector<double> tokens;  ///< when each was produced
  [[nodiscard]] bool decodes() const { return !moved && held >= prompt; }
};

struct Machine {
  const InstanceSpec* spec = nullptr;
  enum { idle, asleep, starting, busy } state = idle;
  double since = 0.0;
  double until = kNever;
  std::vector<Sequence> running;  ///< in the order of admission
  std::deque<Sequence> waiting;
  std::uint64_t lent = 0;    ///< blocks of requests that are being moved
  std::uint64_t coming = 0;  ///< requests that will come by link
  std::uint64_t leaving = 0;
  Joules step_energy;
  double joules[4] = {0, 0, 0, 0};
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;

  [[nodiscard]] std::uint64_t blocks(std::uint64_t tokens) const {
    const std::uint64_t block = spec->limits.kv_block_tokens;
    return (tokens + block - 1) / block;
  }
  [[nodiscard]] bool empty() const {
    return running.empty() && waiting.empty() && coming == 0 && leaving == 0;
  }
};

class StepByStep {
 public:
  StepByStep(const Cluster& cluster, route::Policy& policy) : cluster_(cluster), policy_(policy) {
    for (const auto& spec : cluster.instances) {
      machines_.push_back({.spec = &spec});
      auto& machine = machines_.back();
      if (spec.power.starts_asleep)
        machine.state = Machine::asleep;
      else
        rest(machine, 0.0);
    }
  }

  void run(const std::vector<trace::Request>& requests) {
    std::size_t next = 0;
    while (next < requests.size() || in_service_ > 0) {
      const double arrival = next < requests.size() ? requests[next].arrival.in_si() : kNever;
      const auto machine = std::ranges::min_element(machines_, {}, &Machine::until);
      const auto move = moves_.empty() ? kNever : moves_.begin()->first.first;
      if (machine->until <= move && machine->until <= arrival)
        proceed(*machine, now_ = machine->until);
      else if (move <= arrival)
        deliver(now_ = move);
      else
        arrive(requests[next], next, now_ = arrival), ++next;
    }
    for (auto& machine : machines_) account(machine, now_);
  }

  std::map<std::uint64_t, Sequence> finished;
  [[nodiscard]] const std::vector<Machine>& machines() const { return machines_; }
  [[nodiscard]] double now() const { return now_; }

 private:
  void account(Machine& machine, double now) {
    const auto& power = machine.spec->power;
    const double time = now - machine.since;
    if (machine.state == Machine::idle)
      machine.joules[0] += machine.spec->model.idle_power().in_si() * time;
    if (machine.state == Machine::asleep) machine.joules[1] += power.sleep_power.in_si() * time;
    if (machine.state == Machine::starting)
      machine.joules[2] += power.sleep_power.in_si() * time + power.start_energy.in_si();
    if (machine.state == Machine::busy) machine.joules[3] += machine.step_energy.in_si();
    machine.since = now;
  }
  void rest(Machine& machine, double now) {
    machine.state = Machine::idle;
    machine.since = now;
    const auto after = machine.spec->power.sleep_after;
    machine.until = after && machine.empty() ? now + after->in_si() : kNever;
  }
  void arrive(const trace::Request& request, std::uint64_t id, double now) {
    std::vector<route::InstanceView> views(machines_.size());
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      views[i].role = machines_[i].spec->role;
      views[i].running = static_cast<std::uint32_t>(machines_[i].running.size());
      views[i].waiting =
          static_cast<std::uint32_t>(machines_[i].waiting.size() + machines_[i].coming);
    }
    auto at = *policy_.place({.now = request.arrival, .input_tokens = request.input_tokens}, views);
    if (request.output_tokens == 1) at.decode = at.prefill;
    ++in_service_;
    if (at.decode != at.prefill) {
      ++machines_[at.decode].coming;
      wake(machines_[at.decode], now);
    }
    Sequence sequence{
        .request = request, .id = id, .prefill_at = at.prefill, .decode_at = at.decode};
    sequence.prompt = request.input_tokens;
    receive(machines_[at.prefill], sequence, now);
  }
  void wake(Machine& machine, double now) {
    if (machine.state == Machine::idle) machine.until = kNever;
    if (machine.state != Machine::asleep) return;
    account(machine, now);
    machine.state = Machine::starting;
    machine.until = now + machine.spec->power.start_time.in_si();
  }
  void receive(Machine& machine, const Sequence& sequence, double now) {
    wake(machine, now);
    const auto behind = std::ranges::find_if(machine.waiting, [&](const Sequence& other) {
      return other.request.priority < sequence.request.priority;
    });
    machine.waiting.insert(behind, sequence);
    if (machine.state == Machine::idle) begin(machine, now);
  }
  void deliver(double now) {
    auto sequence = moves_.begin()->second;
    moves_.erase(moves_.begin());
    auto& from = machines_[sequence.prefill_at];
    from.lent -= from.blocks(sequence.request.input_tokens);
    --from.leaving;
    if (from.state == Machine::idle) begin(from, now);
    auto& to = machines_[sequence.decode_at];
    --to.coming;
    sequence.moved = true;
    sequence.prompt = sequence.held + 1;
    receive(to, sequence, now);
  }
  [[nodiscard]] static std::uint64_t used(const Machine& machine) {
    std::uint64_t sum = machine.lent;
    for (const auto& each : machine.running)
      sum += machine.blocks(each.decodes() ? each.held : each.prompt);
    return sum;
  }
  [[nodiscard]] static std::uint64_t growth(const Machine& machine) {
    std::uint64_t sum = 0;
    for (const auto& each : machine.running)
      if (each.decodes()) sum += machine.blocks(each.held + 1) - machine.blocks(each.held);
    return sum;
  }
  static bool send_back(Machine& machine) {
    bool any = false;
    while (used(machine) + growth(machine) > machine.spec->limits.kv_blocks &&
           !machine.running.empty()) {
      auto sequence = machine.running.back();
      machine.running.pop_back();
      sequence.held = 0;
      sequence.prompt = sequence.request.input_tokens + sequence.produced;
      sequence.moved = false;
      const auto place = std::ranges::find_if(machine.waiting, [&](const Sequence& other) {
        return other.request.priority <= sequence.request.priority;
      });
      machine.waiting.insert(place, sequence);
      ++machine.preemptions;
      any = true;
    }
    return any;
  }
  static void admit(Machine& machine, std::uint64_t& budget) {
    const auto& limits = machine.spec->limits;
    while (!machine.waiting.empty() && budget > 0 &&
           machine.running.size() < limits.most_sequences &&
           used(machine) + growth(machine) + machine.blocks(machine.waiting.front().prompt) <=
               limits.kv_blocks) {
      auto sequence = machine.waiting.front();
      machine.waiting.pop_front();
      sequence.chunk = sequence.moved ? 1 : std::min(budget, sequence.prompt);
      budget -= sequence.chunk;
      machine.running.push_back(sequence);
    }
  }
  void begin(Machine& machine, double now) {
    account(machine, now);
    for (auto& each : machine.running) each.chunk = 0;
    const bool sent_back = send_back(machine);
    std::uint64_t budget = machine.spec->limits.most_step_tokens;
    for (const auto& each : machine.running) budget -= each.decodes() ? 1 : 0;
    for (auto& each : machine.running) {
      if (each.decodes()) continue;
      each.chunk = std::min(budget, each.prompt - each.held);
      budget -= each.chunk;
    }
    if (!sent_back) admit(machine, budget);
    model::StepLoad load;
    for (const auto& each : machine.running) {
      if (each.decodes() || each.moved) {
        load.sequences += 1;
        load.context_tokens += static_cast<double>(each.held + 1);
      }
      for (std::uint64_t i = 0; !each.decodes() && !each.moved && i < each.chunk; ++i) {
        load.prompt_tokens += 1;
        load.prompt_attention += static_cast<double>(each.held + i + 1);
      }
    }
    if (load.sequences + load.prompt_tokens == 0) return rest(machine, now);
    const auto cost = machine.spec->model.step(load);
    machine.state = Machine::busy;
    machine.until = now + cost.time.in_si();
    machine.step_energy = cost.energy;
    ++machine.steps;
  }
  void proceed(Machine& machine, double now) {
    if (machine.state == Machine::busy) {
      account(machine, now);
      machine.step_energy = Joules();
      machine.state = Machine::idle;
      end_step(machine, now);
      begin(machine, now);
    } else if (machine.state == Machine::starting) {
      account(machine, now);
      machine.state = Machine::idle;
      begin(machine, now);
    } else {
      account(machine, now);
      machine.state = Machine::asleep;
      machine.until = kNever;
    }
  }
  void end_step(Machine& machine, double now) {
    std::vector<Sequence> staying;
    for (auto each : machine.running) {
      const bool decoded = each.decodes() || each.moved;
      each.held += decoded ? 1 : each.chunk;
      each.moved = false;
      if (each.held < each.prompt) {
        staying.push_back(each);
        continue;
      }
      each.tokens.push_back(now);
      ++each.produced;
      if (each.produced == each.request.output_tokens) {
        finished[each.id] = each;
        --in_service_;
      } else if (each.decode_at != index_of(machine)) {
        machine.lent += machine.blocks(each.request.input_tokens);
        ++machine.leaving;
        const double tokens = each.request.input_tokens;
        const double moved_at =
            now + cluster_.link->latency.in_si() + tokens * cluster_.link->time_per_token.in_si();
        moves_.emplace(std::pair(moved_at, each.id), each);
      } else {
        staying.push_back(each);
      }
    }
    machine.running = staying;
  }
  [[nodiscard]] std::size_t index_of(const Machine& machine) const {
    return static_cast<std::size_t>(&machine - machines_.data());
  }

  const Cluster& cluster_;
  route::Policy& policy_;
  std::vector<Machine> machines_;
  std::map<std::pair<double, std::uint64_t>, Sequence> moves_;  ///< by end and request
  std::uint64_t in_service_ = 0;
  double now_ = 0.0;
};

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, a, b}); }

struct Both {
  Both(const Cluster& cluster, const std::vector<trace::Request>& requests)
      : slow(cluster, slow_policy) {
    slow.run(requests);
    List source(requests);
    Observer* observers[] = {&watch};
    outcome = *simulate(cluster, source, fast_policy, {.observers = observers});
  }
  Least slow_policy;
  Least fast_policy;
  StepByStep slow;
  Watch watch;
  Outcome outcome;
};

RC_GTEST_PROP(SimulateReference, TimesAreThoseOfTakingEveryStepOfEverySequence, ()) {
  const auto cluster = random_cluster();
  const auto requests = random_requests();
  const Both both(cluster, requests);
  RC_ASSERT(both.outcome.completed == requests.size());
  RC_ASSERT(both.fast_policy.completions() == requests.size());
  RC_ASSERT(both.watch.records.size() == requests.size());
  RC_ASSERT(both.slow.finished.size() == requests.size());
  for (const auto& record : both.watch.records) {
    const auto& expected = both.slow.finished.at(record.id);
    RC_ASSERT(record.request == expected.request);
    RC_ASSERT(record.decode_at == expected.decode_at);
    RC_ASSERT(near(record.first_token.in_si(), expected.tokens.front()));
    RC_ASSERT(near(record.last_token.in_si(), expected.tokens.back()));
  }
  RC_ASSERT(near(both.outcome.ended.in_si(), both.slow.now()));
}

RC_GTEST_PROP(SimulateReference, EnergiesAndCountsAreThoseOfTakingEveryStep, ()) {
  const auto cluster = random_cluster();
  const auto requests = random_requests();
  const Both both(cluster, requests);
  constexpr Activity kActivities[] = {Activity::idle, Activity::asleep, Activity::starting,
                                      Activity::busy};
  for (std::size_t i = 0; i < cluster.instances.size(); ++i) {
    const auto& expected = both.slow.machines()[i];
    for (std::size_t a = 0; a < 4; ++a) {
      double joules = 0.0;
      for (const auto& draw : both.watch.draws_of)
        if (draw.instance == i && draw.activity == kActivities[a]) joules += draw.energy.in_si();
      RC_ASSERT(near(joules, expected.joules[a]));
    }
    RC_ASSERT(both.outcome.instances[i].steps == expected.steps);
    RC_ASSERT(both.outcome.instances[i].preemptions == expected.preemptions);
  }
}

RC_GTEST_PROP(SimulateReference, GapsBetweenTokensAreThoseOfEverySequence, ()) {
  const auto cluster = random_cluster();
  const auto requests = random_requests();
  const Both both(cluster, requests);
  std::vector<double> gaps;
  for (const auto& [id, sequence] : both.slow.finished)
    for (std::size_t i = 1; i < sequence.tokens.size(); ++i)
      gaps.push_back(sequence.tokens[i] - sequence.tokens[i - 1]);
  RC_ASSERT(both.outcome.between_tokens.count() == gaps.size());
  std::ranges::sort(gaps);
  for (const double q : {0.25, 0.5, 0.9}) {
    if (gaps.empty()) break;
    const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(gaps.size())));
    const double exact = gaps[static_cast<std::size_t>(rank) - 1];
    RC_ASSERT(std::abs(both.outcome.between_tokens.quantile(q) - exact) <= exact / 250.0);
  }
}

RC_GTEST_PROP(SimulateReference, DrawsFollowEachOtherAndAddUpToTheMeter, ()) {
  const auto cluster = random_cluster();
  const auto requests = random_requests();
  List source(requests);
  Least policy;
  Watch watch;
  EnergyMeter meter(cluster);
  Observer* observers[] = {&watch, &meter};
  const auto outcome = *simulate(cluster, source, policy, {.observers = observers});
  std::vector<double> reached(cluster.instances.size(), 0.0);
  double joules = watch.moved_joules;
  for (const auto& draw : watch.draws_of) {
    RC_ASSERT(draw.from.in_si() == reached[draw.instance]);
    RC_ASSERT(draw.to >= draw.from);
    reached[draw.instance] = draw.to.in_si();
    joules += draw.energy.in_si();
  }
  for (const auto end : reached) RC_ASSERT(end == outcome.ended.in_si());
  RC_ASSERT(near(joules, meter.total().in_si()));
  std::uint64_t output = 0;
  for (const auto& instance : outcome.instances) output += instance.output_tokens;
  RC_ASSERT(output == outcome.output_tokens);
  // A prompt is computed once, and again, with what it had produced, each time it is sent back.
  std::uint64_t prompts = 0;
  for (const auto& instance : outcome.instances) prompts += instance.prompt_tokens;
  RC_ASSERT(prompts >= outcome.input_tokens);
  RC_ASSERT(outcome.preemptions() > 0 || prompts == outcome.input_tokens);
}

}  // namespace
}  // namespace negawatt::sim
