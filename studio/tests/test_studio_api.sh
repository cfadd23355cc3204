#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# studio/tests/test_studio_api.sh - the server's interface, used as people and scripts use it.
#
# Goal: login and logout, users, tokens, the library, checks with places of errors, the topology, an order
# with a grid and seeds, results that the command line reads, events, cancelling, the trash, documents with
# versions, the audit, backup and restore.
# Method: a real server on loopback, and curl. Not pinned: the page (test_studio_page), speed.
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

slow='topology: {star: {hosts: 4}}\ntraffic: [{incast: {to: host0, from: \"host[1-3]\", bytes: 1TB}}]\n'

begin --jobs 2
login admin
[ "$status" = 200 ] || fail "login: $status $(cat "$work/answer")"
grep -q '^Set-Cookie: .*HttpOnly; SameSite=Strict' "$work/headers" || fail "the cookie's attributes"
expect 200 GET me
[ "$(field role)" = administrator ] || fail "me: $(cat "$work/answer")"

# -- people

expect 201 POST users '{"name":"ann","role":"user","password":"blue horse staple"}'
expect 409 POST users '{"name":"ANN","role":"user","password":"blue horse staple"}'
expect 400 POST users '{"name":"bo","role":"king"}'
expect 400 POST users '{"name":"bo","rolle":"viewer"}'
grep -q "unknown member 'rolle', did you mean 'role'" "$work/answer" || fail "unknown: $(cat "$work/answer")"
expect 400 GET 'audit?limt=3'
grep -q "unknown parameter 'limt', did you mean 'limit'" "$work/answer" ||
    fail "unknown: $(cat "$work/answer")"
expect 400 GET 'runs?trash=maybe'
grep -q "trash: expected true or false" "$work/answer" || fail "trash: $(cat "$work/answer")"
expect 200 GET 'runs?trash=1&limit=1'
expect 400 POST users '{"name":"bo","password":"short"}'
expect 201 POST users '{"name":"bo","role":"viewer"}'
link=$(sed -n 's/.*#once=\([^"]*\)".*/\1/p' "$work/answer")
[ -n "$link" ] || fail "no link for bo"
expect 409 PATCH users/1 '{"role":"user"}'
expect 409 DELETE users/1
admin_session=$session
admin_csrf=$csrf

session="" csrf=""
expect 400 POST login "{\"link\":\"$link\",\"password\":\"short\"}"
expect 200 POST login "{\"link\":\"$link\",\"password\":\"a longer password\"}"
expect 400 POST login "{\"link\":\"$link\",\"password\":\"a longer password\"}"
login bo 'a longer password'
[ "$status" = 200 ] || fail "bo cannot log in: $status"
expect 403 GET users
expect 403 POST runs '{"name":"x","library":"quickstart"}'
expect 403 PUT me/password '{"old":"wrong password","new":"another password"}'
expect 204 PUT me/password '{"old":"a longer password","new":"another password"}'
expect 204 POST logout
expect 401 GET me
login bo 'another password'
expect 204 POST me/logout-everywhere '{}'
expect 401 GET me

# -- tokens: no cookie, no header against forged requests

login ann 'blue horse staple'
expect 201 POST tokens '{"name":"script"}'
token=$(field token)
expect 400 POST tokens '{"name":"script","role":"administrator"}'
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' -d '{"kind":"query","name":"q","body":{"a":1}}' \
    "$url/api/v1/documents")" = 201 ] ||
        fail "a token cannot save"
expect 200 GET tokens
expect 204 DELETE "tokens/$(field id)"
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$url/api/v1/me")" = 401 ] ||
    fail "a token that was ended"

# -- documents

expect 200 GET 'documents?kind=query'
grep -q '"name":"q"' "$work/answer" || fail "documents: $(cat "$work/answer")"
expect 201 POST documents '{"kind":"scenario","name":"mine","body":{"yaml":"topology: {star: {hosts: 2}}\n"}}'
document=$(field id)
expect 200 PUT "documents/$document" '{"name":"ours","version":1}'
expect 409 PUT "documents/$document" '{"name":"theirs","version":1}'
expect 200 DELETE "documents/$document"
expect 200 GET 'documents?trash=true'
grep -q '"name":"ours"' "$work/answer" || fail "trash: $(cat "$work/answer")"
expect 200 POST "documents/$document/restore" '{}'

