// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "route/moving_histogram.hpp"
#include "route/output_guess.hpp"
#include "route/policy_makers.hpp"
#include "route/request_cost.hpp"
#include "route/staged.hpp"

namespace negawatt::route {
namespace {

/// What policies have in common that expect answers as they learned them.
class Guessing : public Policy {
 public:
  Guessing(std::string_view name, OutputGuess guess) : name_(name), guess_(std::move(guess)) {}

  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] double expected_output(const Arrival& arrival) const final {
    return guess_.tokens(arrival);
  }
  void completed(const Completion& completion) final { guess_.completed(completion); }
  std::optional<double> progressed(const Progress& progress) final {
    return guess_.progressed(progress);
  }

 protected:
  /// What `view`'s instance would do of the request.
  [[nodiscard]] Task task_of(const Arrival& arrival, const InstanceView& view) const {
    return {.input_tokens = static_cast<double>(arrival.input_tokens),
            .output_tokens = std::max(1.0, guess_.tokens(arrival)),
            .prompt = view.role != Role::decode,
            .answer = view.role != Role::prefill};
  }

 private:
  std::string_view name_;
  OutputGuess guess_;
};

/// The instance that is expected to finish the request first.
class SmallestFinish final : public Guessing {
 public:
  static constexpr std::string_view kName = "smallest-finish";

  explicit SmallestFinish(OutputGuess guess) : Guessing(kName, std::move(guess)) {}

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t) {
      return marginal_cost(view, task_of(arrival, view)).time_to_completion.in_si();
    });
  }
};

/// The cost of the papers, of the request alone on each device (arXiv 2407.00010, Eq. 1); equal
/// devices share by the fewest requests. With a queue price it is the online rule of the follow-up.
class LambdaCost final : public Guessing {
 public:
  static constexpr std::string_view kName = "lambda-cost";

  struct Weights {
    double lambda = 0.5;       ///< of energy
    double joules = 1.0;       ///< energies are divided by it
    double seconds = 1.0;      ///< times are divided by it
    double queue_price = 0.0;  ///< a waiting request
  };

  LambdaCost(const Weights& weights, OutputGuess guess)
      : Guessing(kName, std::move(guess)), weights_(weights) {}

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    // Breaks ties only: far below what costs differ by.
    constexpr double kTie = 1e-9;
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t) {
      const Cost cost = isolated_cost(view, task_of(arrival, view));
      const double price = weights_.lambda * cost.energy.in_si() / weights_.joules +
                           (1.0 - weights_.lambda) * cost.time.in_si() / weights_.seconds;
      return price * (1.0 + kTie * requests_at(view)) + weights_.queue_price * view.waiting;
    });
  }

 private:
  Weights weights_;
};

/// Least tokens in flight, where an answer counts as 1.5 prompts (the in-flight load of llm-d).
class GuessedLoad final : public Policy {
 public:
  static constexpr std::string_view kName = "guessed-load";

  explicit GuessedLoad(double factor) : factor_(factor) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_least(arrival, views, [](const InstanceView& view, std::size_t) {
      return static_cast<double>(view.waiting_prompt) + view.expected_output_left;
    });
  }
  [[nodiscard]] double expected_output(const Arrival& arrival) const override {
    return factor_ * arrival.input_tokens;
  }
  void completed(const Completion& /*completion*/) override {}

 private:
  double factor_;
};

/// The most loaded instance that still keeps the promises (PolyServe, arXiv 2507.17769), so that
/// the others empty and may sleep; the earliest to finish if none does.
class Consolidation final : public Guessing {
 public:
  static constexpr std::string_view kName = "consolidation";

  Consolidation(std::vector<Slo> slos, OutputGuess guess)
      : Guessing(kName, std::move(guess)), slos_(std::move(slos)) {}

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    constexpr double kLate = 1e12;
    const Slo& slo = MakerContext::slo_of(slos_, arrival.request_class);
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t) {
      const Marginal m = marginal_cost(view, task_of(arrival, view));
      return keeps(view, m, slo) ? -load_of(view) : kLate + m.time_to_completion.in_si();
    });
  }

 private:
  /// Of the batch or of the memory, whichever is fuller.
  [[nodiscard]] static double load_of(const InstanceView& view) {
    const double batch = view.most_sequences == 0 ? 0.0 : requests_at(view) / view.most_sequences;
    const double memory = static_cast<double>(view.kv_used + view.waiting_prompt) /
                          static_cast<double>(view.kv_capacity);
    // An instance that is on comes before one that would have to be woken.
    return std::max(batch, memory) - (view.ready ? 0.0 : 1.0);
  }
  [[nodiscard]] static bool keeps(const InstanceView& view, const Marginal& m, const Slo& slo) {
    const auto within = [](Seconds time, Seconds limit) {
      return limit == Seconds(0) || time <= limit;
    };
    const bool full =
        view.waiting > 0 && view.most_sequences > 0 && view.running >= view.most_sequences;
    return !full && within(m.time_to_first_token, slo.time_to_first_token) &&
           within(m.time_between_tokens, slo.time_between_tokens) &&
           within(m.time_to_completion, slo.time_to_completion);
  }

  std::vector<Slo> slos_;
};

