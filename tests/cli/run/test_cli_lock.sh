#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_lock.sh - a folder of results has one writer, whatever starts at the same time.
#
# Goal: a second run, sweep or capture into a folder in use is refused with status 2 and names the
# process; of 40 runs at once, each either is refused or leaves a whole folder; a lock dies with its
# process; a file that a command writes elsewhere has one writer, too.
# Method: a run that holds the folder for long, 40 starts of different seeds, kill -9, flock.
# Not pinned: which of the 40 wins; file systems without locks.
set -u
. tests/script.sh

cat >"$work/long.yaml" <<'END'
topology: {star: {hosts: 3}}
captures: [{file: all.pcap, ports: "host0->switch0"}]
traffic: [incast: {senders: 2, bytes: 10KB, to: host0, every: 10ms}]
until: 100s
END
cat >"$work/tiny.yaml" <<'END'
topology: {star: {hosts: 8}}
until: 3ms
traffic: [poisson: {load: 0.5, sizes: websearch}]
END

# -- a second one is refused

"$ROCESIM" run "$work/long.yaml" -o "$work/held" --quiet >/dev/null 2>"$work/log" &
child=$!
for _ in $(seq 6000); do
    [ -e "$work/held/.unfinished/events.csv" ] && break
    sleep 0.05
done
"$ROCESIM" run "$work/tiny.yaml" -o "$work/held" --quiet >/dev/null 2>"$work/log"
[ $? -eq 2 ] || fail "a second run: status $?"
grep -q "held: another run writes here, process $child; expected its end" "$work/log" ||
    fail "a second run: $(cat "$work/log")"
kill -KILL $child
wait $child 2>/dev/null
[ -e "$work/held/.unfinished/.lock" ] || fail "a killed run left no file of its lock"
"$ROCESIM" run "$work/tiny.yaml" -o "$work/held" --quiet >/dev/null 2>"$work/log" ||
    fail "after a kill: $(cat "$work/log")"
[ -e "$work/held/.unfinished" ] && fail "a finished run leaves its lock"

# -- 40 at once: what is there afterwards is of one seed, whole

for seed in 1 2 3 4; do
    "$ROCESIM" run "$work/tiny.yaml" -o "$work/r$seed" --quiet --seed $seed >/dev/null
done
pids=()
for i in $(seq 40); do
    "$ROCESIM" run "$work/tiny.yaml" -o "$work/mixed" --quiet --seed $((i % 4 + 1)) \
        >/dev/null 2>"$work/log$i" &
    pids+=($!)
done
done_count=0
for i in $(seq 40); do
    wait "${pids[$((i - 1))]}"
    status=$?
    case $status in
    0) done_count=$((done_count + 1)) ;;
    2) grep -q "mixed: another run writes here" "$work/log$i" || fail "of 40: $(cat "$work/log$i")" ;;
    *) fail "of 40: status $status, $(cat "$work/log$i")" ;;
    esac
done
echo "$done_count of 40 runs were done, the others refused"
[ $done_count -ge 1 ] || fail "of 40 runs none was done"
seed=$(sed -n 's/.*"seed": \([0-9]*\).*/\1/p' "$work/mixed/summary.json" | head -n 1)
diff -r -I '"wall_' -x manifest.json "$work/r$seed" "$work/mixed" || fail "files of several seeds"

# -- sweeps

cat >"$work/sweep.yaml" <<'END'
scenario: long.yaml
grid: {nic.mtu: [1024, 4096]}
END
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/s" --quiet >/dev/null 2>&1 &
child=$!
for _ in $(seq 6000); do
    [ -e "$work/s/runs/p1-s1/.unfinished" ] && break
    sleep 0.05
done
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/s" --quiet >/dev/null 2>"$work/log"
[ $? -eq 2 ] || fail "a second sweep: status"
grep -q "s: another run writes here, process $child" "$work/log" || fail "sweep: $(cat "$work/log")"
kill -TERM $child
wait $child 2>/dev/null
[ -e "$work/s/.lock" ] && fail "an ended sweep leaves its lock"

# -- single files: the lock of whoever writes one

command -v flock >/dev/null || { echo "skip: no flock"; exit $((failures > 0)); }
cat >"$work/record.yaml" <<END
topology: {star: {hosts: 2}}
nic: {model: detailed}
traffic: [contexts: {tokens: 10, operations: 10, warm-up: 0, record-file: $work/record.txt}]
END
echo old >"$work/record.txt"
flock "$work/record.txt" "$ROCESIM" run "$work/record.yaml" >/dev/null 2>"$work/log"
[ $? -eq 1 ] || fail "a record that another process writes: status"
grep -q "record.txt: cannot write: another process writes this file" "$work/log" ||
    fail "record: $(cat "$work/log")"
grep -qx old "$work/record.txt" || fail "a record in use was emptied"
exit $((failures > 0))
