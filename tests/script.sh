# SPDX-License-Identifier: Apache-2.0
# tests/script.sh - what test scripts begin with: `. tests/script.sh`, in the root of the repository.
#
# $work is a folder that is gone when the script ends; fail TEXT counts a failure and says it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAIL: $1"
    failures=$((failures + 1))
}
