// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a policy as its maker reads them: NAME:KEY=VALUE,KEY=VALUE. Every key must be
// one that was asked for, no key may come twice, and numbers must lie in their range; the first
// thing that is wrong is kept and told by status(), so that reading stays a list of lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace negawatt::route {

struct Range {
  double least = 0.0;
  double most = 0.0;
};

class Parameters {
 public:
  /// Fails when `spec` is not of this form.
  static Result<Parameters> parse(std::string_view spec);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The number `key`, or `otherwise` when it is not given.
  [[nodiscard]] double number(std::string_view key, Range range, double otherwise);
  /// The text `key`, or nothing.
  [[nodiscard]] std::string_view text(std::string_view key);
  /// What is wrong with the value of `key`, unless something was wrong before.
  void refuse(std::string_view key, std::string_view expected);
  /// Fails when a value was wrong or a key was not asked for. Call it last.
  [[nodiscard]] Status status() const;

 private:
  struct Entry {
    std::string key;
    std::string value;
    bool asked = false;
  };

  std::string name_;
  std::vector<Entry> entries_;
  std::vector<std::string> asked_;
  std::string wrong_;
};

}  // namespace negawatt::route
