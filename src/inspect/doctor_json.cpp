// SPDX-License-Identifier: Apache-2.0
// The findings of doctor for programs.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspect/doctor.hpp"

namespace negawatt::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const auto& finding : findings) {
    list.push_back({{"subject", finding.subject},
                    {"state", name_of(finding.state)},
                    {"found", finding.found},
                    {"action", finding.action}});
  }
  return list;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string doctor_json(const Diagnosis& diagnosis) {
  Json gpus = Json::array();
  for (const auto& gpu : diagnosis.gpus) {
    gpus.push_back({{"index", gpu.display_index},
                    {"uuid", text_or_null(gpu.uuid)},
                    {"name", text_or_null(gpu.name)},
                    {"findings", json_of(gpu.findings)}});
  }
  const Json document = {{"works", works(diagnosis)},
                         {"next_step", next_step(diagnosis)},
                         {"machine", json_of(diagnosis.machine)},
                         {"gpus", gpus}};
  // What a driver says may be no UTF-8.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace negawatt::inspect
