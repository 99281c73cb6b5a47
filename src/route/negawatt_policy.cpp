// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "route/fleet_plan.hpp"
#include "route/negawatt_settings.hpp"
#include "route/offer.hpp"
#include "route/output_guess.hpp"
#include "route/policy_makers.hpp"
#include "route/prices.hpp"
#include "route/request_cost.hpp"
#include "route/staged.hpp"

namespace negawatt::route {
namespace {

/// What is known of a request, looked up once a decision.
struct Asked {
  const Arrival& arrival;
  const Slo& slo;
  const LengthTable* lengths;  ///< null: the length is known, or its mean is enough
  double output_tokens;
};

/// Expected marginal energy and time, with a price for capacity and a margin for promises.
class NegawattPolicy final : public Policy {
 public:
  NegawattPolicy(const NegawattSettings& settings, const MakerContext& context, bool knows);

  [[nodiscard]] std::string_view name() const override { return settings_.name; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override;
  [[nodiscard]] double expected_output(const Arrival& arrival) const override {
    return guess_.tokens(arrival);
  }
  void completed(const Completion& completion) override;
  std::optional<double> progressed(const Progress& progress) override {
    return guess_.progressed(progress);
  }
  [[nodiscard]] Seconds wanted_until(std::size_t instance) const override {
    return plan_.wanted_until(instance);
  }

 private:
  /// Per device type: what is learned, and what the decision at hand has seen.
  struct Type {
    explicit Type(double miss) : first(miss), between(miss), completion(miss) {}
    Headroom first, between, completion;
    bool is_heard_of = false;  ///< somebody ended there since the last plan
    std::uint32_t instances = 0;
    double least_cost = 0.0;
    Offer best;  ///< of members of the plan
    // The share of a full instance, reckoned once: instances of a type have the same limits.
    const model::ServingModel* of = nullptr;
    double time = 0.0;
  };

  [[nodiscard]] std::size_t type_of(std::uint32_t device_type) const {
    return std::min<std::size_t>(device_type, types_.size() - 1);
  }
  void look_at_fleet(std::span<const InstanceView> views);
  [[nodiscard]] Offer offer(const Asked& asked, const InstanceView& view, Stage stage);
  void add_expected_cost(const Asked& asked, const InstanceView& view, Task task,
                         Offer& offer) const;
  void judge(const Marginal& m, const Slo& slo, const InstanceView& view, Offer& offer) const;
  void plan(Seconds now, std::span<const InstanceView> views);
  [[nodiscard]] bool is_planned(const InstanceView& view, std::size_t instance) const {
    return view.role == Role::both && plan_.includes(instance);
  }
  /// The best offer of an instance of the plan.
  [[nodiscard]] Offer best_of_plan(const Asked& asked, std::span<const InstanceView> views);
  /// Among all instances, `whole` being the best offer of those in the plan.
  [[nodiscard]] std::optional<Placement> place_anywhere(const Asked& asked,
                                                        std::span<const InstanceView> views,
                                                        Offer whole);
  void settle(const Offer& chosen);

  // Constant after construction.
  NegawattSettings settings_;
  std::vector<Slo> slos_;
  double energy_weight_;  ///< cost of a joule
  double time_weight_;    ///< cost of a second
  Seconds tightest_;      ///< time between tokens that any class was promised; 0: none

  // Learned.
  OutputGuess guess_;
  CapacityPrices prices_;
  std::vector<Type> types_;
  std::vector<PlanMargins> margins_;  ///< of types_, as the plan is told them
  FleetPlan plan_;
  double broken_ = 0.0;  ///< share of placements of late that no instance could have kept
};

NegawattPolicy::NegawattPolicy(const NegawattSettings& settings, const MakerContext& context,
                               bool knows)
    : settings_(settings),
      slos_(context.fleet.slos),
      energy_weight_(settings.lambda / settings.joules),
      time_weight_((1.0 - settings.lambda) / settings.seconds),
      tightest_(tightest(slos_, &Slo::time_between_tokens)),
      guess_(context.classes(), knows),
      prices_(std::max<std::size_t>(1, context.fleet.device_types.size()), settings.patience),
      types_(prices_.device_types(), Type(miss_of_each(slos_, settings.miss))),
      margins_(types_.size()),
      plan_({.device_types = types_.size(), .instances = context.fleet.instances.size()},
            {.energy = energy_weight_, .time = time_weight_}, tightest_promise(slos_, settings),
            settings.miss) {}

void NegawattPolicy::look_at_fleet(std::span<const InstanceView> views) {
  for (Type& type : types_) {
    type.instances = 0;
    type.least_cost = std::numeric_limits<double>::infinity();
    type.of = nullptr;
    type.best = no_offer();
  }
  for (const InstanceView& view : views) {
    // Whatever its role: prompts and answers apart have prices of their own only if they run on
    // types of their own.
    if (view.serves_model) ++types_[type_of(view.device_type)].instances;
  }
  for (std::size_t i = 0; i < types_.size(); ++i) prices_.set_instances(i, types_[i].instances);
}

void NegawattPolicy::plan(Seconds now, std::span<const InstanceView> views) {
  if (!plan_.advance(now)) return;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (!types_[i].is_heard_of) {
      types_[i].first.relax();
      types_[i].between.relax();
      types_[i].completion.relax();
    }
    types_[i].is_heard_of = false;
    const auto within = [](const Headroom& learned) {
      return std::clamp(learned.factor(), 1.0, 1.5);
    };
    margins_[i] = {.first = within(types_[i].first),
                   .between = within(types_[i].between),
                   .completion = within(types_[i].completion)};
  }
  plan_.make(views, margins_);
}

void NegawattPolicy::judge(const Marginal& m, const Slo& slo, const InstanceView& view,
                           Offer& offer) const {
  const Type& type = types_[offer.device_type];
  const auto ratio = [](Seconds forecast, double factor, Seconds promise) {
    return promise > Seconds(0) ? factor * (forecast / promise) : 0.0;
  };
  const double first =
      slo.time_to_first_token > Seconds(0)
          ? ratio(m.time_to_first_token, type.first.factor(), slo.time_to_first_token)
          : m.wait / settings_.patience;
  const double late =
      std::max({first, ratio(m.time_between_tokens, type.between.factor(), slo.time_between_tokens),
                ratio(m.time_to_completion, type.completion.factor(), slo.time_to_completion)});
  // A line that is too long is so for those behind as well, of whom there will be about as many as
  // wait now; not the line before a start, which ends with it. Slow steps are slow for all.
  double broken = late > 1.0 ? 1.0 : 0.0;
  if (first > 1.0 && view.ready) broken += view.waiting;
  if (ratio(m.step, type.between.factor(), tightest_) > 1.0) broken += requests_at(view);
  offer.late = std::max(offer.late, late);
  offer.broken = std::max(offer.broken, broken);
}

void NegawattPolicy::add_expected_cost(const Asked& asked, const InstanceView& view, Task task,
                                       Offer& offer) const {
  const int nodes = asked.lengths == nullptr ? 1 : settings_.nodes;
  for (int node = 0; node < nodes; ++node) {
    if (nodes > 1) task.output_tokens = asked.lengths->quantile((node + 0.5) / nodes);
    task.output_tokens = std::max(1.0, task.output_tokens);
    const Marginal m = marginal_cost(view, task, settings_.residuals);
    const double energy = (m.energy + m.standby).in_si();
    const double time = (m.time_to_completion + m.delay).in_si();
    offer.cost += energy_weight_ * energy + time_weight_ * time;
    judge(m, asked.slo, view, offer);
  }
  if (nodes > 1) offer.cost /= nodes;
}

Offer NegawattPolicy::offer(const Asked& asked, const InstanceView& view, Stage stage) {
  Offer offer;
  offer.device_type = static_cast<std::uint32_t>(type_of(view.device_type));
  const Task task{.input_tokens = static_cast<double>(asked.arrival.input_tokens),
                  .output_tokens = asked.output_tokens,
                  .prompt = stage == Stage::prompt,
                  .answer = view.role != Role::prefill};
  add_expected_cost(asked, view, task, offer);
  // What will probably outgrow the memory is worse than any wait.
  if (task.input_tokens + task.output_tokens > static_cast<double>(view.kv_capacity)) {
    offer.late += 1e6;
    offer.broken += 1e6;
  }
  Type& type = types_[offer.device_type];
  if (view.role != Role::both || type.of != view.model) {
    type.time = saturated_time(view, task, tightest_).in_si();
    type.of = view.role == Role::both ? view.model : nullptr;
  }
  offer.time = type.time;
  offer.priced = offer.cost + prices_.price(offer.device_type) * offer.time;
  if (offer.broken == 0.0) type.least_cost = std::min(type.least_cost, offer.cost);
  return offer;
}

std::optional<Placement> NegawattPolicy::place(const Arrival& arrival,
                                               std::span<const InstanceView> views) {
  prices_.advance(arrival.now);
  look_at_fleet(views);
  const bool is_mean = settings_.nodes == 1 || guess_.knows(arrival);
  const Asked asked{arrival, MakerContext::slo_of(slos_, arrival.request_class),
                    is_mean ? nullptr : &guess_.table(arrival),
                    std::max(1.0, guess_.tokens(arrival))};
  Offer whole = no_offer();
  if (settings_.plan) {
    plan(arrival.now, views);
    plan_.arrived({.input_tokens = static_cast<double>(arrival.input_tokens),
                   .output_tokens = asked.output_tokens});
    if (plan_.exists()) {
      whole = best_of_plan(asked, views);
      // What none of them can hold says nothing about how many there are.
      if (is_offer(whole)) plan_.served(whole.broken == 0.0);
    }
  }
  if (whole.broken > 0.0) return place_anywhere(asked, views, whole);
  settle(whole);
  return Placement{whole.instance, whole.instance};
}

std::optional<Placement> NegawattPolicy::place_anywhere(const Asked& asked,
                                                        std::span<const InstanceView> views,
                                                        Offer whole) {
  const Arrival& arrival = asked.arrival;
  const bool decoder = has_decoder(arrival, views);
  Offer prompt = no_offer();
  Offer answer = no_offer();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (is_planned(views[i], i)) continue;  // looked at already
    const Stage stage = views[i].role == Role::decode ? Stage::answer : Stage::prompt;
    if (!is_candidate(views[i], arrival, stage, decoder)) continue;
    Offer here = offer(asked, views[i], stage);
    here.instance = i;
    Offer& best = views[i].role == Role::both      ? whole
                  : views[i].role == Role::prefill ? prompt
                                                   : answer;
    if (here.is_better_than(best)) best = here;
  }
  const bool apart = is_offer(prompt) && is_offer(answer);
  if (apart && together(prompt, answer).is_better_than(whole)) {
    settle(prompt);
    settle(answer);
    return Placement{prompt.instance, answer.instance};
  }
  if (!is_offer(whole)) return std::nullopt;
  settle(whole);
  return Placement{whole.instance, whole.instance};
}

Offer NegawattPolicy::best_of_plan(const Asked& asked, std::span<const InstanceView> views) {
  const Task task{.input_tokens = static_cast<double>(asked.arrival.input_tokens),
                  .output_tokens = asked.output_tokens};
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!is_planned(views[i], i)) continue;
    if (!is_candidate(views[i], asked.arrival, Stage::prompt, false)) continue;
    Offer here = offer(asked, views[i], Stage::prompt);
    here.instance = i;
    Type& type = types_[here.device_type];
    if (here.is_less_late_than(type.best)) type.best = here;
  }
  Offer whole = no_offer();
  for (std::size_t t = 0; t < types_.size(); ++t) {
    Type& type = types_[t];
    if (!is_offer(type.best)) continue;
    const Cost cost = cost_in_flow(views[type.best.instance], task, plan_.state(t));
    type.best.cost = energy_weight_ * cost.energy.in_si() + time_weight_ * cost.time.in_si();
    type.best.priced = type.best.cost + prices_.price(type.best.device_type) * type.best.time;
    if (type.best.broken == 0.0) type.least_cost = type.best.cost;
    if (type.best.is_better_than(whole)) whole = type.best;
  }
  return whole;
}

