#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# failures - what do the first 10 ms of a failure cost with each load balancer, and with planes?
#
# This is a script, since it computes the recovery from the series of each run.
# 32 hosts send a permutation without end over 8 spines, or over 4 planes of a fourth of the rate.
# At 1 ms a spine (`spine`) or the first plane (`plane`) goes down for good, one link loses 1 % of its
# frames (`corrupting`), or one link goes down 20 us of every 100 us (`flapping`). Routes follow 1 ms
# later. `reps` has adamap and DCQCN, the others IRN, which would send overtaken packets again.
# data.csv has the goodput of all hosts in Gbps, one row per 100 us; recovery.csv has the goodput
# before the failure, the lowest 100 us, the time until 95 % of what it was before (- : not within the
# run), and the last 2 ms. No published figure has this set-up.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
quick=${STUDY_QUICK:-0}
failures=$(pick failures "spine" "spine corrupting flapping")
begin "$1" "scheme,us,$(echo "$failures" | tr ' ' ',')"
until=$(pick until "4ms" "10ms")
hosts=$(pick hosts "16" "32")
echo "scheme,failure,before_gbps,lowest_gbps,recovered_us,last_gbps" >"$out/recovery.csv"

# goodput: prints a line "us gbps" for each 100 us of the run
goodput() {
    awk -F, -v ms="${until%ms}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { sum[int($at["time_ns"] / 100000 + 0.5)] += $at["value"] }
        END { for (t = 1; t <= ms * 10; t++) if (t in sum)
            printf "%d %.1f\n", t * 100, (sum[t] - sum[t - 1]) * 8 / 100e3 }' "$out/run/series.csv"
}

all="ecmp letflow conga conweave adaptive random reps planes-hash planes-least"
for scheme in $(pick schemes "ecmp random" "$all"); do
    options=(topology=leaf-spine "balance=$scheme" rate=100Gbps)
    case $scheme in
    reps) options=(topology=leaf-spine balance=ecmp repath=reps transport=adamap cc=dcqcn rate=100Gbps) ;;
    planes-hash) options=(topology=multi-plane balance=ecmp plane_choice=hash rate=25Gbps) ;;
    planes-least) options=(topology=multi-plane balance=ecmp plane_choice=least-queue rate=25Gbps) ;;
    esac
    paths=()
    for failure in $failures; do
        fail=$failure
        # A plane is the share of a network with planes that a spine is of one without.
        case $scheme-$failure in planes-*-spine) fail=plane ;; esac
        simulate "${options[@]}" "hosts=$hosts" bytes=1GB "until=$until" "fail=$fail" fail_at=1ms \
            'observe=[{series: "nic[*].rx_data_bytes", every: 100us}]'
        goodput >"$out/$failure.txt"
        paths+=("$out/$failure.txt")
        awk -v scheme="$scheme" -v failure="$failure" '
            $1 > 500 && $1 <= 1000 { before += $2 / 5 }
            $1 > 1000 { last[++n] = $2; if (n == 1 || $2 < lowest) { lowest = $2; at = $1 } }
            $1 > 1000 && $2 < 0.95 * before { recovered = "-"; bad = 1 }
            $1 > 1000 && $2 >= 0.95 * before && (bad || n == 1) { recovered = bad ? $1 - 1000 : 0; bad = 0 }
            END { for (i = n - 19; i <= n; i++) sum += last[i > 0 ? i : 1] / 20
                printf "%s,%s,%.0f,%.0f,%s,%.0f\n", scheme, failure, before, lowest, recovered, sum }' \
            "$out/$failure.txt" >>"$out/recovery.csv"
    done
    paste -d' ' "${paths[@]}" | awk -v scheme="$scheme" '{ row = scheme "," $1
        for (i = 2; i <= NF; i += 2) row = row "," $i
        print row }' >>"$out/data.csv"
done
cat "$out/recovery.csv"
# shellcheck disable=SC2086
draw us $failures
