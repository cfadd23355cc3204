#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# adaptive - do adaptive thresholds help when the load changes?
set -eu
. "$(dirname "$0")/cache_lib.sh"
begin "$1"
for adaptive in false true; do
    for phase in $(pick "5000" "2000 5000 10000 20000 40000"); do
        # shellcheck disable=SC2086
        row "adaptive $adaptive" "$phase" $busy $length tokens=8192 l1_entries=1024 l2_bytes=64KiB \
            policy=hybrid \
            pattern=bursty load.working-set=500 "load.phase=$phase" \
            "adaptive=$adaptive"
    done
done
draw "operations until another working set is in use" mops l1_hit_rate access_ns_p99 log
