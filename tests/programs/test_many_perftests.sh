#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study plain
# tests/programs/test_many_perftests.sh - 200 random programs of perftest (test_random_perftest.sh).
#
# One in ten may miss the bound: docs/models/programs.md lists what differs, and by how much.
set -eu
RANDOM_MISSES=0.1 RANDOM_COUNT=${RANDOM_COUNT:-200} exec bash tests/programs/test_random_perftest.sh
