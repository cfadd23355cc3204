# SPDX-License-Identifier: Apache-2.0
# tests/script.sh - what test scripts begin with: `. tests/script.sh`, in the root of the repository.
#
# $work is a folder that is gone when the script ends; fail TEXT counts a failure and says it; within
# SECONDS COMMAND... ends what does not end by itself.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
calls=0

# few ALL FEW: prints how many of ALL random or equal cases to run. FEW in the sanitizer builds of `make test`
# (TEST_FEW=1), where each takes ten times as long; `make test-slow` runs ALL there, too.
few() {
    if [ -n "${TEST_FEW:-}" ]; then echo "$2"; else echo "$1"; fi
}

# sometimes N: true; where runs are few, for one call in N, the first among them.
sometimes() {
    calls=$((calls + 1))
    [ -z "${TEST_FEW:-}" ] || [ $(((calls - 1) % $1)) -eq 0 ]
}

# within SECONDS COMMAND...: runs it with so much processor time, of all its threads. A busy machine does not
# end it: only if it waits for something that does not come, it ends after 20 times as long.
within() {
    (ulimit -t "$1" && exec timeout $((20 * $1)) "${@:2}")
}

fail() {
    echo "FAIL: $1"
    failures=$((failures + 1))
}
