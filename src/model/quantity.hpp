// SPDX-License-Identifier: Apache-2.0
//
// Reading a physical quantity whose unit stands in its key: what is far from anything that exists
// (a thousand times off, as when units are mixed up) is refused with a message that says so.
#pragma once

#include <string_view>

#include "core/toml_reader.hpp"
#include "model/architecture.hpp"

namespace negawatt::model {

/// What such a quantity may be, both ends included, and the unit of its key.
struct Plausible {
  double least = 0;
  double most = 0;
  std::string_view unit;
};

/// Reads `key` into `value`, in the key's unit; false, and `value` as it was, when it is absent.
bool take_quantity(TomlTable& table, std::string_view key, double& value, Plausible plausible);
void need_quantity(TomlTable& table, std::string_view key, double& value, Plausible plausible);

/// Reads the name of a precision, as "bf16".
void take_precision(TomlTable& table, std::string_view key, Precision& precision);

}  // namespace negawatt::model
