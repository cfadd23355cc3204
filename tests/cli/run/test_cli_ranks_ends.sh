#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/cli/run/test_cli_ranks_ends.sh - runs in ranks that end before their time.
#
# Goal: a rank that is killed ends the others, one message names it, no file looks whole, and no temporary
# file stays. So it is where mpirun says nothing, does not end, or dies itself. A signal ends the run with the
# results so far, and a signal before all ranks have begun ends the run at once. Where the program that the
# user started is killed, the next one removes its temporary files, and none of runs that go on.
# Method: stand-ins for mpirun. Not pinned: time. test_cli_ranks_killed.sh kills at random moments.
# labels: plain ranks
set -u
. tests/script.sh
if ! "$ROCESIM" --version | grep -q 'with Open MPI' || ! command -v mpirun >/dev/null; then
    echo "skip: this build has no MPI, or mpirun is not installed"
    exit 77
fi
mkdir "$work/tmp" "$work/bin"
export TMPDIR=$work/tmp

cat >"$work/long.yaml" <<'END'
topology: {fat-tree: {k: 4, delay: 500ns}}
traffic: [poisson: {from: "host[*]", to: "host[*]", sizes: websearch, load: 0.4, stop: 1s}]
END

# start NAME [OPTION]...: a run in two ranks in the background, into the folder NAME, started by $under.
under=()
start() {
    timeout 1200 "${under[@]}" "$ROCESIM" run "$work/long.yaml" -o "$work/$1" --quiet --ranks 2 "${@:2}" \
        >"$work/out" 2>"$work/err" &
    launcher=$!
}

# mpirun_is LINE...: makes a program of that name in $work/bin; $real is the one it stands for.
real=$(command -v mpirun)
mpirun_is() {
    printf '%s\n' '#!/bin/sh' "real=$real work=$work" "$@" >"$work/bin/mpirun"
    chmod +x "$work/bin/mpirun"
}

# process_of RANK NAME: the process of a rank of the run into the folder NAME. mpirun has the same words in
# its command line, but not the variable.
process_of() {
    local process
    for process in $(pgrep -f "run .*-o $work/$2 --quiet"); do
        if grep -qzx "OMPI_COMM_WORLD_RANK=$1" "/proc/$process/environ" 2>"$work/note"; then
            echo "$process"
            return
        fi
    done
}

