#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_transport_sdr_random.sh - the times of test_transport_sdr_times at random points.
#
# Goal: the same, for chunks of 1 to 16 packets, 2 to 100,000 of them, losses of 1e-5 to 1e-2, RTOs of
# 1 to 5 round trips of 100 us to 25 ms, 100 to 400 Gbps. Method: 150 points of SDR_TIMES_SEED (1).
# Not pinned: codes.
. tests/script.sh

command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
python3 tests/nic/wan/sdr_times.py "$ROCESIM" "$work" random "${SDR_TIMES_SEED:-1}" 150 ||
    fail "off the formula"
((failures == 0))
