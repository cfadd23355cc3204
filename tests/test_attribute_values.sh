#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# tests/test_attribute_values.sh - every legal value of an attribute gives results or a message.
#
# Goal: no attribute makes a run abort, hang, run out of memory or print a figure that is no number: at its
# minimum, its maximum, 0 and two values in between. So the maxima that `rocesim params` states are true.
# Method: tests/attribute_values.py, on a small scenario in which the attribute acts, under limits of memory
# and processor time. Here every twentieth attribute; in the long form all of them.
# Not pinned: what the results are.
set -u
if ! command -v python3 >/dev/null; then
    echo "skip: python3 is not installed"
    exit 77
fi
exec tests/attribute_values.py "$ROCESIM" "$([ -n "${TEST_LONG:-}" ] && echo 1 || echo 20)"
