#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/sessions/test_session_clients.sh - the clients of sessions in Go and Rust.
#
# Goal: sessions/go and sessions/rust pass their own tests, with programs that they start and at a
# server with a token, and every line that they send or get fits the schema of the protocol.
# Method: both are copied out of the tree and tested without a network; the program that they start is
# a script between them and rocesim, which keeps all lines.
# Does not pin: compilers newer than those of Debian 12.
# labels: plain
set -u
. tests/script.sh
command -v python3 >/dev/null && python3 -c 'import jsonschema' 2>/dev/null ||
    { echo "skip: no python3 with jsonschema"; exit 77; }
command -v go >/dev/null || command -v cargo >/dev/null || { echo "skip: neither go nor cargo"; exit 77; }

cp -r sessions "$work/sessions"
mkdir "$work/lines"
cat >"$work/kept" <<END
#!/bin/bash
exec "$ROCESIM" "\$@" < <(tee "$work/lines/\$\$.request") > >(tee "$work/lines/\$\$.answer")
END
chmod +x "$work/kept"
echo 'topology: {star: {hosts: 4, rate: 100Gbps, delay: 1us}}' >"$work/star.yaml"
echo secret >"$work/token"
"$ROCESIM" serve "$work/star.yaml" --listen "unix:$work/socket" --token "$work/token" >"$work/server" 2>&1 &
server=$!
until [ -S "$work/socket" ]; do
    kill -0 $server 2>/dev/null || { cat "$work/server"; exit 1; }
    sleep 0.05
done
export ROCESIM_TEST_SERVER=unix:$work/socket ROCESIM_TEST_TOKEN=secret ROCESIM=$work/kept
export TMPDIR=$work GOCACHE=$work/go-cache GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local
if command -v go >/dev/null; then
    (cd "$work/sessions/go" && within 60 go vet ./... && within 60 go test ./...) >"$work/said" 2>&1 ||
        fail "go: $(cat "$work/said")"
fi
if command -v cargo >/dev/null; then
    (cd "$work/sessions/rust" &&
        RUSTFLAGS="-D warnings" within 60 cargo test --offline --target-dir "$work/target") \
        >"$work/said" 2>&1 || fail "cargo: $(cat "$work/said")"
fi
kill $server
wait $server
python3 - "$work/sessions/protocol.schema.json" "$work"/lines/* <<'END' || fail "lines without a schema"
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
check = {name: jsonschema.Draft7Validator({**schema, "oneOf": [{"$ref": f"#/definitions/{name}"}]})
         for name in ("request", "answer")}
calls = set()
for path in sys.argv[2:]:
    for line in open(path):
        at = json.loads(line)
        calls.add(at.get("call"))
        if at.get("call") != "jump":  # the one wrong call of each client's tests
            check[path.rpartition(".")[2]].validate(at)
missing = {"hello", "submit", "advance", "next_completion", "cancel", "estimate", "now", "mark", "back",
           "drop", "finish"} - calls
sys.exit(f"calls that no test makes: {missing}" if missing else 0)
END
[ "$failures" = 0 ]
