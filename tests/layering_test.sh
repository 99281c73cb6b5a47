#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layering_test.sh LAYERING: shows that the layering check refuses what it must, one violation at a
# time, and accepts what it must. Works in a temporary folder.
set -euo pipefail
layering=$(realpath "$1")
cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT
bad=0

# judge ROOM FILE TEXT: the check's output for a room that holds one file.
judge() {
  rm -rf src
  mkdir -p "$(dirname "$2")" "src/$1"
  printf '%b\n' "$3" >"$2"
  "$layering" "$1" 'core;trace' 'fmt;tl' 2>&1
}
refuses() {  # ROOM FILE TEXT MESSAGE
  local said
  if said=$(judge "$1" "$2" "$3"); then
    printf 'accepted, but must not be: %s in %s\n' "$3" "$2" && bad=1
  elif [[ $said != *"$4"* ]]; then
    printf "refused '%s' in %s with the wrong message: %s\n" "$3" "$2" "$said" && bad=1
  fi
}
accepts() {  # ROOM FILE TEXT
  local said
  said=$(judge "$1" "$2" "$3") || { printf 'refused, but must not be: %s\n' "$said" && bad=1; }
}

accepts plan src/plan/a.cpp '#include "plan/a.hpp"\n#include "core/units.hpp"\n#include <vector>'
accepts plan src/plan/a.hpp '#include <fmt/core.h>\n#include <tl/expected.hpp>\n#include <cmath>'
accepts plan src/plan/a.hpp '#include <fmt/core.h>  // for <format>'
accepts plan src/plan/a.cpp '#include <fmt/ranges.h>\n#include <random>\nstd::mt19937_64 random(7);'
accepts plan src/plan/a.cpp 'const Seconds time(a.time + b.time);'
accepts plan src/plan/a_test.cpp '#include <gtest/gtest.h>\n#include "tests/shared_data.hpp"'
accepts plan src/plan/a_test.cpp '#include <fstream>'
accepts cli src/cli/a.cpp '#include <fstream>\n#include <iostream>'
accepts core src/core/result.cpp 'std::fprintf(stderr, "x");'

other="may not include room"
refuses plan src/plan/a.cpp '#include "report/page.hpp"' "src/plan/a.cpp:1: room 'plan' $other 'report'"
refuses plan src/plan/a.cpp '\n#  include "report/page.hpp"' 'src/plan/a.cpp:2:'
refuses plan src/plan/a.cpp '  #include "report/page.hpp"' "$other"
refuses plan src/plan/a.cpp '#include"report/page.hpp"' "$other"
refuses plan src/plan/a.cpp '/* */ #include "report/page.hpp"' "$other"
refuses plan src/plan/a.cpp '%:include "report/page.hpp"' "$other"
refuses plan src/plan/a_test.cpp '#include "report/page.hpp"' "$other"
refuses plan src/plan/a.hpp '#include "tests/shared_data.hpp"' "$other 'tests'"
refuses plan src/plan/deep/a.cpp '#include "report/page.hpp"' "$other"
path='project files are included as'
refuses plan src/plan/a.cpp '#include "../report/page.hpp"' "$path"
refuses plan src/plan/a.cpp '#include "core/../report/page.hpp"' "$path"
refuses plan src/plan/a.cpp '#include "a.hpp"' "$path"
refuses plan src/plan/a.cpp '#include PAGE' 'cannot be seen'
library='may not use library'
refuses plan src/plan/a.cpp '#include <CLI/CLI.hpp>' "$library 'CLI'"
refuses plan src/plan/a.cpp '#  include <report/page.hpp>' "$library 'report'"
refuses plan src/plan/a.cpp '#include <nvml.h>' "$library 'nvml.h'"
refuses plan src/plan/a.cpp '#include <sys/socket.h>' "$library 'sys'"
refuses plan src/plan/a.hpp '#include <fmt/ranges.h>' 'no third-party header in a header'
refuses plan src/plan/a.inl '#include "report/page.hpp"' 'C++ files are named'
refuses plan src/plan/a.h '' 'C++ files are named'
pure="room 'plan' is pure"
for header in thread fstream iostream filesystem mutex future ctime; do
  refuses plan src/plan/a.cpp "#include <$header>" "$pure"
done
refuses plan src/plan/a.cpp 'auto start = std::chrono::steady_clock::now();' "src/plan/a.cpp:1: $pure"
refuses plan src/plan/a.cpp 'using C = std::chrono::steady_clock;\nauto start = C::now();' "$pure"
refuses plan src/plan/a.cpp 'auto start = time(nullptr);' "$pure"
refuses plan src/plan/a.cpp 'std::random_device seed;' "$pure"
refuses plan src/plan/a.cpp 'auto home = std::getenv("HOME");' "$pure"
refuses plan src/plan/a.cpp 'fmt::print("x");' "$pure"
refuses plan src/plan/a.cpp 'std::printf("x");' "$pure"
refuses plan src/plan/a.cpp 'auto* file = std::fopen("x", "r");' "$pure"

# A generated file lies outside the room and is named to the check.
rm -rf src && mkdir -p src/plan
printf '#include "report/page.hpp"\n' >generated.cpp
if "$layering" plan '' '' generated.cpp 2>/dev/null; then
  printf 'accepted a generated file that includes another room\n' && bad=1
fi
# own_header TEXT: the check's output for a source with this text whose header is there.
own_header() {
  rm -rf src
  mkdir -p src/plan
  printf '#include <vector>\n' >src/plan/a.hpp
  printf '%b\n' "$1" >src/plan/a.cpp
  "$layering" plan 'core;trace' 'fmt;tl' 2>&1
}
own_header '// a\n#include "plan/a.hpp"\n#include <vector>' || bad=1
for text in '#include <vector>\n#include "plan/a.hpp"' '#include "plan/b.hpp"' 'int a;'; do
  if said=$(own_header "$text") || [[ $said != *'its own header is included first'* ]]; then
    printf "accepted, or refused with the wrong message: '%s': %s\n" "$text" "$said" && bad=1
  fi
done

exit "$bad"