# -- the library and the checker

expect 200 GET library
grep -q '"name":"quickstart","kind":"scenario"' "$work/answer" ||
    fail "library: $(head -c 400 "$work/answer")"
expect 200 GET library/wan/omnidma
grep -q '"yaml":"' "$work/answer" || fail "library/wan/omnidma"
expect 404 GET library/nothing
expect 200 POST check '{"yaml":"topology:\n  star: {hosts: x}\n"}'
grep -q '"line":2,"column":17' "$work/answer" || fail "place of the error: $(cat "$work/answer")"
expect 200 POST check '{"library":"quickstart","set":["nic.mtu=17"]}'
grep -q '"message":"--set nic.mtu=17\|"message":"nic.mtu' "$work/answer" || fail "set: $(cat "$work/answer")"
expect 200 POST check '{"library":"quickstart"}'
grep -q '"errors":\[\].*"hosts":8,.*"transfers":7,' "$work/answer" || fail "estimate: $(cat "$work/answer")"
expect 200 POST topology '{"library":"quickstart"}'
grep -q '"name":"switch0"\|"name": "switch0"' "$work/answer" || fail "topology: $(head -c 300 "$work/answer")"
expect 422 POST topology '{"yaml":"topology: {star: {hosts: x}}"}'
api GET library
jq -r '.["library"][] | select(.command) | .name + ": " + .command' "$work/answer" >"$work/commands"
printf 'write-bw: rocesim run --programs write-bw\n' | diff - "$work/commands" || fail "command line only"
# A scenario with programs opens; only its run is refused.
own='topology: {star: {hosts: 2}}\ntraffic: [{programs: [{host: host1, command: \"true\"}]}]\n'
expect 200 POST check "{\"yaml\":\"$own\"}"
grep -q '"errors":\[\].*"hosts":2,.*"refusal":"the studio shows this scenario' "$work/answer" ||
    fail "programs: $(cat "$work/answer")"
expect 200 POST topology "{\"yaml\":\"$own\"}"
expect 422 POST runs "{\"name\":\"programs\",\"yaml\":\"$own\"}"
grep -q 'rocesim run --programs' "$work/answer" || fail "refused: $(cat "$work/answer")"
bricks='topology: {star: {hosts: 2}}\ntraffic: [{simbricks: {host: host0, connect: nowhere}}]\n'
expect 200 POST check "{\"yaml\":\"$bricks\"}"
grep -q '"errors":\[\].*"refusal":".*`rocesim run FILE`' "$work/answer" ||
    fail "simbricks: $(cat "$work/answer")"
expect 200 POST check "{\"yaml\":\"${own/host1/host9}\"}"
grep -q '"errors":\[{"message"' "$work/answer" || fail "wrong programs: $(cat "$work/answer")"
tree='topology: {fat-tree: {k: 32}}\ntraffic: [{permutation: {hosts: \"*\", bytes: 1KB}}]\n'
expect 200 POST topology "{\"yaml\":\"$tree\"}"
grep -q '"name":"agg16 … agg31 (288)"' "$work/answer" || fail "large: $(head -c 300 "$work/answer")"
expect 200 POST topology "{\"yaml\":\"$tree\",\"open\":\"1\",\"find\":\"host8191\"}"
grep -q '"edge16 (17)".*"host8191"' "$work/answer" || fail "open folds: $(head -c 300 "$work/answer")"
expect 200 GET parameters
grep -q 'nic.mtu' "$work/answer" || fail "parameters"
expect 200 GET schema
expect 200 GET openapi.json
expect 200 GET status

# -- an order of four runs; its results are those of the command line

expect 422 POST runs '{"name":"broken","yaml":"topology: {star: {hosts: x}}\n"}'
grep -q '"line":1' "$work/answer" || fail "broken: $(cat "$work/answer")"
expect 400 POST runs '{"name":"many","library":"quickstart","grid":{"nic.mtu":[]}}'
expect 400 POST runs '{"name":"twice","library":"quickstart","seeds":[1,2,1]}'
for name in '   ' 'a\nb' ''; do
    expect 400 POST runs "{\"name\":\"$name\",\"library\":\"quickstart\"}"
