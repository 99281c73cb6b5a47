// SPDX-License-Identifier: Apache-2.0
//
// trace::parse_system_table on any bytes: an accepted table is one that could have been measured.
#include "trace/system_table.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "fuzz/reader.hpp"

namespace negawatt::fuzz {

bool accepts(std::string_view bytes) {
  constexpr std::string_view kFile = "fuzz.csv";
  const auto table = trace::parse_system_table(bytes, kFile);
  const auto again = trace::parse_system_table(bytes, kFile);
  require_same_outcome(table, again);
  if (!table) return refused(table.error(), kFile);

  require(!table->systems.empty(), "a table has a system");
  require(is_printable(table->evidence.source), "a source is printable");
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const auto& system : table->systems) {
    require(!system.name.empty() && is_printable(system.name) && !system.model.empty() &&
                is_printable(system.model),
            "a system and its model have printable names");
    require(names.insert({system.name, system.model}).second, "no model of a system is twice");
    require(!system.runs.empty(), "a system has a run");
    for (const auto& run : system.runs) {
      require(run.size.input_tokens > 0 && run.size.output_tokens > 0, "a size has tokens");
      require_positive(run.cost.time, run.cost.energy);
    }
  }
  const auto one = trace::systems_with_model(*table, table->systems.front().model);
  require(one && one->systems.front().name == table->systems.front().name,
          "a model that is there can be chosen");
  return true;
}

}  // namespace negawatt::fuzz
