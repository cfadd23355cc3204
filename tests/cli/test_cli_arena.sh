#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/cli/test_cli_arena.sh - `rocesim arena`: cells, determinism, baselines, hidden seeds, health.
#
# Goal: each cell is a scenario, also with hidden seeds; results do not depend on -j, on an
# interruption or on which controls a baseline knew; a control that never slows down is an alarm and
# one that works is none; wrong options end with one line and status 2.
# Method: a few cheap cells; a control without a limit is dctcp with the line rate as its least rate.
# Does not pin: scores and places. Rerun:
# ctest --test-dir build/release -R '^test_cli_arena$' --output-on-failure
set -u
. tests/script.sh
start_forks
cd "$work" || exit 1

# -- cells
rocesim arena --list >list || fail "--list"
[ "$(wc -l <list)" -ge 40 ] || fail "fewer than 40 cells"
for cell in $(cut -d' ' -f1 list); do
    for hidden in "" "--hidden-seed 3" "--hidden-seed 99"; do
        # shellcheck disable=SC2086 # two words
        rocesim arena --show "$cell" $hidden >cell.yaml || fail "--show $cell"
        sometimes 5 || continue
        rocesim check cell.yaml >said 2>&1 || fail "$cell $hidden: $(cat said)"
    done
done
rocesim arena --show incast-8 >a.yaml
rocesim arena --show incast-8 --hidden-seed 3 >b.yaml
rocesim arena --show incast-8 --hidden-seed 3 >c.yaml
cmp -s b.yaml c.yaml || fail "a hidden seed gives two cells"
cmp -s a.yaml b.yaml && fail "a hidden seed changes nothing"

# -- equal results, however they are made
cells=incast-8,rtt-10us,victim-lossy
options=(--cells "$cells" --seeds 2 --quiet)
"$ROCESIM" arena --cc dcqcn,hpcc,swift "${options[@]}" -o one -j 1 >one.txt 2>said || fail "$(cat said)"
"$ROCESIM" arena --cc dcqcn,hpcc,swift "${options[@]}" --jobs 3 --json >three.json || fail "--json"
"$ROCESIM" arena --cc hpcc "${options[@]}" --baseline one/arena.json -o known >said 2>&1 ||
    fail "--baseline: $(cat said)"
[ "$(ls known/runs)" = "$(ls one/runs | grep hpcc)" ] || fail "a baseline's controls run again"
cmp -s one/arena.json known/arena.json || fail "a baseline changes results"
rm -rf one/runs/incast-8-hpcc-s2
cp one/arena.json before.json
"$ROCESIM" arena --cc dcqcn,hpcc,swift "${options[@]}" -o one >said 2>&1 || fail "again: $(cat said)"
cmp -s one/arena.json before.json || fail "an arena that goes on has other results"
if command -v python3 >/dev/null; then
    python3 - one/arena.json three.json <<'END' || fail "arena.json"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
assert a == b, "-j changes results"
assert [c["name"] for c in a["cells"]] == ["incast-8", "rtt-10us", "victim-lossy"]
assert sorted(c["place"] for c in a["controls"]) == [1, 2, 3]
for control in a["controls"]:
    assert 0 <= control["score"]["mean"] <= 100 and control["score"]["ci95"] >= 0
    assert control["health"]["state"] in ("sound", "notable"), control["health"]
    assert len(control["cells"]["incast-8"]["metrics"]["long_p99"]["values"]) == 2
END
fi
grep -q '<h2>Ranking</h2>' one/arena.html && tail -n 1 one/arena.html | grep -q '</html>' ||
    fail "arena.html"
grep -q '\\bottomrule' one/arena.tex || fail "arena.tex"
grep -q '^ 1  ' one.txt || fail "no first place: $(cat one.txt)"
rocesim run one/cells/incast-8.yaml --set nic.congestion-control=hpcc --seed 2 --json --quiet \
    >alone.json 2>/dev/null
[ "$(grep '"digest"' alone.json)" = "$(grep '"digest"' one/runs/incast-8-hpcc-s2/summary.json)" ] ||
    fail "a cell that runs alone has another digest"

