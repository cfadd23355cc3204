#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exchange - is the data-parallel exchange of GPT-13B exact on idle rails?
#
# This is a script, since the known time stands beside each run.
# TP 8, one flow a step, 400 Gbps, links of 500 ns, a switch for each rail. The known values, on 16
# servers, are 126,836,800,680 ps of the reduce-scatter and 63,426,856,680 ps of the all-gather.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" case,servers,exchange_ps,known_ps,difference_percent
for servers in $(pick servers "2" "4 16"); do
    simulate model=gpt-13b topology=rails gpus=$((8 * servers)) tp=8 pp=1 microbatches=1 layers=auto cc=none \
        overlap=none bucket=0 protocol=plain channels=1 algorithm=ring
    ours=$(awk -v ms="$(value "apps[0].exposed_ms.dp")" 'BEGIN { printf "%.0f", ms * 1e9 }')
    put gpt-13b "$servers" "$(against "$ours" "$([ "$servers" = 16 ] && echo 190263657360 || echo -)")"
done
# shellcheck disable=SC2046
draw servers exchange_ps $([ "$quick" = 1 ] || echo known_ps)
