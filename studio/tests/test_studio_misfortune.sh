#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# studio/tests/test_studio_misfortune.sh - the server when processes, disks or files fail.
#
# Goal: each run ends once and none is lost when the server or a run's process is killed, a run exceeds its
# memory, the disk is full (at an order, in a run, at a write of the database), a second server uses the same
# data, the database is damaged or not writable, or a watcher disappears.
# Method: kill, and a small file system where the machine lets us mount one. Not pinned: power failures.
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

slow='topology: {star: {hosts: 4}}\ntraffic: [{incast: {to: host0, from: \"host[1-3]\", bytes: 1TB}}]\n'

# -- SIGKILL of the server: with runs that wait, that begin, that go on, that end meanwhile

begin --jobs 3
login admin
expect 201 POST runs "{\"name\":\"slow\",\"yaml\":\"$slow\"}"
until_state 1 running
# What its ports do meanwhile: the one that is asked for, and the longest queues.
for _ in $(seq 6000); do
    expect 200 GET 'runs/1/live?ports=switch0-%3Ehost0&top=2'
    ! grep -q '"sent_bytes":[1-9]' "$work/answer" || break
    sleep 0.1
done
grep -q '"ports":\[{"port":"switch0->host0","queued_bytes":[0-9]*,"sent_bytes":[1-9]' "$work/answer" ||
    fail "ports while it runs: $(cat "$work/answer")"
expect 200 GET 'runs/1/live?names=true'
[ "$(grep -o '"[^"]*->[^"]*"' "$work/answer" | wc -l)" = 8 ] || fail "names of ports: $(cat "$work/answer")"
expect 400 GET 'runs/1/live?top=65'
expect 201 POST runs '{"name":"many","library":"quickstart","seeds":[1,2,3,4,5,6,7,8,9,10,11,12]}'
for round in 1 2 3; do
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    server=""
    begin --jobs 3
done
"$program" --data "$data" --listen 127.0.0.1:0 >/dev/null 2>"$work/said" && fail "a second server"
grep -q 'another studio' "$work/said" || fail "a second server: $(cat "$work/said")"
for run in $(seq 2 13); do
    until_state $run done
done
expect 200 GET 'runs?state=done'
grep -q '"total":12' "$work/answer" || fail "done: $(tail -c 80 "$work/answer")"
for run in $(seq 2 13); do
    [ "$(ls "$data/runs/$run" | grep -c '^begun\.[0-9]*$')" = 1 ] || fail "run $run: $(ls "$data/runs/$run")"
done
# The one that was running all the time is the same process, and is ended by the server that found it.
until_state 1 running
[ "$(field attempt)" = 1 ] || fail "the long run was begun again"
expect 200 POST runs/1/cancel
until_state 1 cancelled

# -- the process beside a run is killed: the run goes with it, and begins again, but not for ever

expect 201 POST runs "{\"name\":\"slow\",\"yaml\":\"$slow\"}"
for _ in $(seq 6000); do
    [ ! -e "$data/runs/14/begun.1" ] || break
    sleep 0.1
done
kill -KILL "$(sed -n 's/.*"process": \([0-9]*\).*/\1/p' "$data/runs/14/begun.1")"
for _ in $(seq 6000); do
    [ ! -e "$data/runs/14/begun.2" ] || break
    sleep 0.1
done
[ -e "$data/runs/14/begun.2" ] || fail "a lost run was not begun again"
until_state 14 running
expect 200 POST runs/14/cancel
until_state 14 cancelled

# -- memory: of the run, not of the server

big='topology: {fat-tree: {k: 32}}\ntraffic: [{poisson: {load: 0.9, cdf: websearch}}]\nuntil: 10ms\n'
expect 200 GET me
api POST runs "{\"name\":\"big\",\"yaml\":\"$big\",\"memory_bytes\":20000000}"
case $status in
201) until_state 15 failed && { grep -q 'memory' "$work/answer" || fail "memory: $(cat "$work/answer")"; } ;;
422) ;; # checking it needs more than there is for checking: an answer too
*) fail "big: $status $(head -c 300 "$work/answer")" ;;
esac

# -- a watcher that goes away

for _ in 1 2 3 4 5 6 7 8; do
    curl -s -N -m 1 -b "studio=$session" "$url/api/v1/events" >/dev/null
done
expect 200 GET me
stop

# -- a database that is damaged

