#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# overlap - how much of the exchange of gradients hides under the backward pass, by bucket size?
#
# Small buckets begin early, but each has the start-up of a collective; one bucket begins when the
# backward pass is over.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" overlap,bucket_mb,iteration_ms,compute_ms,tp_ms,pp_ms,dp_ms,ep_ms
for overlap in $(pick overlaps "none gradients" "none gradients all"); do
    for bucket in $(pick buckets "200" "20 200 1000"); do
        # shellcheck disable=SC2046
        simulate $(small) topology=rails "overlap=$overlap" "bucket=${bucket}MB"
        put "$overlap" "$bucket" "$(times)"
    done
done
draw "bucket (MB)" iteration_ms dp_ms log
