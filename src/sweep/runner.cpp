// SPDX-License-Identifier: Apache-2.0
#include "sweep/runner.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include "core/text.hpp"

namespace negawatt::sweep {
namespace {

// Loading a model and compiling kernels takes minutes; a running program answers at once.
constexpr Seconds kStartPatience(600.0);
constexpr Seconds kPatience(60.0);
// From the end of its output to SIGTERM, from there to SIGKILL, and from there on: what hangs in a
// driver does not even end then.
constexpr Seconds kEndPatience(5.0);
constexpr std::chrono::milliseconds kEndPoll(5);
constexpr std::size_t kMostKernels = 100'000;

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      if (has_word) words.push_back(std::exchange(word, {}));
      has_word = false;
      continue;
    }
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    word += line[i];
    has_word = true;
  }
  if (has_word) words.push_back(word);
  return words;
}

std::string escaped(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == ' ' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

tl::unexpected<Error> misspoken(const std::string& what) {
  return failure(Code::internal, fmt::format("the kernel runner {}", what));
}

Result<std::uint64_t> whole(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code == std::errc{} && end == word.data() + word.size()) return value;
  return misspoken(fmt::format("said '{}' where a whole number was expected", printable(word)));
}

bool ends_within(process::Child& child, Seconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(patience.in_si());
  while (!child.poll()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kEndPoll);
  }
  return true;
}

}  // namespace

Result<KernelRunner> KernelRunner::start(const process::ChildOptions& program) {
  auto options = program;
  options.streams = process::Streams::piped;
  NW_TRY(auto child, process::Child::start(options));
  KernelRunner runner(std::move(child));
  NW_CHECK(runner.read_kernels());
  return runner;
}

KernelRunner::~KernelRunner() {
  if (child_.pid() < 0) return;  // moved from
  if (!is_broken_) (void)child_.write_line("quit");
  child_.close_input();
  if (!is_broken_) {
    (void)child_.read_line(kPatience);  // the end of its output: it is about to end
    if (ends_within(child_, kEndPatience)) return;
  }
  child_.signal(SIGTERM);
  if (ends_within(child_, kEndPatience)) return;
  child_.signal(SIGKILL);
  (void)ends_within(child_, kEndPatience);
}

Result<std::vector<std::string>> KernelRunner::read_words() {
  const auto line = child_.read_line(kernels_.empty() ? kStartPatience : kPatience);
  // An answer that is late or not understood would be taken for that to the next request.
  is_broken_ = !line || !is_printable(*line);
  NW_CHECK(line);
  if (is_broken_) return misspoken("wrote something unprintable");
  if (line->starts_with("error ")) return misspoken("says: " + printable(line->substr(6)));
  return words_of(*line);
}

Result<std::vector<std::string>> KernelRunner::ask(const std::string& request,
                                                   const std::string& expected) {
  if (is_broken_) return misspoken("does not answer any more");
  auto written = child_.write_line(request);
  is_broken_ = !written;
  NW_CHECK(std::move(written));
  NW_TRY(auto words, read_words());
  if (!words.empty() && words.front() == expected) return words;
  is_broken_ = true;
  return misspoken(fmt::format("answered '{}' to '{}', expected '{}'",
                               words.empty() ? "" : words.front(), request, expected));
}

Status KernelRunner::read_kernels() {
  NW_CHECK(child_.write_line("kernels"));
  std::unordered_set<std::string> names;
  while (true) {
    NW_TRY(const auto words, read_words());
    if (words.size() == 1 && words[0] == "end") break;
    if (words.size() != 4 || words[0] != "kernel" || kernels_.size() == kMostKernels)
      return misspoken("did not list its kernels as 'kernel NAME GROUP CALLS' and 'end'");
    NW_TRY(const auto calls, whole(words[3]));
    if (calls < 1 || calls > UINT32_MAX) return misspoken("named a kernel with no calls");
    if (!names.insert(words[1]).second)
      return misspoken(fmt::format("names kernel '{}' twice", words[1]));
    kernels_.push_back({words[1], words[2], static_cast<std::uint32_t>(calls)});
  }
  if (kernels_.empty()) return misspoken("has no kernels");
  return {};
}

Status KernelRunner::start_kernel(const std::string& name) {
  NW_CHECK(ask("start " + escaped(name), "started"));
  is_running_ = true;
  return {};
}

Result<CallCount> KernelRunner::count() {
  NW_TRY(const auto words, ask("count", "count"));
  if (words.size() != 3) return misspoken("did not answer 'count CALLS DEVICE_NS'");
  NW_TRY(const auto calls, whole(words[1]));
  NW_TRY(const auto device_ns, whole(words[2]));
  return CallCount{.calls = calls, .device_ns = device_ns};
}

Status KernelRunner::stop_kernel() {
  if (!std::exchange(is_running_, false)) return {};
  NW_CHECK(ask("stop", "stopped"));
  return {};
}

}  // namespace negawatt::sweep