done
expect 400 POST runs '{"name":"shared","library":"quickstart","shared":"yes"}'
expect 422 POST runs '{"name":"no line","library":"quickstart","grid":{"nic.mtu":[99]}}'
! grep -q '"where"' "$work/answer" || fail "a setting has a line: $(cat "$work/answer")"
expect 201 POST runs '{"name":"grid","library":"quickstart","grid":{"nic.mtu":[1024,4096]},"seeds":[1,2]}'
group=$(field group)
for run in 1 2 3 4; do
    until_state $run done
done
expect 200 GET "runs?group=$group&state=done"
grep -q '"total":4' "$work/answer" || fail "total: $(tail -c 100 "$work/answer")"
expect 200 GET 'runs?search=nic.mtu=4096'
grep -q '"total":2' "$work/answer" || fail "search: $(tail -c 100 "$work/answer")"
"$ROCESIM" run scenarios/quickstart.yaml --set nic.mtu=4096 --set seed=2 -o "$work/same" --quiet \
    >/dev/null 2>&1
expect 200 GET runs/4/files/result/flows.csv
cmp -s "$work/answer" "$work/same/flows.csv" || fail "flows.csv differs from the command line's"
"$ROCESIM" compare "$data/runs/1/result" "$data/runs/4/result" >"$work/compare" 2>&1 ||
    fail "compare of results"
[ "$(curl -s -b "studio=$session" -r 0-9 -o "$work/part" -w '%{http_code} %{size_download}' \
    "$url/api/v1/runs/4/files/result/flows.csv")" = '206 10' ] || fail "a range"
expect 200 GET runs/1/files
grep -q '"path":"result/summary.json"' "$work/answer" || fail "files: $(cat "$work/answer")"
expect 200 GET runs/1/log
expect 200 PATCH runs/1 '{"name":"first","notes":"for the paper","shared":true}'
printf '{"notes":"%020001d"}' 0 >"$work/long"
expect 400 PATCH runs/1 "$(cat "$work/long")"
printf '{"name":"%0201d"}' 0 >"$work/long"
expect 400 PATCH runs/1 "$(cat "$work/long")"
expect 400 PATCH runs/1 '{"name":7}'

# Results are columns, by which runs are sorted; those without a value stand last.
expect 200 GET "runs/columns?group=$group"
grep -q '{"name":"flows.fct_us.p99","runs":4,"min":[0-9.]*,"max":[0-9.]*}' "$work/answer" ||
    fail "columns: $(head -c 300 "$work/answer")"
for sort in flows.fct_us.p99 -flows.fct_us.p99; do
    expect 200 GET "runs?group=$group&sort=$sort&columns=flows.fct_us.p99,events"
    grep -o '"flows.fct_us.p99":[0-9.]*' "$work/answer" | cut -d: -f2 >"$work/column"
    order=-n
    [ "$sort" = flows.fct_us.p99 ] || order=-rn
    [ "$(wc -l <"$work/column")" = 4 ] && sort -c $order "$work/column" ||
        fail "sort=$sort: $(cat "$work/column")"
done
expect 200 GET 'runs?sort=name&limit=2&columns=nothing'
grep -q '"values":{}' "$work/answer" || fail "no values: $(head -c 300 "$work/answer")"
expect 200 GET "runs?sort=x')%3BDROP%20TABLE%20runs%3B--"

# -- an order is refused at once if any of its runs is wrong: at reading, and at building

expect 422 POST runs '{"name":"no","library":"quickstart","grid":{"nic.mtu":[1024,4096,99]},"seeds":[1,2]}'
grep -q 'nic.mtu=99' "$work/answer" || fail "a wrong value of a grid: $(cat "$work/answer")"
expect 422 POST runs '{"name":"no","library":"quickstart","grid":{"traffic[0].incast.to":["host0","host99"]}}'
grep -q 'host99' "$work/answer" || fail "a wrong host of a grid: $(cat "$work/answer")"
expect 422 POST runs '{"name":"no","study":"cache/skew","quick":true,"set":["nic.mtuu=1024"]}'
grep -q "did you mean 'mtu'" "$work/answer" || fail "a wrong attribute of a study: $(cat "$work/answer")"
expect 422 POST runs '{"name":"no","study":"cache/skew","quick":true,"set":["policy=lru, nothing"]}'
grep -q 'no policy .*nothing' "$work/answer" || fail "a wrong value of a study: $(cat "$work/answer")"
# The estimate has the disk, and its memory is not that of the server, which checks passwords.
expect 200 POST check '{"library":"quickstart"}'
estimate=$(grep -o '"memory_bytes":[0-9]*' "$work/answer" | head -n 1 | cut -d: -f2)
really=$(sed -n 's/.*"memory_bytes": \([0-9]*\).*/\1/p' "$data/runs/1/exit.1")
# A sanitizer's own memory is no measure.
[ "$estimate" -lt 40000000 ] && [ "$estimate" -gt $((really / 3)) ] || [ -n "${TEST_FEW:-}" ] ||
    fail "memory: $estimate estimated, $really taken"
