// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "route/output_guess.hpp"
#include "route/policy_makers.hpp"
#include "route/prices.hpp"
#include "route/request_cost.hpp"
#include "route/staged.hpp"

namespace negawatt::route {
namespace {

struct Settings {
  std::string_view name;
  double lambda = 1.0;   ///< of energy; the rest is of time
  double joules = 1.0;   ///< energies are divided by it
  double seconds = 1.0;  ///< times are divided by it
  Seconds patience;      ///< for a turn, where nothing was promised; and of the prices
  double miss = 0.01;    ///< share of requests that may miss a promise
  int nodes = 1;         ///< lengths at which the expected cost is taken
  Residuals residuals = Residuals::memoryless;
};

/// What taking a request would mean for an instance.
struct Offer {
  std::size_t instance = 0;
  std::uint32_t device_type = 0;
  double cost = 0.0;  ///< lambda energy + (1 - lambda) time, without the price
  double time = 0.0;  ///< seconds of a full instance
  double late = 0.0;  ///< worst forecast / promise; above 1: a promise would be broken
  double priced = std::numeric_limits<double>::infinity();

  /// Promises first; among those kept the cost, among those broken the least break.
  [[nodiscard]] bool is_better_than(const Offer& other) const {
    const bool kept = late <= 1.0;
    const bool other_kept = other.late <= 1.0;
    if (kept != other_kept) return kept;
    return kept ? priced < other.priced : late < other.late;
  }
};

Offer no_offer() { return {.late = std::numeric_limits<double>::infinity()}; }

bool is_offer(const Offer& offer) { return std::isfinite(offer.priced); }

/// What is known of a request, looked up once a decision.
struct Demand {
  const Arrival& arrival;
  const Slo& slo;
  const LengthTable* lengths;  ///< null: the length is known, or its mean is enough
  double output_tokens;
};

/// The two halves of a disaggregated placement as one.
Offer together(const Offer& prompt, const Offer& answer) {
  Offer both = prompt;
  both.cost += answer.cost;
  both.priced += answer.priced;
  both.late = std::max(prompt.late, answer.late);
  return both;
}

/// Expected marginal energy and time, with a price for capacity and a margin for promises.
class NegawattPolicy final : public Policy {
 public:
  NegawattPolicy(const Settings& settings, const MakerContext& context, bool knows);

