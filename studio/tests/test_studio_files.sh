#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# studio/tests/test_studio_files.sh - the files that users bring, and their quotas.
#
# Goal: files and folders are uploaded, listed, checked, named by scenarios, run and removed; each user sees
# only their own, also from inside a run; names that lead outside, large files, many small ones, uploads at
# the same time, broken ones and a full disk each get one clear message, and leave nothing behind.
# Method: a real server and curl. Not pinned: the page's control (test_studio_page).
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

# put FILE NAME: uploads a file under a name, with the status in $status
put() {
    status=$(curl -s -m 600 --path-as-is -o "$work/answer" -w '%{http_code}' -X PUT -b "studio=$session" \
        -H "X-Studio-Token: $csrf" -H 'Content-Type: application/octet-stream' \
        --data-binary "@$1" "$url/api/v1/files/$2")
}

# puts STATUS FILE NAME [TEXT]: uploads likewise, and expects the status and the text in the answer
puts() {
    put "$2" "$3"
    [ "$status" = "$1" ] || fail "PUT $3: $status, expected $1: $(head -c 300 "$work/answer")"
    grep -q -e "${4:-}" "$work/answer" || fail "PUT $3: no '$4' in $(cat "$work/answer")"
}

begin --user-files 1MB --user-runs 40MB --run-disk 8MB
login admin
expect 201 POST users '{"name":"ann","role":"user","password":"blue horse staple"}'
expect 201 POST users '{"name":"bo","role":"user","password":"blue horse staple"}'
expect 201 POST users '{"name":"vic","role":"viewer","password":"blue horse staple"}'
login vic 'blue horse staple'
expect 403 GET files
puts 403 scenarios/training/ring8.goal x.goal
login ann 'blue horse staple'
ann=$session ann_csrf=$csrf

# -- upload, list, download, replace, check

puts 201 scenarios/training/ring8.goal ring8.goal '"size_bytes":'
expect 200 GET files
grep -q '"files":\[{"path":"ring8.goal","size_bytes":[0-9]*,"changed_ms":[0-9]*}\].*"quota_bytes":1000000' \
    "$work/answer" || fail "list: $(cat "$work/answer")"
expect 200 GET files/ring8.goal
cmp -s "$work/answer" scenarios/training/ring8.goal || fail "a downloaded file"
printf 'topology: {star: {hosts: 8}}\ntraffic: [{workload: {file: ring.goal}}]\n' >"$work/s.yaml"
puts 201 "$work/s.yaml" 'project/my%20%E6%96%87.yaml' '"path":"project/my '
puts 201 scenarios/training/ring8.goal project/ring.goal
printf 'a,b\n1,2\n' >"$work/table.csv"
puts 201 "$work/table.csv" table.csv
puts 201 "$work/table.csv" table.csv # replaces it
: >"$work/nothing"
puts 201 "$work/nothing" empty
expect 204 DELETE files/empty
expect 200 POST files/check '{"path":"ring8.goal"}'
grep -q '"kind":"workload","good":true,"text":"ring8.goal: GOAL, text' "$work/answer" ||
    fail "check: $(cat "$work/answer")"
expect 200 POST files/check '{"path":"project/my 文.yaml"}'
grep -q '"kind":"scenario","good":true' "$work/answer" || fail "check: $(cat "$work/answer")"
expect 200 POST files/check '{"path":"table.csv"}'
grep -q '"kind":"other","good":null,"text":"table.csv:1:1: the file is a table' "$work/answer" ||
    fail "check: $(cat "$work/answer")"
printf 'topology: {star: {hosts: x}}\n' >"$work/wrong.yaml"
puts 201 "$work/wrong.yaml" wrong.yaml
expect 200 POST files/check '{"path":"wrong.yaml"}'
grep -q '"kind":"scenario","good":false,"text":"wrong.yaml:1:' "$work/answer" ||
    fail "check: $(cat "$work/answer")"
expect 404 POST files/check '{"path":"nothing"}'
expect 404 POST files/check '{"path":"../../studio.sqlite"}'

# -- a scenario names them, from the top or from a folder; the run reads them, and runs again

