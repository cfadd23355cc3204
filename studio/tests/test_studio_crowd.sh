#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# studio/tests/test_studio_crowd.sh - users who take more than their share.
#
# Goal: a statement of SQL, half-open connections, streams of events, a long queue and wrong passwords of one
# user or one address keep nobody else out; what is in the trash is not read; names show what they are.
# Method: each is tried, and another user asks meanwhile. Not pinned: how long answers take.
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

begin --sql-time 1 --jobs 1 --trusted-proxy 127.0.0.1,10.0.0.1
login admin
expect 201 POST users '{"name":"ann","role":"user","password":"blue horse staple"}'
expect 201 POST users '{"name":"vic","role":"viewer","password":"blue horse staple"}'

# -- names: no look-alike of another user's, no character that cannot be seen or turns the text

for name in '\u0430dmin' 'adm\u0131n' 'ad\u200bmin' '\uff41dmin'; do
    expect 400 POST users "{\"name\":\"$name\",\"role\":\"user\"}"
done
expect 201 POST users '{"name":"\u738b\u4f1f","role":"user"}'
for name in 'a\u202eb' 'a\u200bb' '\u3164'; do
    expect 400 POST runs "{\"name\":\"$name\",\"library\":\"quickstart\"}"
done

# -- the trash is for its owner alone, and even the owner reads no results in it

expect 201 POST runs '{"name":"=1+1","library":"quickstart","shared":true}'
until_state 1 done
until_imported 1
expect 200 POST query '{"runs":[1],"table":"flows","columns":["run_name","run"],"limit":1,"format":"csv"}'
[ "$(sed -n 2p "$work/answer")" = "'=1+1,1" ] || fail "a formula in CSV: $(cat "$work/answer")"
login vic "blue horse staple"
expect 200 GET runs/1
login admin
expect 200 POST runs/delete '{"runs":[1,99]}'
grep -q '"changed":\[1\]' "$work/answer" || fail "delete: $(cat "$work/answer")"
expect 409 POST query '{"runs":[1],"table":"flows"}'
expect 404 GET runs/1/files/result/flows.csv
login vic "blue horse staple"
expect 404 GET runs/1
expect 404 POST query '{"runs":[1],"table":"flows"}'
expect 200 GET 'runs?trash=true'
! grep -q '"id"' "$work/answer" || fail "a viewer sees the trash of others: $(cat "$work/answer")"
login admin
expect 200 POST runs/1/restore '{}'

# -- a statement that a single step of SQLite would run for hours

long="WITH RECURSIVE d(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM d WHERE length(x) < 30000), \
t(x) AS (SELECT max(x) FROM d), n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) \
SELECT sum(instr(x || x, x || 'b')) FROM t, n"
before=$SECONDS
expect 400 POST sql "{\"runs\":[1],\"sql\":\"$long\"}"
grep -q 'processor time' "$work/answer" || fail "a long statement: $(head -c 300 "$work/answer")"
[ $((SECONDS - before)) -lt 1000 ] || fail "a statement of 1 s of processor time took $((SECONDS - before)) s"
expect 400 POST sql '{"runs":[1],"sql":"SELECT printf('"'%.*c'"', 100000, 1)"}'
expect 400 POST sql '{"runs":[1],"sql":"SELECT no_such FROM flows"}'
grep -q '"column":8' "$work/answer" || fail "the place of an error: $(cat "$work/answer")"
expect 200 POST sql '{"runs":[1],"sql":"SELECT count(*) AS n FROM flows"}'
grep -q '"columns":\[{"name":"n"}\]' "$work/answer" || fail "sql: $(cat "$work/answer")"

# -- half-open connections from one address

(
    trap - EXIT
    ulimit -n 1024 2>/dev/null
    for _ in $(seq 600); do
        exec {fd}<>"/dev/tcp/127.0.0.1/${url##*:}" || break
        printf 'GET / HTTP/1.1\r\n' >&"$fd" 2>/dev/null || true
    done 2>/dev/null
    touch "$work/opened"
    sleep 5
) &
half_open=$!
for _ in $(seq 6000); do
    [ ! -e "$work/opened" ] || break
    sleep 0.1
done
expect 200 GET me
kill "$half_open" 2>/dev/null
wait "$half_open" 2>/dev/null

