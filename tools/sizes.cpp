// SPDX-License-Identifier: Apache-2.0
//
// sizes ROOT: prints how long the files and functions of a source tree are and fails, exit code 1,
// when one is over its hard stop: file 800 lines, header 200, function 70. A line '// long: REASON'
// in the function, or in the first ten lines of the file, permits it. Functions are found by their
// braces, not by parsing: lambdas count with the function around them, initializer braces do not.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
constexpr std::array<std::string_view, 6> kFolders = {"src",  "tests", "bench",
                                                      "fuzz", "tools", "include"};
constexpr std::size_t kFileStop = 800;
constexpr std::size_t kHeaderStop = 200;
constexpr std::size_t kFunctionStop = 70;
constexpr std::size_t kLeastReason = 10;  // letters; "yes" is no reason

struct Extent {
  std::string where;
  std::size_t lines = 0;
  std::size_t stop = 0;
  bool permitted = false;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Overwrites text[from, to) with blanks, except for line ends.
void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i)
    if (text[i] != '\n') text[i] = ' ';
}

std::size_t end_of(const std::string& text, std::string_view mark, std::size_t from) {
  const auto at = text.find(mark, from);
  return at == std::string::npos ? text.size() : at + mark.size();
}

/// Behind the closing quote of the string or character literal that starts at `from`.
std::size_t end_of_literal(const std::string& text, std::size_t from) {
  std::size_t i = from + 1;
  while (i < text.size() && text[i] != text[from] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

/// Behind the directive that starts at `from`, with its continuation lines.
std::size_t end_of_directive(const std::string& text, std::size_t from) {
  auto end = end_of(text, "\n", from);
  while (end >= 2 && end < text.size() && text[end - 2] == '\\') end = end_of(text, "\n", end);
  return end;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text with comments, literals and preprocessor directives blanked out.
std::string code_of(std::string text) {
  bool at_line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    const bool after_word = i > 0 && is_word(text[i - 1]);
    if (text.compare(i, 2, "//") == 0) {
      end = end_of(text, "\n", i);
    } else if (text.compare(i, 2, "/*") == 0) {
      end = end_of(text, "*/", i + 2);
    } else if (text.compare(i, 2, "R\"") == 0 && !after_word) {
      const auto open = std::min(text.find('(', i), text.size());
      end = end_of(text, ")" + text.substr(i + 2, open - i - 2) + "\"", open);
    } else if (text[i] == '"' || (text[i] == '\'' && !after_word)) {  // 1'000 is a number
      end = end_of_literal(text, i);
    } else if (text[i] == '#' && at_line_start) {
      end = end_of_directive(text, i);
    }
    blank(text, i, end);
    if (end == i) {
      if (text[i] == '\n' || std::isspace(static_cast<unsigned char>(text[i])) == 0)
        at_line_start = text[i] == '\n';
      ++i;
    } else {
      at_line_start = text[std::min(end, text.size()) - 1] == '\n';
      i = end;
    }
  }
  return text;
}

/// Whether a brace after this text opens a function: it has a parameter list, is no argument or
/// initial value, and no member's initial value in a constructor's list.
bool opens_function(std::string_view statement) {
  while (!statement.empty() && statement.back() == ' ') statement.remove_suffix(1);
  const auto parameters_end = statement.find(')');
  if (parameters_end == std::string_view::npos) return false;
  if (std::string_view("=(,").find(statement.back()) != std::string_view::npos) return false;
  const auto after = statement.substr(parameters_end + 1);
  const bool in_initializers = std::ranges::any_of(after, [&](const char& c) {
    const auto i = static_cast<std::size_t>(&c - after.data());
    return c == ':' && !after.substr(i + 1).starts_with(':') && (i == 0 || after[i - 1] != ':');
  });
  return !in_initializers || !is_word(statement.back());
}

/// Behind the brace that closes the one at `from`.
std::size_t end_of_block(std::string_view code, std::size_t from) {
  std::size_t depth = 0;
  for (std::size_t i = from; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i + 1;
  }
  return code.size();
}

bool has_reason(std::string_view text) {
  constexpr std::string_view kMark = "// long: ";
  const auto at = text.find(kMark);
  if (at == std::string_view::npos) return false;
  const auto reason = text.substr(at + kMark.size());
  return std::min(reason.find('\n'), reason.size()) >= kLeastReason;
}

class Functions {
 public:
  Functions(const std::string& name, const std::string& text)
      : name_(name), text_(text), code_(code_of(text)) {}

  std::vector<Extent> find() {
    std::string statement;
    std::size_t start = 0;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const char c = code_[i];
      const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (statement.empty() && !blank) start = i;
      if (c == '{' && opens_function(statement)) {
        const auto end = end_of_block(code_, i);
        add(start, end);
        i = end - 1;
        statement.clear();
      } else if (c == '{' && statement.find(')') != std::string::npos) {
        i = end_of_block(code_, i) - 1;  // an initial value: what follows belongs to the statement
        statement += '}';
      } else if (c == ';' || c == '{' || c == '}') {
        statement.clear();
      } else if (!statement.empty() || !blank) {
        statement += blank ? ' ' : c;
      }
    }
    return std::move(found_);
  }

 private:
  void add(std::size_t start, std::size_t end) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + std::ptrdiff_t(start), '\n');
    const std::string_view text = std::string_view(text_).substr(start, end - start);
    const auto lines = std::size_t(1 + std::ranges::count(text, '\n'));
    found_.push_back({fmt::format("{}:{}", name_, line), lines, kFunctionStop, has_reason(text)});
  }

  const std::string& name_;
  const std::string& text_;
  std::string code_;
  std::vector<Extent> found_;
};

