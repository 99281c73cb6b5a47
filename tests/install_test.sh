#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh PACKAGING: runs packaging/install against a feigned dpkg and apt that record what
# they are asked to do, and shows that it installs only what is missing and never removes a package.
# shellcheck disable=SC2016  # the feigned programs expand their variables themselves
set -euo pipefail
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp -r "$1" "$work/packaging"
cd "$work"
mkdir bin
for tool in bash env dirname grep awk find mktemp chmod mkdir touch rm cat; do
  ln -s "$(command -v "$tool")" bin/
done
bad=0

feign() { printf '#!/bin/bash\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
# Everything is installed but the packages of $MISSING; $CONFLICTING would remove 'precious'.
feign dpkg-query 'for p; do [[ $p == -* || $p == " "* || " $MISSING " == *" $p "* ]] ||
  printf " %s=installed " "$p"; done'
feign dpkg-deb 'echo "dpkg-deb $*" >>log; mkdir -p "${@: -1}/usr"'
feign id 'echo "${FEIGNED_ID:-0}"'
feign sudo 'exit 1'
feign apt-get 'echo "apt-get $*" >>'"$work"'/log
case " $* " in
  *" --simulate "*)
    for p; do
      [[ " $MISSING " != *" $p "* ]] || echo "Inst $p (1.0)"
      [[ " ${CONFLICTING:-} " != *" $p "* ]] || echo "Remv precious [1.0]"
    done ;;
  *" download "*) touch "${@: -1}.deb" ;;
  *" install "*) exit "${INSTALL_FAILS:-0}" ;;
esac'

# run EXPECTED_CODE SECTION...: runs the installer; what it says is in 'said'.
run() {
  local expected=$1 code=0
  shift
  : >log
  PATH=$work/bin packaging/install "$@" >said 2>&1 </dev/null || code=$?
  [[ $code == "$expected" ]] || complain "exit code $code, expected $expected"
}
complain() { printf '%s: %s\n' "$scenario" "$1" && cat said log && bad=1; }
expect() { grep -qF -e "$2" "$1" || complain "expected '$2' in '$1'"; }
refute() { ! grep -qF -e "$2" "$1" || complain "did not expect '$2' in '$1'"; }
export MISSING='' CONFLICTING='' INSTALL_FAILS=0 FEIGNED_ID=0

scenario='nothing is missing'
run 0 build test ci
[[ ! -s said && ! -s log ]] || complain 'expected silence'

scenario='one is missing in a section that was not asked for'
MISSING='shellcheck' run 0 build test
[[ ! -s log ]] || complain 'expected that apt is left alone'

scenario='two are missing'
MISSING='libfmt-dev libgtest-dev' run 0 build test
expect log '--yes --no-install-recommends --no-remove install libfmt-dev libgtest-dev'
refute log download

scenario='no root'
MISSING='libfmt-dev' FEIGNED_ID=1000 run 3 build
expect said 'cannot install libfmt-dev: that needs root'
expect said 'apt-get install --yes --no-install-recommends --no-remove libfmt-dev'
refute log ' --no-remove install'

scenario='one of two would remove a package'
MISSING='libfmt-dev libcli11-dev' CONFLICTING='libfmt-dev' run 0 build
expect said 'libfmt-dev would remove precious: unpacking it into build/prefix instead'
expect log '--no-remove install libcli11-dev'
refute log '--no-remove install libfmt-dev'
expect log 'apt-get --quiet download libfmt-dev'
[[ -d build/prefix/usr ]] || complain 'expected the package in build/prefix'

scenario='it was unpacked before'
MISSING='libfmt-dev' CONFLICTING='libfmt-dev' run 0 build
[[ ! -s log ]] || complain 'expected that apt is left alone'

scenario='apt fails'
MISSING='libcli11-dev' INSTALL_FAILS=100 run 3 build
expect log 'apt-get update'
expect said 'cannot install libcli11-dev'

scenario='no Debian'
rm bin/dpkg-query
run 3 build
expect said 'no Debian system'
exit "$bad"
