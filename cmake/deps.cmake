# SPDX-License-Identifier: Apache-2.0
# Every third-party library, with the version we build against and why it is here.
# All of them are Debian 12 packages; packaging/apt-packages lists them.
find_package(fmt 9.1 REQUIRED)             # formatting; allowed in headers (fmt/core.h)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_library(negawatt_fmt_for_clang STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_for_clang.cpp)
  target_include_directories(negawatt_fmt_for_clang PRIVATE
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(fmt::fmt INTERFACE negawatt_fmt_for_clang)
endif()
find_package(tl-expected 1.0 REQUIRED)     # Result<T>; allowed in headers
find_package(nlohmann_json 3.11 REQUIRED)  # JSON; report, govern, inspect
find_package(CLI11 2.1 REQUIRED)           # command line; cli and daemon main only
find_package(tomlplusplus 3.3 REQUIRED)    # configuration and descriptions; header only
find_package(zstd 1.5 REQUIRED)            # blocks of recordings; static, so that what is loaded
                                           # into a foreign program needs no library there
find_package(spdlog 1.10 REQUIRED)         # the daemon's log
find_package(prometheus-cpp REQUIRED COMPONENTS pull)  # 1.0, the daemon's metrics
find_library(NEGAWATT_SYSTEMD systemd REQUIRED)            # readiness and watchdog of the daemon

# Chart.js 3.9 (libjs-chart.js): inlined into the HTML report, so that it opens without a network.
find_file(NEGAWATT_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js REQUIRED)

if(NEGAWATT_TESTS OR NEGAWATT_BENCHES)
  # CBC 2.10 and CLP 1.17: independent solvers, oracles in test and bench binaries, never shipped.
  find_library(NEGAWATT_CBC CbcSolver REQUIRED)
  find_library(NEGAWATT_CLP Clp REQUIRED)
  add_library(negawatt_oracles INTERFACE)
  target_link_libraries(negawatt_oracles INTERFACE ${NEGAWATT_CBC} ${NEGAWATT_CLP})
endif()
if(NEGAWATT_TESTS)
  find_package(GTest 1.12 REQUIRED)        # unit tests
  find_package(rapidcheck REQUIRED)        # property tests
endif()
if(NEGAWATT_BENCHES)
  find_package(benchmark 1.7 REQUIRED)     # benchmarks
endif()