Extent file_extent(const std::string& name, const std::string& text) {
  std::size_t head = 0;
  for (int line = 0; line < 10; ++line) head = end_of(text, "\n", head);
  return {name, static_cast<std::size_t>(std::ranges::count(text, '\n')),
          name.ends_with(".hpp") ? kHeaderStop : kFileStop,
          has_reason(std::string_view(text).substr(0, head))};
}

struct Group {
  std::string title;
  std::vector<Extent> extents;
};

void print(Group& group) {
  auto& extents = group.extents;
  if (extents.empty()) return;
  std::ranges::sort(extents, {}, &Extent::lines);
  const auto at = [&](double share) {
    return extents[static_cast<std::size_t>(share * static_cast<double>(extents.size() - 1))].lines;
  };
  fmt::print("{:<18} {:>6} {:>7} {:>5} {:>5}  {}\n", group.title, extents.size(), at(0.5), at(0.9),
             extents.back().lines, extents.back().where);
}

bool within_stops(const Group& group) {
  bool within = true;
  for (const auto& extent : group.extents) {
    if (extent.lines <= extent.stop || extent.permitted) continue;
    fmt::print(stderr, "{}: {} lines, the hard stop is {}\n", extent.where, extent.lines,
               extent.stop);
    within = false;
  }
  return within;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: sizes ROOT\n");
    return 2;
  }
  const fs::path root = argv[1];
  std::array<Group, 4> groups = {Group{"product files", {}}, Group{"other files", {}},
                                 Group{"product functions", {}}, Group{"other functions", {}}};
  for (const auto folder : kFolders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp") continue;
      const auto name = fs::relative(entry.path(), root).string();
      const auto text = read_file(entry.path());
      const std::size_t is_test = folder == "src" && !name.ends_with("_test.cpp") ? 0 : 1;
      groups[is_test].extents.push_back(file_extent(name, text));
      std::ranges::move(Functions(name, text).find(),
                        std::back_inserter(groups[2 + is_test].extents));
    }
  }
  fmt::print("{:<18} {:>6} {:>7} {:>5} {:>5}  {}\n", "lines", "count", "median", "p90", "max",
             "longest");
  bool within = true;
  for (auto& group : groups) print(group);
  for (const auto& group : groups) within = within_stops(group) && within;
  if (groups[0].extents.empty()) fmt::print(stderr, "{}: no sources found\n", root.string());
  return within && !groups[0].extents.empty() ? 0 : 1;
}
