#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_program_trace.sh - looking into programs: `run --program-trace`, timelines, gdb.
#
# Goal: each call of verbs is a line with its simulated time, the trace changes no result, the timeline has
# the calls beside the flows, and gdb stops a program of a shell while simulated time stands still.
set -eu
. tests/script.sh

library=$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1
[ -e "$library" ] && cc -g -O1 examples/verbs_hello.c -o "$work/verbs_hello" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}
cat >"$work/hello.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/verbs_hello"}
      - {host: host1, command: "$work/verbs_hello host0", start: 1ms}
END
digest_of() { grep '^  digest' "$work/$1.log"; }
within 60 "$ROCESIM" run --programs "$work/hello.yaml" -o "$work/plain" >"$work/plain.log" || fail "run"
within 60 "$ROCESIM" run --programs --program-trace "$work/hello.yaml" -o "$work/traced" \
    >"$work/traced.log" ||
    fail "run --program-trace"
[ "$(digest_of plain)" = "$(digest_of traced)" ] || fail "the trace changes the digest"
trace=$work/traced/programs/host1-0.trace
for call in ibv_open_device ibv_alloc_pd ibv_reg_mr ibv_create_cq ibv_create_qp "ibv_modify_qp(qp 2, RTS)" \
    "ibv_post_send(qp 2, wr_id 0x0, RDMA_WRITE_WITH_IMM, 64 bytes, signaled) = 0" \
    "ibv_poll_cq(cq 1) = qp 2, wr_id 0x0, RDMA_WRITE, "; do
    grep -qF -- "$call" "$trace" || fail "no line of $call"
done
sort -c -n "$trace" || fail "the lines of a thread are not in the order of time"
# The packet is on the link after the post and before the completion.
awk -F, 'NR == 2 { print $0 }' "$work/traced/flows.csv" >"$work/flow.csv"
[ -s "$work/flow.csv" ] || fail "no flow"
# Rates are those of the transfers, not of the sleeps before and after them.
python3 - "$work/traced" <<'END' || fail "the time of the rates is not that of the transfers"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/flows.csv")))
summary = json.load(open(sys.argv[1] + "/summary.json"))
rates = summary["rates"]
first, last = (f(float(r[k]) for r in rows) * 1000 for f, k in ((min, "start_ns"), (max, "end_ns")))
assert abs(rates["from_ps"] - first) <= 1 and abs(rates["until_ps"] - last) <= 1, (rates, first, last)
assert summary["traffic_from_ps"] == rates["from_ps"] and rates["until_ps"] < summary["sim_time_ps"]
END
rocesim timeline "$work/traced" -o "$work/trace.json" >/dev/null
python3 - "$work/trace.json" "$trace" <<'END' || fail "the timeline lacks calls"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
calls = [e for e in events if e.get("cat") == "call"]
lines = [line.split(" ", 2) for line in open(sys.argv[2])]
sends = [e for e in events if e.get("cat") == "send" and "dur" in e]
mine = {(e["ts"], e["args"]["call"]) for e in calls}
assert all((float(t), text.strip()) in mine for t, _, text in lines)
post = next(float(t) for t, _, text in lines if text.startswith("ibv_post_send"))
done = next(float(t) for t, _, text in lines if "RDMA_WRITE, " in text and text.startswith("ibv_poll"))
assert any(post - 0.01 <= s["ts"] and s["ts"] + s["dur"] <= done + 0.01 for s in sends), (post, done, sends)
END

# A trace that cannot be written is told.
status=0
TMPDIR=$work/none "$ROCESIM" run "$work/hello.yaml" --programs --program-trace -o "$work/untraced" \
    >"$work/untraced.log" 2>&1 || status=$?
reason="the file of its trace cannot be made in $work/none: No such file or directory"
[ "$status" = 1 ] && grep -qF "$reason" "$work/untraced.log" ||
    fail "no folder for traces: status $status, $(tail -n 2 "$work/untraced.log")"

# A shell's time stands while a program is at a breakpoint.
if command -v gdb >/dev/null && command -v ib_write_lat >/dev/null; then
    mkfifo "$work/lines"
    "$ROCESIM" shell --topology star:2 -o "$work/shell" <"$work/lines" >"$work/shell.log" 2>&1 &
    shell=$!
    exec 7>"$work/lines"
    echo "host0 $work/verbs_hello &" >&7
    echo "run 1ms" >&7
    process=
    for _ in $(seq 100); do
        process=$(pgrep -f "^$work/verbs_hello" | head -1)
        [ -z "$process" ] || break
        sleep 0.1
    done
    sleep 0.5
    (sleep 1 && echo "host1 $work/verbs_hello host0" >&7) &
    within 60 gdb -p "${process:-0}" -batch -ex "handle SIGTRAP SIGSEGV nostop noprint pass" \
        -ex "break wait_for" -ex continue -ex "print own" -ex "bt 3" -ex detach \
        >"$work/gdb.log" 2>&1 || true
    wait $!
    exec 7>&-
    wait $shell || { cat "$work/shell.log" && fail "the shell failed after gdb"; }
    grep -q "ptrace: Operation not permitted\|wait_for" "$work/gdb.log" || {
        cat "$work/gdb.log"
        fail "gdb did not stop the program"
    }
fi
exit $((failures > 0))
