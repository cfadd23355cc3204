# SPDX-License-Identifier: Apache-2.0
# tests/script.sh - what test scripts begin with: `. tests/script.sh`, in the root of the repository.
#
# $work is a folder that is gone when the script ends; fail TEXT counts a failure and says it; within
# SECONDS COMMAND... ends what does not end by itself.
work=$(mktemp -d)
trap leave EXIT
failures=0
calls=0

# few ALL FEW: prints how many of ALL random or equal cases to run. FEW in the sanitizer builds of
# `make test-all` (TEST_FEW=1), where each takes ten times as long; `make test-slow` runs ALL there, too.
few() {
    if [ -n "${TEST_FEW:-}" ]; then echo "$2"; else echo "$1"; fi
}

# sometimes N: true; where runs are few, for one call in N, the first among them.
sometimes() {
    calls=$((calls + 1))
    [ -z "${TEST_FEW:-}" ] || [ $(((calls - 1) % $1)) -eq 0 ]
}

# start_forks: from now on `rocesim` runs commands in children of a program that has already started
# (tests/forks/forks.c), which takes a sixth of the time. A rocesim that is not the build's is started each
# time.
start_forks() {
    [ -n "${ROCESIM_FORKS:-}" ] && [ "$ROCESIM" = "$BUILD_DIRECTORY/rocesim" ] || return 0
    coproc FORKS { exec "$ROCESIM_FORKS" --forks; }
    forks=$FORKS_PID
    exec {forks_ask}>&"${FORKS[1]}" {forks_answer}<&"${FORKS[0]}" {FORKS[0]}<&- {FORKS[1]}>&-
}

leave() {
    rm -rf "$work"
    [ -z "${forks:-}" ] || kill "$forks"
    [ -z "${forks:-}" ] || wait "$forks" || true # then its processor time is the script's
} 2>/dev/null

# rocesim ARGUMENT...: as "$ROCESIM" ARGUMENT..., after start_forks. Commands run one after the other, and
# append to the file that is their output. What runs beside others (behind &, or on both sides of a pipe), has
# an environment or a limit of its own, is killed, reads <(...), or writes to a file of several commands
# starts "$ROCESIM".
rocesim() {
    local files=() process status
    if [ -z "${forks_ask:-}" ]; then
        "$ROCESIM" "$@"
        return
    fi
    # The files of this call: while printf writes, file 1 is the pipe.
    exec {files[0]}<&0 {files[1]}>&1 {files[2]}>&2
    printf '%s\0' "$BASHPID" "${files[@]}" "${limit_s:-0}" "$#" "$@" >&"$forks_ask"
    read -r -u "$forks_answer" process status
    exec {files[0]}<&- {files[1]}>&- {files[2]}>&-
    if [ "$process" != "$BASHPID" ]; then
        echo "rocesim: two commands at once" >&2
        kill $$
    fi
    return "$status"
}

# within SECONDS COMMAND...: runs it with so much processor time, of all its threads. A busy machine does not
# end it: only if it waits for something that does not come, it ends after 20 times as long, or 20 minutes.
within() {
    if [ "$2" = rocesim ] && [ -n "${forks_ask:-}" ]; then
        limit_s=$1 rocesim "${@:3}"
        return
    fi
    [ "$2" != rocesim ] || set -- "$1" "$ROCESIM" "${@:3}"
    (ulimit -t "$1" && exec timeout $((20 * $1 < 1200 ? 20 * $1 : 1200)) "${@:2}")
}

# start_kb: prints the address space with which the program starts, in KB and within 5 MB: that of its
# libraries differs from machine to machine. A limit of a command's memory (ulimit -v) is a sum with it. A
# sanitizer's runtime needs terabytes of addresses: 0, and no limit is of use there.
start_kb() {
    local kb=5000
    case $BUILD_DIRECTORY in *asan | *tsan) kb=0 ;; esac
    until [ $kb -eq 0 ] || [ $kb -ge 4000000 ] ||
        (ulimit -v $kb && exec "$ROCESIM" --version) >/dev/null 2>&1; do
        kb=$((kb + 5000))
    done
    echo $kb
}

fail() {
    echo "FAIL: $1"
    failures=$((failures + 1))
}