cp -r "$data" "$work/damaged"
rm -f "$work/damaged/studio.sqlite-wal" "$work/damaged/studio.sqlite-shm"
dd if=/dev/urandom of="$work/damaged/studio.sqlite" bs=4096 seek=1 count=20 conv=notrunc 2>/dev/null
within 20 "$program" --data "$work/damaged" --listen 127.0.0.1:0 >/dev/null 2>"$work/said"
[ $? = 1 ] && grep -q 'studio.sqlite' "$work/said" || fail "damaged: $(cat "$work/said")"

# -- a database or runs that the server may not write: they seem missing, and --adopt takes no run for failed

cp -r "$data" "$work/locked"
other=()
if [ "$(id -u)" = 0 ]; then
    other=(setpriv --reuid=nobody --clear-groups)
    chown -R nobody "$work/locked"
    chmod 755 "$work"
fi
for file in studio.sqlite runs; do
    "${other[@]}" "$program" --help >/dev/null 2>&1 || break # no such user, or one who may not read the build
    mode=$(stat -c %a "$work/locked/$file")
    chmod 444 "$work/locked/$file"
    within 20 "${other[@]}" "$program" --data "$work/locked" --listen 127.0.0.1:0 --adopt \
        >/dev/null 2>"$work/said"
    [ $? = 1 ] && grep -q "$file cannot be read and written: Permission denied" "$work/said" ||
        fail "$file that is not readable: $(cat "$work/said")"
    chmod "$mode" "$work/locked/$file"
done

# -- a full disk: a file system of 48 MB

if mkdir "$work/small" && mount -t tmpfs -o size=48m tmpfs "$work/small" 2>/dev/null; then
    trap 'stop; end_runs; umount -l "$work/small"; rm -rf "$work"' EXIT
    data=$work/small/data
    begin --disk-free 4MB --run-disk 8MB
    login admin
    expect 201 POST runs '{"name":"fits","library":"quickstart"}'
    until_state 1 done
    until_imported 1 # which needs room, and gives some of it back
    # No room to begin: runs wait, and the status says why; then there is room, and they go on.
    free=$(($(stat -f -c '%a * %S' "$work/small")))
    head -c $((free - 2000000)) /dev/zero >"$work/small/ballast"
    expect 201 POST runs '{"name":"waits","library":"quickstart"}'
    for _ in $(seq 6000); do
        api GET status
        ! grep -q '"blocked":"the disk is full' "$work/answer" || break
        sleep 0.1
    done
    grep -q '"blocked":"the disk is full' "$work/answer" || fail "status: $(cat "$work/answer")"
    rm "$work/small/ballast"
    until_state 2 done
    until_imported 2
    # No room for an import: it is refused, and what was there before stays.
    free=$(($(stat -f -c '%a * %S' "$work/small")))
    head -c $((free - 8192)) /dev/zero >"$work/small/ballast"
    expect 507 POST runs/1/import '{}'
    expect 200 POST query '{"runs":[1],"table":"flows"}'
    rm "$work/small/ballast"
    expect 200 POST runs/1/import '{}'
    until_imported 1
    # No room at all: what needs some is refused, but people log in and delete, a run that goes on
    # ends, the trash empties itself, and all this holds for a server that starts on a full disk.
    expect 201 POST runs "{\"name\":\"goes on\",\"yaml\":\"$slow\"}"
    until_state 3 running
    head -c 60000000 /dev/zero >"$work/small/ballast" 2>/dev/null
    printf '{"kind":"query","name":"large","body":"%s"}' \
        "$(head -c 700000 /dev/zero | tr '\0' x)" >"$work/large"
    expect 507 POST documents "@$work/large"
    expect 507 POST runs '{"name":"no","library":"quickstart"}'
    until_state 3 failed
    grep -q 'the disk is full' "$work/answer" || fail "a run on a full disk: $(cat "$work/answer")"
    stop
    begin --disk-free 4MB --run-disk 8MB
    login admin
    [ "$status" = 200 ] || fail "login on a full disk: $status $(cat "$work/answer")"
    expect 200 GET runs
    expect 200 DELETE runs/2
    for _ in $(seq 6000); do
        [ -e "$data/runs/2" ] || break
        sleep 0.1
    done
    [ ! -e "$data/runs/2" ] || fail "the trash is kept on a full disk"
    rm "$work/small/ballast"
    expect 201 POST documents "@$work/large"
    stop
    begin --disk-free 4MB --run-disk 8MB
    login admin
    expect 200 GET 'documents?kind=query'
    [ "$(grep -o '"name":"large"' "$work/answer" | wc -l)" = 1 ] || fail "documents: $(cat "$work/answer")"
    stop
else
    echo "note: no file system of its own: the full disk was left out"
fi
[ $failures = 0 ]
