#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# studio/tests/test_studio_data.sh - results over HTTP.
#
# Goal: import, tables, queries, SQL, search, series, map, captures, analyses, figures and exports answer
# what the results hold; a user cannot see another user's runs; damaged and hostile inputs are refused.
# Method: a real server, runs of small scenarios, curl and jq. Not pinned: speed (test_studio_speed).
. tests/script.sh

studio=$BUILD_DIRECTORY/rocesim-studio
[ -x "$studio" ] || { echo "skip: the studio is not built" && exit 77; }
command -v curl >/dev/null || { echo "skip: no curl" && exit 77; }
command -v jq >/dev/null || { echo "skip: no jq" && exit 77; }

data=$work/data
echo 'correct horse battery staple' >"$work/password"
# Starts the server on the data folder; $url is where it is.
serve() {
    "$studio" --data "$data" --listen 127.0.0.1:0 --first-user admin --password-file "$work/password" \
        --program "$ROCESIM" --library scenarios --disk-free 1MB >"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 6000); do
        url=$(grep -o 'http://127.0.0.1:[0-9]*' "$work/server.log" | head -1) || true
        [ -z "$url" ] || break
        sleep 0.1
    done
}
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$work"' EXIT
serve
[ -n "${url:-}" ] || { cat "$work/server.log"; fail "the server does not start"; exit 1; }
api=$url/api/v1

# login NAME PASSWORD: a session in $work/NAME.jar, its token in $work/NAME.token
login() {
    curl -sf -c "$work/$1.jar" -H 'Content-Type: application/json' -H "Origin: $url" \
        -d "$(jq -n --arg n "$1" --arg p "$2" '{name: $n, password: $p}')" "$api/login" >/dev/null
    curl -sf -b "$work/$1.jar" "$api/me" | jq -r '.token // .csrf' >"$work/$1.token"
}
who=admin
get() { curl -s -b "$work/$who.jar" "$api/$1"; }
post() {
    curl -s -b "$work/$who.jar" -H "X-Studio-Token: $(cat "$work/$who.token")" -H "Origin: $url" \
        -H 'Content-Type: application/json' -d "$2" "$api/$1"
}
# is WHAT EXPECTED GOT
is() { [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"; }
# imported RUN: waits for it
imported() {
    for _ in $(seq 6000); do
        state=$(get "runs/$1/import" | jq -r '.state // empty')
        [ "$state" != "done" ] || break
        sleep 0.1
    done
    is "import of $1" "done" "$state"
}
# refused CODE-OF-ERROR-TEXT ANSWER
refused() {
    jq -e --arg t "$1" '.error.message | contains($t)' <<<"$2" >/dev/null || fail "expected '$1' in: $2"
}

login admin 'correct horse battery staple'
cat >"$work/run.yaml" <<'YAML'
name: storm
seed: 1
topology:
  leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps, delay: 1us}
switch:
  buffer: 1MB
  pfc: {priorities: [3], alpha: 1/16}
  ecn: {kmin: 10KB, kmax: 100KB, pmax: 0.5}
nic: {congestion-control: dcqcn}
traffic:
  - incast: {to: host0, from: "host[4-7]", bytes: 400KB}
observe:
  - {series: "port[leaf1->spine0].queue_bytes", every: 1us}
captures:
  - {ports: leaf0->host0, file: a.pcap.gz}
  - {ports: host4->leaf1, snaplen: 64, file: b.pcap}
  - {fabric: c.pcapng, snaplen: 128}
YAML
order=$(jq -n --rawfile yaml "$work/run.yaml" '{name: "storm", yaml: $yaml, seeds: [1, 2, 3]}')
answer=$(post runs "$order")
jq -e '.runs | length == 3' <<<"$answer" >/dev/null || { fail "no runs: $answer"; exit 1; }
mapfile -t runs < <(jq -r '.runs[] | if type == "object" then .id else . end' <<<"$answer")
for run in "${runs[@]}"; do
    imported "$run"
done
a=${runs[0]}

# -- what there is; an import that is made again is not done before it is: another one, held up by a
# pipe in place of its log, keeps it waiting
held=${runs[1]}
mv "$data/runs/$held/log" "$work/held.log"
mkfifo "$data/runs/$held/log"
post "runs/$held/import" '{}' >/dev/null
is "an import again" waiting "$(post "runs/$a/import" '{}' | jq -r .state)"
is "an import again, looked at" waiting "$(get "runs/$a/import" | jq -r .state)"
timeout 600 cp "$work/held.log" "$data/runs/$held/log" || fail "the log is not imported again"
mv "$work/held.log" "$data/runs/$held/log"
imported "$held"
imported "$a"
get "runs/$a/import" | jq -e '.rows > 0 and .rows_per_s > 0' >/dev/null || fail "no rate of import"
get "runs/$a/summary" | jq -e '(.words | length > 2) and .summary.flows.count == 4' >/dev/null ||
    fail "summary"
get "runs/$a/topology" | jq -e '[.nodes[].name] | contains(["host0", "spine0"])' >/dev/null ||
    fail "topology"
tables=$(get "runs/$a/tables")
jq -e '[.tables[].name] | contains(["flows", "events", "series", "packets", "ports", "summary"])' \
    <<<"$tables" >/dev/null || fail "tables: $tables"
jq -e '.metrics[0].metric == "queue_bytes" and .metrics[0].unit == "bytes"' <<<"$tables" >/dev/null ||
    fail "metrics"

# -- queries: the same rows as the file has
short() { sed -E 's/(\.[0-9]*[1-9])0+(,|$)/\1\2/g'; } # 62169.280 is 62169.28
is "csv" "$(short <"$data/runs/$a/result/flows.csv" | md5sum)" \
    "$(post query "{\"runs\": [$a], \"table\": \"flows\", \"format\": \"csv\"}" | short | md5sum)"
is "matched" 4 "$(post query "{\"runs\": [$a], \"table\": \"flows\", \"where\": \"fct_ns > 1us\"}" |
    jq .matched)"
is "ndjson" 12 "$(post query "{\"runs\": [$(IFS=,; echo "${runs[*]}")], \"table\": \"flows\",
    \"format\": \"ndjson\"}" | jq -s 'map(.run) | length')"
refused "different units" "$(post query "{\"runs\": [$a], \"table\": \"flows\",
    \"where\": \"fct_ns > 1MB\"}")"
is "place" 8 "$(post query "{\"runs\": [$a], \"table\": \"flows\", \"where\": \"fct_ns > 1MB\"}" |
    jq .error.where.column)"
refused "no such run" "$(post query '{"runs": [99], "table": "flows"}')"
refused "not allowed" "$(get "query?body=$(jq -rn --arg b "{\"runs\":[$a],\"table\":\"../x\"}" '$b|@uri')")"
is "sql" 4 "$(post sql "{\"runs\": [$a], \"sql\": \"select count(*) from flows where bytes >= 400000\"}" |
    jq '.rows[0][0]')"
for sql in "attach database '$data/studio.sqlite' as s" 'pragma table_list' 'delete from flows' \
    "select * from users" "select readfile('/etc/passwd')" \
    "with recursive c(x) as (select 1 union all select x+1 from c) insert into flows select x from c"; do
    post sql "$(jq -n --arg s "$sql" --argjson r "$a" '{runs: [$r], sql: $s}')" |
        jq -e .error.message >/dev/null || fail "allowed: $sql"
done
is "search" packets "$(get "search?runs=$a&q=table:%20CNP" | jq -r '.error.message // "packets"' |
    sed 's/^a word.*/packets/')"