  [[nodiscard]] std::string_view name() const override { return settings_.name; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override;
  [[nodiscard]] double expected_output(const Arrival& arrival) const override {
    return guess_.tokens(arrival);
  }
  void completed(const Completion& completion) override;
  void progressed(const Progress& progress) override { guess_.progressed(progress); }

 private:
  /// Per device type: what is learned, and what the decision at hand has seen.
  struct Type {
    explicit Type(double miss) : first(miss), between(miss), completion(miss) {}
    Headroom first, between, completion;
    std::uint32_t instances = 0;
    double least_cost = 0.0;
    // The share of a full instance, reckoned once: instances of a type have the same limits.
    const model::ServingModel* of = nullptr;
    double time = 0.0;
  };

  [[nodiscard]] std::size_t type_of(std::uint32_t device_type) const {
    return std::min<std::size_t>(device_type, types_.size() - 1);
  }
  void look_at_fleet(std::span<const InstanceView> views);
  [[nodiscard]] Offer offer(const Demand& demand, const InstanceView& view, Stage stage);
  void add_expected_cost(const Demand& demand, const InstanceView& view, Task task,
                         Offer& offer) const;
  [[nodiscard]] double lateness(const Marginal& m, const Slo& slo, const Type& type) const;
  void settle(const Offer& chosen);

  // Constant after construction.
  Settings settings_;
  std::vector<Slo> slos_;
  double energy_weight_;  ///< cost of a joule
  double time_weight_;    ///< cost of a second
  Seconds tightest_;      ///< time between tokens that any class was promised; 0: none

  // Learned.
  OutputGuess guess_;
  CapacityPrices prices_;
  std::vector<Type> types_;
  double broken_ = 0.0;  ///< share of placements of late that no instance could have kept
};

Seconds tightest_between_tokens(const std::vector<Slo>& slos) {
  Seconds tightest;
  for (const Slo& slo : slos) {
    if (slo.time_between_tokens <= Seconds(0)) continue;
    tightest = tightest > Seconds(0) ? std::min(tightest, slo.time_between_tokens)
                                     : slo.time_between_tokens;
  }
  return tightest;
}

NegawattPolicy::NegawattPolicy(const Settings& settings, const MakerContext& context, bool knows)
    : settings_(settings),
      slos_(context.fleet.slos),
      energy_weight_(settings.lambda / settings.joules),
      time_weight_((1.0 - settings.lambda) / settings.seconds),
      tightest_(tightest_between_tokens(slos_)),
      guess_(context.classes(), knows),
      prices_(std::max<std::size_t>(1, context.fleet.device_types.size()), settings.patience),
      types_(prices_.device_types(), Type(settings.miss)) {}

void NegawattPolicy::look_at_fleet(std::span<const InstanceView> views) {
  for (Type& type : types_) {
    type.instances = 0;
    type.least_cost = std::numeric_limits<double>::infinity();
    type.of = nullptr;
  }
  for (const InstanceView& view : views) {
    // Prompts and answers of a disaggregated fleet have prices of their own kind only through
    // their device types; an instance counts for the type whatever its role.
    if (view.serves_model) ++types_[type_of(view.device_type)].instances;
  }
  for (std::size_t i = 0; i < types_.size(); ++i) prices_.set_instances(i, types_[i].instances);
}

double NegawattPolicy::lateness(const Marginal& m, const Slo& slo, const Type& type) const {
  const auto ratio = [](Seconds forecast, double factor, Seconds promise) {
    return promise > Seconds(0) ? factor * (forecast / promise) : 0.0;
  };
  const double first =
      slo.time_to_first_token > Seconds(0)
          ? ratio(m.time_to_first_token, type.first.factor(), slo.time_to_first_token)
          : m.wait / settings_.patience;
  const double between =
      std::max(ratio(m.time_between_tokens, type.between.factor(), slo.time_between_tokens),
               ratio(m.step, type.between.factor(), tightest_));
  return std::max({first, between,
                   ratio(m.time_to_completion, type.completion.factor(), slo.time_to_completion)});
}

void NegawattPolicy::add_expected_cost(const Demand& demand, const InstanceView& view, Task task,
                                       Offer& offer) const {
  const Type& type = types_[type_of(view.device_type)];
  const int nodes = demand.lengths == nullptr ? 1 : settings_.nodes;
  for (int node = 0; node < nodes; ++node) {
    if (nodes > 1) task.output_tokens = demand.lengths->quantile((node + 0.5) / nodes);
    task.output_tokens = std::max(1.0, task.output_tokens);
    const Marginal m = marginal_cost(view, task, settings_.residuals);
    const double energy = (m.energy + m.standby).in_si();
    const double time = (m.time_to_completion + m.delay).in_si();
    offer.cost += energy_weight_ * energy + time_weight_ * time;
    offer.late = std::max(offer.late, lateness(m, demand.slo, type));
  }
  if (nodes > 1) offer.cost /= nodes;
}

Offer NegawattPolicy::offer(const Demand& demand, const InstanceView& view, Stage stage) {
  Offer offer;
  offer.device_type = static_cast<std::uint32_t>(type_of(view.device_type));
  const Task task{.input_tokens = static_cast<double>(demand.arrival.input_tokens),
                  .output_tokens = demand.output_tokens,
                  .prompt = stage == Stage::prompt,
                  .answer = view.role != Role::prefill};
  add_expected_cost(demand, view, task, offer);
  // What will probably outgrow the memory is worse than any wait.
  if (task.input_tokens + task.output_tokens > static_cast<double>(view.kv_capacity)) {
    offer.late += 1e6;
  }
  Type& type = types_[offer.device_type];
  if (view.role != Role::both || type.of != view.model) {
    type.time = saturated_time(view, task, tightest_).in_si();
    type.of = view.role == Role::both ? view.model : nullptr;
  }
  offer.time = type.time;
  offer.priced = offer.cost + prices_.price(offer.device_type) * offer.time;
  if (offer.late <= 1.0) type.least_cost = std::min(type.least_cost, offer.cost);
  return offer;
}

std::optional<Placement> NegawattPolicy::place(const Arrival& arrival,
                                               std::span<const InstanceView> views) {
  prices_.advance(arrival.now);
  look_at_fleet(views);
  const bool decoder = has_decoder(arrival, views);
  const bool is_mean = settings_.nodes == 1 || guess_.knows(arrival);
  const Demand demand{arrival, MakerContext::slo_of(slos_, arrival.request_class),
                      is_mean ? nullptr : &guess_.table(arrival),
                      std::max(1.0, guess_.tokens(arrival))};
  Offer whole = no_offer();
  Offer prompt = no_offer();
  Offer answer = no_offer();
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Stage stage = views[i].role == Role::decode ? Stage::answer : Stage::prompt;
    if (!is_candidate(views[i], arrival, stage, decoder)) continue;
    Offer here = offer(demand, views[i], stage);
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

void NegawattPolicy::settle(const Offer& chosen) {
  constexpr double kFade = 1.0 / 100.0;
  broken_ += kFade * ((chosen.late > 1.0 ? 1.0 : 0.0) - broken_);
  double others = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (i != chosen.device_type) others = std::min(others, types_[i].least_cost);
  }
  const double gap = std::isfinite(others) ? others - chosen.cost : 0.0;
  prices_.charge(chosen.device_type, Seconds(chosen.time), gap);
}

void NegawattPolicy::completed(const Completion& c) {
  guess_.completed(c);
  // In overload promises are broken knowingly: that says nothing about the forecasts.
  constexpr double kOverload = 0.05;
  if (!c.finished || broken_ > kOverload || c.time_to_completion <= Seconds(0)) return;
  const Slo& slo = MakerContext::slo_of(slos_, c.request_class);
  Type& type = types_[type_of(c.device_type)];
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

/// The shortest wait that was promised to anyone, else ten seconds: as long as a person waits
/// without doing something else (Nielsen 1993).
Seconds default_patience(const FleetFacts& fleet) {
  constexpr Seconds kAttention(10.0);
  Seconds patience = kAttention;
  for (const Slo& slo : fleet.slos) {
    if (slo.time_to_first_token > Seconds(0)) {
      patience = std::min(patience, slo.time_to_first_token);
    }
  }
  return patience;
}

Settings read_settings(std::string_view name, Parameters& parameters, const MakerContext& context) {
  Settings settings{.name = name};
  settings.lambda = parameters.number("lambda", {0.0, 1.0}, settings.lambda);
  settings.joules = parameters.number("joules", {1e-9, 1e12}, settings.joules);
  settings.seconds = parameters.number("seconds", {1e-9, 1e12}, settings.seconds);
  settings.miss = parameters.number("miss", {0.0, 1.0}, settings.miss);
  settings.nodes = static_cast<int>(parameters.number("nodes", {1.0, 9.0}, settings.nodes));
  settings.patience =
      Seconds(parameters.number("patience", {1e-3, 1e9}, default_patience(context.fleet).in_si()));
  const std::string_view residuals = parameters.text("residuals");
  if (residuals == "equal") settings.residuals = Residuals::equal;
  if (!residuals.empty() && residuals != "equal" && residuals != "memoryless") {
    parameters.refuse("residuals", "equal or memoryless");
  }
  return settings;
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
