#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/explain/test_explain_counters.sh - `rocesim explain --counters` reads what networks have.
#
# Goal: the tree and its times are the same whether counters begin at 0 or wrap at 32 or 64 bits, rows
# are in order or not, samples are missing, and ports are named by node and port or by "node:port".
# Errors name the file and the line.
# Method: one chain of pauses that a slow host began, written in several ways.
# Not pinned: words of causes.
set -u
. tests/script.sh
start_forks

cat >"$work/links.csv" <<END
a_node,a_port,b_node,b_port
leaf0,Ethernet0,h0,eth0
leaf0,Ethernet4,h1,eth0
leaf1,Ethernet0,h2,eth0
leaf1,Ethernet4,h3,eth0
leaf0,Ethernet8,spine0,Ethernet0
leaf1,Ethernet8,spine0,Ethernet4
END
python3 - "$work" <<'END'
import random, sys
chain = [("leaf1", "Ethernet0", 9000), ("spine0", "Ethernet4", 7200), ("leaf0", "Ethernet8", 5400),
         ("h0", "eth0", 4500), ("leaf0", "Ethernet4", 0)]
def rows(bits, missing):
    random.seed(1)
    rows, base = [], (1 << bits) - 50000 if bits else 0
    for node, port, step in chain:
        count = base
        for time in range(20):
            if not missing or random.random() > 0.4 or time in (0, 19):
                rows.append((time, node, port, count % (1 << (bits or 64))))
            count += step if 5 <= time < 12 else 0
    if missing:
        random.shuffle(rows)
    return rows
for name, bits, missing in (("plain", 0, 0), ("bits32", 32, 0), ("bits64", 64, 1), ("missing", 0, 1)):
    with open(f"{sys.argv[1]}/{name}.csv", "w") as f:
        f.write("time_s,node,port,PFC_3_RX_PAUSE_DURATION_US\n")
        f.writelines(f"{t},{n},{p},{c}\n" for t, n, p, c in rows(bits, missing))
with open(f"{sys.argv[1]}/names.csv", "w") as f:
    f.write("time_s,port,PFC_3_RX_PAUSE_DURATION_US\n")
    for t, n, p, c in rows(32, 1):
        f.write(f"{t},{n}:{p},N/A\n" if (t, n) == (3, "leaf0") else f'{t},{n}:{p},"{c:,}"\n')
END
for name in plain bits32 bits64 missing names; do
    rocesim explain "$work/links.csv" --counters "$work/$name.csv" >"$work/$name" || fail "$name"
    grep -v 'counters cannot tell' "$work/$name" | cmp - <(grep -v 'counters cannot tell' "$work/plain") ||
        fail "$name.csv gives another tree"
done
grep -q '^main cause: h2 is a slow receiver' "$work/plain" || fail "cause: $(head -n 1 "$work/plain")"
grep -q '^          h0:eth0 stopped for 31500.0 us' "$work/plain" || fail "tree: $(cat "$work/plain")"

# A host that stops its switch in whole intervals storms; one interval with less, and it is slow.
for stopped in 1000000 500000; do
    for time in 0 1 2 3 4 5; do
        echo "$time,leaf1,Ethernet0,$((time < 3 ? time * 1000000 : (time - 1) * 1000000 + stopped))"
    done >"$work/rows"
    cat <(echo time_s,node,port,PFC_3_RX_PAUSE_DURATION_US) "$work/rows" >"$work/storm.csv"
    rocesim explain "$work/links.csv" --counters "$work/storm.csv" --json >"$work/$stopped.json" ||
        fail "storm"
done
grep -q '"kind": "pause-storm"' "$work/1000000.json" || fail "storm: $(cat "$work/1000000.json")"
grep -q 'its NIC stops leaf1:Ethernet0 for 5000000.0 us' "$work/1000000.json" || fail "port of the storm"
grep -q '"kind": "slow-receiver"' "$work/500000.json" || fail "no storm: $(cat "$work/500000.json")"

# refused LINE WORDS HEADER ROW...
refused() {
    printf '%s\n' "${@:3}" >"$work/bad.csv"
    rocesim explain "$work/links.csv" --counters "$work/bad.csv" >/dev/null 2>"$work/err"
    [ $? -eq 2 ] || fail "${*:3}: not refused"
    grep -q "bad.csv:$1:1: .*$2" "$work/err" || fail "${*:3}: $(cat "$work/err")"
}
header=time_s,node,port,PFC3
refused 2 'several nodes have' time_s,port,PFC3 1,Ethernet0,3
refused 3 'no number' $header 1,leaf0,Ethernet0,3 2,leaf0,Ethernet0,-3
refused 3 'other values than line 2' $header 1,leaf0,Ethernet0,3 1,leaf0,Ethernet0,4 2,leaf0,Ethernet0,5
refused 3 'does not have' $header 1,leaf0,Ethernet0,3 2,leaf9,Ethernet0,4
refused 2 'time is no number' $header nan,leaf0,Ethernet0,3
refused 2 'without its time or port' $header 1,leaf0
refused 2 'no number' $header 1,leaf0,Ethernet0,99999999999999999999999
[ $failures -eq 0 ]
