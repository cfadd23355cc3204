#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_public.sh - the public hour of a cluster's prompts has the hits that counting gives.
#
# Goal: token and block hits of 1500 of its prompts are those of an exact count in the order of the trace.
# Method: LRU by another program (awk, in counted.sh), stores of 3,000,000 tokens.
# Not pinned: the rest of the hour (test_mooncake_hour counts it without a network), times.
set -u
hour=../shared/data/mooncake/conversation_trace.jsonl
[ -r "$hour" ] || { echo "skip: the public hour, $hour, is not here" && exit 77; }
. tests/script.sh
. tests/apps/mooncake/counted.sh

same "$hour" 1500 3000000
[ "$failures" -eq 0 ]
