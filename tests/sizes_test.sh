#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sizes_test.sh SIZES: shows that the size check counts right and refuses what is too long.
set -euo pipefail
sizes=$(realpath "$1")
cd "$(mktemp -d)"
trap 'rm -r "$PWD"' EXIT
mkdir src
bad=0

lines() { for ((i = 0; i < $1; ++i)); do printf '%s\n' "${2:-  x();}"; done; }
# function_of LINES HEAD: a function of so many lines, between two others.
function_of() {
  printf 'int one() { return 1; }\n\n%s\n' "$2"
  lines $(($1 - 2))
  printf '}\n\nint two() { return 2; }\n'
}
passes() { "$sizes" . >out 2>&1 || { printf 'refused: %s\n' "$1" && cat out && bad=1; }; }
fails() {
  if "$sizes" . >out 2>&1; then printf 'accepted: %s\n' "$1" && bad=1; fi
  grep -q "$2" out || { printf '%s: no message with "%s"\n' "$1" "$2" && cat out && bad=1; }
}
counts() { grep -q "$1" out || { printf 'expected "%s" in\n' "$1" && cat out && bad=1; }; }

function_of 70 'int f(int x) {' >src/a.cpp
passes 'a function of 70 lines'
counts '^product functions  *3  *1  *1  *70  src/a.cpp:3$'
function_of 71 'int f(int x) {' >src/a.cpp
fails 'a function of 71 lines' 'src/a.cpp:3: 71 lines, the hard stop is 70'
function_of 71 'A::A(int x) : a_{x}, b_(x), c_{f(x)} {' >src/a.cpp
fails 'a constructor of 71 lines' 'src/a.cpp:3: 71 lines'
function_of 71 'template <class T> auto f(T t) -> std::vector<T> {' >src/a.cpp
fails 'a template of 71 lines' 'src/a.cpp:3: 71 lines'
{ printf 'namespace a {\nclass B {\n'; function_of 71 'int f() const {'; printf '};\n}\n'; } >src/a.cpp
fails 'a member of 71 lines' 'src/a.cpp:5: 71 lines'
function_of 71 "int f() { const char* s = R\"x(}}} \" ' /*)x\"; const char q = '}'; // } \"" >src/a.cpp
fails 'a function with braces in its literals' 'src/a.cpp:3: 71 lines'
function_of 71 'int f() {  // long: one table, read from top to bottom' >src/a.cpp
passes 'a long function with a reason'
function_of 71 'int f() {  // long: yes' >src/a.cpp
fails 'a long function without a reason' '71 lines'
{ printf 'constexpr int k[] = {\n'; lines 200 '  1,'; printf '};\n'; } >src/a.cpp
passes 'a long table'
lines 801 'int x;' >src/a.cpp
fails 'a file of 801 lines' 'src/a.cpp: 801 lines, the hard stop is 800'
lines 201 'int x;' >src/a.hpp && lines 10 'int x;' >src/a.cpp
fails 'a header of 201 lines' 'src/a.hpp: 201 lines, the hard stop is 200'
rm src/a.*
fails 'a tree without sources' 'no sources found'
exit "$bad"
