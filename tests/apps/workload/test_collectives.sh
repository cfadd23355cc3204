#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_collectives.sh - how long collectives take.
#
# Goal: times on an idle network are those of closed forms, to the picosecond: rings, chains, trees,
# exchanges, all-to-all; sizes that do not divide; software latency; a published exchange of a model.
# Method: collective_times.py runs each algorithm on a star.
# labels: long plain
. tests/script.sh

python3 tests/apps/workload/collective_times.py
