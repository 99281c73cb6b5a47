// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "route/output_guess.hpp"
#include "route/policy_makers.hpp"
#include "route/staged.hpp"

namespace negawatt::route {
namespace {

/// Added to the score of an instance that is not the one wanted: it comes after all that are.
constexpr double kUnwanted = 1e12;

/// Everything on the instance or the device type named; elsewhere only what it can never hold.
class AllOnOne final : public Policy {
 public:
  static constexpr std::string_view kName = "all-on-one";

  struct Target {
    std::optional<std::size_t> instance;
    std::optional<std::uint32_t> device_type;
  };

  explicit AllOnOne(Target target) : target_(target) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t i) {
      const bool wanted =
          target_.instance ? i == *target_.instance : view.device_type == target_.device_type;
      return requests_at(view) + (wanted ? 0.0 : kUnwanted);
    });
  }
  [[nodiscard]] double expected_output(const Arrival& /*arrival*/) const override { return 0.0; }
  void completed(const Completion& /*completion*/) override {}

 private:
  Target target_;
};

/// Short requests on the small device type, the others on the large one; within a type to the
/// instance with the fewest requests.
class Thresholds final : public Policy {
 public:
  static constexpr std::string_view kInput = "input-threshold";
  static constexpr std::string_view kOutput = "output-threshold";
  static constexpr std::string_view kBoth = "both-thresholds";

  struct Limits {
    std::string_view name;
    double input = 0.0;   ///< at most so many tokens go to the small type
    double output = 0.0;  ///< likewise
    std::uint32_t small = 0;
    std::uint32_t large = 0;
  };

  Thresholds(const Limits& limits, OutputGuess guess) : limits_(limits), guess_(std::move(guess)) {}

  [[nodiscard]] std::string_view name() const override { return limits_.name; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    const bool is_short =
        arrival.input_tokens <= limits_.input && guess_.tokens(arrival) <= limits_.output;
    const std::uint32_t wanted = is_short ? limits_.small : limits_.large;
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t) {
      return requests_at(view) + (view.device_type == wanted ? 0.0 : kUnwanted);
    });
  }
  [[nodiscard]] double expected_output(const Arrival& arrival) const override {
    return guess_.tokens(arrival);
  }
  void completed(const Completion& completion) override { guess_.completed(completion); }
  std::optional<double> progressed(const Progress& progress) override {
    return guess_.progressed(progress);
  }

 private:
  Limits limits_;
  OutputGuess guess_;
};

std::unique_ptr<Policy> make_all_on_one(Parameters& parameters, const MakerContext& context) {
  AllOnOne::Target target;
  target.device_type = context.device_type(parameters, "device");
  const std::string_view instance = parameters.text("instance");
  const auto& names = context.fleet.instances;
  if (!instance.empty()) {
    const auto found = std::find(names.begin(), names.end(), instance);
    if (found == names.end()) parameters.refuse("instance", "the name of an instance");
    target.instance = static_cast<std::size_t>(found - names.begin());
  }
  if (target.device_type && !instance.empty()) {
    parameters.refuse("instance", "nothing beside a device type");
  }
  if (!target.device_type && instance.empty()) {
    parameters.refuse("device", "the device type (or instance, an instance) that takes all");
  }
  return std::make_unique<AllOnOne>(target);
}

/// The small and the large type: as named, or, of two, by what an instance draws when busy.
void read_types(Parameters& parameters, const MakerContext& context, Thresholds::Limits& limits) {
  const auto small = context.device_type(parameters, "small");
  const auto large = context.device_type(parameters, "large");
  const auto& types = context.fleet.device_types;
  if ((!small || !large) && types.size() != 2) {
    return parameters.refuse(small ? "large" : "small",
                             "a device type, as there are not two of them");
  }
  const std::uint32_t less =
      types.size() == 2 && types[1].busy_power < types[0].busy_power ? 1U : 0U;
  limits.small = small.value_or(large ? 1 - *large : less);
  limits.large = large.value_or(1 - limits.small);
}

constexpr Range kTokens{0.0, 1e9};
constexpr double kPublishedThreshold = 32.0;  // arXiv 2407.00010
constexpr double kNoLimit = 1e18;

bool read_known(Parameters& parameters) {
  return parameters.number("known", {0.0, 1.0}, 0.0) > 0.5;
}

std::unique_ptr<Policy> make_input_threshold(Parameters& parameters, const MakerContext& context) {
  Thresholds::Limits limits{.name = Thresholds::kInput, .output = kNoLimit};
  limits.input = parameters.number("tokens", kTokens, kPublishedThreshold);
  read_types(parameters, context, limits);
  return std::make_unique<Thresholds>(limits, OutputGuess(1, false));
}

std::unique_ptr<Policy> make_output_threshold(Parameters& parameters, const MakerContext& context) {
  Thresholds::Limits limits{.name = Thresholds::kOutput, .input = kNoLimit};
  limits.output = parameters.number("tokens", kTokens, kPublishedThreshold);
  read_types(parameters, context, limits);
  return std::make_unique<Thresholds>(limits,
                                      OutputGuess(context.classes(), read_known(parameters)));
}

std::unique_ptr<Policy> make_both_thresholds(Parameters& parameters, const MakerContext& context) {
  Thresholds::Limits limits{.name = Thresholds::kBoth};
  limits.input = parameters.number("input", kTokens, kPublishedThreshold);
  limits.output = parameters.number("output", kTokens, kPublishedThreshold);
  read_types(parameters, context, limits);
  return std::make_unique<Thresholds>(limits,
                                      OutputGuess(context.classes(), read_known(parameters)));
}

constexpr PolicyMaker kMakers[] = {{AllOnOne::kName, make_all_on_one},
                                   {Thresholds::kInput, make_input_threshold},
                                   {Thresholds::kOutput, make_output_threshold},
                                   {Thresholds::kBoth, make_both_thresholds}};

}  // namespace

std::span<const PolicyMaker> type_policies() { return kMakers; }

}  // namespace negawatt::route