estimate=$(grep -o '"result_bytes":[0-9]*' "$work/answer" | head -n 1 | cut -d: -f2)
until_imported 1
really=$(du -sb "$data/runs/1" | cut -f 1)
[ "$estimate" -lt $((really * 5)) ] && [ "$estimate" -gt $((really / 5)) ] ||
    fail "disk: $estimate estimated, $really taken"

# -- again, cancelled while it runs: what it has so far is there. Events say so, as they happen.

printf '{"name":"slow","yaml":"%s"}' "$slow" >"$work/order"
expect 201 POST runs "$(cat "$work/order")"
slow_run=5
curl -s -N -m 600 -b "studio=$session" "$url/api/v1/runs/$slow_run/events" >"$work/events" &
watcher=$!
until_state $slow_run running
for _ in $(seq 6000); do
    ! grep -q '^event: progress' "$work/events" || break
    sleep 0.1
done
grep -q '"sim_ns":' "$work/events" || fail "no progress: $(cat "$work/events")"
expect 409 DELETE runs/$slow_run
expect 200 POST runs/$slow_run/cancel
until_state $slow_run cancelled
[ "$(field ended)" = interrupted ] || fail "cancelled: $(cat "$work/answer")"
expect 200 GET runs/$slow_run/files/result/summary.json
for _ in $(seq 6000); do
    ! grep -q '"state":"cancelled"' "$work/events" || break
    sleep 0.1
done
grep -q '"state":"cancelled"' "$work/events" || fail "the watcher was not told"
expect 409 POST runs/$slow_run/cancel
kill $watcher
wait $watcher 2>/dev/null
expect 201 POST runs/1/again '{}'
until_state 6 done

# -- limits that a run meets

expect 400 POST runs '{"name":"x","library":"quickstart","time_s":1000000}'
expect 400 POST runs '{"name":"x","library":"quickstart","ranks":2}'
grep -q 'allows 1 to 1 processes' "$work/answer" || fail "ranks: $(cat "$work/answer")"
sed 's/^{/{"time_s":1,/' "$work/order" >"$work/timed"
expect 201 POST runs "$(cat "$work/timed")"
until_state 7 failed
grep -q 'time limit' "$work/answer" || fail "time: $(cat "$work/answer")"

# -- the trash

expect 200 DELETE runs/2
expect 200 GET 'runs?trash=true'
grep -q '"total":1' "$work/answer" || fail "trash: $(cat "$work/answer")"
expect 200 POST runs/2/restore
expect 409 DELETE 'runs/2?forever=true'
expect 200 DELETE runs/2
expect 204 DELETE 'runs/2?forever=true'
expect 404 GET runs/2
[ ! -e "$data/runs/2" ] || fail "the folder of a run that was removed"

# -- a run that stalls says so, and its tables say what it left out

expect 201 POST runs '{"name":"stalls","library":"pfc-deadlock","set":["outputs.events-max=10"]}'
stalls=$(field id)
until_state "$stalls" failed
grep -q '"message":"stalled: 5 pieces of work are left' "$work/answer" ||
    fail "stalled: $(cat "$work/answer")"
until_imported "$stalls"
expect 200 GET "runs/$stalls/tables"
grep -q '"name":"events",.*"rows":10,"left_out":[1-9]' "$work/answer" ||
    fail "left out: $(head -c 400 "$work/answer")"
expect 200 DELETE "runs/$stalls"

# -- who sees what