void NegawattPolicy::settle(const Offer& chosen) {
  constexpr double kFade = 1.0 / 100.0;
  broken_ += kFade * ((chosen.broken > 0.0 ? 1.0 : 0.0) - broken_);
  double others = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (i != chosen.device_type) others = std::min(others, types_[i].least_cost);
  }
  const double gap = std::isfinite(others) ? others - chosen.cost : 0.0;
  prices_.charge(chosen.device_type, Seconds(chosen.time), gap);
}

void NegawattPolicy::completed(const Completion& c) {
  guess_.completed(c);
  if (c.finished)
    plan_.ended({.input_tokens = static_cast<double>(c.input_tokens),
                 .output_tokens = static_cast<double>(c.output_tokens)});
  // In overload promises are broken knowingly: that says nothing about the forecasts.
  constexpr double kOverload = 0.05;
  if (!c.finished || broken_ > kOverload || c.time_to_completion <= Seconds(0)) return;
  const Slo& slo = MakerContext::slo_of(slos_, c.request_class);
  Type& type = types_[type_of(c.device_type)];
  type.is_heard_of = true;
  const auto learn = [](Headroom& headroom, Seconds was, Seconds promise) {
    if (promise > Seconds(0)) headroom.observe(was > promise);
  };
  learn(type.first, c.time_to_first_token, slo.time_to_first_token);
  learn(type.completion, c.time_to_completion, slo.time_to_completion);
  if (c.output_tokens < 2) return;
  const double steps = c.output_tokens - 1.0;
  learn(type.between, (c.time_to_completion - c.time_to_first_token) / steps,
        slo.time_between_tokens);
}

constexpr std::string_view kNegawatt = "negawatt";
constexpr std::string_view kClairvoyant = "clairvoyant";

std::unique_ptr<Policy> make_negawatt(Parameters& parameters, const MakerContext& context) {
  return std::make_unique<NegawattPolicy>(read_settings(kNegawatt, parameters, context), context,
                                          false);
}

std::unique_ptr<Policy> make_clairvoyant(Parameters& parameters, const MakerContext& context) {
  return std::make_unique<NegawattPolicy>(read_settings(kClairvoyant, parameters, context), context,
                                          true);
}

constexpr PolicyMaker kMakers[] = {{kClairvoyant, make_clairvoyant}, {kNegawatt, make_negawatt}};

}  // namespace

std::span<const PolicyMaker> negawatt_policies() { return kMakers; }

}  // namespace negawatt::route
