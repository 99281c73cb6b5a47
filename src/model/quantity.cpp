// SPDX-License-Identifier: Apache-2.0
#include "model/quantity.hpp"

#include <fmt/core.h>

#include <string>

namespace negawatt::model {

bool take_quantity(TomlTable& table, std::string_view key, double& value, Plausible plausible) {
  if (table.kind(key) == TomlTable::Kind::absent) return false;
  double read = plausible.least;
  table.take(key, read, {});
  if (read < plausible.least || read > plausible.most) {
    table.refuse(key, fmt::format("{:g} to {:g} {}; are units mixed up?", plausible.least,
                                  plausible.most, plausible.unit));
    return false;
  }
  value = read;
  return true;
}

void need_quantity(TomlTable& table, std::string_view key, double& value, Plausible plausible) {
  table.need(key, value, {});
  take_quantity(table, key, value, plausible);
}

void take_precision(TomlTable& table, std::string_view key, Precision& precision) {
  std::string name;
  table.take(key, name);
  if (name.empty()) return;
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    if (name == name_of(static_cast<Precision>(i))) {
      precision = static_cast<Precision>(i);
      return;
    }
  }
  table.refuse(key, "fp32, fp16, bf16, fp8 or fp4");
}

}  // namespace negawatt::model