expect 404 GET runs/99
session=$admin_session csrf=$admin_csrf
expect 200 GET runs/3
expect 201 POST users '{"name":"cy","role":"user","password":"another long password"}'
expect 200 GET 'audit?action=run'
grep -q '"action":"run.cancel"' "$work/answer" || fail "audit: $(head -c 400 "$work/answer")"
login cy 'another long password'
expect 200 GET runs/1
expect 404 GET runs/3
expect 403 PATCH runs/1 '{"name":"mine now"}'
expect 403 DELETE runs/1
expect 404 POST runs/3/cancel
expect 404 GET runs/3/log
expect 404 GET "documents/$document"
expect 200 GET runs
grep -q '"total":1' "$work/answer" || fail "what cy sees: $(tail -c 60 "$work/answer")"

# -- what is wrong with a scenario: not the first error alone

wrong='topology: {star: {hosts: 4}}\nnic: {mtuu: 1024}\nswitch:\n  buffer: lots\n  pfc: {alpha: 1/8}\n'
wrong="$wrong"'traffic:\n  - incast: {to: host0, from: \"host[1-3]\", bytes: 1KB, starts: 3}\n'
expect 200 POST check "{\"yaml\":\"$wrong\"}"
[ "$(grep -o '"line":[0-9]*' "$work/answer" | sort | tr '\n' ' ')" = '"line":2 "line":4 "line":7 ' ] ||
    fail "lines of errors: $(cat "$work/answer")"
[ "$(grep -o '"after":true' "$work/answer" | wc -l)" = 2 ] || fail "further errors: $(cat "$work/answer")"
grep -q '"all":true' "$work/answer" || fail "these are all errors: $(tail -c 100 "$work/answer")"
# Each error counts once: several in one mapping, and those that only show when the network is built.
wrong='topology: {star: {hosts: 3}}\nnic: {mtu: 99, foo: 1, bar: 2} # {\n'
wrong="$wrong"'switch: {buffer: 1XB, pfc: {alpha: -1}}\n'
wrong="$wrong"'traffic:\n  - incast: {to: host9, from: \"host[1-2]\", bytes: 1MB}\n'
wrong="$wrong"'  - bulk: {from: host0, to: host1, bytes: lots}\n'
expect 200 POST check "{\"yaml\":\"$wrong\"}"
[ "$(grep -o '"line":[0-9]*' "$work/answer" | sort | tr '\n' ' ')" = \
    '"line":2 "line":2 "line":2 "line":3 "line":3 "line":5 "line":6 ' ] ||
    fail "errors: $(cat "$work/answer")"
# What stands below an unknown name is not read, so nobody knows whether there are more.
expect 200 POST check '{"yaml":"topology: {star: {hosts: 3}}\nnick:\n  mtu: 99\n"}'
grep -q '"all":false' "$work/answer" || fail "an error with others below: $(cat "$work/answer")"
# What is wrong only because a line was left out is not told.
expect 200 POST check \
    '{"yaml":"topology: {ring: {}}\ntraffic:\n  - incast: {to: host0, from: \"host[1-3]\", bytes: 1}\n"}'
[ "$(grep -o '"message"' "$work/answer" | wc -l)" = 1 ] || fail "one error: $(cat "$work/answer")"

# -- studies of the library: a script in the queue, whose simulations become runs of its group

session=$admin_session csrf=$admin_csrf
expect 404 POST runs '{"name":"no","study":"cache/run"}'
expect 404 POST runs '{"name":"no","study":"../cache/skew"}'
expect 201 POST runs '{"name":"skew","study":"cache/skew","quick":true,"shared":true}'
study=$(field id)
until_state "$study" done
group=$(field group)
expect 200 GET "runs/$study/files/result/skew/figure.svg"
expect 200 GET "runs?group=$group"
grep -q '"total":3' "$work/answer" && grep -q '"name":"cache/skew: skew=1.2"' "$work/answer" ||
    fail "runs of a study: $(cat "$work/answer")"
made=$((study + 1))
cmp -s "$data/runs/$study/result/skew/runs/p1-s1/summary.json" "$data/runs/$made/result/summary.json" ||
    fail "the results of a run that a study made"
