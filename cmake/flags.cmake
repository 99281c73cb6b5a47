# SPDX-License-Identifier: Apache-2.0
# Compiler flags for our own code, as a target; nothing is set directory-wide.
add_library(negawatt_flags INTERFACE)
target_compile_options(negawatt_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor
  -Wimplicit-fallthrough
  -Wno-missing-field-initializers  # a designated initializer leaves out what has a default
  # g++ 12 sees an overlap where std::string has none (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # std::stable_sort of libstdc++ 12 calls its own deprecated get_temporary_buffer; g++ does not say
  # so in a system header, clang does where our types instantiate it. g++ still warns of our uses.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${NEGAWATT_WERROR}>:-Werror>)
