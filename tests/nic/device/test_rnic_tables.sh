#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_rnic_tables.sh - ConnectX-5, -6 and -7 against public tables of perftest.
#
# Goal: the rows of docs/models/rnic.md, "Tables of perftest", have the errors that the page states: held-out
# rows are within 10 % but for those that name a larger limit. Both ends of a test both ways have the rate of
# either, wherever they start.
# Method: two hosts, one test a row. The time of a core to post is a constant of the machine, fitted at its
# smallest messages (kind fit).
# Does not pin: the default of cpu.mmio-fence.
set -u
. tests/script.sh
start_forks
# row SOURCE KIND LIMIT_PERCENT TEST SIZE PUBLISHED FIELD, with the machine in $machine and $options
row() {
    local published=$6 field=$7 ours
    local test="test: $4, size: $5, iterations: $8, inline: $9"
    [[ $4 == *_lat ]] || test="$test, $options, cq-moderation: 100"
    [[ $4 == *atomic* ]] && test=${test/size: 8, /}
    printf '%s\ntraffic: [perftest: {%s}]\n' "$machine" "$test" >"$work/row.yaml"
    rocesim run "$work/row.yaml" -o "$work/out" >"$work/log" 2>&1 || fail "$* $(cat "$work/log")"
    ours=$(awk -v f="$field" '/#bytes/ { getline; print $f }' "$work/log")
    awk -v name="$1: $4 of $5 B" -v kind="$2" -v limit="$3" -v theirs="$published" -v ours="$ours" 'BEGIN {
        error = (ours / theirs - 1) * 100
        printf "%-36s %-4s %8.2f %8.2f %+6.1f %%\n", name, kind, theirs, ours, error
        exit !(error < limit && error > -limit) }' || fail "$1: $4 of $5 B: $ours, published $published"
}
gbps=4 mps=5 us=6
machine() { # PROFILE RATE DELAY FRAMES MTU FENCE_NS QUEUE_PAIRS
    local bare=
    [ "$4" = infiniband ] && bare="network: {framing: bare}"
    machine="topology: {star: {hosts: 2, rate: $2, delay: $3}}
nic: {model: detailed, profile: $1, frames: $4, mtu: $5, congestion-control: none,
      detailed: {cpu: {mmio-fence: $6ns}}}
$bare"
    options="qps: $7"
}
# rows FIELD_OF_ALL SOURCE TEST ROW...: each row is SIZE=PUBLISHED, with /LIMIT or /fit behind it
rows() {
    local field=$1 source=$2 test=$3 part size limit kind published count inline
    shift 3
    for part in "$@"; do
        size=${part%%=*} published=${part#*=} limit=10 kind=held inline=0
        [[ $published == */* ]] && limit=${published#*/} && published=${published%/*}
        [ "$limit" = fit ] && kind=fit && limit=10
        count=$((size >= 262144 ? 50 : size >= 16384 ? 800 : 3000))
        [[ $test == *_lat ]] && count=100 && [ "$size" -le 220 ] && inline=220
        row "$source" $kind "$limit" "$test" "$size" "$published" "$field" $count $inline
    done
}

# -- ConnectX-5, 100 Gbps
machine connectx-5 100Gbps 150ns standard 1024 0 1
rows $gbps "pods, RoCE" ib_write_bw 65536=92.48
rows $gbps "pods, RoCE" ib_read_bw 65536=87.26
rows $gbps "pods, RoCE" ib_send_bw 65536=92.16
rows $mps "pods, RoCE, M/s" ib_atomic_bw 8=2.170
rows $us "pods, RoCE, us" ib_write_lat 2=1.58
rows $us "pods, RoCE, us" ib_read_lat 2=2.69
rows $us "pods, RoCE, us" ib_send_lat 2=1.68
rows $us "pods, RoCE, us" ib_atomic_lat 8=2.65
machine connectx-5 100Gbps 150ns standard 4096 0 4
rows $gbps "a cloud's pods, 4 queue pairs" ib_write_bw 65536=98.01
# -- ConnectX-6 (and cards that their tables do not name), 100 Gbps
machine connectx-6 100Gbps 150ns standard 1024 90 1
rows $mps "GPU operator, M/s" ib_write_bw 64=7.007/fit 256=7.314
rows $gbps "GPU operator" ib_write_bw 1024=58.81 2048=91.47 4096=92.06 8192=92.31 65536=92.38 \
    1048576=92.40
machine connectx-6 100Gbps 150ns infiniband 4096 227 1
rows $mps "pods, InfiniBand, M/s" ib_write_bw 64=3.566/fit
rows $gbps "pods, InfiniBand" ib_write_bw 2048=53.34/25 4096=86.35/25 8192=98.01 65536=98.32 \
    8388608=98.38
machine connectx-6 100Gbps 150ns standard 4096 309 1
rows $gbps "RoCE" ib_send_bw 1024=22.64/fit 4096=84.23 8192=97.31 65536=98.14
machine connectx-6 100Gbps 150ns infiniband 4096 176 1
rows $gbps "virtual machines' hosts" ib_send_bw 2048=71.46/fit 4096=95.97 65536=96.67
rows $us "MPI cluster, us" ib_send_lat 2=1.00
rows $gbps "MPI cluster" ib_read_bw 65536=98.22
rows $us "perftest #131, us" ib_read_lat 2=1.91
rows $us "perftest #131, us" ib_write_lat 2=0.93
machine connectx-6 100Gbps 150ns standard 4096 160 8
rows $mps "8 queue pairs, M/s" ib_write_bw 64=4.683/fit 512=4.676
# -- ConnectX-6, 200 Gbps
machine connectx-6 200Gbps 150ns infiniband 4096 129 1
rows $mps "HDR, M/s" ib_write_bw 64=5.484/fit
rows $gbps "HDR" ib_write_bw 1024=44.46 2048=88.77 4096=156.59/25 8192=196.28 65536=196.75 \
    1048576=196.80
machine connectx-6 200Gbps 150ns infiniband 4096 125 1
rows $mps "HDR, a second one, M/s" ib_write_bw 64=5.609/fit
rows $gbps "HDR, a second one" ib_write_bw 2048=84.74/25 4096=147.39/35 8192=194.57 65536=195.91
machine connectx-6 200Gbps 150ns infiniband 4096 342 1
rows $gbps "HDR, a third one" ib_send_bw 2048=41.47/fit 4096=80.82 8192=142.48/25 65536=171.60/25 \
    1048576=194.04
machine connectx-6 200Gbps 630ns infiniband 4096 333 1 # of several switches
rows $mps "EPYC 7742, M/s" ib_write_bw 64=2.593/fit
rows $gbps "EPYC 7742" ib_write_bw 2048=41.44 4096=86.25 8192=147.14/25 16384=171.99 65536=190.54 \
    1048576=195.42
rows $us "EPYC 7742, us" ib_write_lat 2=1.87/fit 64=1.91 256=2.87/25 1024=3.05/25 4096=3.85/26 16384=4.39/25 \
    65536=6.76/25 262144=14.92/25 1048576=46.92 8388608=345.55
machine connectx-6 200Gbps 1.2us infiniband 4096 298 1
rows $us "virtual machines, us" ib_read_lat 2=5.49/fit
rows $mps "virtual machines, M/s" ib_write_bw 64=2.851/fit
rows $gbps "virtual machines" ib_write_bw 4096=89.61 8192=147.61/35 65536=190.24
rows $mps "virtual machines, M/s" ib_read_bw 64=2.835
rows $gbps "virtual machines" ib_read_bw 1024=22.47 4096=76.33/25 8192=116.65/50 16384=154.71/35 \
    65536=185.13 1048576=193.95 8388608=197.48
# -- ConnectX-7
machine connectx-7 400Gbps 150ns standard 4096 141 1
rows $mps "pods, H200, M/s" ib_write_bw 2=5.148/fit
rows $gbps "a course" ib_write_bw 65536=388.77
machine connectx-7 400Gbps 150ns infiniband 4096 250 1
rows $gbps "B200, from hosts" ib_write_bw 67108864=378.5
rows $gbps "B200, from GPUs" ib_write_bw 67108864=395.5

# -- both ways: contexts do not wait behind the payload of all WQEs that are posted at once, so that the rate
# does not depend on the time between the two sides.
cat >"$work/both.yaml" <<'YAML'
topology: {star: {hosts: 2}}
nic: {model: detailed, profile: connectx-5}
traffic:
  - perftest: {test: ib_write_bw, qps: 4, iterations: 500}
  - perftest: {test: ib_write_bw, qps: 4, iterations: 500, from: host1, to: host0}
YAML
rates=
for start in 0ns 300ns 3us; do
    rocesim run "$work/both.yaml" --set "traffic[1].perftest.start=$start" -o "$work/out" >"$work/log" 2>&1 ||
        fail "$(cat "$work/log")"
    rates="$rates $(awk '$1 == 65536 { print $4 }' "$work/log" | tr '\n' ' ')"
done
awk -v all="$rates" 'BEGIN {
    n = split(all, rate, " ")
    for (i = 1; i <= n; i++) if (rate[i] < 95 || rate[i] > 96.3) exit 1
    exit n != 6 }' || fail "both ways:$rates"
[ "$failures" -eq 0 ]