# -- streams of events: one user cannot hold them all

watchers=()
for _ in $(seq 17); do
    curl -s -N -m 600 -b "studio=$session" "$url/api/v1/events" -o /dev/null \
        -w '%{http_code}\n' >>"$work/watched" &
    watchers+=($!)
done
for _ in $(seq 6000); do
    [ ! -s "$work/watched" ] || break
    sleep 0.1
done
[ "$(cat "$work/watched")" = 503 ] || fail "the 17th stream of a user: $(cat "$work/watched")"
for watcher in "${watchers[@]}"; do
    kill "$watcher" 2>/dev/null
done

# -- the queue serves whoever was served longest ago; a thousand runs are cancelled by one request

slow='topology: {star: {hosts: 2}}\ntraffic: [{bulk: {from: host0, to: host1, bytes: 1TB}}]\n'
expect 201 POST runs "{\"name\":\"first\",\"yaml\":\"$slow\"}"
first=$(field id)
expect 201 POST runs "{\"name\":\"many\",\"yaml\":\"$slow\",\"seeds\":[$(seq -s, 900)]}"
grep -o '"id":[0-9]*,"group"' "$work/answer" | grep -o '[0-9]*' >"$work/ids"
admin_session=$session
admin_csrf=$csrf
login ann "blue horse staple"
expect 201 POST runs '{"name":"ann one","library":"quickstart"}'
one=$(grep -o '"id":[0-9]*,"group"' "$work/answer" | grep -o '[0-9]*')
session=$admin_session
csrf=$admin_csrf
expect 200 POST "runs/$(grep -o '[0-9]*' <<<"$(head -n 1 "$work/ids")" | awk '{ print $1 - 1 }')/cancel" '{}'
until_state "$one" done
api GET 'runs?state=running&limit=0'
expect 200 POST runs/cancel "{\"runs\":[$(paste -sd, "$work/ids")]}"
[ "$(grep -o '"changed":\[[^]]*' "$work/answer" | tr ',' '\n' | wc -l)" -ge 890 ] ||
    fail "cancelled: $(head -c 300 "$work/answer")"
expect 200 GET 'runs?state=queued&limit=0'
grep -q '"total":0' "$work/answer" || fail "still waiting: $(cat "$work/answer")"

# -- wrong passwords: a lock counts by the address that the trusted proxy tells

try() { # NAME PASSWORD ADDRESS
    status=$(curl -s -m 600 -o "$work/answer" -w '%{http_code}' -H 'Content-Type: application/json' \
        -H "X-Forwarded-For: 1.2.3.4, $3, 10.0.0.1" \
        --data-binary "{\"name\":\"$1\",\"password\":\"$2\"}" "$url/api/v1/login")
}
for _ in $(seq 6); do
    try ann wrong-password 192.0.2.7
done
[ "$status" = 429 ] || fail "six wrong passwords: $status"
try ann "blue horse staple" 192.0.2.8
[ "$status" = 200 ] || fail "the same user from another address: $status"
expect 200 GET 'audit?action=login.locked'
grep -q '"address":"192.0.2.7"' "$work/answer" || fail "audit: $(cat "$work/answer")"
stop

# -- wrong passwords for many names from one address lock that address, but not who has logged in from it

if command -v python3 >/dev/null; then
    python3 - "$data/studio.sqlite" <<'END' || fail "the database of failures"
import sqlite3, sys, time
with sqlite3.connect(sys.argv[1]) as store:
    now_ms = int(time.time() * 1000)
    store.execute("INSERT OR REPLACE INTO failures VALUES ('', '192.0.2.8', 49, ?, 0)", (now_ms,))
END
    begin --jobs 1 --trusted-proxy 127.0.0.1,10.0.0.1
    try nobody-1 wrong-password 192.0.2.8
    try vic "blue horse staple" 192.0.2.8
    [ "$status" = 429 ] || fail "after 50 wrong passwords from an address: $status"
    try ann "blue horse staple" 192.0.2.8
    [ "$status" = 200 ] || fail "who is known at the address is locked out: $status"
    try vic "blue horse staple" 192.0.2.9
    [ "$status" = 200 ] || fail "another address: $status"
    stop
fi
[ "${failures:-0}" = 0 ]