get "search?runs=$a&q=paused%20host4" | jq -e '.hits[0].table == "events"' >/dev/null || fail "search"

# -- series, by pixel and whole; the map
get "runs/$a/series?metric=queue_bytes&pixels=20" |
    jq -e '.unit == "bytes" and
           (.curves[0] | (.time_ns | length) <= 20 and (.max | max) > 0 and .points > 20)' >/dev/null ||
    fail "series"
for metric in utilisation queue pause drops; do
    get "runs/$a/map?metric=$metric&frames=10" |
        jq -e '(.time_ns | length) == 10 and .most >= 0 and (.ports | length > 0)' >/dev/null ||
        fail "map of $metric"
done
get "runs/$a/map?metric=pause&frames=10" | jq -e '.ports["host4->leaf1"] | max > 0' >/dev/null ||
    fail "no pause of host4"

# -- captures
get "runs/$a/captures" | jq -e '[.captures[].file] == ["a.pcap.gz", "b.pcap", "c.pcapng"]' >/dev/null ||
    fail "captures"
all=$(get "runs/$a/captures/a.pcap.gz?limit=1" | jq .matched)
some=$(get "runs/$a/captures/a.pcap.gz?limit=1&filter=src%20host%20host4" | jq .matched)
[ "$some" -gt 0 ] && [ "$some" -lt "$all" ] || fail "filter: $some of $all"
# A time is a number, and a range ends after it begins.
for range in from_ns=abc to_ns= 'from_ns=900&to_ns=10' from_ns=1e999; do
    for path in "map?metric=queue" "series?metric=queue_bytes" "captures/a.pcap.gz?limit=0"; do
        code=$(curl -s -o "$work/body" -w '%{http_code}' -b "$work/$who.jar" "$api/runs/$a/$path&$range")
        [ "$code" = 400 ] || fail "$path&$range: $code, expected 400"
    done