own='topology: {star: {hosts: 8}}\ntraffic: [{workload: {file: ring8.goal}}]\n'
expect 200 POST check "{\"yaml\":\"$own\"}"
grep -q '"errors":\[\]' "$work/answer" || fail "a check with an own file: $(cat "$work/answer")"
expect 201 POST runs "{\"name\":\"own\",\"yaml\":\"$own\"}"
until_state 1 done
in_folder='topology: {star: {hosts: 8}}\ntraffic: [{workload: {file: ring.goal}}]\n'
expect 422 POST runs "{\"name\":\"own\",\"yaml\":\"$in_folder\"}"
expect 201 POST runs "{\"name\":\"own\",\"yaml\":\"$in_folder\",\"folder\":\"project\"}"
until_state 2 done
expect 200 GET runs/2
grep -q '"folder":"project"' "$work/answer" || fail "the folder of a run: $(cat "$work/answer")"
expect 400 POST runs "{\"name\":\"own\",\"yaml\":\"$in_folder\",\"folder\":\"../bo\"}"
expect 400 POST runs '{"name":"own","library":"quickstart","folder":"project"}'
expect 201 POST runs/2/again '{}'
until_state 3 done
# Shipped scenarios read the files beside them, and then those of the user.
for scenario in training/workload mooncake/trace; do
    expect 200 POST check "{\"library\":\"$scenario\"}"
    grep -q '"errors":\[\]' "$work/answer" || fail "$scenario: $(head -c 300 "$work/answer")"
done
expect 201 POST runs '{"name":"both","library":"training/workload","set":["file=project/ring.goal"]}'
until_state 4 done
# Messages name files as the user does, and do not take a file's line for one of the scenario.
expect 200 POST check "{\"yaml\":\"${own/ring8/none}\"}"
grep -q '"message":"traffic.workload: none.goal: cannot open' "$work/answer" ||
    fail "a file that is not there: $(cat "$work/answer")"
expect 422 POST runs '{"name":"none","library":"training/workload","set":["file=none.goal"]}'
grep -q '"message":"none.goal: cannot open' "$work/answer" ||
    fail "a file that is not there: $(cat "$work/answer")"
printf 'num_ranks 2\nrank 0 {\n  oops\n}\n' >"$work/broken.goal"
puts 201 "$work/broken.goal" broken.goal
expect 200 POST check "{\"yaml\":\"${own/ring8/broken}\"}"
grep -q '"errors":\[{"message":"broken.goal:3:[^"]*"}' "$work/answer" ||
    fail "a file with an error: $(cat "$work/answer")"

# -- files of a fabric become a scenario, and a capture a run that shows its packets

expect 200 POST files/check '{"path":"ring8.goal"}'
grep -q '"kind":"workload","good":true' "$work/answer" || fail "kind: $(head -c 200 "$work/answer")"
puts 201 scenarios/mooncake/small.jsonl requests.jsonl
expect 200 POST files/check '{"path":"requests.jsonl"}'
grep -q '"kind":"requests","good":true' "$work/answer" || fail "kind: $(head -c 200 "$work/answer")"
for switch in leaf1 leaf2 spine1 spine2; do
    puts 201 "examples/operator/configs/$switch.json" "fabric/$switch.json"
done
expect 200 POST files/check '{"path":"fabric/leaf1.json"}'
grep -q '"kind":"fabric","good":true,"text":"3 switches, 3 hosts' "$work/answer" ||
    fail "a fabric: $(head -c 300 "$work/answer")"
expect 200 POST files/import '{"path":"fabric"}'
jq -r .yaml "$work/answer" >"$work/fabric.yaml"
"$ROCESIM" check "$work/fabric.yaml" | grep -q '6 hosts' || fail "the fabric's scenario"
expect 422 POST files/import '{"path":"ring8.goal"}'
expect 404 POST files/import '{"path":"../bo"}'
expect 404 POST files/import '{"path":"nothing"}'
# Counters of that fabric: what the command line says.
for switch in leaf1 leaf2 spine1 spine2; do
    puts 201 "examples/operator/before/$switch.txt" "before/$switch.txt"
    puts 201 "examples/operator/after/$switch.txt" "after/$switch.txt"
done
expect 200 POST files/explain '{"path":"fabric","counters":["before","after"]}'
"$ROCESIM" import --quiet --links "$work/links.csv" -o /dev/null examples/operator/configs
(cd examples/operator && "$ROCESIM" explain "$work/links.csv" --counters before --counters after --json \
    2>/dev/null) | jq -c .causes >"$work/told"
