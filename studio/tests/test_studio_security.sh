#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# studio/tests/test_studio_security.sh - the server against attackers.
#
# Goal: every route refuses strangers and each role below its own; forged requests, fixed sessions, paths that
# lead outside, SQL in every text, large and slow requests, bombs in YAML and JSON, foreign host names,
# guessed passwords and scenarios that name the server's files do no harm; every answer has its headers.
# Method: openapi.json gives the table of routes. Not pinned: the strength of the libraries' cryptography.
set -u
. tests/script.sh
. studio/tests/studio_lib.sh

# -- where it may listen

for address in 0.0.0.0:0 '[::]:0'; do
    within 10 "$program" --data "$work/none" --listen "$address" >/dev/null 2>"$work/said"
    [ $? = 2 ] && grep -q -e '--tls-cert' "$work/said" || fail "listens on $address: $(cat "$work/said")"
done
"$program" --data "$work/none" --listen nonsense >/dev/null 2>&1
[ $? = 2 ] || fail "--listen nonsense"
for named in --page --library --program; do
    within 10 "$program" --data "$work/none" --listen 127.0.0.1:0 $named "$work/no" \
        >/dev/null 2>"$work/said"
    [ $? = 2 ] && grep -q -e "$named $work/no: .*, expected" "$work/said" ||
        fail "$named: $(cat "$work/said")"
done
[ "$(stat -c %a "$work/none")" = 700 ] || fail "others can read the data"

begin
# A client that sends a letter a second, all through what follows; how long it is kept is told below.
slow_client() {
    local begun=$SECONDS line
    exec 7<>"/dev/tcp/127.0.0.1/${url##*:}"
    printf 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ' >&7
    for _ in $(seq 40); do
        printf 'x' >&7 2>/dev/null || break
        read -r -t 1 line <&7
        [ $? -le 128 ] && [ -z "${line:-}" ] && break
    done
    echo $((SECONDS - begun)) >"$work/slow"
}
(
    trap - EXIT
    slow_client
) &
slow=$!
login admin
expect 201 POST users '{"name":"ann","role":"user","password":"blue horse staple"}'
expect 201 POST users '{"name":"vic","role":"viewer","password":"blue horse staple"}'

# -- the table: each route with each role. Numbers that are not there: who may ask gets 404 or 400.

expect 200 GET openapi.json
tr '{' '\n' <"$work/answer" >/dev/null
sed 's/"\/api\/v1\//\n&/g' "$work/answer" | grep '^"/api/v1/' | while read -r path; do
    name=${path#\"/api/v1/}
    name=${name%%\"*}
    printf '%s' "$path" | grep -o '"\(get\|post\|put\|patch\|delete\)":{"summary"\|"x-least-role":"[a-z]*"' |
        paste - - | sed "s|^\"\([a-z]*\)\".*role\":\"\([a-z]*\)\"|\1 \2 $name|"
done >"$work/routes"
routes=$(wc -l <"$work/routes")
[ "$routes" -ge 40 ] || fail "only $routes routes were found"
login ann 'blue horse staple'
ann=$session ann_csrf=$csrf
login vic 'blue horse staple'
vic=$session vic_csrf=$csrf
rank() { case $1 in none) echo 0 ;; viewer) echo 1 ;; user) echo 2 ;; administrator) echo 3 ;; esac; }
while read -r method least name; do
    method=$(echo "$method" | tr '[:lower:]' '[:upper:]')
    name=$(echo "$name" | sed 's/{[^}]*}/999999/g')
    case $name in login | logout | me/logout-everywhere | events) continue ;; esac
    body=()
    [ "$method" = GET ] || [ "$method" = DELETE ] || body=('{}')
    session="" csrf=""
    expect 401 "$method" "$name" "${body[@]}"
    for who in viewer user; do
        [ $who = viewer ] && session=$vic csrf=$vic_csrf
        [ $who = user ] && session=$ann csrf=$ann_csrf
        api "$method" "$name" "${body[@]}"
        if [ "$(rank $who)" -lt "$(rank "$least")" ]; then
            [ "$status" = 403 ] || fail "$method $name as $who: $status, expected 403"
        else
            case $status in
            401 | 403 | 5*) fail "$method $name as $who: $status $(head -c 200 "$work/answer")" ;;
            esac
        fi
        # A request that another site forged: the cookie, and not the header.
        if [ "$method" != GET ]; then
            csrf=""
            expect 403 "$method" "$name" "${body[@]}"
        fi
    done
done <"$work/routes"

# -- what a stranger sees: the page, and 401 for anything else, there or not

