// SPDX-License-Identifier: Apache-2.0
#include "govern/json_reader.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace negawatt::govern {
namespace {

using Json = nlohmann::json;

/// JsonValue hides the library's type from the header.
const Json& json_of(const void* json) { return *static_cast<const Json*>(json); }

}  // namespace

struct JsonReader::Document {
  Json root;
};

JsonReader::JsonReader(std::string_view bytes, JsonSource source)
    : document_(std::make_unique<const Document>(Document{Json::parse(bytes, nullptr, false)})),
      source_(source) {
  if (document_->root.is_discarded())
    refuse(fmt::format("not JSON; expected the output of '{}'", source_.command));
}

JsonReader::~JsonReader() = default;

tl::unexpected<Error> JsonReader::error() const {
  return failure(Code::invalid, fmt::format("{}: {}", source_.file, error_.value_or("")));
}

void JsonReader::refuse(std::string what) {
  if (!error_) error_ = std::move(what);
}

JsonValue JsonReader::root() const { return JsonValue(&document_->root); }

std::optional<JsonValue> JsonReader::find(JsonValue object, const char* key) const {
  const auto& json = json_of(object.json_);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  return JsonValue(&*found);
}

JsonValue JsonReader::member(JsonValue object, const char* key) {
  static const Json kNull;
  if (const auto found = find(object, key)) return *found;
  refuse(fmt::format("no '{}'; expected the JSON of '{}' of this version", key, source_.command));
  return JsonValue(&kNull);
}

std::vector<JsonValue> JsonReader::list(JsonValue object, const char* key) {
  const auto& json = json_of(member(object, key).json_);
  std::vector<JsonValue> values;
  if (failed()) return values;
  if (!json.is_array()) {
    refuse(fmt::format("'{}' is no list", key));
    return values;
  }
  values.reserve(json.size());
  for (const auto& value : json) values.push_back(JsonValue(&value));
  return values;
}

double JsonReader::number(JsonValue object, const char* key) {
  return number_of(member(object, key), key);
}

double JsonReader::number_of(JsonValue value, const char* key) {
  if (failed()) return 0.0;
  const auto& json = json_of(value.json_);
  if (json.is_number())
    if (const auto read = json.get<double>(); std::isfinite(read) && read >= 0.0) return read;
  refuse(fmt::format("'{}' is no number of 0 or more", key));
  return 0.0;
}

double JsonReader::positive(JsonValue object, const char* key) {
  const double read = number(object, key);
  if (!failed() && read <= 0.0) refuse(fmt::format("'{}' is 0, expected more", key));
  return read;
}

std::uint32_t JsonReader::whole(JsonValue object, const char* key) {
  return whole_of(member(object, key), key);
}

std::uint32_t JsonReader::whole_of(JsonValue value, const char* key) {
  if (failed()) return 0;
  const auto& json = json_of(value.json_);
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  if (json.is_number_unsigned() && json.get<std::uint64_t>() <= kMost)
    return json.get<std::uint32_t>();
  refuse(fmt::format("'{}' is no whole number", key));
  return 0;
}

std::uint64_t JsonReader::count(JsonValue object, const char* key) {
  const auto& json = json_of(member(object, key).json_);
  if (failed()) return 0;
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  refuse(fmt::format("'{}' is no whole number", key));
  return 0;
}

bool JsonReader::flag(JsonValue object, const char* key) {
  const auto& json = json_of(member(object, key).json_);
  if (failed()) return false;
  if (json.is_boolean()) return json.get<bool>();
  refuse(fmt::format("'{}' is neither true nor false", key));
  return false;
}

std::string JsonReader::text(JsonValue object, const char* key) {
  return text_of(member(object, key), key);
}

std::string JsonReader::text_of(JsonValue value, const char* key) {
  if (failed()) return {};
  const auto& json = json_of(value.json_);
  if (json.is_string()) return json.get<std::string>();
  refuse(fmt::format("'{}' is no text", key));
  return {};
}

trace::Clock JsonReader::clock(JsonValue object, const char* key) {
  const auto value = member(object, key);
  if (failed() || json_of(value.json_) == "auto") return trace::Clock::automatic();
  const auto mhz = whole_of(value, key);
  if (!failed() && mhz == 0) refuse(fmt::format("'{}' is 0, expected MHz or \"auto\"", key));
  return mhz == 0 ? trace::Clock::automatic() : trace::Clock::locked_mhz(mhz);
}

trace::ClockPair JsonReader::clocks(JsonValue object) {
  return {clock(object, "core_mhz"), clock(object, "memory_mhz")};
}

Cost JsonReader::cost(JsonValue object) {
  return {Seconds(number(object, "time_s")), Joules(number(object, "energy_j"))};
}

Cost JsonReader::positive_cost(JsonValue object, const char* name) {
  const auto read = cost(object);
  if (!failed() && (read.time <= Seconds() || read.energy <= Joules()))
    refuse(fmt::format("'{}' takes no time or no energy", name));
  return read;
}

EvidenceKind JsonReader::evidence(JsonValue object, const char* key) const {
  const auto found = find(object, key);
  if (!found) return EvidenceKind::unstated;
  const auto& json = json_of(found->json_);
  if (!json.is_string()) return EvidenceKind::unstated;
  return evidence_kind_named(json.get_ref<const std::string&>()).value_or(EvidenceKind::unstated);
}

}  // namespace negawatt::govern
