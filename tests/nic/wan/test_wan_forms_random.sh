#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_wan_forms_random.sh - the forms of test_wan_forms at hundreds of random points.
#
# Goal: the same, for rates of 40 to 800 Gbps, round trips of 10 us to 30 ms, losses of 1e-6 to 1e-2
# of every model, MTUs, bits, nodes and watermarks, 1 to 10,000 queue pairs.
# Method: 600 points for each of WAN_FORMS_SEEDS (1 2 3), a stream each.
# Not pinned: runs of less than ten round trips; losses in events within 1 % (1.5 %).
. tests/script.sh

command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
for seed in ${WAN_FORMS_SEEDS:-1 2 3}; do
    python3 tests/nic/wan/wan_forms.py "$ROCESIM" "$work/out" random "$seed" 600 || fail "seed $seed"
done
((failures == 0))
