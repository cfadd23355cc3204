#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_meta.sh - records of Mooncake's engine go to real metadata services.
#
# Goal: what a run's metadata node held is in etcd and memcached after an export, byte for byte what
# an import brings back; what is no record, and what is no service, is refused with a message.
# Method: Debian's etcd-server and memcached, started here on loopback with data of their own.
# Not pinned: other versions of them.
set -u
. tests/script.sh
start_forks

expect() {
    local status=$1 what=$2
    shift 2
    "$@" >"$work/stdout" 2>"$work/stderr"
    local got=$?
    [ "$got" -eq "$status" ] || fail "$what: exit $got, expected $status: $(cat "$work/stderr")"
}

rocesim run scenarios/mooncake/bench.yaml -o "$work/run" --set nics=2 --set threads=1 --set batch=4 \
    --quiet >"$work/log" 2>&1 || fail "the run: $(cat "$work/log")"
expect 0 "dump" rocesim mooncake-meta dump "$work/run"
cp "$work/stdout" "$work/records.json"
grep -q '"mooncake/host0": {' "$work/records.json" || fail "no record of host0"
grep -q '"priority_matrix"' "$work/records.json" || fail "no matrix"
expect 0 "dump of a file" rocesim mooncake-meta dump "$work/records.json"
cmp -s "$work/stdout" "$work/records.json" || fail "a file of records reads back otherwise"

expect 2 "no service" rocesim mooncake-meta export "$work/run"
expect 2 "two services" rocesim mooncake-meta import --etcd http://127.0.0.1:1 --memcached 127.0.0.1:1
expect 2 "an action" rocesim mooncake-meta move "$work/run" --etcd http://127.0.0.1:1
expect 2 "https" rocesim mooncake-meta import --etcd https://127.0.0.1:1
expect 1 "nobody there" rocesim mooncake-meta import --etcd http://127.0.0.1:1
grep -q 'http://127.0.0.1:1: Connection refused' "$work/stderr" || fail "nobody there: $(cat "$work/stderr")"
echo '{"mooncake/a": {"name": "a"}}' >"$work/bad.json"
expect 2 "a broken record" rocesim mooncake-meta dump "$work/bad.json"
grep -q 'mooncake/a: segment: expected lists' "$work/stderr" || fail "a broken record: $(cat "$work/stderr")"

# A run begins with imported records: those of hosts that it does not have stay as they are, and its own are
# written only if they differ. A run that begins with its own records therefore changes none.
again() { # NAME RECORDS SETTINGS...
    local name=$1 records=$2
    shift 2
    rocesim run scenarios/mooncake/bench.yaml -o "$work/$name" --set nics=2 --set threads=1 --set batch=4 \
        --set "traffic[0].mooncake-bench.metadata.records=$records" --quiet "$@" >"$work/log" 2>&1 ||
        fail "$name: $(cat "$work/log")"
}
changes() {
    sed -n 's/^ *"change": "\([a-z]*\)".*/\1/p' "$work/$1/summary.json" | sort | uniq -c | tr -s ' \n' ' '
}
again same "$work/records.json"
[ "$(changes same)" = " 2 unchanged " ] || fail "a run with its own records: $(changes same)"
sed 's/"name": "host1"/"name": "else"/; s/mooncake\/host1/mooncake\/else/' "$work/records.json" \
    >"$work/mixed.json"
again mixed "$work/mixed.json" --set 'traffic[0].mooncake-bench.engine.slice=32KiB'
[ "$(changes mixed)" = " 2 unchanged 1 written " ] || fail "another host's record: $(changes mixed)"
grep -q '"failed": 0' "$work/mixed/summary.json" || fail "requests failed with imported records"
expect 2 "records that are none" rocesim run scenarios/mooncake/bench.yaml -o "$work/none" \
    --set "traffic[0].mooncake-bench.metadata.records=$work/bad.json"
grep -q 'bad.json: mooncake/a: segment: expected lists' "$work/stderr" ||
    fail "bad records: $(cat "$work/stderr")"
expect 2 "no file of records" rocesim run scenarios/mooncake/bench.yaml -o "$work/none" \
    --set "traffic[0].mooncake-bench.metadata.records=$work/nothing.json"
# What a run removed: a program can, the benchmark does not.
mkdir "$work/removed"
sed 's/"change": "unchanged"/"change": "removed"/' "$work/mixed/summary.json" >"$work/removed/summary.json"

# there PORT: until someone listens, at most two minutes
there() {
    local i
    for i in $(seq 6000); do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.1
    done
    fail "nobody listens at $1"
}
stop() {
    kill "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}
# From the service into a run and back: only what changed is written, what was removed is deleted.
round_trip() { # SERVICE
    cp "$work/stdout" "$work/imported.json"
    again trip "$work/imported.json"
    expect 0 "export of nothing" rocesim mooncake-meta export "$work/trip" "$@"
    grep -qx '0 records' "$work/stdout" || fail "$1: nothing changed: $(cat "$work/stdout")"
    expect 0 "export of changes" rocesim mooncake-meta export "$work/mixed" "$@"
    grep -qx '1 records' "$work/stdout" || fail "$1: one changed: $(cat "$work/stdout")"
    expect 0 "export of a removal" rocesim mooncake-meta export "$work/removed" "$@"
    grep -qx '1 records, 2 removed' "$work/stdout" || fail "$1: one removed: $(cat "$work/stdout")"
    expect 0 "import" rocesim mooncake-meta import "$@"
    [ "$(grep -c '^  "mooncake/' "$work/stdout")" = 1 ] || fail "$1: $(cat "$work/stdout")"
}
base=$((20000 + $$ % 20000))
skipped=""

etcd=$(command -v "${ETCD:-etcd}" || true)
if [ -n "$etcd" ]; then
    url=http://127.0.0.1:$base
    "$etcd" --data-dir "$work/etcd" --listen-client-urls "$url" --advertise-client-urls "$url" \
        --listen-peer-urls "http://127.0.0.1:$((base + 1))" \
        --initial-advertise-peer-urls "http://127.0.0.1:$((base + 1))" \
        --initial-cluster "default=http://127.0.0.1:$((base + 1))" >"$work/etcd.log" 2>&1 &
    server=$!
    there "$base"
    sleep 1
    expect 0 "export to etcd" rocesim mooncake-meta export "$work/run" --etcd "$url"
    expect 0 "import from etcd" rocesim mooncake-meta import --etcd "$url"
    cmp "$work/stdout" "$work/records.json" || fail "etcd brought back other records"
    round_trip --etcd "$url"
    stop $server
else
    skipped="$skipped etcd-server"
fi

memcached=$(command -v "${MEMCACHED:-memcached}" || true)
if [ -n "$memcached" ]; then
    "$memcached" -l 127.0.0.1 -p $((base + 2)) -U 0 -u "$(id -un)" >"$work/memcached.log" 2>&1 &
    server=$!
    there $((base + 2))
    expect 0 "export to memcached" rocesim mooncake-meta export "$work/run" \
        --memcached 127.0.0.1:$((base + 2))
    expect 0 "import from memcached" rocesim mooncake-meta import --memcached 127.0.0.1:$((base + 2))
    cmp "$work/stdout" "$work/records.json" || fail "memcached brought back other records"
    round_trip --memcached 127.0.0.1:$((base + 2))
    stop $server
else
    skipped="$skipped memcached"
fi

echo "$failures failures"
[ "$failures" -eq 0 ] || exit 1
[ -z "$skipped" ] || { echo "skip: not installed:$skipped" && exit 77; }
