// SPDX-License-Identifier: Apache-2.0
#include "route/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.hpp"

namespace negawatt::route {

Result<Parameters> Parameters::parse(std::string_view spec) {
  Parameters parameters;
  const std::size_t colon = spec.find(':');
  parameters.name_ = spec.substr(0, colon);
  if (colon == std::string_view::npos) return parameters;
  std::string_view rest = spec.substr(colon + 1);
  while (true) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size()) {
      return failure(Code::invalid, fmt::format("policy '{}': '{}' is not of the form KEY=VALUE",
                                                printable(parameters.name_), printable(entry)));
    }
    const std::string_view key = entry.substr(0, equals);
    const auto same = [&](const Entry& other) { return other.key == key; };
    if (std::any_of(parameters.entries_.begin(), parameters.entries_.end(), same)) {
      return failure(Code::invalid, fmt::format("policy '{}': '{}' is given twice",
                                                printable(parameters.name_), printable(key)));
    }
    parameters.entries_.push_back({std::string(key), std::string(entry.substr(equals + 1))});
    if (entry.size() == rest.size()) return parameters;
    rest.remove_prefix(entry.size() + 1);
  }
}

std::string_view Parameters::text(std::string_view key) {
  asked_.emplace_back(key);
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    entry.asked = true;
    return entry.value;
  }
  return {};
}

double Parameters::number(std::string_view key, Range range, double otherwise) {
  const std::string_view value = text(key);
  if (value.empty()) return otherwise;
  double number = 0.0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= range.least &&
      number <= range.most) {
    return number;
  }
  refuse(key, fmt::format("a number from {} to {}", range.least, range.most));
  return otherwise;
}

void Parameters::refuse(std::string_view key, std::string_view expected) {
  if (!wrong_.empty()) return;
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.key == key; });
  wrong_ = entry == entries_.end()
               ? fmt::format("needs {}, {}", key, expected)
               : fmt::format("{} is '{}', expected {}", key, printable(entry->value), expected);
}

Status Parameters::status() const {
  std::string wrong = wrong_;
  for (const Entry& entry : entries_) {
    if (entry.asked || !wrong.empty()) continue;
    wrong = fmt::format("takes no '{}', but {}", printable(entry.key),
                        asked_.empty() ? "nothing" : fmt::format("{}", fmt::join(asked_, ", ")));
  }
  if (wrong.empty()) return {};
  return failure(Code::invalid, fmt::format("policy '{}': {}", printable(name_), wrong));
}

}  // namespace negawatt::route
