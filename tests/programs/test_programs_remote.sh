#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/programs/test_programs_remote.sh - ssh starts commands on other hosts, and datagrams reach them.
#
# Goal: a command has the name, the output and the status that it has on its host; without programs.ssh it is
# refused with the reason; UDP and the ioctls of interfaces behave as on Linux.
set -eu
. tests/script.sh

[ -e "$BUILD_DIRECTORY/programs-bin/ssh" ] &&
    cc -D_GNU_SOURCE -O1 tests/programs/udp.c -o "$work/udp" 2>/dev/null || {
    echo "skipped: a compiler or the library of programs is not there"
    exit 77
}
cat >"$work/commands" <<'END'
ssh host1 'hostname; echo to the error output >&2; exit 3'
echo status $?
ssh -x -o Some=thing -p22 user@host2 echo a 'b  c'
ssh host1 'kill -9 $$'
echo status $?
ssh nowhere true
echo status $?
for host in host1 host2 host3; do ssh $host hostname & done
wait
ssh host3 "ssh host2 'ssh host1 hostname'"
END
cat >"$work/remote.yaml" <<END
topology:
  star: {hosts: 4}
programs: {ssh: on}
traffic:
  - programs:
      - {host: host0, command: "sh $work/commands"}
END
for run in 1 2; do
    within 60 "$ROCESIM" run "$work/remote.yaml" --programs -o "$work/$run" >"$work/log" 2>&1 || {
        cat "$work/log" "$work/$run"/programs/*
        fail "the run of commands ended with another status than 0"
    }
done
cat >"$work/expected" <<END
host1
status 3
a b c
status 137
status 255
host1
host2
host3
host1
END
diff "$work/expected" "$work/1/programs/host0-0.out" || fail "other output than expected"
diff "$work/1/programs/host0-0.out" "$work/2/programs/host0-0.out" || fail "another run has other output"
grep -q "to the error output" "$work/1/programs/host0-0.err" || fail "the error output is missing"
grep -q '"command": "sshd"' "$work/1/summary.json" || fail "summary.json does not name the servers"
[ "$(grep '"digest"' "$work/1/summary.json")" = "$(grep '"digest"' "$work/2/summary.json")" ] ||
    fail "two runs have two digests"

cat >"$work/refused.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "ssh host1 hostname"}
END
within 60 "$ROCESIM" run "$work/refused.yaml" --programs >"$work/log" 2>&1 && fail "ssh without programs.ssh"
grep -q "programs: {ssh: on}" "$work/log" || fail "the message does not name programs.ssh"

cat >"$work/udp.yaml" <<END
topology:
  star: {hosts: 2}
traffic:
  - programs:
      - {host: host0, command: "$work/udp"}
      - {host: host1, command: "$work/udp host0", start: 1ms}
END
within 60 "$ROCESIM" run "$work/udp.yaml" --programs -o "$work/udps" >"$work/log" 2>&1 || {
    cat "$work/log" "$work"/udps/programs/*
    fail "udp.c ended with another status than 0"
}
cat >"$work/expected" <<END
lo: index 1, mask 255.0.0.0, loopback
eth0: index 2, mask 255.0.0.0
3 bytes of host1: one
4 bytes of host1: two.
5 bytes of host1: three
END
diff "$work/expected" "$work/udps/programs/host0-0.out" || fail "the server of datagrams: other output"
cat >"$work/expected" <<END
answer of 3 bytes
answer of 4 bytes, cut to 2
answer of 5 bytes
END
diff "$work/expected" "$work/udps/programs/host1-0.out" || fail "the client of datagrams: other output"
exit $((failures > 0))
