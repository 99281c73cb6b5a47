// SPDX-License-Identifier: Apache-2.0
#include "core/toml_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/nearest_name.hpp"
#include "core/text.hpp"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// toml++ asserts of bad input what it then refuses.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace negawatt {
namespace {

/// What all documents that one reading joins have in common.
struct Shared {
  Status status;
  bool only_missing = false;  ///< the error is that a key is missing
};

/// One layer: a table of a document, and where to say that something is wrong with it.
struct Layer {
  const toml::table* table = nullptr;
  std::string file;
};

/// A message of the TOML library as one printable line.
std::string one_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    line += byte >= 0x20 && byte < 0x7F ? std::string(1, text[i]) : fmt::format("\\x{:02x}", byte);
  }
  return line;
}

std::string expected_number(NumberRange range, bool whole) {
  const std::string_view what = whole ? "a whole number" : "a number";
  if (range.most >= std::numeric_limits<double>::max())
    return fmt::format("{} of at least {}", what, range.least);
  return fmt::format("{} from {} to {}", what, range.least, range.most);
}

/// A value as messages show it.
std::string found_value(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("'{}'", printable(text->get()));
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  return node.is_table() ? "a table" : "a date or time";
}

}  // namespace

struct TomlDocument::Content {
  toml::table table;
  std::string file;
};

struct TomlTable::Layers {
  std::vector<Layer> layers;  ///< the highest first
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::vector<std::string> known;
  std::string path;  ///< of the table, with a dot behind it, for messages

  struct Found {
    const toml::node* node = nullptr;
    const Layer* layer = nullptr;
  };
  Found find(std::string_view key) {
    if (std::ranges::find(known, key) == known.end()) known.emplace_back(key);
    for (const auto& layer : layers)
      if (const auto* node = layer.table->get(key)) return {node, &layer};
    return {};
  }
  void fail(const Layer& layer, toml::source_index line, std::string_view what) const {
    if (shared->status)
      shared->status =
          failure(Code::invalid, fmt::format("{}:{}: {}", layer.file, std::max(line, 1U), what));
  }
  void fail(const Found& found, std::string_view key, std::string_view expected) const {
    fail(*found.layer, found.node->source().begin.line,
         fmt::format("'{}{}' is {}, expected {}", path, printable(key), found_value(*found.node),
                     expected));
  }
  /// Of an element of a list.
  void fail(const Found& found, const toml::node& element, std::string_view key,
            std::string_view expected) const {
    fail(*found.layer, element.source().begin.line,
         fmt::format("'{}{}' has {}, expected {}", path, printable(key), found_value(element),
                     expected));
  }
  void missing(std::string_view key) const {
    const auto& layer = layers.front();
    if (shared->status) shared->only_missing = true;
    fail(layer, layer.table->source().begin.line, fmt::format("'{}{}' is missing", path, key));
  }
};

void TomlTable::take(std::string_view key, double& value, NumberRange range) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto number = found.node->value<double>();
  if (!number || !std::isfinite(*number) || *number < range.least || *number > range.most)
    return layers_->fail(found, key, expected_number(range, false));
  value = *number;
}

void TomlTable::need(std::string_view key, double& value, NumberRange range) {
  if (layers_->find(key).node == nullptr) return layers_->missing(key);
  take(key, value, range);
}

void TomlTable::take(std::string_view key, std::uint32_t& value, NumberRange range) {
  range.most = std::min<double>(range.most, std::numeric_limits<std::uint32_t>::max());
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto* whole = found.node->as_integer();
  const auto number = whole == nullptr ? -1.0 : static_cast<double>(whole->get());
  if (whole == nullptr || number < range.least || number > range.most)
    return layers_->fail(found, key, expected_number(range, true));
  value = static_cast<std::uint32_t>(whole->get());
}

void TomlTable::need(std::string_view key, std::uint32_t& value, NumberRange range) {
  if (layers_->find(key).node == nullptr) return layers_->missing(key);
  take(key, value, range);
}

void TomlTable::take(std::string_view key, std::string& value, EmptyText empty) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto* text = found.node->as_string();
  const bool is_missing = text == nullptr || (text->get().empty() && empty == EmptyText::refused);
  if (is_missing || !is_printable(text->get())) return layers_->fail(found, key, "printable text");
  value = text->get();
}

void TomlTable::need(std::string_view key, std::string& value) {
  if (layers_->find(key).node == nullptr) return layers_->missing(key);
  take(key, value);
}

void TomlTable::take(std::string_view key, bool& value) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto* boolean = found.node->as_boolean();
  if (boolean == nullptr) return layers_->fail(found, key, "true or false");
  value = boolean->get();
}

void TomlTable::take(std::string_view key, std::vector<double>& values, NumberRange range) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto* array = found.node->as_array();
  if (array == nullptr) return layers_->fail(found, key, "a list of numbers");
  values.clear();
  for (const auto& element : *array) {
    const auto number = element.value<double>();
    if (!number || !std::isfinite(*number) || *number < range.least || *number > range.most)
      return layers_->fail(found, element, key, expected_number(range, false));
    values.push_back(*number);
  }
}