cmp -s "$work/told" <(jq -c .causes "$work/answer") || fail "counters: $(head -c 300 "$work/answer")"
puts 201 "$work/links.csv" links.csv
expect 200 POST files/explain '{"path":"links.csv","counters":["before","after"]}'
cmp -s "$work/told" <(jq -c .causes "$work/answer") || fail "links: $(head -c 300 "$work/answer")"
expect 422 POST files/explain '{"path":"fabric","counters":["ring8.goal"]}'
expect 422 POST files/explain '{"path":"ring8.goal","counters":["before","after"]}'
expect 404 POST files/explain '{"path":"fabric","counters":["../../studio.sqlite"]}'
expect 404 POST files/explain '{"path":"nothing","counters":["before"]}'
expect 400 POST files/explain '{"path":"fabric","counters":[]}'
"$ROCESIM" run quickstart -o "$work/quickstart" >"$work/quickstart.log"
gzip -dc "$work/quickstart/captures/receiver.pcap.gz" | head -c 500000 >"$work/receiver.pcap"
puts 201 "$work/receiver.pcap" shark/receiver.pcap
# A compressed capture may become 1032 times as large, for which this quota has no room.
head -c 50000000 /dev/zero | gzip >"$work/bomb.pcap.gz"
puts 201 "$work/bomb.pcap.gz" shark/bomb.pcap.gz
expect 507 POST files/capture '{"path":"shark/bomb.pcap.gz"}'
expect 422 POST files/capture '{"path":"ring8.goal"}'
expect 404 POST files/capture '{"path":"shark/none.pcap"}'
expect 400 POST files/capture '{"path":"../ann/ring8.goal"}'
expect 201 POST files/capture '{"path":"shark/receiver.pcap"}'
capture=$(field id)
expect 201 POST files/capture '{"path":"shark/receiver.pcap"}'
[ "$(field id)" = "$capture" ] || fail "a capture has a second run: $(field id)"
# What the user does to the file afterwards concerns the run no more.
expect 204 DELETE files/shark
until_imported "$capture"
expect 200 GET "runs/$capture/captures/receiver.pcap?limit=2"
grep -q '"kind":"RC WRITE FIRST"' "$work/answer" || fail "packets: $(head -c 300 "$work/answer")"
expect 404 POST "runs/$capture/again" '{}'
login bo 'blue horse staple'
expect 404 GET "runs/$capture"
expect 404 POST files/capture '{"path":"requests.jsonl"}'
session=$ann csrf=$ann_csrf
expect 204 DELETE files/requests.jsonl
expect 204 DELETE files/fabric

# -- nobody else sees them: not by a request, not from inside a run, not an administrator

login bo 'blue horse staple'
expect 200 GET files
grep -q '"files":\[\]' "$work/answer" || fail "files of bo: $(cat "$work/answer")"
expect 404 GET files/ring8.goal
expect 404 DELETE files/ring8.goal
for file in "$data/files/ann/ring8.goal" ../ann/ring8.goal ring8.goal; do
    expect 422 POST runs "{\"name\":\"steal\",\"yaml\":\"${own/ring8.goal/$file}\"}"
done
login admin
expect 404 GET files/ring8.goal
session=$ann csrf=$ann_csrf

# -- names: outside, hidden, with control characters, too long, too deep; links

for name in ../escape %2e%2e/escape a/../b '.hidden' 'a/.git/config' '-o' 'a%0Ab' 'a%00b' 'a%1Bb' 'a%5Cb' \
    'a%22b' 'a%E2%80%AEb' 'a//b' '%20a' 'a%FF' "$(printf 'x%.0s' $(seq 129))" 1/2/3/4/5/6/7/8/9; do
    puts 400 "$work/table.csv" "$name"
done
puts 409 "$work/table.csv" project 'a folder of this name'
puts 409 "$work/table.csv" ring8.goal/inner 'is a file already'
ln -s /etc "$data/files/ann/link"
puts 409 "$work/table.csv" link/passwd
expect 404 GET files/link/passwd
expect 404 DELETE files/link/passwd
rm "$data/files/ann/link"
[ -z "$(find "$work" -name 'escape*')" ] || fail "a file outside of the folder"
expect 400 GET files/..%2f..%2fstudio.sqlite
# JSON is no file.
expect 415 PUT files/x '{}'

# -- sizes: one that does not fit is refused before it is sent, and again after others were removed it fits

head -c 1200000 /dev/urandom >"$work/large"
puts 507 "$work/large" large 'the file does not fit: your files take [0-9]* of 1000000 bytes'
head -c 500000 /dev/urandom >"$work/half"
puts 201 "$work/half" half
puts 507 "$work/half" half2
# Uploads at the same time: together they cannot exceed the quota.
head -c 100000 /dev/urandom >"$work/tenth"
uploads=()
for i in $(seq 12); do
    curl -s -m 600 -o /dev/null -X PUT -b "studio=$session" -H "X-Studio-Token: $csrf" \
        -H 'Content-Type: application/octet-stream' --data-binary "@$work/tenth" "$url/api/v1/files/t/$i" &
    uploads+=($!)
