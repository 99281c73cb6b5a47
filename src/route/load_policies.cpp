// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "route/policy_makers.hpp"
#include "route/staged.hpp"
#include "trace/random.hpp"

namespace negawatt::route {
namespace {

/// What policies have in common that neither expect nor learn.
template <class Derived>
class Blind : public Policy {
 public:
  [[nodiscard]] std::string_view name() const final { return Derived::kName; }
  [[nodiscard]] double expected_output(const Arrival& /*arrival*/) const final { return 0.0; }
  void completed(const Completion& /*completion*/) final {}
};

/// Each candidate in turn.
class RoundRobin final : public Blind<RoundRobin> {
 public:
  static constexpr std::string_view kName = "round-robin";

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_in_stages(arrival, views, [&](Stage stage, bool decoder) {
      std::size_t& next = next_[stage == Stage::prompt ? 0 : 1];
      const std::size_t count = views.size();
      const auto turns = [&](const InstanceView&, std::size_t i) {
        return static_cast<double>(i >= next ? i - next : i + count - next);
      };
      const auto chosen = least(arrival, views, stage, decoder, turns);
      if (chosen) next = (*chosen + 1) % count;
      return chosen;
    });
  }

 private:
  std::array<std::size_t, 2> next_{};  ///< for the prompt and for the answer
};

/// Draws candidates without counting on their order in memory.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  /// One of the candidates but `other`, each as likely; none if there is none.
  [[nodiscard]] std::optional<std::size_t> operator()(
      const Arrival& arrival, std::span<const InstanceView> views, Stage stage, bool decoder,
      std::optional<std::size_t> other = std::nullopt) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (i != other && is_candidate(views[i], arrival, stage, decoder)) ++count;
    }
    if (count == 0) return std::nullopt;
    std::uint64_t skip = random_.below(count);
    std::size_t i = 0;
    while (i == other || !is_candidate(views[i], arrival, stage, decoder) || skip-- > 0) ++i;
    return i;
  }

 private:
  trace::Random random_;
};

/// Any candidate.
class RandomChoice final : public Blind<RandomChoice> {
 public:
  static constexpr std::string_view kName = "random";

  explicit RandomChoice(std::uint64_t seed) : draw_(seed) {}

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_in_stages(arrival, views, [&](Stage stage, bool decoder) {
      return draw_(arrival, views, stage, decoder);
    });
  }

 private:
  Draw draw_;
};

/// The candidate with the fewest requests.
class LeastConnections final : public Blind<LeastConnections> {
 public:
  static constexpr std::string_view kName = "least-connections";

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_least(arrival, views,
                       [](const InstanceView& view, std::size_t) { return requests_at(view); });
  }
};

/// Of two candidates drawn at random the one with fewer requests (Mitzenmacher 2001).
class PowerOfTwo final : public Blind<PowerOfTwo> {
 public:
  static constexpr std::string_view kName = "power-of-two";

  explicit PowerOfTwo(std::uint64_t seed) : draw_(seed) {}

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    return place_in_stages(arrival, views, [&](Stage stage, bool decoder) {
      const auto one = draw_(arrival, views, stage, decoder);
      const auto two = one ? draw_(arrival, views, stage, decoder, one) : std::nullopt;
      return two && requests_at(views[*two]) < requests_at(views[*one]) ? two : one;
    });
  }

 private:
  Draw draw_;
};

/// Least requests by completions of late, the decode score of AIBrix.
class DrainRate final : public Blind<DrainRate> {
 public:
  static constexpr std::string_view kName = "drain-rate";

  [[nodiscard]] std::optional<Placement> place(const Arrival& arrival,
                                               std::span<const InstanceView> views) override {
    // Nothing completed in the last minute: less than one a minute.
    static constexpr double kLeastRate = 1.0 / 60.0;
    return place_least(arrival, views, [](const InstanceView& view, std::size_t) {
      return requests_at(view) / std::max(kLeastRate, view.completions_per_second);
    });
  }
};

template <class P>
std::unique_ptr<Policy> make(Parameters& /*parameters*/, const MakerContext& /*context*/) {
  return std::make_unique<P>();
}

template <class P>
std::unique_ptr<Policy> make_seeded(Parameters& /*parameters*/, const MakerContext& context) {
  return std::make_unique<P>(context.seed);
}

constexpr PolicyMaker kMakers[] = {{RoundRobin::kName, make<RoundRobin>},
                                   {RandomChoice::kName, make_seeded<RandomChoice>},
                                   {LeastConnections::kName, make<LeastConnections>},
                                   {PowerOfTwo::kName, make_seeded<PowerOfTwo>},
                                   {DrainRate::kName, make<DrainRate>}};

}  // namespace

std::span<const PolicyMaker> load_policies() { return kMakers; }

}  // namespace negawatt::route
