// SPDX-License-Identifier: Apache-2.0
//
// How many tokens a policy takes an answer to have: what it learned (the mean), or the truth where
// a study lets it know. Nothing here fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "route/output_lengths.hpp"
#include "route/policy.hpp"

namespace negawatt::route {

class OutputGuess {
 public:
  OutputGuess(std::size_t classes, bool knows) : lengths_(classes), knows_(knows) {}

  /// Whether it takes the truth for this request.
  [[nodiscard]] bool knows(const Arrival& arrival) const {
    return knows_ && arrival.true_output_tokens > 0;
  }
  [[nodiscard]] double tokens(const Arrival& arrival) const {
    if (knows(arrival)) return arrival.true_output_tokens;
    const double mean = table(arrival).mean();
    return arrival.most_output_tokens > 0 ? std::min<double>(mean, arrival.most_output_tokens)
                                          : mean;
  }
  [[nodiscard]] const LengthTable& table(const Arrival& arrival) const {
    return lengths_.of({arrival.input_tokens, arrival.request_class});
  }

  void completed(const Completion& c) {
    const OutputLengths::Key key{c.input_tokens, c.request_class};
    if (c.finished) {
      lengths_.ended(key, {c.output_tokens, c.tokens_before});
    } else {
      lengths_.cancelled(key, {c.output_tokens, c.tokens_before});
    }
  }
  /// What is expected of it now; none: the truth was known.
  std::optional<double> progressed(const Progress& p) {
    const OutputLengths::Key key{p.input_tokens, p.request_class};
    lengths_.progressed(key, {.tokens = p.tokens_now, .before = p.tokens_before});
    return knows_ ? std::nullopt : std::optional(lengths_.of(key).mean_above(p.tokens_now));
  }

 private:
  OutputLengths lengths_;
  bool knows_;
};

}  // namespace negawatt::route
