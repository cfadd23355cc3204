#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_plugin_limits.sh - `rocesim run --plugin-limits` survives plug-ins that do harm.
#
# labels: plain
# Goal: each of fifty hostile plug-ins ends in at most half a minute with status 1 (2 if it is refused before
# the run) and a message that names it; it writes, removes and starts nothing. A good plug-in has the same
# results as without limits. The other runs of a sweep go on.
# Method: an environment variable says which harm tests/cli/plugins/hostile.c does. Eight cases run at a time.
# Not pinned: that a plug-in leaves alone what the run itself writes: results, and the standard output.
# Rerun: ctest --test-dir build/release -R '^test_plugin_limits$' --output-on-failure
set -u
. tests/script.sh
export XDG_CACHE_HOME="$work/cache"
cat >"$work/star.yaml" <<'END'
topology: {star: {hosts: 3}}
nic: {congestion-control: hostile}
traffic: [incast: {senders: 2, bytes: 100KB, to: host0}]
END
sed 's/hostile/halve/' "$work/star.yaml" >"$work/good.yaml"
good=(run "$work/good.yaml" --plugin examples/plugins/halve.c)

"$ROCESIM" "${good[@]}" -o "$work/free" >/dev/null || fail "a good plug-in"
"$ROCESIM" "${good[@]}" --plugin-limits -o "$work/limited" >"$work/said" 2>&1
if grep -q "needs a kernel with Landlock" "$work/said"; then
    echo "skip: $(cat "$work/said")"
    exit 77
fi
"$ROCESIM" diff "$work/free" "$work/limited" >"$work/said" ||
    fail "limits change results: $(cat "$work/said")"
"$ROCESIM" run - --plugin-limits --quiet <"$work/good.yaml" --plugin examples/plugins/halve.c >/dev/null ||
    fail "limits with a scenario from the standard input"
"$ROCESIM" "${good[@]}" --plugin-limits --ranks 2 2>&1 | grep -q "does not go with --ranks" || fail "--ranks"

# Memory is not limited where a sanitizer needs all addresses.
memory=yes
case $BUILD_DIRECTORY in *asan | *tsan) memory=no ;; esac

# says CASE: a part of the message besides the name of the plug-in; nothing: any message
says() {
    case $1 in
    1 | 2) echo "segmentation fault" ;;
    3 | 4 | 5 | 6) echo "does not return" ;;
    7 | 8) echo "wrote past its state of" ;;
    9 | 10) echo "fields of nic_cc_t that only the NIC sets" ;;
    11 | 12 | 14) echo "expected 1 to 100000000000 bit/s" ;;
    15) echo "hostile set a rate of 0 bit/s" ;;
    16) echo "division by zero" ;;
    18 | 19) echo "ended (status 0) before the run did" ;;
    20) echo "ended by signal 9" ;;
    21) echo "called kill" ;;
    25 | 49) echo "called socket" ;;
    26) echo "called open" ;;
    33) echo "called sigaction" ;;
    32) echo "called sigprocmask" ;;
    35) echo "called setrlimit" ;;
    37) echo "is not in its struct" ;;
    38) echo "refuses without a message" ;;
    39) echo "more processor time than time-max" ;;
    48) echo "called " ;;
    50) echo "adds no row" ;;
    esac
}

# try CASE: runs a case and prints what is wrong with its end
try() {
    local folder="$work/$1" status=0 wanted=1 seconds=60
    mkdir "$folder"
    echo kept >"$folder/victim"
    case $1 in 37 | 38 | 50) wanted=2 ;; 39) seconds=2 ;; esac
    HOSTILE_CASE=$1 HOSTILE_MARK="$folder/mark" HOSTILE_VICTIM="$folder/victim" timeout -s KILL 100 \
        "$ROCESIM" run "$work/star.yaml" --plugin tests/cli/plugins/hostile.c --plugin-limits \
        --set time-max=${seconds}s --set memory-max=64MB --set stall-after=1ms --set until=9s \
        -o "$folder/out" >"$folder/said" 2>&1 || status=$?
    [ $status -eq $wanted ] || echo "case $1: status $status, expected $wanted: $(cat "$folder/said")"
    grep -q hostile "$folder/said" || echo "case $1: no name: $(cat "$folder/said")"
    grep -qF -- "$(says "$1")" "$folder/said" ||
        echo "case $1: expected '$(says "$1")': $(cat "$folder/said")"
    [ ! -e "$folder/mark" ] && [ -e "$folder/victim" ] || echo "case $1: it wrote or removed a file"
    [ $status -ne 2 ] || [ ! -e "$folder/out" ] || echo "case $1: a refused run left its folder"
}

export -f try says
export work ROCESIM
cases=$(seq 50)
[ $memory = yes ] || cases=$(seq 50 | grep -v '^30$')
echo "$cases" | xargs -P 8 -I {} bash -c 'set -u; try {}' >"$work/wrong"
[ ! -s "$work/wrong" ] || fail "$(cat "$work/wrong")"

# -- the other runs of a sweep go on
cat >"$work/sweep.yaml" <<'END'
scenario: star.yaml
grid: {nic.congestion-control: [hostile, halve, dcqcn]}
END
status=0
HOSTILE_CASE=1 "$ROCESIM" sweep "$work/sweep.yaml" -o "$work/sweep" \
    --plugin tests/cli/plugins/hostile.c --plugin examples/plugins/halve.c --plugin-limits --quiet \
    >"$work/said" 2>&1 || status=$?
[ $status -eq 1 ] || fail "sweep: status $status, expected 1: $(cat "$work/said")"
grep -q "plug-in hostile.c" "$work/said" || fail "sweep: no name: $(cat "$work/said")"
[ "$(find "$work/sweep/runs" -name summary.json | wc -l)" -eq 2 ] || fail "the other two runs did not go on"

# -- without limits, a crash ends the run as well, with the name of its plug-in
status=0
HOSTILE_CASE=1 "$ROCESIM" run "$work/star.yaml" \
    --plugin tests/cli/plugins/hostile.c >"$work/said" 2>&1 || status=$?
[ $status -eq 1 ] && grep -q "plug-in hostile.c: .*segmentation fault" "$work/said" ||
    fail "a crash without limits: status $status: $(cat "$work/said")"

# -- a part of a switch or a NIC that writes past its state is named, with its operation
# beyond SETTING OPERATION NAME: with one byte and with 100
beyond() {
    local bytes status
    for bytes in 0 1 100; do
        status=0
        BEYOND_BYTES=$bytes "$ROCESIM" run "$work/plain.yaml" --plugin tests/cli/plugins/beyond.c \
            --plugin-limits --set "$1" >"$work/said" 2>&1 || status=$?
        case $bytes in
        0) [ $status -eq 0 ] || fail "$1 within its state: status $status: $(cat "$work/said")" ;;
        *) [ $status -eq 1 ] &&
            grep -q "plug-in beyond.c: the operation $2 of '$3' wrote past its state" "$work/said" ||
            fail "$1, $bytes bytes: status $status: $(cat "$work/said")" ;;
        esac
    done
}
cat >"$work/plain.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
nic: {congestion-control: none}
traffic: [flows: {list: [host0 host2 100KB 0us]}]
END
beyond network.load-balancer=beyond choose beyond
beyond switch.marking=beyond leaves beyond
beyond switch.mmu=beyond admit beyond
beyond nic.scheduler=beyond next beyond
beyond nic.scheduler=beyond-qp next beyond-qp
beyond nic.transport=beyond next_packet beyond
beyond nic.transport=beyond-nic request beyond-nic

exit $((failures > 0))
