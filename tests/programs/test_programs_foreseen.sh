#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_foreseen.sh - what comes next is told to programs in advance.
#
# Goal: programs that are told of several arrivals at once see the same as those that are told of each at
# its time, and so do captures and digests; and fewer changes of processes are needed. Method: programs of a
# shell are told nothing in advance, since a line may come at any time; the scenario that the shell leaves is
# run, too.
# Not pinned: how many arrivals are told at once.
# Rerun: ctest --test-dir build/release -R test_programs_foreseen
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] &&
    ${CC:-cc} -O2 -I. tests/programs/foreseen.c -o "$work/foreseen" -libverbs 2>/dev/null &&
    ${CC:-cc} -O2 -I. tests/programs/clocks_only.c -o "$work/clocks_only" -libverbs 2>/dev/null || {
    echo "skipped: libibverbs-dev, a compiler or the library of programs is not there"
    exit 77
}

# Runs a command, and prints how often its processes gave up a processor to wait.
counted='import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw)
sys.exit(done.returncode)'

# both NAME SERVER CLIENT: runs both programs in a shell and as a scenario, and compares the results.
both() {
    local name=$1 one two
    cat >"$work/$name.yaml" <<YAML
topology: {star: {hosts: 2}}
captures: [{ports: host0->switch0, direction: rx, file: host0.pcap}]
YAML
    one=$(printf 'host0 %s &\nhost1 %s\n' "$2" "$3" |
        within 60 python3 -c "$counted" "$ROCESIM" shell "$work/$name.yaml" -o "$work/$name.shell") ||
        fail "$name ended badly in the shell: $(cat "$work/$name.shell"/programs/*)"
    two=$(within 60 python3 -c "$counted" "$ROCESIM" run --programs "$work/$name.shell/scenario.yaml" \
        -o "$work/$name.run") ||
        fail "$name ended badly: $(cat "$work/$name.run"/programs/*)"
    for file in captures/host0.pcap flows.csv programs/host0-0.out programs/host1-0.out; do
        cmp "$work/$name.shell/$file" "$work/$name.run/$file" || fail "$name: $file differs"
    done
    [ "$(digest_of "$work/$name.shell")" = "$(digest_of "$work/$name.run")" ] || fail "$name: digests differ"
    echo "$name: $one waits in the shell, $two in the run"
    waits=$((two * 100 / one))
}

digest_of() {
    sed -n 's/^  "digest": "\(.*\)",/\1/p' "$1/summary.json"
}

both foreseen "$work/foreseen" "$work/foreseen host0"
both clocks_only "$work/clocks_only" "$work/clocks_only host0"
if command -v ib_send_bw >/dev/null; then
    both send_bw "ib_send_bw -F -n 5000 -s 64" "ib_send_bw -F -n 5000 -s 64 host0"
    [ "$waits" -lt 75 ] || fail "the programs wait as often as in the shell: $waits %"
    # Most of what these do is to look at a clock.
    both write_lat "ib_write_lat -F -n 5" "ib_write_lat -F -n 5 host0"
    [ "$waits" -lt 75 ] || fail "looks at a clock wait as often as in the shell: $waits %"
fi
exit $((failures > 0))
