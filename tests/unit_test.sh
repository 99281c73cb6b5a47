#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unit_test FOLDER: what must hold of negawattd's systemd unit in FOLDER, whatever else changes: it is
# started again however often it ends, since GPUs may be altered while it is down, and it may open
# the files that the default number of clients needs.
set -euo pipefail
unit=$1/systemd/negawattd.service
bad=0

# value SECTION KEY: its last value.
value() {
  awk -F= -v section="[$1]" -v key="$2" \
    '/^\[/ { inside = ($0 == section) } inside && $1 == key { last = $2 } END { print last }' "$unit"
}
expect() {
  [[ $(value "$1" "$2") == "$3" ]] && return
  printf '%s: [%s] %s is "%s", not "%s"\n' "$unit" "$1" "$2" "$(value "$1" "$2")" "$3" >&2
  bad=1
}

expect Unit StartLimitIntervalSec 0
expect Service Restart always
expect Service KillMode ''
if (($(value Service LimitNOFILE) < 2832)); then
  printf '%s: LimitNOFILE is too low for 64 clients on 8 GPUs\n' "$unit" >&2
  bad=1
fi
exit "$bad"
