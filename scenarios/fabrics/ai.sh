#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ai - how far from the optimum are all-to-all and permutation, with small and large buffers?
#
# This is a script, since published figures stand beside its runs.
# The published ratios are those of "load balancing for AI" (arXiv 2507.21372), read from a summary
# of the paper: 32 KB or 400 KB of buffer a port, load balancing apart from congestion control and
# loss recovery. Its topology is not known here. Assumed: a fat-tree of 128 hosts (k=8), 100 Gbps,
# links of 1 us, no congestion control, no PFC, 48 KB for each pair in all-to-all. The recovery is
# `sdr`: it takes packets in any order and repeats what is not reported. That decides: with IRN, which
# takes what was overtaken for lost, the spray's permutation is at 1.9 with either buffer.
# The optimum is the time of a host's bytes, with headers, on its own link, and the longest path.
# `random` is spraying by switches, `letflow` flowlets with a gap of 10 us.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
begin "$1" case,scheme,nr,over_optimum,theirs,difference_percent,dropped,resent
published() {
    case $1-$2-$3 in
    alltoall-small-random) echo 1.22 ;;
    alltoall-small-adaptive) echo 1.20 ;;
    alltoall-small-letflow) echo 1.25 ;;
    alltoall-small-ecmp) echo 1.41 ;;
    alltoall-large-random) echo 1.06 ;;
    alltoall-large-ecmp) echo 1.35 ;;
    permutation-small-random) echo 1.31 ;;
    permutation-small-ecmp) echo 5.25 ;;
    permutation-large-random) echo 1.22 ;;
    permutation-large-ecmp) echo 5.60 ;;
    *) echo - ;;
    esac
}
for pattern in $(pick patterns "permutation" "alltoall permutation"); do
    for size in $(pick buffers "small" "small large"); do
        buffer=$([ "$size" = small ] && echo 256KB || echo 3200KB)
        nr=0
        for scheme in $(pick schemes "ecmp random" "ecmp letflow adaptive random round-robin"); do
            nr=$((nr + 1))
            if [ "$pattern" = alltoall ]; then bytes=48 count=127; else bytes=2000 count=1; fi
            simulate topology=fat-tree "pattern=$pattern" "bytes=${bytes}KB" "buffer=$buffer" \
                pfc=false transport=sdr "balance=$scheme" switch.letflow.gap=10us
            # Frames have 4096 bytes of payload and 98 more on the link; a path has 6 links.
            optimum=$(calc "$bytes * $count * 1000 * (4096 + 98) / 4096 * 8 / 100e3 + 6 * (1 + 0.336)")
            ours=$(calc "$(value sim_time_ps) / 1e6 / $optimum")
            put "$pattern-$size" "$scheme" $nr "$(against "$ours" "$(published $pattern $size $scheme)")" \
                "$(value drops.egress-full)" "$(value retransmitted_packets)"
        done
    done
done
labels=1 axis=3 draw scheme over_optimum theirs