/// Profile tables by device type over size classes of prompt and answer, as in AIBrix: the time of
/// a request and the share of a full instance that it takes. The least loaded instance by the
/// latter, of those whose time keeps the promise. Answers are drawn from the moving histogram.
class ProfileTable final : public Policy {
 public:
  static constexpr std::string_view kName = "profile-table";

  ProfileTable(std::size_t device_types, std::vector<Slo> slos, std::uint64_t seed)
      : profiles_(device_types), slos_(std::move(slos)), histogram_(seed) {}

  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    constexpr double kLate = 1e12;
    drawn_ = histogram_.predict(arrival.now, arrival.input_tokens);
    const Slo& slo = MakerContext::slo_of(slos_, arrival.request_class);
    return place_least(arrival, views, [&](const InstanceView& view, std::size_t) {
      const Cell cell = cell_of(view, arrival.input_tokens, drawn_);
      const bool late =
          slo.time_to_completion > Seconds(0) && cell.time > slo.time_to_completion.in_si();
      return (requests_at(view) + 1.0) * cell.share + (late ? kLate : 0.0);
    });
  }
  /// Of the request that was placed last: a draw is made once.
  [[nodiscard]] double expected_output(const Arrival& /*arrival*/) const override { return drawn_; }
  void completed(const Completion& c) override {
    if (c.finished) histogram_.add(c.now, c.input_tokens, c.output_tokens);
  }

 private:
  static constexpr std::size_t kSizes = MovingHistogram::kSizes;

  struct Cell {
    double time = 0.0;   ///< seconds, alone
    double share = 0.0;  ///< seconds of a full instance
  };
  struct Profile {
    const model::ServingModel* of = nullptr;
    std::array<Cell, kSizes * kSizes> cells;
  };

  [[nodiscard]] Cell cell_of(const InstanceView& view, double input, double output) {
    const std::size_t i =
        MovingHistogram::size_of(input) * kSizes + MovingHistogram::size_of(output);
    if (view.device_type >= profiles_.size()) return make_cell(view, i);
    Profile& profile = profiles_[view.device_type];
    if (profile.of != view.model) {
      profile.of = view.model;
      for (std::size_t k = 0; k < profile.cells.size(); ++k) profile.cells[k] = make_cell(view, k);
    }
    return profile.cells[i];
  }
  [[nodiscard]] static Cell make_cell(const InstanceView& view, std::size_t i) {
    const auto power_of_2 = [](std::size_t k) { return std::ldexp(1.0, static_cast<int>(k)); };
    const Task task{.input_tokens = power_of_2(i / kSizes),
                    .output_tokens = power_of_2(i % kSizes)};
    return {isolated_cost(view, task).time.in_si(), saturated_time(view, task, Seconds(0)).in_si()};
  }

  std::vector<Profile> profiles_;
  std::vector<Slo> slos_;
  MovingHistogram histogram_;
  std::uint32_t drawn_ = 1;
};

OutputGuess read_guess(Parameters& parameters, const MakerContext& context) {
  return {context.classes(), parameters.number("known", {0.0, 1.0}, 0.0) > 0.5};
}

std::unique_ptr<Policy> make_smallest_finish(Parameters& parameters, const MakerContext& context) {
  return std::make_unique<SmallestFinish>(read_guess(parameters, context));
}

std::unique_ptr<Policy> make_lambda_cost(Parameters& parameters, const MakerContext& context) {
  LambdaCost::Weights weights;
  weights.lambda = parameters.number("lambda", {0.0, 1.0}, weights.lambda);
  weights.joules = parameters.number("joules", {1e-9, 1e12}, weights.joules);
  weights.seconds = parameters.number("seconds", {1e-9, 1e12}, weights.seconds);
  weights.queue_price = parameters.number("queue", {0.0, 1e12}, weights.queue_price);
  return std::make_unique<LambdaCost>(weights, read_guess(parameters, context));
}

std::unique_ptr<Policy> make_profile_table(Parameters& /*parameters*/,
                                           const MakerContext& context) {
  return std::make_unique<ProfileTable>(context.fleet.device_types.size(), context.fleet.slos,
                                        context.seed);
}

std::unique_ptr<Policy> make_guessed_load(Parameters& parameters, const MakerContext& /*context*/) {
  constexpr double kOfLlmD = 1.5;
  return std::make_unique<GuessedLoad>(parameters.number("factor", {0.0, 1e6}, kOfLlmD));
}

std::unique_ptr<Policy> make_consolidation(Parameters& parameters, const MakerContext& context) {
  return std::make_unique<Consolidation>(context.fleet.slos, read_guess(parameters, context));
}

constexpr PolicyMaker kMakers[] = {{SmallestFinish::kName, make_smallest_finish},
                                   {LambdaCost::kName, make_lambda_cost},
                                   {ProfileTable::kName, make_profile_table},
                                   {GuessedLoad::kName, make_guessed_load},
                                   {Consolidation::kName, make_consolidation}};

}  // namespace

std::span<const PolicyMaker> cost_policies() { return kMakers; }

}  // namespace negawatt::route
