#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_mooncake_studies.sh - all studies of Mooncake.
#
# Goal: rows of scenarios/mooncake that are held against published ones are within their tolerances.
# Method: scenarios/mooncake/run all, with the public hour where ../shared has it.
set -eu
out=$(mktemp -d /tmp/rocesim-mooncake.XXXXXX)
trap 'rm -rf "$out"' EXIT
hour=../shared/data/mooncake/conversation_trace.jsonl
[ ! -r "$hour" ] || export TRACE=$hour
scenarios/mooncake/run -o "$out" all >"$out/log" 2>&1 || { cat "$out/log" && exit 1; }
