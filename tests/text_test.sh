#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# text_test.sh TEXT: shows that the text check refuses what it must, in a tree without git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir -p "$work/tools" "$work/src" "$work/data"
cp "$1" "$work/tools/text"
cd "$work"
export GIT_DIR=/nonexistent
licence='// SPDX-License-Identifier: Apache-2.0\n'
bad=0

refuses() {  # FILE TEXT MESSAGE
  local said
  printf '%b' "$2" >"$1"
  if said=$(tools/text 2>&1) || [[ $said != "$1"*"$3"* ]]; then
    printf "expected '%s' about %s, got: %s\n" "$3" "$1" "$said" && bad=1
  fi
  rm "$1"
}
accepts() {  # FILE TEXT
  local said
  printf '%b' "$2" >"$1"
  said=$(tools/text 2>&1) || { printf 'expected no complaint, got: %s\n' "$said" && bad=1; }
  rm "$1"
}
accepts src/a.cpp "${licence}int x;\n"
accepts data/a.csv 'na\0303\0257ve  \nlast line open'
accepts notes.md 'a file\n'
accepts notes.md 'see https://example.org/home/page and src/wo''rk/a.cpp\n'
refuses src/a.cpp "${licence}// caf\0303\0251\n" ':2: not ASCII'
refuses src/a.cpp 'int x;\n' 'the first line is not the licence'
refuses run '#!/bin/sh\nx\n' 'the first line is not the licence'
refuses src/a.cpp "${licence}int x; \n" ':2: blanks at the end'
refuses src/a.cpp "${licence}int x;" 'no line end'
refuses notes.md "it lies in /ho""me/anna/x\n" ':1: a path of one machine'
refuses src/a.cpp "${licence}// in /ho""me/anna/x\n" ':2: a path of one machine'
exit "$bad"
