#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/programs/test_many_perftests.sh - 200 random programs of perftest (test_random_perftest.sh).
set -eu
RANDOM_COUNT=${RANDOM_COUNT:-200} exec bash tests/programs/test_random_perftest.sh