session="" csrf=""
expect 401 GET nothing/at/all
expect 401 DELETE users
for path in / /index.html; do
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$url$path")" = 200 ] || fail "$path"
done
curl -s -D "$work/headers" -o "$work/page" "$url/"
for header in 'Content-Security-Policy: .*default-src .none.' "script-src 'self'" \
    'X-Content-Type-Options: nosniff' 'X-Frame-Options: DENY' 'Referrer-Policy: no-referrer'; do
    grep -qi "$header" "$work/headers" || fail "the page has no $header"
done
grep -i 'Content-Security-Policy' "$work/headers" | grep -q "unsafe" && fail "the policy lets inline code in"

# -- guessed passwords: the same words for a name that there is and one that there is not; then a lock

for name in ann nobody-at-all; do
    for i in 1 2 3 4 5; do
        login $name "guess number $i"
        [ "$status" = 401 ] || fail "guess $i of $name: $status"
        cp "$work/answer" "$work/said.$name"
    done
    login $name "blue horse staple"
    [ "$status" = 429 ] || fail "after five guesses $name: $status"
    grep -qi '^Retry-After: ' "$work/headers" || fail "no Retry-After"
done
cmp -s "$work/said.ann" "$work/said.nobody-at-all" || fail "the message says which names there are"
login admin
[ "$status" = 200 ] || fail "others are locked out too: $status"

# -- sessions: a new one for each login, the old one ends; nothing of ours is taken from outside

old=$session
status=$(curl -s -o "$work/answer" -D "$work/headers" -w '%{http_code}' -b "studio=$old" \
    -H 'Content-Type: application/json' -d "{\"name\":\"admin\",\"password\":\"$password\"}" \
    "$url/api/v1/login")
new=$(sed -n 's/^Set-Cookie: studio=\([^;]*\);.*/\1/p' "$work/headers")
[ "$new" != "$old" ] && [ -n "$new" ] || fail "the session is the old one"
session=$old
expect 401 GET me
status=$(curl -s -o "$work/answer" -D "$work/headers" -w '%{http_code}' -b "studio=chosen-by-somebody" \
    -H 'Content-Type: application/json' -d "{\"name\":\"admin\",\"password\":\"$password\"}" \
    "$url/api/v1/login")
grep -q 'studio=chosen' "$work/headers" && fail "a session was fixed"
login admin
strings -a "$data/studio.sqlite" "$data/studio.sqlite-wal" 2>/dev/null |
    grep -qF -e "$session" -e "$password" &&
    fail "a secret is in the database"

# -- requests that may end elsewhere for a proxy: refused, and nothing that follows is answered

# twice HEADERS: how many answers there are to a request with these, and one more behind it
twice() {
    local inner='GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    printf "POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\n$1\r\n$inner" >"$work/request"
    exec 8<>"/dev/tcp/127.0.0.1/${url##*:}"
    cat "$work/request" >&8 # at once: who is refused is not read to the end
    timeout 10 cat <&8 >"$work/twice" 2>/dev/null
    exec 8>&-
    sed -n '1s/^HTTP\/1.1 \([0-9]*\).*/\1/p' "$work/twice" | tr '\n' ' '
    grep -a -c -o 'HTTP/1.1 [0-9]' "$work/twice"
}
for headers in 'Content-Length: 0\r\nContent-Length: 68\r\n' 'Content-Length: 68\r\nContent-Length: 68\r\n' \
    'Content-Length : 68\r\n' 'Host: evil.example\r\nContent-Length: 68\r\n'; do
    [ "$(twice "$headers")" = "400 1" ] || fail "$headers: $(cat "$work/twice")"
done

# -- other sites, other names

other() { curl -s -o "$work/answer" -w '%{http_code}' -b "studio=$session" -H "X-Studio-Token: $csrf" "$@"; }
[ "$(other -H 'Origin: http://evil.example' -X POST "$url/api/v1/logout")" = 403 ] || fail "another origin"
[ "$(other -H 'Origin: null' -X POST "$url/api/v1/logout")" = 403 ] || fail "origin null"
[ "$(other -H 'Sec-Fetch-Site: cross-site' "$url/api/v1/me")" = 403 ] || fail "another site"
[ "$(other -H 'Host: evil.example' "$url/api/v1/me")" = 403 ] || fail "another name"
[ "$(other -H 'Host: evil.example' "$url/")" = 403 ] || fail "the page by another name"
[ "$(other -H 'Content-Type: text/plain' -d '{"name":"x"}' "$url/api/v1/users")" = 415 ] || fail "a form"
[ "$(other -H 'Content-Type: application/json' -H 'Transfer-Encoding: chunked' -d '{}' \
    "$url/api/v1/users")" = 411 ] ||
    fail "a body without length"

