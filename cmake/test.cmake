# SPDX-License-Identifier: Apache-2.0
# test_executable(<target> SOURCES ... [LIBS <targets>] [DEFINITIONS ...])
#
# A GoogleTest binary; its files may include "tests/...", and know NEGAWATT_SOURCE_DIR. All of them
# share one precompiled header: GoogleTest and RapidCheck are most of what a test's compiler reads.
function(test_executable target)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBS;DEFINITIONS" ${ARGN})
  add_executable(${target} ${TEST_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    NEGAWATT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${TEST_DEFINITIONS})
  target_compile_options(${target} PRIVATE
    # g++ 12 takes a precompiled std::string for our code and warns of it (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
    ${NEGAWATT_TEST_OPTIONS})
  target_link_libraries(${target} PRIVATE
    ${TEST_LIBS} negawatt_flags fmt::fmt GTest::gtest GTest::gmock GTest::gtest_main)

  get_property(first GLOBAL PROPERTY negawatt_precompiled)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY negawatt_precompiled ${target})
    target_precompile_headers(${target} PRIVATE
      <filesystem> <fstream> <functional> <map> <optional> <random> <string> <thread> <variant>
      <vector> <fmt/core.h> <gmock/gmock.h> <gtest/gtest.h> <rapidcheck/gtest.h> <tl/expected.hpp>)
  endif()
endfunction()
