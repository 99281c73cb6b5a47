// SPDX-License-Identifier: Apache-2.0
#include "route/fleet_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "trace/random.hpp"

namespace negawatt::route {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNearlyNone = 1e-9;  // of the peak: rounding

FlowPromise stretched(const FlowPromise& promise, const PlanMargins& margins, double pooled) {
  return {.first = promise.first / margins.first,
          .between = promise.between / margins.between,
          .completion = promise.completion / margins.completion,
          .miss = promise.miss,
          .pooled = pooled};
}

/// The requests of a flow that the memory of an instance holds.
class AbleParts {
 public:
  AbleParts(std::span<const FlowPart> parts, const InstanceView& view) {
    for (const FlowPart& part : parts) {
      if (part.input_tokens + part.output_tokens > static_cast<double>(view.kv_capacity)) continue;
      parts_[count_++] = part;
      share_ += part.share;
    }
    for (std::size_t i = 0; i < count_; ++i) parts_[i].share /= share_;
  }
  [[nodiscard]] std::span<const FlowPart> parts() const { return {parts_.data(), count_}; }
  [[nodiscard]] double share() const { return share_; }

 private:
  std::array<FlowPart, Demand::kSizes> parts_{};
  std::size_t count_ = 0;
  double share_ = 0.0;
};

}  // namespace

/// The best choice so far, and how many have been looked at.
struct FleetPlan::Search {
  double peak = 0.0;
  Choice best;
  int looked_at = 0;
};

FleetPlan::FleetPlan(const FleetSize& size, const PlanWeights& weights, const FlowPromise& promise,
                     double miss)
    : weights_(weights),
      promise_(promise),
      miss_(miss),
      types_(std::max<std::size_t>(1, size.device_types)),
      order_(types_.size()) {
  is_member_.reserve(size.instances);
  was_member_.reserve(size.instances);
}

void FleetPlan::served(bool kept) {
  constexpr double kStep = 0.02;
  constexpr double kMost = 1.4;  // four times
  log_strain_ = std::clamp(log_strain_ + kStep * ((kept ? 0.0 : 1.0) - miss_), 0.0, kMost);
  strain_ = trace::same_exp(log_strain_);
}

void FleetPlan::look_at(std::span<const InstanceView> views, std::span<const PlanMargins> margins) {
  for (Type& type : types_) type = {};
  for (const InstanceView& view : views) {
    if (!view.serves_model || view.model == nullptr) continue;
    Type& type = types_[type_of(view)];
    if (type.view == nullptr) type.view = &view;
    ++type.instances;
    type.on += view.ready;
  }
  for (std::size_t i = 0; i < types_.size(); ++i) {
    Type& type = types_[i];
    if (type.view == nullptr) continue;
    const double idle = type.view->model->coefficients().idle_power;
    const double sleep = type.view->sleeps ? type.view->sleep_power.in_si() : idle;
    type.ready = weights_.energy * idle;
    type.resting = weights_.energy * sleep;
    type.start = type.view->sleeps
                     ? weights_.energy * (type.view->start_energy.in_si() +
                                          (idle - sleep) * type.view->sleeps_after.in_si())
                     : 0.0;
    const AbleParts able(demand_.parts(), *type.view);
    type.able = able.share();
    if (type.able <= 0.0) continue;
    const InstanceFlow flow(*type.view, able.parts());
    type.most_rate = flow.most_rate(stretched(promise_, margins[i], type.instances));
    for (std::size_t k = 1; k < kPoints; ++k) {
      const double part = static_cast<double>(k) / (kPoints - 1);
      const double rate = part * part * type.most_rate;  // it bends most where little comes
      const SteadyState s = flow.at(rate);
      type.cost[k] = weights_.energy * s.power + weights_.time * rate * s.completion;
    }
  }
}

/// The cheapest when full first.
void FleetPlan::sort_types() {
  const auto cost_when_full = [&](std::size_t t) {
    const Type& type = types_[t];
    return type.most_rate > 0.0 ? (type.ready + type.cost.back()) / type.most_rate : kInfinite;
  };
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const double cost_a = cost_when_full(a);
    const double cost_b = cost_when_full(b);
    return cost_a != cost_b ? cost_a < cost_b : a < b;
  });
}

double FleetPlan::cost_of(const Type& type, double rate) const {
  if (type.most_rate <= 0.0) return 0.0;
  const double at = std::sqrt(std::clamp(rate / type.most_rate, 0.0, 1.0)) * (kPoints - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kPoints - 2);
  const auto below = static_cast<double>(low);
  const double part = (at * at - below * below) / (2.0 * below + 1.0);
  return (1.0 - part) * type.cost[low] + part * type.cost[low + 1];
}

/// What the member takes of `left` requests a second.
double FleetPlan::taken(const Member& member, double left) const {
  const Type& type = types_[member.type];
  return std::min(type.able * left, type.most_rate * member.count);
}