# -- paths

expect 201 POST runs '{"name":"q","library":"quickstart"}'
until_state 1 done
ln -s /etc/passwd "$data/runs/1/result/link"
for path in ../../../studio.sqlite ..%2f..%2fstudio.sqlite %2e%2e/%2e%2e/studio.sqlite result/../../../lock \
    result/link result/%00 result//summary.json 'result/..%5c..%5clock' log begun.1 exit.1 \
    result/.unfinished/x; do
    code=$(curl -s --path-as-is -o "$work/answer" -w '%{http_code}' -b "studio=$session" \
        "$url/api/v1/runs/1/files/$path")
    case $code in 400 | 404) ;; *) fail "files/$path: $code $(head -c 100 "$work/answer")" ;; esac
done
for path in '/../studio.sqlite' '/%2e%2e/lock' '/assets/../../lock' '//etc/passwd'; do
    code=$(curl -s --path-as-is -o /dev/null -w '%{http_code}' "$url$path")
    case $code in 400 | 404) ;; *) fail "$path: $code" ;; esac
done

# -- files of the server, named by a scenario: the process that reads it may not

printf 'secret' >"$work/secret"
for yaml in "topology: {file: {path: $work/secret}}" "topology: {file: {path: $data/studio.sqlite}}" \
    "topology: {star: {hosts: 2}}\\ntraffic: [{flows: {file: $work/secret}}]" \
    "topology: {file: {path: ../../../../../../../..$work/secret}}"; do
    expect 200 POST check "{\"yaml\":\"$yaml\"}"
    grep -q '"errors":\[{' "$work/answer" || fail "read: $yaml $(cat "$work/answer")"
done
yaml="topology: {star: {hosts: 2}}\\ntraffic: [{incast: {to: host0, from: host1, bytes: 1KB}}]"
yaml="$yaml\\ncaptures: [{ports: host1->switch0, file: ../../../../escaped.pcap}]"
api POST runs "{\"name\":\"escape\",\"yaml\":\"$yaml\"}"
[ "$status" != 201 ] || until_state 2 failed done
[ -z "$(find "$work" -name 'escaped*')" ] || fail "a capture outside of its folder"

# -- SQL in texts is text

expect 200 GET "runs?search=%27%3B%20DROP%20TABLE%20runs%3B--"
expect 200 GET "runs?owner=%27%20OR%201%3D1--"
grep -q '"total":0' "$work/answer" || fail "owner: $(cat "$work/answer")"
expect 400 GET 'runs?limit=1%20OR%201'
expect 200 GET "audit?name=x%27%20OR%20%271%27%3D%271"
grep -q '"audit":\[\]' "$work/answer" || fail "audit: $(head -c 200 "$work/answer")"
expect 201 POST documents "{\"kind\":\"query\",\"name\":\"'); DROP TABLE documents;--\",\"body\":{}}"
expect 200 GET documents
login "admin' --" x
[ "$status" = 401 ] || fail "login with SQL: $status"
login admin

# -- bodies and headers

expect 400 POST runs '{"name":"x","name":"y"}'
expect 400 POST runs '[[[[[['
expect 400 POST runs 'not json'
head -c 3000000 /dev/zero | tr '\0' '[' >"$work/deep"
status=$(curl -s -m 20 -o "$work/answer" -w '%{http_code}' -b "studio=$session" -H "X-Studio-Token: $csrf" \
    -H 'Content-Type: application/json' --data-binary "@$work/deep" "$url/api/v1/runs")
[ "$status" = 413 ] || fail "3 MB: $status"
head -c 900000 "$work/deep" >"$work/deep2"
status=$(curl -s -m 20 -o "$work/answer" -w '%{http_code}' -b "studio=$session" -H "X-Studio-Token: $csrf" \
    -H 'Content-Type: application/json' --data-binary "@$work/deep2" "$url/api/v1/check")
[ "$status" = 400 ] || fail "deep JSON: $status"
status=$(curl -s -m 20 -o /dev/null -w '%{http_code}' \
    -H "X-Large: $(head -c 60000 /dev/zero | tr '\0' x)" "$url/")
[ "$status" = 431 ] || [ "$status" = 413 ] || [ "$status" = 000 ] || fail "60 KB of headers: $status"
status=$(curl -s -m 20 -o /dev/null -w '%{http_code}' "$url/$(head -c 20000 /dev/zero | tr '\0' x)")
case $status in 400 | 414 | 431) ;; *) fail "a long address: $status" ;; esac

# -- a token is for scripts: it makes no other, ends no session and changes no password; a reset ends all

