// SPDX-License-Identifier: Apache-2.0
#include "route/allocations_for_test.hpp"

#include <cstdlib>
#include <new>

namespace {

std::size_t count = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++count;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace negawatt::route::testing {

std::size_t allocations() { return count; }

}  // namespace negawatt::route::testing