void TomlTable::take(std::string_view key, std::vector<std::string>& values) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return;
  const auto* array = found.node->as_array();
  if (array == nullptr) return layers_->fail(found, key, "a list of texts");
  values.clear();
  for (const auto& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr || !is_printable(text->get()))
      return layers_->fail(found, element, key, "printable text");
    values.push_back(text->get());
  }
}

TomlTable::Kind TomlTable::kind(std::string_view key) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return Kind::absent;
  if (found.node->is_string()) return Kind::text;
  if (found.node->is_number()) return Kind::number;
  return found.node->is_table() ? Kind::table : Kind::other;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> keys;
  for (const auto& layer : layers_->layers)
    for (const auto& [key, node] : *layer.table)
      if (std::ranges::find(keys, key.str()) == keys.end()) keys.emplace_back(key.str());
  return keys;
}

TomlTable TomlTable::table(std::string_view key) {
  layers_->find(key);  // known from now on
  auto inner = std::make_shared<Layers>();
  inner->shared = layers_->shared;
  inner->path = fmt::format("{}{}.", layers_->path, printable(key));
  static const toml::table kEmpty;
  for (const auto& layer : layers_->layers) {
    const auto* node = layer.table->get(key);
    if (node == nullptr) continue;
    if (!node->is_table()) {
      if (inner->layers.empty()) layers_->fail({node, &layer}, key, "a table");
      break;  // hidden, with all below it
    }
    inner->layers.push_back({node->as_table(), layer.file});
  }
  if (inner->layers.empty()) inner->layers.push_back({&kEmpty, layers_->layers.front().file});
  return TomlTable(std::move(inner));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  const auto found = layers_->find(key);
  std::vector<TomlTable> all;
  if (found.node == nullptr) return all;
  const auto* array = found.node->as_array();
  const bool of_tables =
      array != nullptr &&
      std::ranges::all_of(*array, [](const toml::node& node) { return node.is_table(); });
  if (!of_tables) {
    layers_->fail(found, key, "a list of tables");
    return all;
  }
  for (const auto& element : *array) {
    auto inner = std::make_shared<Layers>();
    inner->shared = layers_->shared;
    inner->path = fmt::format("{}{}.", layers_->path, key);
    inner->layers.push_back({element.as_table(), found.layer->file});
    all.push_back(TomlTable(std::move(inner)));
  }
  return all;
}

TomlTable TomlTable::over(const TomlTable& below) const {
  auto joined = std::make_shared<Layers>(*layers_);
  const auto& lower = below.layers_->layers;
  joined->layers.insert(joined->layers.end(), lower.begin(), lower.end());
  return TomlTable(std::move(joined));
}

void TomlTable::refuse(std::string_view key, std::string_view expected) {
  const auto found = layers_->find(key);
  if (found.node == nullptr) return layers_->missing(key);
  layers_->fail(found, key, expected);
}

void TomlTable::refuse_table(std::string_view what) {
  const auto& layer = layers_->layers.front();
  const auto path = std::string_view(layers_->path);
  layers_->fail(layer, layer.table->source().begin.line,
                fmt::format("'{}': {}", path.substr(0, path.find_last_not_of('.') + 1), what));
}

void TomlTable::finish() {
  const auto& known = layers_->known;
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& layer : layers_->layers) {
    for (const auto& [key, node] : *layer.table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      // A key that is missing is often one that is misspelt: say the latter.
      if (std::exchange(layers_->shared->only_missing, false)) layers_->shared->status = {};
      const auto nearest = nearest_name(key.str(), names);
      const auto suggestion =
          nearest.empty() ? std::string() : fmt::format(", is '{}' meant?", nearest);
      layers_->fail(
          layer, key.source().begin.line,
          fmt::format("'{}{}' is not known{}", layers_->path, printable(key.str()), suggestion));
    }
  }
}

const Status& TomlTable::status() const { return layers_->shared->status; }

Result<TomlDocument> TomlDocument::parse(std::string_view bytes, std::string_view file) {
  // toml++ 3.3 runs into undefined behaviour on some characters (is_non_ascii_horizontal_whitespace
  // has code points that no case of its switch covers; found by fuzzing). ASCII is enough here.
  if (const auto line = line_beyond_ascii(bytes))
    return failure(Code::invalid, fmt::format("{}:{}: expected plain ASCII", file, *line));
  auto parsed = toml::parse(bytes);
  if (!parsed) {
    const auto& error = parsed.error();
    return failure(Code::invalid,
                   fmt::format("{}:{}: {}", file, std::max(error.source().begin.line, 1U),
                               one_line(error.description())));
  }
  auto content = std::make_shared<Content>();
  content->table = std::move(parsed).table();
  content->file = file;
  return TomlDocument(std::move(content));
}

TomlTable TomlDocument::root() const {
  auto layers = std::make_shared<TomlTable::Layers>();
  layers->layers.push_back({&content_->table, content_->file});
  return TomlTable(std::move(layers));
}

}  // namespace negawatt