done
# Bins of a range that holds all packets: their counts are the packets that match.
binned=$(get "runs/$a/captures/a.pcap.gz?limit=0&filter=src%20host%20host4&bins=7&from_ns=0&to_ns=1e12" |
    jq '.bins | (length == 7) and (add == '"$some"')')
[ "$binned" = true ] || fail "bins of a capture: $binned"
refused "bins up to" "$(get "runs/$a/captures/a.pcap.gz?bins=7")"
refused "no word of the filter language" "$(get "runs/$a/captures/a.pcap.gz?filter=host%20example.com")"
refused "libpcap" "$(get "runs/$a/captures/a.pcap.gz?filter=host%20and")"
packet=$(get "runs/$a/captures/a.pcap.gz/1")
jq -e '[.layers[].name] | contains(["Ethernet", "IPv4", "UDP", "BTH", "ICRC"])' <<<"$packet" >/dev/null ||
    fail "layers: $(jq -c '[.layers[].name]' <<<"$packet")"
jq -e '.message == null and .flow_id != null and .next != null and (.layers | last.to) == .bytes' \
    <<<"$packet" >/dev/null || fail "packet: $(jq -c 'del(.hex, .layers)' <<<"$packet")"
get "runs/$a/captures/b.pcap/1" | jq -e '.captured == 64 and (.message | contains("64 of"))' >/dev/null ||
    fail "a packet cut by the snap length"
get "runs/$a/captures/a.pcap.gz/follow?n=1" |
    jq -e '([.packets[].direction] | unique) == ["<", ">"] and ([.packets[] | select(.gap)] | length) == 0' \
        >/dev/null || fail "follow"
# The fabric's pcapng: ports, directions and comments as filters; a packet hop by hop; utilisation.
fabric=runs/$a/captures/c.pcapng
told=$(get "runs/$a/captures" | jq -c '.captures[2]')
jq -e '.interfaces == 40 and .notes > 0 and .cut == false' <<<"$told" >/dev/null || fail "the fabric: $told"
get "$fabric?limit=5&port=leaf1-%3Espine0&way=sent" |
    jq -e '.matched > 100 and ([.packets[] | .port + .way] | unique) == ["leaf1->spine0sent"]' >/dev/null ||
    fail "frames of a port"
marked=$(get "$fabric?limit=5&note=marked")
jq -e '.matched > 0 and all(.packets[]; .note | startswith("marked"))' <<<"$marked" >/dev/null ||
    fail "frames with a comment: $marked"
n=$(get "$fabric?limit=1&port=host4-%3Eleaf1&way=sent" | jq '.packets[0].n')
hops=$(get "$fabric/follow?n=$n&hops=1" | jq -r '[.packets[].port] | join(" ")')
links="leaf1->spine0 spine0->leaf1 spine0->leaf0 leaf0->spine0"
is "hop by hop" "host4->leaf1 leaf1->host4 $links leaf0->host0 host0->leaf0" "$hops"
map=$(get "runs/$a/map?metric=utilisation&frames=10")
jq -e '.source == "capture" and .most > 0.5 and .most < 1.1' <<<"$map" >/dev/null ||
    fail "utilisation from a capture: $(jq -c '[.source, .most]' <<<"$map")"
time=$(jq .time_ns <<<"$packet")
get "runs/$a/captures/-/find?time_ns=$time&src=host4&dst=host0" |
    jq -e '.file | IN("a.pcap.gz", "b.pcap", "c.pcapng")' >/dev/null || fail "find"
for path in 'captures/..%2f..%2fscenario.yaml' 'captures/%2e%2e' 'captures/a.pcap.gz/0' \
    'captures/a.pcap.gz/999999'; do
    code=$(curl -s -o /dev/null -w '%{http_code}' -b "$work/admin.jar" "$api/runs/$a/$path")
    [ "$code" = 404 ] || [ "$code" = 400 ] || fail "$path: $code"
done

