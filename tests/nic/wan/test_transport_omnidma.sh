#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# test_transport_omnidma.sh - runs of the OmniDMA authors' simulator, with the very
# packets that were lost there.
#
# Goal: of its runs in which all data arrived and no sender's timer fired, adamap's and go-back-N's
# flows take the same time within 5 %, and adamap holds as many maps at most, and on average where
# that is more than 20, within 10 %; IRN's runs without loss likewise. In every other run, too, all
# flows complete.
# Method: scenarios/wan/omnidma.yaml for every run of up to 30 MB (omnidma_runs.py).
# Not pinned: times of runs in which flows were called complete with data missing; larger runs
# (test_transport_omnidma_all).
. tests/script.sh

data=../shared/data/wan
[[ -e $data/omnidma_runs.csv ]] || { echo "skip: no $data"; exit 77; }
command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
python3 tests/nic/wan/omnidma_runs.py "$ROCESIM" "$data" "$work" 30e6 || fail "off the authors' simulator"
((failures == 0))