/// Cost a second, mean over the windows of late: each member takes what those before it leave.
void FleetPlan::judge(Choice& choice, double peak) const {
  double all = 0.0;
  for (const Type& type : types_) all += type.resting * type.instances;
  choice.shortfall = peak;
  for (const Member& member : choice.all()) {
    const Type& type = types_[member.type];
    all += (type.ready - type.resting) * member.count;
    choice.shortfall -= taken(member, choice.shortfall);
  }
  if (choice.shortfall <= kNearlyNone * peak) choice.shortfall = 0.0;
  double serving = 0.0;
  for (const double rate : demand_.rates()) {
    double left = rate;
    for (const Member& member : choice.all()) {
      const double here = taken(member, left);
      serving += member.count * cost_of(types_[member.type], here / member.count);
      left -= here;
    }
  }
  choice.cost = all + serving / static_cast<double>(demand_.rates().size());
}

/// Tries every type that `choice` does not hold yet as its last one, and goes on from there. What
/// already costs more than the best that falls short of nothing is not gone on with. Types come in
/// the order of their cost, so that where there are too many to try all, the first tries are good.
void FleetPlan::extend(Choice choice, double left, Search& search) const {
  if (choice.size == kMostTypes) return;
  const std::size_t last = choice.size++;
  for (const std::size_t t : order_) {
    const Type& type = types_[t];
    const auto held = std::span(choice.members).first(last);
    if (type.most_rate <= 0.0 ||
        std::ranges::any_of(held, [&](const Member& m) { return m.type == t; })) {
      continue;
    }
    const auto wanted = static_cast<std::uint32_t>(std::clamp(
        std::ceil(type.able * left / type.most_rate), 1.0, static_cast<double>(type.instances)));
    // All counts where there are few, else every half of them.
    constexpr std::uint32_t kFew = 4;
    constexpr int kMostLooks = 4'000;
    for (std::uint32_t count = wanted; count > 0; count = count > kFew ? count / 2 : count - 1) {
      if (++search.looked_at > kMostLooks) return;
      choice.members[last] = {t, count};
      judge(choice, search.peak);
      Choice& best = search.best;
      const bool better = choice.shortfall != best.shortfall
                              ? choice.shortfall < best.shortfall
                              : choice.cost + start_of(choice) < best.cost + start_of(best);
      if (better) best = choice;
      const double rest = left - taken(choice.members[last], left);
      if (rest <= kNearlyNone * search.peak || (best.shortfall == 0.0 && choice.cost >= best.cost))
        continue;
      extend(choice, rest, search);
    }
  }
}

/// Cost a second of starting what is not on, over the memory of the demand.
double FleetPlan::start_of(const Choice& choice) const {
  double cost = 0.0;
  for (const Member& member : choice.all()) {
    const Type& type = types_[member.type];
    cost += type.start * (member.count - std::min(member.count, type.on));
  }
  return cost / (Demand::kWindow * Demand::kWindows);
}

void FleetPlan::make(std::span<const InstanceView> views, std::span<const PlanMargins> margins) {
  const bool whole =
      std::ranges::all_of(views, [](const InstanceView& view) { return view.role == Role::both; });
  if (!whole || demand_.parts().empty() || demand_.rates().size() < 2) {
    choice_ = {};
    is_member_.clear();
    return;
  }
  look_at(views, margins);
  sort_types();
  planned_strain_ = strain_;
  Search search{.peak = strain_ * demand_.peak()};
  Choice& best = search.best;
  best.cost = kInfinite;
  best.shortfall = kInfinite;
  extend({}, search.peak, search);
  // What is there stays unless it falls short or the other saves something.
  constexpr double kWorthIt = 0.97;
  if (exists()) {
    Choice stays = choice_;
    const bool there = std::ranges::all_of(
        stays.all(), [&](const Member& m) { return m.count <= types_[m.type].instances; });
    judge(stays, search.peak);
    if (there && stays.shortfall <= best.shortfall && best.cost > kWorthIt * stays.cost) {
      best = stays;
    }
  }
  take(best, views);
}

void FleetPlan::take(const Choice& choice, std::span<const InstanceView> views) {
  choice_ = choice;
  is_member_.resize(views.size(), 0);
  was_member_.resize(views.size(), 0);
  std::swap(is_member_, was_member_);
  std::ranges::fill(is_member_, 0);
  for (Member member : choice_.all()) {
    // Those that are members already, then those that are on, then the others.
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < views.size() && member.count > 0; ++i) {
        const bool fits =
            views[i].serves_model && is_member_[i] == 0 && type_of(views[i]) == member.type;
        if (!fits || (round == 0 && was_member_[i] == 0) || (round == 1 && !views[i].ready)) {
          continue;
        }
        is_member_[i] = 1;
        --member.count;
      }
    }
  }
  settle_states();
}

/// Each type in the state that its mean share of the demand keeps it in; a type that is not in the
/// plan as if a tenth of what it can do came.
void FleetPlan::settle_states() {
  constexpr double kSome = 0.1;
  for (const double rate : demand_.rates()) {
    double left = rate;
    for (const Member& member : choice_.all()) {
      const double here = taken(member, left);
      types_[member.type].share +=
          here / member.count / static_cast<double>(demand_.rates().size());
      left -= here;
    }
  }
  for (Type& type : types_) {
    if (type.view == nullptr) continue;
    const double rate = type.share > 0.0 ? type.share : kSome * type.most_rate;
    if (type.able > 0.0) {
      type.state =
          InstanceFlow(*type.view, AbleParts(demand_.parts(), *type.view).parts()).at(rate);
    }
    type.view = nullptr;  // of this call only
  }
}

}  // namespace negawatt::route
