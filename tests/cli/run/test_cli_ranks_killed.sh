#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/cli/run/test_cli_ranks_killed.sh - a rank is killed at a random moment, a hundred times.
#
# Goal: the run ends within ten seconds; its message names the rank; a folder with a summary holds all files
# of a whole run, byte for byte, and a run that failed leaves no summary.
# Method: SIGKILL of a random rank of three, at a random moment of a short run; KILLS changes the number.
# Not pinned: how many of them come too late.
# labels: study ranks plain
set -u
. tests/script.sh
if ! "$ROCESIM" --version | grep -q 'with Open MPI' || ! command -v mpirun >/dev/null; then
    echo "skip: this build has no MPI, or mpirun is not installed"
    exit 77
fi

cat >"$work/short.yaml" <<'END'
topology: {fat-tree: {k: 4, delay: 500ns}}
traffic: [poisson: {from: "host[*]", to: "host[*]", sizes: websearch, load: 0.4, stop: 5ms}]
captures: [{ports: "host3->*", file: host3.pcap.gz}]
observe: [{series: "port[edge*->host*].queue_bytes", every: 5us}]
END
begin=$(date +%s%N)
"$ROCESIM" run "$work/short.yaml" -o "$work/whole" --ranks 3 --quiet >/dev/null 2>"$work/err" ||
    fail "the run without a death: $(head -n 2 "$work/err")"
took_ms=$((($(date +%s%N) - begin) / 1000000))
RANDOM=7
failed=0
for ((i = 0; i < ${KILLS:-100}; ++i)); do
    rm -rf "$work/out"
    timeout -k 1 60 "$ROCESIM" run "$work/short.yaml" -o "$work/out" --ranks 3 --quiet \
        >/dev/null 2>"$work/err" &
    launcher=$!
    sleep "$(printf '0.%03d' $((RANDOM % (took_ms < 990 ? took_ms : 990) + 1)))"
    mapfile -t ranks < <(pgrep -f "^/.*rocesim run $work/short.yaml -o $work/out --quiet\$")
    [ ${#ranks[@]} -eq 0 ] || kill -KILL "${ranks[$((RANDOM % ${#ranks[@]}))]}" 2>/dev/null
    begin=$SECONDS
    wait $launcher
    status=$?
    # A run that lost no rank takes its time.
    [ ${#ranks[@]} -eq 0 ] || [ $((SECONDS - begin)) -le 10 ] ||
        fail "kill $i: the others ended after $((SECONDS - begin)) s"
    if [ -e "$work/out/summary.json" ]; then
        diff -r -q -I '"wall_' "$work/whole" "$work/out" >"$work/diff" ||
            fail "kill $i: a folder with a summary is not whole: $(head -n 2 "$work/diff")"
    else
        [ $status -eq 1 ] && grep -q 'rank [0-2] .*ended by signal 9\|rank [0-2] died' "$work/err" ||
            fail "kill $i: status $status: $(head -n 3 "$work/err")"
        failed=$((failed + 1))
    fi
done
[ $failed -gt $((${KILLS:-100} / 4)) ] || fail "only $failed kills came while the ranks ran"
[ $failures -eq 0 ]