# -- analyses
list="[$(IFS=,; echo "${runs[*]}")]"
post analysis "{\"runs\": $list, \"steps\": [
    {\"do\": \"choose\", \"table\": \"flows\"}, {\"do\": \"filter\", \"where\": \"bytes > 1KB\"},
    {\"do\": \"derive\", \"name\": \"goodput\", \"expression\": \"in(bytes / fct_ns, \\\"Gbps\\\")\"},
    {\"do\": \"group\", \"by\": [\"run\"], \"take\": [{\"function\": \"count\"},
        {\"function\": \"mean\", \"column\": \"goodput\"}]}]}" >"$work/analysis.json"
jq -e '[.steps[].count] == [12, 12, 12, 3] and .steps[2].columns[-1].unit == "Gbps" and
       .steps[3].rows[0][1] == 4 and .steps[3].rows[0][2] > 1' "$work/analysis.json" >/dev/null ||
    fail "analysis: $(cat "$work/analysis.json")"
# The same means and intervals as `rocesim compare` prints.
"$ROCESIM" compare --seeds --csv "$data"/runs/*/result >"$work/compare.csv"
post analysis "{\"runs\": $list, \"steps\": [{\"do\": \"compare\", \"fields\": [\"flows.fct_us.p99\"]}]}" \
    >"$work/compare.json"
jq -e '.steps[0].rows[0] | .[3] == 3 and .[4] > 0 and .[5] > 0' "$work/compare.json" >/dev/null ||
    fail "compare: $(cat "$work/compare.json")"
mean=$(jq '.steps[0].rows[0][4]' "$work/compare.json")
grep -q "$(printf '%.4g' "$mean" | cut -c1-4)" "$work/compare.csv" ||
    fail "$mean is not in $(cat "$work/compare.csv")"
is "step of an error" 1 "$(post analysis "{\"runs\": $list, \"steps\": [{\"do\": \"choose\",
    \"table\": \"flows\"}, {\"do\": \"filter\", \"where\": \"nothing > 1\"}]}" | jq .error.where.step)"
is "type" bool "$(post analysis/check '{"expression": "a > 1us", "columns": [{"name": "a", "unit": "ns"}]}' |
    jq -r .type)"
get analysis/functions | jq -e '(.functions | length > 20) and (.steps | length > 10)' >/dev/null ||
    fail "functions"

# -- the folder: rocesim makes the same results of it, gnuplot the figure
curl -s -b "$work/admin.jar" -H "X-Studio-Token: $(cat "$work/admin.token")" -H "Origin: $url" \
    -H 'Content-Type: application/json' -o "$work/folder.tar.gz" "$api/analysis/export" \
    -d "{\"runs\": [$a], \"name\": \"my figure\", \"steps\": [{\"do\": \"choose\", \"table\": \"flows\"},
        {\"do\": \"cdf\", \"column\": \"fct_ns\"}],
        \"figure\": {\"x\": \"fct_ns\", \"y\": [\"share\"], \"kind\": \"steps\"}}"
tar -xzf "$work/folder.tar.gz" -C "$work"
head -1 "$work/my-figure/tables/1-cdf.csv" | grep -qx 'fct_ns,share' || fail "tables of the folder"
if command -v gnuplot >/dev/null; then
    ROCESIM=$ROCESIM "$work/my-figure/run.sh" >"$work/again.log" 2>&1 ||
        fail "run.sh: $(cat "$work/again.log")"
    grep -q "the same results" "$work/again.log" || fail "other results: $(cat "$work/again.log")"
    [ -s "$work/my-figure/figure.svg" ] || fail "no figure"
fi

# -- figures
refused "expected at least 20" "$(post figure "{\"runs\": $list, \"kind\": \"slowdown\"}")"
for kind in queue pause load; do
    post figure "{\"runs\": $list, \"kind\": \"$kind\"}" |
        jq -e '.panels[0].curves[0].columns[0] | length > 0' >/dev/null || fail "figure $kind"
done
get "figure/kinds?runs=$a" | jq -e '.kinds | contains(["slowdown", "queue", "pause", "load"])' >/dev/null ||
    fail "kinds"

# -- another user sees nothing of it
post users '{"name": "eve", "role": "user", "password": "another horse battery staple"}' >"$work/eve.json"
if login eve 'another horse battery staple' 2>/dev/null; then
    who=eve
    for path in "runs/$a/import" "runs/$a/tables" "runs/$a/series?metric=queue_bytes" "runs/$a/captures" \
        "runs/$a/captures/a.pcap.gz/1" "runs/$a/map?metric=pause" "search?runs=$a&q=host" \
        "figure/kinds?runs=$a"; do
        refused "no such run" "$(get "$path")"
    done
    refused "no such run" "$(post query "{\"runs\": [$a], \"table\": \"flows\"}")"
    refused "no such run" "$(post sql "{\"runs\": [$a], \"sql\": \"select 1\"}")"
    refused "no such run" "$(post analysis "{\"runs\": [$a], \"steps\": [{\"do\": \"choose\",
        \"table\": \"flows\"}]}")"
    refused "no such run" "$(post figure "{\"runs\": [$a], \"kind\": \"load\"}")"
else
    fail "a second user: $(cat "$work/eve.json")"
fi
# -- a server that is killed while it imports: the next one begins that import again by itself
kill -KILL $server
wait $server 2>/dev/null
mv "$data/runs/$a/index" "$data/runs/$a/index.new"
serve
for _ in $(seq 6000); do
    [ ! -e "$data/runs/$a/index/import.json" ] || break
    sleep 0.1
done
[ -e "$data/runs/$a/index/import.json" ] || fail "the import that was cut off is not made again"
[ ! -e "$data/runs/$a/index.new" ] || fail "what was cut off is left"
exit $((failures > 0))
