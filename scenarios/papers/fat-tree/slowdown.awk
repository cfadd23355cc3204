# SPDX-License-Identifier: Apache-2.0
# scenarios/papers/fat-tree/slowdown.awk - computes the slowdown by size as the paper's analysis does.
# Reads flows.csv in any order and prints "bytes slowdown fct_us" of each completed flow of the
# load.
#
# The ideal time is the pair's round trip without queues (2 us for each link, 1000 bytes on each
# once) plus the flow with 48 bytes of headers per 1000 at the host's rate. Slowdowns below 1 count
# as 1.
BEGIN { FS = "," }
FNR == 1 { next }
$12 == "poisson" && $8 != "" {
    a = int(substr($2, 5) / 16); b = int(substr($3, 5) / 16)
    links = a == b ? 2 : int(a / 4) == int(b / 4) ? 4 : 6
    ideal_ns = 2000 * links + 160 + (links - 2) * 20 + ($5 + int(($5 + 999) / 1000) * 48) * 0.08
    slowdown = $8 / ideal_ns
    print $5, slowdown < 1 ? 1 : slowdown, $8 / 1000
}