until_imported "$made"
expect 409 GET "runs/$study/tables"
# Its parameters and attributes of its scenarios have other values, and what is neither is refused.
expect 200 GET 'library/cache/skew?kind=study'
grep -q '"parameters":\[{"name":"policy","quick":"lru",.*{"name":"skew","quick":"0, 1.2"' "$work/answer" ||
    fail "parameters of a study: $(tail -c 300 "$work/answer")"
expect 400 POST runs '{"name":"no","study":"cache/skew","set":["skew=$(id)"]}'
expect 400 POST runs '{"name":"no","study":"cache/skew","set":["skew="]}'
expect 400 POST runs '{"name":"no","study":"cache/skew","seeds":[1]}'
expect 201 POST runs '{"name":"set","study":"cache/skew","quick":true,"set":["skew=0.5","nic.mtu=2048"]}'
study=$(field id)
until_state "$study" done
[ "$(cut -d, -f 1,2 "$data/runs/$study/result/skew/data.csv")" = "curve,x
lru,0.5" ] || fail "rows of a study with settings: $(cat "$data/runs/$study/result/skew/data.csv")"
grep -q 'mtu: 2KiB' "$data/runs/$study/result/skew/runs/p1-s1/scenario.yaml" || fail "an attribute of a study"
# A study that is ended takes its simulation with it.
expect 201 POST runs '{"name":"long","study":"papers/fat-tree/run"}'
study=$(field id)
of_study() {
    local cwd
    for cwd in /proc/[0-9]*/cwd; do
        [ "$(readlink "$cwd")" != "$data/runs/$study" ] || echo "${cwd%/cwd}"
    done
}
for _ in $(seq 6000); do
    [ "$(of_study | wc -l)" -lt 3 ] || break # the one beside it, bash, rocesim
    sleep 0.1
done
[ "$(of_study | wc -l)" -ge 3 ] || fail "processes of a study: $(of_study)"
expect 200 POST "runs/$study/cancel"
until_state "$study" cancelled
[ -z "$(of_study)" ] || fail "left of a study that was ended: $(of_study)"
expect 200 DELETE "runs/$study"
expect 204 DELETE "runs/$study?forever=true"

# -- backup while it runs, restore elsewhere

"$program" backup --data "$data" "$work/backup" >/dev/null || fail "backup"
"$program" backup --data "$data" "$work/backup" 2>/dev/null && fail "a backup over another"
stop
"$program" restore --data "$data" "$work/backup" 2>/dev/null && fail "restored over what is there"
cp -r "$work/backup" "$work/spoilt"
printf 'x' >>"$work/spoilt/runs/1/result/flows.csv"
"$program" restore --data "$work/never" "$work/spoilt" 2>/dev/null && fail "restored what was spoilt"
[ ! -e "$work/never" ] || fail "a folder of what was spoilt"
"$program" restore --data "$work/restored" "$work/backup" >/dev/null || fail "restore"
data=$work/restored
begin --run-ranks 2
login ann 'blue horse staple'
expect 200 GET runs/4
expect 200 GET runs/4/files/result/flows.csv
cmp -s "$work/answer" "$work/same/flows.csv" || fail "flows.csv after restore"

# -- a run in two processes, which this server allows; mpirun works inside the run's confinement

if "$ROCESIM" --version | grep -q 'with Open MPI' && command -v mpirun >/dev/null; then
    expect 201 POST runs '{"name":"two","library":"quickstart","ranks":2}'
    two=$(field id)
    until_state "$two" done failed
    grep -q '  ranks     2, ' "$data/runs/$two/log" || fail "two ranks: $(head -n 3 "$data/runs/$two/log")"
fi
stop

# -- the first administrator by the link, through rocesim

"$ROCESIM" studio --data "$work/fresh" --listen 127.0.0.1:0 >"$work/server.out" 2>&1 &
server=$!
for _ in $(seq 6000); do
    url=$(sed -n 's/^rocesim studio: //p' "$work/server.out")
    [ -z "$url" ] || break
    sleep 0.05
done
link=$(sed -n 's/.*#once=//p' "$work/server.out")
session="" csrf=""
expect 200 POST login "{\"link\":\"$link\",\"name\":\"root\",\"password\":\"ten characters\"}"
expect 400 POST login "{\"link\":\"$link\",\"name\":\"toor\",\"password\":\"ten characters\"}"
stop
[ $failures = 0 ]