done
wait "${uploads[@]}"
used=$(du -sb --apparent-size "$data/files/ann" | cut -f 1)
kept=$(ls "$data/files/ann/t" | wc -l)
[ "$used" -le 1040000 ] && [ "$kept" -ge 3 ] && [ "$kept" -le 5 ] || fail "at once: $used bytes, $kept files"
expect 204 DELETE files/t
[ ! -e "$data/files/ann/t" ] || fail "a folder was not removed"
# One that breaks off leaves nothing, and its room comes back.
{
    printf 'PUT /api/v1/files/broken HTTP/1.1\r\nHost: localhost\r\nCookie: studio=%s\r\n' "$session"
    printf 'X-Studio-Token: %s\r\nContent-Type: application/octet-stream\r\n' "$csrf"
    printf 'Content-Length: 400000\r\n\r\nhalf'
} >"$work/request"
exec 8<>"/dev/tcp/127.0.0.1/${url##*:}"
cat "$work/request" >&8
sleep 0.3
exec 8>&-
for _ in $(seq 600); do
    [ -n "$(find "$data/tmp" -name 'upload-*')" ] || break
    sleep 0.1
done
[ -z "$(find "$data/tmp" -name 'upload-*')" ] || fail "a broken upload is left"
head -c 400000 /dev/urandom >"$work/fits"
puts 201 "$work/fits" fits
expect 404 GET files/broken
expect 204 DELETE files/fits
# Many small files: each counts as a block.
expect 204 DELETE files/half
expect 200 GET files
before=$(field used_bytes)
puts 201 "$work/table.csv" small
expect 200 GET files
[ "$(field used_bytes)" = $((before + 4096)) ] || fail "a small file takes $(field used_bytes) - $before"

# -- the number of files is limited, too; the server counts what is there when it starts

mkdir -p "$data/files/bo/many"
(cd "$data/files/bo/many" && seq 4999 | xargs touch)
kill -KILL "$server"
wait "$server" 2>/dev/null
begin --user-files 1GB --user-runs 4MB
login bo 'blue horse staple'
puts 507 "$work/table.csv" one-more 'expected at most 5000'
expect 204 DELETE files/many/1
puts 201 "$work/table.csv" one-more

# -- the quota of results: no order while they take too much, and a run ends when its files reach it

login ann 'blue horse staple'
series='topology: {star: {hosts: 8}}\ntraffic: [{incast: {to: host0, from: \"host[1-7]\", bytes: 1GB}}]\n'
series="$series"'captures: [{ports: \"*\", file: all.pcap}]\n'
expect 201 POST runs "{\"name\":\"large\",\"yaml\":\"$series\"}"
large=$(field id)
until_state "$large" failed
grep -q 'reached the limit, or all files of your runs their quota' "$work/answer" ||
    fail "quota: $(cat "$work/answer")"
# Each run takes some more, until no order is taken.
for _ in 1 2 3 4 5; do
    api POST runs "{\"name\":\"large\",\"yaml\":\"$series\"}"
    [ "$status" = 201 ] || break
    until_state "$(field id)" failed
done
expect 507 POST runs '{"name":"no","library":"quickstart"}'
grep -q 'the files of your runs take [0-9]* of 4000000 bytes' "$work/answer" ||
    fail "quota: $(cat "$work/answer")"
expect 507 POST runs/1/again '{}'
expect 200 DELETE "runs/$large"
expect 204 DELETE "runs/$large?forever=true"
expect 201 POST runs '{"name":"yes","library":"quickstart"}'
stop

# -- a full disk: a file system of 24 MB

if mkdir "$work/small" && mount -t tmpfs -o size=24m tmpfs "$work/small" 2>/dev/null; then
    trap 'stop; end_runs; umount -l "$work/small"; rm -rf "$work"' EXIT
    data=$work/small/data
    begin
    login admin
    head -c 30000000 /dev/zero >"$work/huge"
    puts 507 "$work/huge" huge 'the disk is full'
    free=$(($(stat -f -c '%a * %S' "$work/small")))
    head -c $((free - 3000000)) /dev/zero >"$work/small/ballast"
    head -c 1500000 /dev/zero >"$work/part"
    puts 201 "$work/part" part
    puts 507 "$work/part" part2 'the disk is full'
    [ -z "$(find "$data/tmp" -name 'upload-*')" ] || fail "an upload is left on a full disk"
    expect 204 DELETE files/part
    stop
fi
[ $failures = 0 ]
