#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_libraries.sh - UCX's and libfabric's own programs.
#
# Goal: ucx_info and fi_info list the simulated device; ucx_perftest over RC and UD and fi_pingpong over all
# types of endpoints run, at the rate and the latency of the link, and twice alike. Not pinned: their figures
# to the last digit. Method: Debian's packages ucx-utils and libfabric-bin.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] || {
    echo "skipped: the library of programs is not there"
    exit 77
}

# pair NAME SERVER CLIENT: runs two programs, which end well.
pair() {
    cat >"$work/$1.yaml" <<END
topology:
  star: {hosts: 2}
programs: {environment: "UCX_LOG_LEVEL=error"}
traffic:
  - programs:
      - {host: host0, command: "$2"}
      - {host: host1, command: "$3", start: 1s}
END
    within 60 "$ROCESIM" run "$work/$1.yaml" --programs -o "$work/$1" >"$work/$1.log" 2>&1 || {
        cat "$work/$1.log" "$work/$1"/programs/*
        fail "$1: a program failed"
    }
}

# within_range NAME VALUE LOWEST HIGHEST: checks a figure.
within_range() {
    awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v >= low && v <= high) }' ||
        fail "$1: $2, expected $3 to $4"
}

# last_word NUMBER NAME: prints a word of the last line that a client printed.
last_word() {
    awk -v n="$1" '{ word = $n } END { print word }' "$work/$2/programs/host1-0.out"
}

tried=0
if command -v ucx_perftest >/dev/null; then
    tried=1
    pair info "ucx_info -d" "ucx_info -v"
    for transport in rc_verbs ud_verbs; do
        grep -q "Transport: $transport" "$work/info/programs/host0-0.out" ||
            fail "ucx_info lists no $transport"
    done
    test_of="-x rc_verbs -d rocesim0:1 -n 20 -w 5 -f"
    pair lat "ucx_perftest -t am_lat $test_of" "ucx_perftest host0 -t am_lat $test_of"
    within_range "ucx_perftest am_lat" "$(last_word 3 lat)" 1.9 4
    test_of="-s 262144 -n 20 -w 5 -f"
    pair bw "ucx_perftest -t tag_bw $test_of" "ucx_perftest host0 -t tag_bw $test_of"
    within_range "ucx_perftest tag_bw" "$(last_word 6 bw)" 11000 11700
    cp -r "$work/bw" "$work/bw-first"
    pair bw "ucx_perftest -t tag_bw $test_of" "ucx_perftest host0 -t tag_bw $test_of"
    cmp "$work/bw/programs/host1-0.out" "$work/bw-first/programs/host1-0.out" || fail "two equal runs differ"
    # The server is killed. The client looks at the end of its socket for ever; the run ends, and says so.
    test_of="-t tag_bw -n 3000 -f"
    cat >"$work/killed.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "ucx_perftest $test_of", kill: 2.2ms}
      - {host: host1, command: "ucx_perftest host0 $test_of", start: 1ms}
END
    status=0
    within 60 "$ROCESIM" run "$work/killed.yaml" --programs -o "$work/killed" >"$work/killed.log" 2>&1 ||
        status=$?
    [ "$status" -le 1 ] || fail "a client without its server: status $status"
    grep -q 'the program was killed at the time of programs.kill' "$work/killed.log" ||
        fail "the server was not killed"
fi
if command -v fi_pingpong >/dev/null; then
    tried=1
    pair fi "fi_info -p verbs" "fi_info --version"
    grep -q "domain: rocesim0" "$work/fi/programs/host0-0.out" || fail "fi_info lists no rocesim0"
    for endpoint in msg rdm dgram; do
        test_of="-p verbs -e $endpoint -I 3 -S 1024"
        pair "$endpoint" "fi_pingpong $test_of" "fi_pingpong $test_of host0"
        grep -q '^1k .*=3' "$work/$endpoint/programs/host1-0.out" ||
            fail "fi_pingpong -e $endpoint shows no result"
    done
fi
[ "$tried" = 1 ] || {
    echo "skipped: neither ucx-utils nor libfabric-bin is there"
    exit 77
}
exit $((failures > 0))
