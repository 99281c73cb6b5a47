// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "sim/event_times.hpp"
#include "sim/instance.hpp"
#include "sim/job.hpp"
#include "sim/recorder.hpp"

namespace negawatt::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kRequestsBetweenLooks = 65536;
/// How often the policy hears of requests that still run: a gateway would not count every token.
constexpr double kBetweenProgress = 5.0;

struct Transfer {
  double ends = 0.0;
  Job job;
};

/// For a heap with the earliest on top.
struct LaterTransfer {
  bool operator()(const Transfer& a, const Transfer& b) const {
    return a.ends != b.ends ? a.ends > b.ends : a.job.id > b.job.id;
  }
};

class Engine {
 public:
  Engine(const Cluster& cluster, route::Policy& policy, const Watching& watching)
      : cluster_(&cluster),
        policy_(&policy),
        clairvoyant_(watching.clairvoyant),
        recorder_(cluster, watching.observers),
        times_(cluster.instances.size()),
        next_progress_(cluster.instances.size(), kBetweenProgress),
        views_(cluster.instances.size()) {
    instances_.reserve(cluster.instances.size());
    for (std::uint32_t i = 0; i < cluster.instances.size(); ++i) {
      instances_.emplace_back(cluster.instances[i], i, recorder_);
      instances_[i].fill_constant(views_[i]);
      views_[i].model = first_equal(i);
      times_.set(i, instances_[i].next_time());
    }
  }

  /// Policies may remember what they know of a model by its address: equal ones have the same.
  [[nodiscard]] const model::ServingModel* first_equal(std::size_t index) const {
    const auto& model = cluster_->instances[index].model;
    for (std::size_t i = 0; i < index; ++i) {
      if (views_[i].model->coefficients() == model.coefficients()) return views_[i].model;
    }
    return &model;
  }
  /// The next event that is not later than `time`, if there is one.
  bool step(double time) {
    const double instance = times_.first_time();
    const double transfer = transfers_.empty() ? kNever : transfers_.front().ends;
    if (std::min(instance, transfer) > time) return false;
    if (instance <= transfer)
      proceed(times_.first());
    else
      deliver();
    return true;
  }
  /// Everybody in service is served.
  void drain() {
    while (in_service_ > 0) NW_ASSERT(step(std::numeric_limits<double>::max()));
  }

  void arrive(const trace::Request& request);

  Outcome end() {
    auto& outcome = recorder_.outcome;
    outcome.ended = Seconds(now_);
    for (auto& instance : instances_) instance.end(now_);
    return std::move(outcome);
  }
  /// Nobody arrives any more.
  void note_last_arrival() {
    for (const auto& instance : instances_)
      recorder_.outcome.waiting_at_last_arrival += instance.batch().line().size();
  }

 private:
  void proceed(std::size_t index) {
    now_ = times_.first_time();
    ++recorder_.outcome.events;
    instances_[index].proceed(now_);
    if (now_ >= next_progress_[index]) {
      next_progress_[index] = now_ + kBetweenProgress;
      instances_[index].tell_progress(*policy_);
    }
    settle(index);
  }
  void deliver();
  /// Acts on what instance `index` reported, and learns when it has to be called next.
  void settle(std::size_t index);
  void complete(const Job& job);
  void hand_over(const Job& job);
  /// Starts what sleeps and is to be on.
  void keep_on_wanted();
  [[nodiscard]] bool admissible(const trace::Request& request, const route::Placement& at) const;

  const Cluster* cluster_;
  route::Policy* policy_;
  bool clairvoyant_;
  Recorder recorder_;
  std::vector<Instance> instances_;
  EventTimes times_;
  std::vector<double> next_progress_;  ///< of each instance
  std::vector<route::InstanceView> views_;
  std::vector<Transfer> transfers_;  ///< heap
  std::uint64_t in_service_ = 0;
  double now_ = 0.0;
};

