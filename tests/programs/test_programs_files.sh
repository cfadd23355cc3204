#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_files.sh - the files by which programs see the devices of their host.
#
# Goal: paths, links and texts below /sys, /dev and /proc are those of the simulated host, whatever function
# asks for them; nothing shows this machine's load, free memory or random numbers; counters move with the
# traffic, and the folder of the files is removed. Not pinned: which files there are beyond those that UCX,
# libfabric and rdma-core read.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-ibverbs/libibverbs.so.1" ] && command -v ib_write_bw >/dev/null || {
    echo "skipped: perftest or the library of programs is not there"
    exit 77
}
# As long as those of test harnesses.
export TMPDIR="$work/tmp/a-folder-of-a-harness/that-has-a-name-of-more-than-sixty-four-characters"
mkdir -p "$TMPDIR"
device=/sys/class/infiniband/rocesim0
counters=$device/ports/1
cat >"$work/look.sh" <<END
set -e
cd $counters && [ -s hw_counters/qps_live ] && cd /
ls $device $counters /sys/class/net /sys/bus/pci/devices
cat $device/node_type $counters/state $counters/gids/0 $counters/gid_attrs/types/0
readlink /sys/class/net/eth0
realpath $device/device
cat /sys/devices/system/node/node0/cpulist /sys/devices/system/node/node0/cpumap
cd /sys/class/net/eth0/device/ && ls infiniband && cat vendor
cd $counters/hw_counters && pwd && cat qps_live
[ -c /dev/infiniband/uverbs0 ] && [ -w /dev/infiniband/uverbs0 ]
[ -e /sys/class/net/eth1 ] && exit 3
echo /sys/class/infiniband/*
grep -r . $counters/counters | sort
ls /dev/shm
echo text >/dev/shm/own && cat /dev/shm/own
mkdir "\$TMPDIR/folder" && ls "\$TMPDIR"
cat /proc/\$\$/comm /proc/net/if_inet6
END
cat >"$work/count.sh" <<END
set -e
[ -s $counters/counters/port_rcv_data ]
[ -s /sys/class/net/eth0/../../vendor ]
cat $counters/counters/port_rcv_data $counters/hw_counters/rx_data_bytes
ib_write_bw -d rocesim0 -F -n 100 >/dev/null
cat $counters/counters/port_rcv_data $counters/hw_counters/rx_data_bytes
END
${CC:-cc} -O1 tests/programs/streams/machine.c -o "$work/machine"
cat >"$work/files.yaml" <<END
topology:
  star: {hosts: 3}
traffic:
  - programs:
      - {host: host0, command: "sh $work/count.sh"}
      - {host: host1, command: "ib_write_bw -d rocesim0 -F -n 100 host0", start: 1s}
      - {host: host2, command: "sh $work/look.sh"}
      - {host: host2, command: "cat /proc/sys/kernel/random/boot_id /proc/sys/kernel/hostname"}
      - {host: host1, command: "cat /proc/sys/kernel/random/boot_id /proc/sys/kernel/hostname"}
      - {host: host1, command: "sh -c 'ls /dev/shm; ls \$TMPDIR'", start: 1s}
      - {host: host1, command: "uname -a"}
      - {host: host0, command: "$work/machine $work"}
      - {host: host0, command: "cat /proc/meminfo /proc/sys/kernel/random/uuid"}
      - {host: host1, command: "sh -c 'sleep 1 & ls /proc | grep ^[0-9]; ps -e -o comm='"}
END
for run in first second; do
    within 60 "$ROCESIM" run "$work/files.yaml" --programs -o "$work/$run" >"$work/$run.log" 2>&1 || {
        cat "$work/$run.log" "$work/$run"/programs/*
        fail "a program failed"
    }
done
diff -r "$work/first/programs" "$work/second/programs" || fail "two equal runs show different files"
out=$work/first/programs
for line in "1: CA" "4: ACTIVE" "0000:0000:0000:0000:0000:ffff:0a00:0003" "RoCE v2" \
    "../../devices/pci0000:00/0000:01:00.0/net/eth0" "/sys/devices/pci0000:00/0000:01:00.0" \
    "0-63" "ffffffff,ffffffff" \
    "0000:01:00.0" "uverbs0" "$device" "$counters/hw_counters" "$counters/counters/port_xmit_data:0"; do
    [ "$line" = uverbs0 ] || grep -qxF -- "$line" "$out/host2-0.out" || fail "no line '$line'"
done
[ ! -s "$out/host2-0.err" ] || fail "$(cat "$out/host2-0.err")"
{ read -r data_before && read -r payload_before && read -r data && read -r payload; } <"$out/host0-0.out"
[ "$data_before $payload_before" = "0 0" ] || fail "counters begin at $data_before and $payload_before"
[ "$payload" = 6553600 ] || fail "rx_data_bytes is $payload, expected 100 times 65536"
[ $((data * 4)) -gt 6553600 ] && [ $((data * 4)) -lt 6800000 ] ||
    fail "port_rcv_data is $data, expected the bytes of the frames by 4"
[ "$(sed -n 1p "$out/host1-1.out")" != "$(sed -n 1p "$out/host2-1.out")" ] ||
    fail "two hosts have one boot_id"
[ "$(sed -n 2p "$out/host1-1.out")" = host1 ] || fail "the kernel's host name is not that of the host"
[ "$(cat "$out/host1-3.out")" = "Linux host1 6.1.0-rocesim #1 SMP rocesim x86_64 GNU/Linux" ] ||
    fail "uname tells $(cat "$out/host1-3.out")"
# Processes are those of the program, with its numbers: sh, sleep, ls and perhaps grep.
[ "$(grep -c '^[0-9][0-9]*$' "$out/host1-4.out")" -ge 3 ] || fail "/proc shows $(cat "$out/host1-4.out")"
! command -v ps >/dev/null || [ "$(grep -v '^[0-9]' "$out/host1-4.out" | tr '\n' ' ')" = "sh sleep ps " ] ||
    fail "ps shows $(cat "$out/host1-4.out")"
[ "$(tail -n 3 "$out/host2-0.out" | tr '\n' ' ')" = "text folder sh " ] ||
    fail "shared memory or temporary files of a host are not there: $(tail -n 3 "$out/host2-0.out")"
[ ! -s "$out/host1-2.out" ] || fail "a host sees files of another one: $(cat "$out/host1-2.out")"
[ -z "$(ls "$TMPDIR")" ] || fail "files are left in TMPDIR: $(ls "$TMPDIR")"

# A run that a signal ends while a program runs removes its files, too.
cat >"$work/long.yaml" <<END
topology: {star: {hosts: 2}}
traffic: [programs: [{host: host0, command: "sh -c 'cat $device/node_type; while :; do :; done'"}]]
END
# begin_long: starts the run in the background, and waits until its program has read a file.
begin_long() {
    "$ROCESIM" run "$work/long.yaml" --programs -o "$work/long" >"$work/long.log" 2>&1 &
    run=$!
    for _ in $(seq 100); do
        find "$TMPDIR" -newer "$work/long.log" -name node_type | grep -q . && return
        sleep 0.1
    done
    fail "no files in TMPDIR"
}
begin_long
kill -TERM $run
wait $run && fail "a run that a signal ended has the exit status 0"
[ -z "$(ls "$TMPDIR")" ] || fail "after SIGTERM files are left in TMPDIR: $(ls "$TMPDIR")"

# A run after one that was killed removes what that one left, when it is a minute old.
begin_long
kill -KILL $run
wait $run || true
left=$(echo "$TMPDIR"/*)
[ -d "$left" ] || fail "a run that was killed leaves no folder"
touch -d '2 minutes ago' "$left"
begin_long
[ ! -e "$left" ] || fail "the folder of a run that was killed stays"
kill -TERM $run
wait $run || true
exit $((failures > 0))
