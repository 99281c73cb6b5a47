// SPDX-License-Identifier: Apache-2.0
//
// What every policy shares: which instances can serve a request at all, and how a choice is made
// where prompt and answer may be computed on different instances. Nothing here fails or allocates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "route/policy.hpp"

namespace negawatt::route {

enum class Stage : std::uint8_t { prompt, answer };

/// The tokens a request may come to hold, as far as is known.
[[nodiscard]] inline std::uint64_t tokens_to_hold(const Arrival& arrival, Stage stage) {
  if (stage == Stage::prompt) return std::uint64_t{arrival.input_tokens} + 1;
  return std::uint64_t{arrival.input_tokens} +
         std::max({1U, arrival.true_output_tokens, arrival.most_output_tokens});
}

/// Whether the instance may take this stage of the request: its model, its memory, its role.
[[nodiscard]] inline bool is_able(const InstanceView& view, const Arrival& arrival, Stage stage) {
  if (!view.serves_model || view.model == nullptr) return false;
  if (view.role == Role::both) return view.kv_capacity >= tokens_to_hold(arrival, Stage::answer);
  const bool right = view.role == (stage == Stage::prompt ? Role::prefill : Role::decode);
  return right && view.kv_capacity >= tokens_to_hold(arrival, stage);
}

/// Whether there is an instance of role decode that can take the answer.
[[nodiscard]] inline bool has_decoder(const Arrival& arrival, std::span<const InstanceView> views) {
  return std::any_of(views.begin(), views.end(), [&](const InstanceView& view) {
    return view.role == Role::decode && is_able(view, arrival, Stage::answer);
  });
}

/// Whether `view` is among the instances that a stage is chosen from: for the prompt those of role
/// both or prefill (these only with someone to decode), for the answer those of role decode.
[[nodiscard]] inline bool is_candidate(const InstanceView& view, const Arrival& arrival,
                                       Stage stage, bool decoder) {
  if (stage == Stage::answer && view.role != Role::decode) return false;
  if (view.role == Role::prefill && !decoder) return false;
  return is_able(view, arrival, stage);
}

/// The candidate of least score(view, index), the first of equal ones; none if there is none.
template <class Score>
[[nodiscard]] std::optional<std::size_t> least(const Arrival& arrival,
                                               std::span<const InstanceView> views, Stage stage,
                                               bool decoder, Score&& score) {
  std::optional<std::size_t> best;
  double best_score = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!is_candidate(views[i], arrival, stage, decoder)) continue;
    const double here = score(views[i], i);
    if (best && !(here < best_score)) continue;
    best = i;
    best_score = here;
  }
  return best;
}

/// Chooses an instance for the prompt by pick(stage, decoder), and one for the answer in the same
/// way if the first only computes prompts. pick returns an index among the candidates, or none.
template <class Pick>
[[nodiscard]] std::optional<Placement> place_in_stages(const Arrival& arrival,
                                                       std::span<const InstanceView> views,
                                                       Pick&& pick) {
  const bool decoder = has_decoder(arrival, views);
  const std::optional<std::size_t> first = pick(Stage::prompt, decoder);
  if (!first) return std::nullopt;
  if (views[*first].role == Role::both) return Placement{*first, *first};
  const std::optional<std::size_t> second = pick(Stage::answer, decoder);
  if (!second) return std::nullopt;
  return Placement{*first, *second};
}

/// The placement of least score(view, index) in each stage.
template <class Score>
[[nodiscard]] std::optional<Placement> place_least(const Arrival& arrival,
                                                   std::span<const InstanceView> views,
                                                   Score&& score) {
  return place_in_stages(arrival, views, [&](Stage stage, bool decoder) {
    return least(arrival, views, stage, decoder, score);
  });
}

/// Requests an instance has been given and not finished.
[[nodiscard]] inline double requests_at(const InstanceView& view) {
  return static_cast<double>(view.running) + static_cast<double>(view.waiting);
}

}  // namespace negawatt::route
