// SPDX-License-Identifier: Apache-2.0
//
// For tests of room gpu: the scripted driver of tests/tiny_nvml.hpp in its first state, and a
// Driver on it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "gpu/driver.hpp"
#include "tests/tiny_nvml.hpp"

namespace negawatt::testing {

/// The library stays loaded as long as this lives, so that the test can script it.
class TinyLibrary {
 public:
  explicit TinyLibrary(std::string path = NEGAWATT_TINY_NVML_RECENT)
      : path_(std::move(path)), handle_(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    state() = {};
  }
  ~TinyLibrary() { dlclose(handle_); }
  TinyLibrary(const TinyLibrary&) = delete;
  TinyLibrary& operator=(const TinyLibrary&) = delete;

  [[nodiscard]] TinyNvml& state() const {
    return *reinterpret_cast<TinyNvml* (*)()>(dlsym(handle_, "tiny_nvml"))();
  }
  [[nodiscard]] TinyGpu& card(std::size_t index = 0) const { return state().gpus[index]; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] gpu::Driver open(gpu::Access access = gpu::Access::control) const {
    auto driver = gpu::Driver::open(access, path_);
    EXPECT_TRUE(driver) << driver.error().message;
    return *std::move(driver);
  }
  [[nodiscard]] gpu::Device device(gpu::Access access = gpu::Access::control) const {
    return open(access).devices().front();
  }

 private:
  std::string path_;
  void* handle_;
};

}  // namespace negawatt::testing
