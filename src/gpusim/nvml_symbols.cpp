// SPDX-License-Identifier: Apache-2.0
#include "gpusim/nvml_symbols.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

namespace negawatt::gpusim {
namespace {

template <class Function>
bool find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

Result<NvmlSymbols> load_nvml(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return failure(Code::unavailable, fmt::format("cannot load NVML: {}", ::dlerror()));
  NvmlSymbols symbols;
#define NW_FIND(symbol, parameters) \
  if (!find(handle, #symbol, symbols.symbol)) symbols.missing.emplace_back(#symbol);
  NW_NVML_FUNCTIONS(NW_FIND)
#undef NW_FIND
#define NW_FIND(symbol, parameters) (void)find(handle, #symbol, symbols.symbol);
  NW_SIMULATED_TIME_FUNCTIONS(NW_FIND)
#undef NW_FIND
  return symbols;
}

}  // namespace negawatt::gpusim
