#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# studio/tests/studio_lib.sh - shared by scripts that ask a real server; sourced after tests/script.sh.
#
# begin [OPTION...] starts a server on a free port of loopback with the data in $data; $url is its address,
# $server its process. stop ends it. api METHOD PATH [JSON] sends a request as the user who logged in last;
# $status is the status, $work/answer the answer. field NAME prints the first value of a member of the answer.
# shellcheck disable=SC2034,SC2154 # used by scripts; $work and fail are of tests/script.sh
program="${ROCESIM%/*}/rocesim-studio"
[ -x "$program" ] || { echo "skip: the studio is not built"; exit 77; }
command -v curl >/dev/null || { echo "skip: curl is not installed"; exit 77; }

data=$work/data
url=""
server=""
session=""
csrf=""
status=""
password="correct horse battery"
printf '%s\n' "$password" >"$work/password"
trap 'stop; end_runs; rm -rf "$work"' EXIT

# Runs outlive the server: those of this test are ended with it.
end_runs() {
    local begun process
    for begun in "$work"/*/runs/*/begun.*; do
        [ -e "$begun" ] || continue
        [ ! -e "${begun/begun./exit.}" ] || continue
        process=$(sed -n 's/.*"process": \([0-9]*\).*/\1/p' "$begun")
        kill -9 "$process" 2>/dev/null || true
    done
}

begin() {
    : >"$work/server.out"
    "$program" --data "$data" --listen 127.0.0.1:0 --first-user admin --password-file "$work/password" \
        --disk-free 1MB "$@" >"$work/server.out" 2>>"$work/server.err" &
    server=$!
    local i
    for i in $(seq 6000); do
        url=$(sed -n 's/^rocesim studio: //p' "$work/server.out")
        [ -z "$url" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    fail "the server does not start: $(cat "$work/server.err")"
    exit 1
}

stop() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null
    wait "$server"
    local result=$?
    server=""
    [ $result = 0 ] || fail "the server ended with $result: $(tail -n 20 "$work/server.err")"
}

api() {
    local method=$1 path=$2
    local body=()
    [ $# -lt 3 ] || body=(-H 'Content-Type: application/json' --data-binary "$3")
    status=$(curl -s -m 600 -o "$work/answer" -w '%{http_code}' -X "$method" \
        ${session:+-b "studio=$session"} ${csrf:+-H "X-Studio-Token: $csrf"} "${body[@]}" "$url/api/v1/$path")
}

# expect STATUS METHOD PATH [JSON]
expect() {
    local wanted=$1
    shift
    api "$@"
    [ "$status" = "$wanted" ] || fail "$1 $2 ${3:-}: $status, expected $wanted: $(head -c 300 "$work/answer")"
}

field() {
    grep -o "\"$1\":[^,}]*" "$work/answer" | head -n 1 | sed 's/^[^:]*:"\{0,1\}//; s/"$//'
}

# login NAME [PASSWORD]: the session and its token; the status in $status
login() {
    session=""
    csrf=""
    status=$(curl -s -m 600 -o "$work/answer" -D "$work/headers" -w '%{http_code}' \
        -H 'Content-Type: application/json' \
        --data-binary "{\"name\":\"$1\",\"password\":\"${2:-$password}\"}" "$url/api/v1/login")
    session=$(sed -n 's/^Set-Cookie: studio=\([^;]*\);.*/\1/p' "$work/headers")
    csrf=$(field csrf)
}

# until_imported RUN
until_imported() {
    local i
    for i in $(seq 6000); do
        api GET "runs/$1/import"
        ! grep -q '"state":"done"' "$work/answer" || return 0
        sleep 0.1
    done
    fail "import of run $1: $(cat "$work/answer")"
}

# until_state RUN STATE...: waits for one of the states
until_state() {
    local run=$1 i state=unknown
    shift
    for i in $(seq 6000); do
        api GET "runs/$run"
        [ "$status" = 200 ] || break
        state=$(field state)
        case " $* " in *" $state "*) return 0 ;; esac
        sleep 0.1
    done
    fail "run $run is $state, expected $*: $(head -c 500 "$work/answer")"
    return 1
}
