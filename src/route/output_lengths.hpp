// SPDX-License-Identifier: Apache-2.0
//
// How long answers are, learned online for each class of requests and each input size (by powers of
// two). Requests that still run, or were cancelled, count as what they are: answers of at least so
// many tokens (right-censored observations).
//
// The estimate is the posterior mean of a beta-Stacy process over the bins of a grid (Walker and
// Muliere 1997): the hazard of bin j is (prior_j + ended_j) / (prior_{>=j} + at_risk_j). Without a
// prior it is the product-limit estimate of Kaplan and Meier (1958), in bins wider than one token
// the actuarial one; without censoring it is the empirical distribution. The prior of an input size
// is the estimate of its class; that of a class is a log-normal with median 100.
//
// Memory is fixed at construction; an observation costs O(1), and the tables that answer questions
// are made anew once for every sixteenth part of the observations. Nothing here fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace negawatt::route {

/// The grid of lengths: one bin a token up to 31, then sixteen bins an octave up to 2^20 tokens.
struct LengthGrid {
  static constexpr std::uint32_t kMost = 1U << 20U;
  static constexpr std::size_t kBins = 32 + 15 * 16 + 1;

  [[nodiscard]] static std::size_t bin_of(std::uint32_t tokens);
  /// The least length in `bin`.
  [[nodiscard]] static std::uint32_t first_of(std::size_t bin);
  /// How many lengths there are in `bin`.
  [[nodiscard]] static std::uint32_t width_of(std::size_t bin);
};

/// A distribution of lengths, as tables over the grid. Lengths are spread evenly within a bin.
class LengthTable {
 public:
  LengthTable();
  /// From the probability of each bin; they add up to 1.
  explicit LengthTable(std::span<const double, LengthGrid::kBins> probability);

  [[nodiscard]] double mean() const { return tail_mean_[0]; }
  /// The expected length of an answer that has `produced` tokens and goes on.
  [[nodiscard]] double mean_above(std::uint32_t produced) const;
  /// Share of answers of `tokens` or more.
  [[nodiscard]] double share_from(std::uint32_t tokens) const;
  /// The least length that a share of `probability` does not exceed; 0 < probability <= 1.
  [[nodiscard]] std::uint32_t quantile(double probability) const;
  [[nodiscard]] double probability_of(std::size_t bin) const {
    return survival_[bin] - survival_[bin + 1];
  }

 private:
  std::array<double, LengthGrid::kBins + 1> survival_{};   ///< share in this bin or above
  std::array<double, LengthGrid::kBins + 1> tail_mean_{};  ///< sum of length x share, likewise
};

/// The observations of one distribution, and its estimate.
class LengthEstimate {
 public:
  /// An ended answer counts for half as much after `half_life` more of them; 0: for ever the same.
  explicit LengthEstimate(double half_life = 0);

  void ended(std::uint32_t tokens);
  /// It would have gone on: only that it is longer is known.
  void cancelled(std::uint32_t tokens);
  /// A running answer moves on from `from` tokens, 0 if it is new, to `to`, 0 if it ends.
  void moved(std::uint32_t from, std::uint32_t to);

  /// Whether so much was seen since the table was made that it should be made again.
  [[nodiscard]] bool is_stale() const;
  [[nodiscard]] bool is_empty() const { return observed_ == 0; }
  /// Makes the table; the shares of `prior` count as `prior_weight` ended answers.
  void refresh(const LengthTable& prior, double prior_weight);
  [[nodiscard]] const LengthTable& table() const { return table_; }

 private:
  void observe(std::array<double, LengthGrid::kBins>& counts, std::uint32_t tokens);

  // In units of weight_, the weight of an answer that ends now, but for running_.
  std::array<double, LengthGrid::kBins> ended_{};
  std::array<double, LengthGrid::kBins> cancelled_{};
  std::array<double, LengthGrid::kBins> running_{};
  double weight_ = 1.0;
  double growth_;  ///< of weight_, an observation
  double memory_;  ///< about as many observations count
  std::uint64_t observed_ = 0;
  std::uint64_t unseen_ = 1;
  LengthTable table_;
};

/// Estimates by class and input size. Classes beyond the number given share the last one.
class OutputLengths {
 public:
  struct Key {
    std::uint32_t input_tokens = 0;
    std::uint16_t request_class = 0;
  };

  /// How far an answer has come, and how far it had when it was last told of.
  struct Reached {
    std::uint32_t tokens = 0;
    std::uint32_t before = 0;  ///< 0: it was never told of
  };

  explicit OutputLengths(std::size_t classes = 1, double half_life = 0);

  void ended(Key key, Reached reached);
  void cancelled(Key key, Reached reached);
  void progressed(Key key, Reached reached);
  [[nodiscard]] const LengthTable& of(Key key) const;

 private:
  static constexpr std::size_t kSizes = 24;

  struct OfClass {
    explicit OfClass(double half_life);
    LengthEstimate all;
    std::vector<LengthEstimate> by_size;
  };

  [[nodiscard]] std::size_t class_of(Key key) const;
  [[nodiscard]] static std::size_t size_of(Key key);
  /// The estimates of its class and, within that, of its input size.
  [[nodiscard]] std::array<LengthEstimate*, 2> both_of(Key key);
  void refresh(Key key);

  std::vector<OfClass> classes_;
  LengthTable prior_;
};

}  // namespace negawatt::route
