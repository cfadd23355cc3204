#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_wan_studies_quick.sh - the studies of scenarios/wan that take least, in short.
#
# Goal: the scripts that all studies share work; findings that do not depend on how long a run is: what
# NIC memory a bitmap, IRN and Adamap need, and that a knitting buffer of 16 blocks delays but loses nothing.
# Method: scenarios/wan/run --quick memory qps allreduce.
# Does not pin: the other studies (test_wan_studies).
set -eu
. tests/script.sh

scenarios/wan/run --quick -o "$work/out" memory qps allreduce >"$work/log" 2>&1 || fail "$(cat "$work/log")"
for study in memory qps allreduce; do
    awk -F, 'NR == 1 { n = NF; next } NF != n { bad = 1 } END { exit bad || NR < 3 }' \
        "$work/out/$study/data.csv" ||
        fail "$study: a row lacks numbers: $(cat "$work/out/$study/data.csv")"
    scenarios/wan/run | grep -q "^$study  *[a-z].*?" || fail "$study is not listed with its question"
done
# Bytes of the NIC: a constant of Adamap, whatever was lost; IRN needs five bits a packet of the window.
awk -F, '/^adamap/ { seen[$5] = 1 } /^irn/ { irn = $5 } /^bitmap/ { bitmap = $5 }
    END { for (n in seen) count++; exit !(count == 1 && irn >= 4.9 * bitmap) }' "$work/out/memory/data.csv" ||
    fail "memory: $(cat "$work/out/memory/data.csv")"
# Every queue pair completed, also where the free list was refused.
awk -F, 'NR > 1 { if ($4 != $2 || ($1 == 16 && $2 == 1 && $8 + $9 == 0)) bad = 1 } END { exit bad }' \
    "$work/out/qps/data.csv" || fail "qps: $(cat "$work/out/qps/data.csv")"
exit $((failures > 0))
