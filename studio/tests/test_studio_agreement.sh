#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# studio/tests/test_studio_agreement.sh - data are never lost when folders and database disagree.
#
# Goal: with a database that is empty, missing, older, newer or of another studio, the server refuses to
# start, says what differs and changes no run; --adopt takes in what it found; no number of a run is given out
# twice, and no folder is removed that the server did not make. A restored backup and a second server are the
# two cases that look alike and are none.
# Method: a real server whose files are exchanged while it is stopped. Not pinned: power failures.
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

# Hashes of all files of runs, without what a server computes from them at any time.
hashes() {
    (cd "$data" && find runs -type f ! -path '*/index*' -exec sha256sum {} + 2>/dev/null | sort -k 2)
}

# refused TEXT [OPTION...]: the server does not start, says TEXT, and leaves runs/ as it was.
refused() {
    local text=$1
    shift
    hashes >"$work/before"
    within 60 "$program" --data "$data" --listen 127.0.0.1:0 "$@" >"$work/out" 2>"$work/said"
    local result=$?
    [ $result = 1 ] && grep -q -e "$text" "$work/said" ||
        fail "expected a refusal with '$text', got $result: $(cat "$work/said")"
    grep -q -e '--adopt\|another studio' "$work/said" || fail "no way out is named: $(cat "$work/said")"
    hashes >"$work/after"
    cmp -s "$work/before" "$work/after" ||
        fail "$text: files of runs changed: $(diff "$work/before" "$work/after")"
}

# crash: the server is killed, as by a power failure of its machine; it can lose nothing by that.
crash() {
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    server=""
}

# fresh NAME: $data is a copy of the folder that all cases begin with.
fresh() {
    data=$work/$1
    cp -a "$work/base" "$data"
}

# run_is RUN STATE NAME OWNER
run_is() {
    expect 200 GET "runs/$1"
    grep -q "\"name\":\"$3\",\"owner\":{\"id\":[0-9]*,\"name\":\"$4\"}.*\"state\":\"$2\"" "$work/answer" ||
        fail "run $1, expected $2 $3 of $4: $(cat "$work/answer")"
}

# next_number NUMBER: the next order gets this number.
next_number() {
    expect 201 POST runs '{"name":"next","library":"quickstart"}'
    grep -q "\"runs\":\[{\"id\":$1," "$work/answer" ||
        fail "expected number $1: $(head -c 200 "$work/answer")"
    until_state "$1" done
}

# -- what all cases begin with: runs 1 to 6, of two users, one of them a study; run 3 is removed for good

data=$work/base
begin
login admin
expect 201 POST users '{"name":"ann","role":"user","password":"blue horse staple"}'
expect 201 POST runs '{"name":"first","library":"quickstart","seeds":[1,2,3]}'
for run in 1 2 3; do
    until_state $run done
done
expect 200 DELETE runs/3
expect 204 DELETE 'runs/3?forever=true'
"$program" backup --data "$data" "$work/backup" >/dev/null || fail "backup"
[ -e "$data/runs/2/run.json" ] && [ ! -e "$data/runs/2/uncommitted" ] || fail "runs/2: $(ls "$data/runs/2")"
login ann 'blue horse staple'
expect 201 POST runs '{"name":"of ann","library":"quickstart","set":["nic.mtu=1024"]}'
until_state 4 done
expect 201 POST runs '{"name":"skew","study":"cache/skew","quick":true}'
until_state 5 done
[ -e "$data/runs/6/result/summary.json" ] || fail "the study made no run"
# A second server is refused, with --adopt as well; the first one goes on.
refused 'another studio uses this folder'
refused 'another studio uses this folder' --adopt
expect 200 GET runs/4
stop
begin # a start without any change is no disagreement
stop
highest=$(ls "$data/runs" | sort -n | tail -n 1)

# -- missing, empty, and with a journal alone

fresh missing
rm "$data"/studio.sqlite*
refused 'studio.sqlite is missing'
[ ! -e "$data/studio.sqlite" ] || fail "a refused start made a database"
"$program" backup --data "$data" "$work/no-backup" 2>/dev/null && fail "a backup without a database"
: >"$data/studio.sqlite"
refused 'studio.sqlite is empty'
"$program" backup --data "$data" "$work/no-backup" 2>/dev/null && fail "a backup of an empty database"
[ ! -s "$data/studio.sqlite" ] || fail "a refused start wrote into the empty database"
printf 'journal' >"$data/studio.sqlite-wal"
begin --adopt
[ "$(grep -c '^took in run' "$work/server.out")" = "$(ls "$data/runs" | wc -l)" ] ||
    fail "list: $(cat "$work/server.out")"
grep -q '^took in run 4 of ann of ann: done$' "$work/server.out" || fail "list: $(cat "$work/server.out")"
[ "$(cat "$data/studio.sqlite-wal.kept")" = journal ] || fail "the journal is lost"
login admin
[ "$status" = 200 ] || fail "the administrator cannot log in: $(cat "$work/answer")"
run_is 1 done 'first: seed=1' admin
run_is 4 done 'of ann' ann
run_is 5 done skew ann
run_is 6 done 'cache/skew: skew=0' ann
expect 200 GET runs/4
grep -q '"set":\["nic.mtu=1024"\].*"library":"quickstart"' "$work/answer" ||
    fail "settings: $(cat "$work/answer")"