parent_of() { sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"; }

# until_runs NAME: waits until rank 1 of the run into that folder runs. $victim is its process then, and
# $starter the one that the user started.
until_runs() {
    local i
    for ((i = 0; i < 600; ++i)); do
        victim=$(process_of 1 "$1")
        if [ -n "$victim" ] && [ -e "$work/$1/.unfinished" ]; then
            starter=$(pgrep -P "$launcher")
            return
        fi
        sleep 0.05
    done
    echo "FAIL: $1 does not begin: $(head -n 3 "$work/err")"
    exit 1
}

# told WORDS: the run has failed with one line that begins with these words.
told() {
    wait "$launcher"
    local status=$?
    [ $status -eq 1 ] && grep -q "^rocesim: $1" "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ] ||
        fail "expected status 1 and '$1', found $status and: $(cat "$work/err")"
}

# Once the progress shows ports of both ranks, more than one of them runs.
live() { awk -F'\t' 'NF == 5 && $3 > 0 { ++n } END { exit n <= 60 }' "$work/live" 2>"$work/note"; }
start killed --progress "$work/live"
until_runs killed
for ((i = 0; i < 600; ++i)); do
    live && break
    sleep 0.05
done
live || fail "the progress does not show the ports of all ranks"
kill -KILL "$victim"
told 'rank 1 on .* was ended by signal 9 (Killed) before the run was over.*/killed/.unfinished$'
[ ! -e "$work/killed/summary.json" ] || fail "a killed run left a summary"

# The death of mpirun.
start headless
until_runs headless
kill -KILL "$(parent_of "$victim")"
told 'mpirun was ended by signal 9 (Killed) before the run was over, and all ranks were ended'

# An mpirun that says nothing about a death, as happens while it starts: the launcher names the rank itself,
# even if it gets no processor until mpirun has ended the other rank, too.
mpirun_is 'exec 9>&2 2>"$work/mpirun-says"' 'exec "$real" "$@"'
PATH=$work/bin:$PATH start silent
until_runs silent
other=$(process_of 0 silent)
kill -STOP "$starter"
kill -KILL "$victim"
for ((i = 0; i < 200; ++i)); do
    grep -q '^State:.*[RSD] ' "/proc/$other/status" 2>"$work/note" || break
    sleep 0.05
done
kill -CONT "$starter"
told 'rank 1 died before the run was over'

# An mpirun that does not end after a death, as happens where a rank dies as it begins: the launcher ends it.
mpirun_is 'trap "" TERM' '"$real" "$@"' 'sleep 60' 'touch "$work/slept"'
PATH=$work/bin:$PATH start stuck
until_runs stuck
kill -KILL "$victim"
told 'rank 1 '
[ ! -e "$work/slept" ] || fail "an mpirun that does not end was waited for"

# A signal while ranks run, in a program that goes on when its terminal hangs up.
under=(sh -c 'trap "" HUP && exec "$0" "$@"')
start stopped
under=()
until_runs stopped
sleep 0.5 # until both ranks have caught signals
grep -q '^SigIgn:.*[13579bdf]$' "/proc/$starter/status" || fail "the launcher does not ignore SIGHUP"
kill -INT "$starter"
wait "$launcher"
[ $? -eq 1 ] && grep -q '"ended": "interrupted"' "$work/stopped/summary.json" &&
    [ "$(cat "$work/err")" = 'interrupted: the results are those up to this moment' ] ||
    fail "SIGINT left no results: $(cat "$work/err")"

# A signal before the ranks have begun, which mpirun passes on to nobody.
mpirun_is 'trap "" USR1' 'touch "$work/begun"' 'sleep 1' 'exec "$real" "$@"'
PATH=$work/bin:$PATH start early
for ((i = 0; i < 600; ++i)); do
    [ -e "$work/begun" ] && break
    sleep 0.05
done
kill -INT "$(pgrep -P "$launcher")"
told 'interrupted before the run was over, and all ranks were ended$'
[ ! -e "$work/early" ] || fail "a run that was interrupted before it began left files"

# The death of the launcher: its ranks end, and the next launcher removes what it left after a minute.
start orphan
until_runs orphan
kill -KILL "$starter"
wait "$launcher"
for ((i = 0; i < 600; ++i)); do
    [ -d "/proc/$victim" ] || break
    sleep 0.05
done
[ ! -d "/proc/$victim" ] || fail "a rank goes on without its launcher"
[ ! -e "$work/orphan/summary.json" ] || grep -q '"ended": "interrupted"' "$work/orphan/summary.json" ||
    fail "a run without its launcher left a summary that does not say so"
left=$(echo "$work"/tmp/rocesim-ranks-*)
touch "$left"
start young
until_runs young
[ -d "$left" ] || fail "a folder that may be in use was removed"
kill -INT "$starter"
wait "$launcher"
touch -d '2 minutes ago' "$left"
start old
until_runs old
[ ! -e "$left" ] || fail "the folder of a launcher that was killed stays"
old=$launcher
first=$starter
left=$(echo "$work"/tmp/rocesim-ranks-*)
touch -d '2 minutes ago' "$left"
start new
until_runs new
[ -d "$left" ] || fail "the folder of a run that goes on was removed"
kill -INT "$starter" "$first"
wait "$launcher" "$old"

[ -z "$(ls -A "$work/tmp")" ] || fail "temporary files stay: $(find "$work/tmp" | head -n 5)"
[ $failures -eq 0 ]
