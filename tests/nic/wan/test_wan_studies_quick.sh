#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# test_wan_studies_quick.sh - the studies of scenarios/wan that take least, in short.
#
# Goal: the scripts that all studies share work; findings that do not depend on how long a run is: what
# NIC memory a bitmap, IRN and Adamap need, that a knitting buffer of 16 blocks delays but loses nothing,
# and that a chain read map by map supplies one a latency, whatever n; with runs of blocks n decides.
# --set changes a study's parameters and attributes of its scenarios, and runs no text as a command.
# Method: scenarios/wan/run --quick memory qps allreduce prefetch, and memory with --set.
# Does not pin: the other studies (test_wan_studies).
set -eu
. tests/script.sh

scenarios/wan/run --quick -o "$work/out" memory qps allreduce prefetch >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
for study in memory qps allreduce prefetch; do
    awk -F, 'NR == 1 { n = NF; next } NF != n { bad = 1 } END { exit bad || NR < 3 }' \
        "$work/out/$study/data.csv" ||
        fail "$study: a row lacks numbers: $(cat "$work/out/$study/data.csv")"
    scenarios/wan/run | grep -q "^$study  *[A-Za-z].*?" || fail "$study is not listed with its question"
done
# Bytes of the NIC: a constant of Adamap, whatever was lost; IRN needs five bits a packet of the window.
awk -F, '/^adamap/ { seen[$5] = 1 } /^irn/ { irn = $5 } /^bitmap/ { bitmap = $5 }
    END { for (n in seen) count++; exit !(count == 1 && irn >= 4.9 * bitmap) }' "$work/out/memory/data.csv" ||
    fail "memory: $(cat "$work/out/memory/data.csv")"
# Every queue pair completed, also where the free list was refused.
awk -F, 'NR > 1 { if ($4 != $2 || ($1 == 16 && $2 == 1 && $8 + $9 == 0)) bad = 1 } END { exit bad }' \
    "$work/out/qps/data.csv" || fail "qps: $(cat "$work/out/qps/data.csv")"
# A read takes 4 us, in which 1/p + b = 36 packets of 41.9 ns need a map 2.6 times: the chain that is read
# map by map decides how long the transfer takes, its reads one after the other. Runs keep up.
awk -F, 'NR > 1 { run = $1 ~ /run=8/; percent[run, $2] = $4; share[run, $2] = $9 * 0.004 / $5 }
    END { for (n = 1; n <= 8; n += 7)
            if (share[0, n] < 0.9 || share[0, n] > 1.1 || percent[0, n] > 60) bad = 1
        exit bad || percent[1, 1] > 60 || percent[1, 8] < 97 }' "$work/out/prefetch/data.csv" ||
    fail "prefetch: $(cat "$work/out/prefetch/data.csv")"

scenarios/wan/run --quick -o "$work/set" --set rtts=200us,400us --set nic.adamap.bits=64 memory \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[ "$(tail -n +2 "$work/set/memory/data.csv" | cut -d, -f3 | sort -u | tr '\n' ' ')" = "200us 400us " ] ||
    fail "--set rtts: $(cat "$work/set/memory/data.csv")"
cmp -s <(grep '^adamap-1e-2' "$work/set/memory/data.csv" | cut -d, -f5) \
    <(grep '^adamap-1e-2' "$work/out/memory/data.csv" | cut -d, -f5) &&
    fail "--set of an attribute changes nothing"
for bad in 'rtts=$(touch '"$work"'/taken)' 'rtts=' 'no.such=1' nothing; do
    scenarios/wan/run --quick -o "$work/bad" --set "$bad" memory >/dev/null 2>&1 && fail "--set $bad"
done
[ ! -e "$work/taken" ] || fail "a setting was run as a command"
exit $((failures > 0))