expect 404 GET runs/3
expect 200 GET runs/4/files/result/flows.csv
cmp -s "$work/answer" "$work/base/runs/4/result/flows.csv" || fail "results of an adopted run"
next_number $((highest + 1))
crash
begin # both agree now
crash

# -- cut in the middle, and no database at all: the ways on are said, and the file stays as it is

fresh cut
rm -f "$data"/studio.sqlite-*
truncate -s $(($(stat -c %s "$data/studio.sqlite") / 2)) "$data/studio.sqlite"
refused 'studio.sqlite is damaged. Nothing was changed'
printf 'this is no database' | dd of="$data/studio.sqlite" conv=notrunc 2>/dev/null
refused 'studio.sqlite is damaged. Nothing was changed'
refused 'studio.sqlite is damaged' --adopt
mv "$data/studio.sqlite" "$work/cut.sqlite"
begin --adopt
login admin
run_is 1 done 'first: seed=1' admin
crash

# -- missing, and not a single run is left: the counter alone knows that there was a database

fresh bare
rm -r "$data"/studio.sqlite* "$data"/runs
refused 'studio.sqlite is missing'
begin --adopt
login admin
next_number $((highest + 1))
crash

# -- older: the database of a backup put back by hand

fresh older
rm "$data"/studio.sqlite*
cp "$work/backup/studio.sqlite" "$data/"
refused 'runs/4 of ann of ann has no entry'
grep -q 'the database is older' "$work/said" || fail "older: $(cat "$work/said")"
begin --adopt
login ann 'blue horse staple'
run_is 4 done 'of ann' ann
run_is 5 done skew ann
next_number $((highest + 1))
crash
# Older, and the runs since then were removed: the number is not given out again.
fresh removed
rm "$data"/studio.sqlite*
cp "$work/backup/studio.sqlite" "$data/"
for run in $(seq 4 "$highest"); do
    rm -r "$data/runs/$run"
done
refused "number $highest was given out"
begin --adopt
login ann 'blue horse staple'
next_number $((highest + 1))
crash

# -- newer: the folders are older than the database; and tables of a newer rocesim

fresh newer
rm -r "$data/runs/4"
refused 'run 4 of ann of the database has no folder'
begin --adopt
login ann 'blue horse staple'
run_is 4 failed 'of ann' ann
grep -q 'the folder of this run is lost' "$work/answer" || fail "a lost folder: $(cat "$work/answer")"
expect 404 GET runs/4/files/result/flows.csv
crash
if command -v python3 >/dev/null; then
    fresh future
    python3 - "$data/studio.sqlite" <<'PYTHON'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("INSERT INTO migrations VALUES ('runs', 99)")
database.commit()
PYTHON
    within 60 "$program" --data "$data" --listen 127.0.0.1:0 --adopt >/dev/null 2>"$work/said"
    [ $? = 2 ] && grep -q 'newer rocesim' "$work/said" ||
        fail "tables of a newer rocesim: $(cat "$work/said")"
fi

# -- the database of another studio

data=$work/other
begin
login admin
expect 201 POST runs '{"name":"other","library":"quickstart","seeds":[1,2]}'
until_state 2 done
crash
fresh foreign
rm "$data"/studio.sqlite*
cp "$work"/other/studio.sqlite* "$data/"
refused 'belongs to another data folder'

# -- restored from a backup: this agrees

data=$work/restored
mkdir "$work/restored.part" && touch "$work/restored.part/mine"
"$program" restore --data "$data" "$work/backup" >/dev/null || fail "restore"
[ -e "$work/restored.part/mine" ] || fail "restore removed a folder that it did not make"
begin
login admin
run_is 1 done 'first: seed=1' admin
next_number 4 # 3 was given out before the backup
crash

# -- an order that was interrupted leaves a marked folder, which goes; what is not marked stays

fresh interrupted
mkdir "$data/runs/3"
touch "$data/runs/3/uncommitted" "$data/runs/2/uncommitted"
begin
[ ! -e "$data/runs/3" ] || fail "the folder of an interrupted order is left"
[ -e "$data/runs/2/scenario.yaml" ] && [ ! -e "$data/runs/2/uncommitted" ] ||
    fail "runs/2: $(ls "$data/runs/2")"
login admin
# Somebody makes a folder where the next run belongs: the order fails, and the next one passes it by.
mkdir "$data/runs/$((highest + 1))" && touch "$data/runs/$((highest + 1))/mine"
expect 500 POST runs '{"name":"no","library":"quickstart"}'
grep -q 'the folder of a run cannot be made' "$work/answer" || fail "a foreign folder: $(cat "$work/answer")"
[ -e "$data/runs/$((highest + 1))/mine" ] || fail "an order removed a folder that it did not make"
next_number $((highest + 2))
crash
refused "runs/$((highest + 1)) has no entry"

# -- a folder of somebody else's files is no data folder

data=$work/project
mkdir -p "$data/tmp" "$data/runs"
touch "$data/tmp/mine"
within 60 "$program" --data "$data" --listen 127.0.0.1:0 --adopt >/dev/null 2>"$work/said"
[ $? = 1 ] && grep -q 'holds tmp/mine and no data of a studio' "$work/said" ||
    fail "project: $(cat "$work/said")"
[ -e "$data/tmp/mine" ] || fail "a start removed a file that is not its own"
[ $failures = 0 ]