# -- health: a control that does not slow down, with and without PFC
"$ROCESIM" arena --cc dctcp --cells long-2,rtt-1ms,rtt-10us --quick --set nic.dctcp.min-rate=100Gbps \
    >said 2>&1 ||
    fail "$(cat said)"
grep -q 'alarm$' said && grep -q 'do not slow down.*PFC.*do not slow down.*drop' said ||
    fail "a control that does not slow down: $(cat said)"
grep -q 'no score of one control' said || fail "one control alone: $(cat said)"

# -- a control of a plug-in that grows without bound at one round trip alone
cat >runaway.c <<'END'
#include "world/plugin.h"

static void ack(nic_cc_t *cc, const nic_cc_ack_t *ack)
{
    const bool wrong = cc->base_rtt_ps > 20000000 && cc->base_rtt_ps < 60000000;
    const uint64_t more_bps = wrong ? cc->rate_bps / 8 : cc->line_bps / 2000;
    cc->rate_bps = !wrong && ack->ecn_echo
                       ? SIM_MAX(cc->rate_bps - cc->rate_bps / 32, cc->line_bps / 1000)
                       : SIM_MIN(cc->rate_bps + more_bps, cc->line_bps);
    nic_cc_rate_changed(cc);
}

static const nic_cc_ops_t runaway = {
    .name = "runaway", .state_bytes = sizeof(nic_cc_t), .echoes_ecn = true, .ack = ack};

WORLD_PLUGIN
{
    return world_registry_add_cc(registry, &runaway, error);
}
END
"$ROCESIM" arena --cc runaway --plugin runaway.c --quick --cells rtt-10us,rtt-30us,long-8 \
    -o planted >said 2>&1 || fail "a plug-in: $(cat said)"
grep -q 'alarm$' said && grep -q 'do not slow down.* in 1 cell (rtt-30us' said || fail "planted: $(cat said)"
hash=$(sha256sum runaway.c | cut -d ' ' -f 1)
grep -q "\"sha256\": \"$hash\"" planted/arena.json || fail "arena.json has not the hash of its plug-in"
"$ROCESIM" arena --cc dcqcn --quick --cells rtt-10us,rtt-30us,long-8 --baseline planted/arena.json \
    -o beside >said 2>&1 && grep -q "\"sha256\": \"$hash\"" beside/arena.json ||
    fail "the hash of a baseline's plug-in: $(cat said)"
"$ROCESIM" explain planted/runs/rtt-30us-runaway-s1 >said 2>&1
grep -q '^main cause: the senders at .* do not react.*runaway' said || fail "explain: $(head -n 3 said)"
"$ROCESIM" explain planted/runs/rtt-10us-runaway-s1 >said 2>&1
grep -q 'do not react' said && fail "explain accuses a control that works: $(head -n 3 said)"

# -- bad input
bad() { # TEXT OPTIONS...
    local text=$1
    shift
    rocesim arena "$@" >out 2>said
    local status=$?
    [ $status = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -qF -- "$text" said && [ ! -s out ] ||
        fail "arena $*: status $status, $(cat said out)"
}
bad 'no --cc'
bad 'did you mean "dcqcn"' --cc dcqn
bad 'twice' --cc dcqcn,dcqcn
bad 'no --cc' --cc ''
bad "did you mean 'incast-8'" --cc dcqcn --cells incast-9
bad 'twice' --cc dcqcn --cells victim,victim
bad '--seeds is' --cc dcqcn --seeds 0
bad '--hidden-seed is' --cc dcqcn --hidden-seed minus
bad "-j is '0'" --cc dcqcn -j 0
bad 'no cell' --show nothing
bad 'nic.mtu' --cc dcqcn --set nic.mtu=17
bad 'another suite' --cc dcqcn "${options[@]}" --seeds 1 --baseline one/arena.json
bad 'expected an arena.json' --cc dcqcn "${options[@]}" --baseline list
bad 'holds another sweep' --cc dcqcn "${options[@]}" -o one

exit $((failures > 0))
