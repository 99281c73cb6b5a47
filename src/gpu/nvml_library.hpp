// SPDX-License-Identifier: Apache-2.0
//
// The loaded library: each function of nvml/nvml.hpp looked up by itself, null where the library
// lacks it, and the simulated clock's where it has one. Private to the room. Initialised while it
// lives. A library loaded without setters has no pointer to any function that changes a GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "gpu/answer.hpp"
#include "nvml/nvml.hpp"
#include "nvml/simulated_time.hpp"

namespace negawatt::gpu {

template <class Signature>
struct Function;

/// A function of the driver under its name; null when the library does not have it.
template <class... Parameters>
struct Function<nvmlReturn_t(Parameters...)> {
  std::string_view name;
  nvmlReturn_t (*pointer)(Parameters...) = nullptr;
};

enum class Setters : unsigned char { absent, present };

class NvmlLibrary {
 public:
  /// Loads and initialises. The error says what is missing and what to do.
  [[nodiscard]] static Result<std::shared_ptr<const NvmlLibrary>> load(const std::string& path,
                                                                       Setters setters);
  explicit NvmlLibrary(std::string path) : path_(std::move(path)) {}
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Setters setters() const { return setters_; }
  [[nodiscard]] std::vector<std::string> missing_functions() const;
  [[nodiscard]] bool has_simulated_clock() const;
  /// Nanoseconds of the device clock; see device_clock.hpp for a simulated world that breaks.
  [[nodiscard]] std::int64_t now() const;
  /// May return early: when notified (simulated clock) or on a signal (the machine's).
  void wait_until(std::int64_t time) const;
  void sleep_until(std::int64_t time) const;

  // The names are the driver's, and a list of parameters is in parentheses already.
  // NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses)
#define NW_MEMBER(symbol, parameters) Function<nvmlReturn_t parameters> symbol{#symbol};
  NW_NVML_FUNCTIONS(NW_MEMBER)
  NW_SIMULATED_TIME_FUNCTIONS(NW_MEMBER)
#undef NW_MEMBER
  // NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

 private:
  void look_up();
  [[nodiscard]] std::optional<std::int64_t> simulated_now() const;

  std::string path_;
  Setters setters_ = Setters::absent;
  void* handle_ = nullptr;
  bool initialised_ = false;
  mutable std::atomic<std::int64_t> last_simulated_{0};
  mutable std::atomic<bool> clock_broken_{false};
  mutable std::atomic<std::int64_t> since_broken_{0};  // added to the machine's clock
};

/// The error of a call on something ("GPU-...", "the driver") that returned `code`.
[[nodiscard]] DriverError call_error(std::string_view call, std::string_view on, nvmlReturn_t code);

/// NOT_READY and IN_USE pass by themselves: whether `code` is worth another try.
[[nodiscard]] bool is_transient(nvmlReturn_t code);

}  // namespace negawatt::gpu