login admin
admin=$session admin_csrf=$csrf
expect 201 POST users '{"name":"tom","role":"user","password":"blue horse staple"}'
tom_id=$(field id)
login tom 'blue horse staple'
tom=$session
expect 201 POST tokens '{"name":"script"}'
token=$(field token)
with_token() {
    status=$(curl -s -o "$work/answer" -w '%{http_code}' -X "$1" -H "Authorization: Bearer $token" \
        ${3:+-H 'Content-Type: application/json' --data-binary "$3"} "$url/api/v1/$2")
}
refuses() {
    with_token "$2" "$3" "${4:-}"
    [ "$status" = "$1" ] || fail "with a token: $2 $3: $status, expected $1: $(head -c 200 "$work/answer")"
}
refuses 200 GET me
refuses 403 POST tokens '{"name":"another"}'
refuses 403 DELETE tokens/1
refuses 403 POST me/logout-everywhere '{}'
refuses 403 PUT me/password '{"old":"blue horse staple","new":"green horse staple"}'
session=$tom csrf=""
expect 200 GET me
session=$admin csrf=$admin_csrf
expect 200 PATCH "users/$tom_id" '{"reset":true}'
link=$(sed -n 's/.*#once=\([^"]*\)".*/\1/p' "$work/answer")
refuses 401 GET me
session=$tom csrf=""
expect 401 GET me
login tom 'blue horse staple'
[ "$status" = 401 ] || fail "the password before a reset: $status"
session="" csrf=""
expect 200 POST login "{\"link\":\"$link\",\"password\":\"yellow horse staple\"}"
session=$admin csrf=$admin_csrf
expect 200 GET me
admin_id=$(sed -n 's/.*"user":{"id":\([0-9]*\).*/\1/p' "$work/answer")
expect 409 PATCH "users/$admin_id" '{"reset":true}'

# -- figures are drawn in a folder of the data's, which is empty afterwards; SQLite's files are there too

[ -d "$data/tmp" ] && [ -z "$(ls -A "$data/tmp")" ] || fail "DATA/tmp: $(ls -A "$data/tmp")"

# -- bombs in YAML: each is an answer, within seconds, and the server lives on

bomb='a: \u0026a [x,x,x,x,x,x,x,x,x]\n'
for i in b c d e f g h i j; do
    p=$(echo $i | tr b-j a-i)
    bomb="$bomb$i: \\u0026$i [*$p,*$p,*$p,*$p,*$p,*$p,*$p,*$p,*$p]\\n"
done
begun=$SECONDS
expect 200 POST check "{\"yaml\":\"$bomb\"}"
grep -q '"errors":\[{' "$work/answer" || fail "aliases: $(head -c 200 "$work/answer")"
deep=$(head -c 200000 /dev/zero | tr '\0' '[')
printf '{"yaml":"%s"}' "$deep" >"$work/bomb"
expect 200 POST check "@$work/bomb"
grep -q '"errors":\[{' "$work/answer" || fail "depth: $(head -c 200 "$work/answer")"
yaml='topology: {star: {hosts: 60000}}\ntraffic: [{incast: {to: host0, from: \"host*\", bytes: 1GB}}]\n'
expect 200 POST check "{\"yaml\":\"$yaml\"}"
[ $((SECONDS - begun)) -lt 600 ] || fail "bombs took $((SECONDS - begun)) s"
expect 200 GET me

# -- slow clients hold nothing for long: others were answered meanwhile

wait "$slow"
slow_s=$(cat "$work/slow")
[ "$slow_s" -lt 38 ] || fail "a slow client was kept for $slow_s s"
expect 200 GET me
stop

# -- TLS

if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 \
        -subj /CN=localhost >/dev/null 2>&1
    "$program" --data "$data" --listen 127.0.0.1:0 --tls-cert "$work/cert.pem" >/dev/null 2>&1
    [ $? = 2 ] || fail "a certificate without a key"
    begin --tls-cert "$work/cert.pem" --tls-key "$work/key.pem"
    case $url in https://*) ;; *) fail "not https: $url" ;; esac
    curl -s -k -D "$work/headers" -o "$work/answer" -H 'Content-Type: application/json' \
        -d "{\"name\":\"admin\",\"password\":\"$password\"}" "$url/api/v1/login"
    grep -q 'Set-Cookie: .*; Secure' "$work/headers" || fail "TLS: $(cat "$work/headers")"
    grep -q 'Strict-Transport-Security' "$work/headers" || fail "no HSTS"
    curl -s -k --tls-max 1.1 -o /dev/null "$url/" && fail "TLS 1.1"
    stop
fi
[ $failures = 0 ]
