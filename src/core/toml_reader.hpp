// SPDX-License-Identifier: Apache-2.0
//
// Reads a TOML document key by key: each key that is asked for is known, and a key that nobody
// asked for is an error which names the nearest known one. The first error is kept, with file, line
// and what was found, and everything after it is of no use; so reading code is a flat list of keys,
// and one check ends it. Only a key that is not known comes before one that is missing. A table may
// lie over others: what it lacks is looked up below.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace negawatt {

/// Both ends belong to it.
struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

enum class EmptyText : std::uint8_t { refused, allowed };

class TomlDocument;

/// A table of a document, or several over each other. Valid as long as their documents.
class TomlTable {
 public:
  // Each reads a key into `value`. `need` fails when the key is absent, `take` leaves the value.
  void need(std::string_view key, double& value, NumberRange range);
  void take(std::string_view key, double& value, NumberRange range);
  void need(std::string_view key, std::uint32_t& value, NumberRange range);
  void take(std::string_view key, std::uint32_t& value, NumberRange range);
  void need(std::string_view key, std::string& value);
  void take(std::string_view key, std::string& value, EmptyText empty = EmptyText::refused);
  void take(std::string_view key, bool& value);
  void take(std::string_view key, std::vector<double>& values, NumberRange range);
  void take(std::string_view key, std::vector<std::string>& values);

  enum class Kind : std::uint8_t { absent, text, number, table, other };
  [[nodiscard]] Kind kind(std::string_view key);
  /// What keys there are, where the file chooses them (names of things). They may hold anything
  /// that TOML allows, and are known when they have been asked for.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The table under a key; an empty one when it is absent.
  [[nodiscard]] TomlTable table(std::string_view key);
  /// The tables of an array, of the highest layer that has the key.
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key);
  /// This table over `below`.
  [[nodiscard]] TomlTable over(const TomlTable& below) const;

  /// Records that the value of `key` is not what is expected.
  void refuse(std::string_view key, std::string_view expected);
  /// Records, at the line where the table begins, what is wrong with it as a whole.
  void refuse_table(std::string_view what);
  /// Records that a key is there that nobody asked for, if one is.
  void finish();
  /// The first error in any table of the documents that this one was reached from.
  [[nodiscard]] const Status& status() const;

 private:
  friend class TomlDocument;
  struct Layers;
  explicit TomlTable(std::shared_ptr<Layers> layers) : layers_(std::move(layers)) {}
  std::shared_ptr<Layers> layers_;
};

class TomlDocument {
 public:
  /// Fails on what is not TOML, or not ASCII. `file` names it in messages.
  [[nodiscard]] static Result<TomlDocument> parse(std::string_view bytes, std::string_view file);
  [[nodiscard]] TomlTable root() const;

 private:
  struct Content;
  explicit TomlDocument(std::shared_ptr<Content> content) : content_(std::move(content)) {}
  std::shared_ptr<Content> content_;
};

}  // namespace negawatt