void Engine::arrive(const trace::Request& request) {
  now_ = request.arrival.in_si();
  const auto id = recorder_.outcome.requests;
  recorder_.arrived(request);
  ++recorder_.outcome.events;
  for (std::size_t i = 0; i < instances_.size(); ++i) instances_[i].fill(now_, views_[i]);
  const route::Arrival arrival{.now = request.arrival,
                               .input_tokens = request.input_tokens,
                               .request_class = request.request_class,
                               .priority = request.priority,
                               .true_output_tokens = clairvoyant_ ? request.output_tokens : 0};
  auto placement = policy_->place(arrival, views_);
  keep_on_wanted();
  if (!placement) {
    ++recorder_.outcome.refused_by_policy;
    return;
  }
  if (request.output_tokens == 1) placement->decode = placement->prefill;  // there is no answer
  if (!admissible(request, *placement)) {
    ++recorder_.outcome.too_large;
    // What it would have been cut off at: its length is known to be more.
    const auto room = views_[placement->decode].kv_capacity;
    policy_->completed({.now = request.arrival,
                        .instance = placement->decode,
                        .input_tokens = request.input_tokens,
                        .output_tokens = static_cast<std::uint32_t>(
                            room > request.input_tokens ? room - request.input_tokens : 0),
                        .request_class = request.request_class,
                        .finished = false,
                        .device_type = cluster_->instances[placement->decode].device_type});
    return;
  }
  const Job job{.request = request,
                .id = id,
                .expected_output = policy_->expected_output(arrival),
                .prefill_at = static_cast<std::uint32_t>(placement->prefill),
                .decode_at = static_cast<std::uint32_t>(placement->decode)};
  ++in_service_;
  instances_[placement->prefill].expect(job, now_);
  instances_[placement->prefill].receive(job, now_);
  settle(placement->prefill);
  if (placement->decode == placement->prefill) return;
  instances_[placement->decode].expect(job, now_);
  settle(placement->decode);
}

void Engine::keep_on_wanted() {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    instances_[i].keep_on(policy_->wanted_until(i).in_si(), now_);
    if (!views_[i].ready) times_.set(i, instances_[i].next_time());
  }
}

bool Engine::admissible(const trace::Request& request, const route::Placement& at) const {
  NW_ASSERT(at.prefill < instances_.size() && at.decode < instances_.size());
  NW_ASSERT(at.prefill == at.decode || cluster_->link);
  const std::uint64_t whole = std::uint64_t{request.input_tokens} + request.output_tokens - 1;
  return instances_[at.decode].batch().can_hold(whole) &&
         instances_[at.prefill].batch().can_hold(request.input_tokens);
}

void Engine::settle(std::size_t index) {
  for (const auto& job : recorder_.finished) complete(job);
  recorder_.finished.clear();
  for (const auto& job : recorder_.handed_over) hand_over(job);
  recorder_.handed_over.clear();
  times_.set(index, instances_[index].next_time());
}

void Engine::complete(const Job& job) {
  --in_service_;
  instances_[job.decode_at].forget(job, now_);
  const auto& request = job.request;
  policy_->completed({.now = Seconds(now_),
                      .instance = job.decode_at,
                      .input_tokens = request.input_tokens,
                      .output_tokens = request.output_tokens,
                      .request_class = request.request_class,
                      .device_type = cluster_->instances[job.decode_at].device_type,
                      .time_to_first_token = Seconds(job.first_token) - request.arrival,
                      .time_to_completion = Seconds(job.last_token) - request.arrival,
                      .tokens_before = job.told});
}

void Engine::hand_over(const Job& job) {
  const auto& link = *cluster_->link;
  const double tokens = job.request.input_tokens;
  const double time = link.latency.in_si() + tokens * link.time_per_token.in_si();
  recorder_.moved(now_ + time, tokens * link.energy_per_token);
  transfers_.push_back({.ends = now_ + time, .job = job});
  std::ranges::push_heap(transfers_, LaterTransfer{});
}

void Engine::deliver() {
  std::ranges::pop_heap(transfers_, LaterTransfer{});
  auto [ends, job] = transfers_.back();
  transfers_.pop_back();
  now_ = ends;
  ++recorder_.outcome.events;
  ++recorder_.outcome.transfers;
  instances_[job.prefill_at].release(job, now_);
  settle(job.prefill_at);
  job.memory_came_along = true;
  instances_[job.decode_at].receive(job, now_);
  settle(job.decode_at);
}

Status check(const trace::Request& request, std::uint64_t number, Seconds previous) {
  if (request.input_tokens == 0 || request.output_tokens == 0)
    return failure(Code::invalid, fmt::format("request {} has no tokens", number));
  if (!request.arrival.is_finite() || request.arrival < previous)
    return failure(Code::invalid,
                   fmt::format("request {} arrives before the one before it", number));
  return {};
}

}  // namespace

Result<Outcome> simulate(const Cluster& cluster, trace::RequestSource& requests,
                         route::Policy& policy, const Watching& watching) {
  NW_CHECK(validate(cluster));
  Engine engine(cluster, policy, watching);
  std::uint64_t count = 0;
  Seconds previous;
  while (const auto request = requests.next()) {
    NW_CHECK(check(*request, ++count, previous));
    previous = request->arrival;
    while (engine.step(request->arrival.in_si())) {
    }
    engine.arrive(*request);
    if (count % kRequestsBetweenLooks == 0 && watching.go_on && !watching.go_on(count))
      return failure(Code::internal, fmt::format("stopped after {} requests", count));
  }
  engine.note_last_arrival();
  engine.drain();
  return engine.end();
}

}  // namespace negawatt::sim
