#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/world/test_plugin_answers.sh - impossible answers of plug-ins, and faults while they are loaded.
#
# labels: plain
# Goal: a device, a store, a cache policy, a balancer and an application that write or answer what cannot be,
# lack operations, crash, exit or loop when they are loaded, end the run with one message that names the file.
# Method: small plug-ins, made from a text with one wrong line each; without --plugin-limits.
# Not pinned: congestion controls, and runs with limits (test_plugin_limits.sh).
# Rerun: ctest --test-dir build/release -R '^test_plugin_answers$' --output-on-failure
set -u
. tests/script.sh
export XDG_CACHE_HOME="$work/cache"
cat >"$work/star.yaml" <<'END'
topology: {star: {hosts: 3}}
nic: {model: detailed}
traffic: [incast: {senders: 2, bytes: 20KB, to: host0}]
END
cat >"$work/cache.yaml" <<'END'
topology: {star: {hosts: 2}}
nic: {model: detailed, cache: {policy: bad, l1: {entries: 9}}}
traffic: [contexts: {tokens: 64, operations: 500}]
END
cat >"$work/paths.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 2, hosts-per-leaf: 2}}
traffic: [flows: {list: [host0 host2 30KB 0us]}]
END

# ends STATUS TEXT ARGUMENT...: with mine.c, in one line that names it.
ends() {
    local wanted=$1 text=$2 status=0
    shift 2
    within 30 "$ROCESIM" run "$@" --plugin "$work/mine.c" >/dev/null 2>"$work/said" || status=$?
    sed -i '/^note: /d' "$work/said"
    [ $status -eq "$wanted" ] && grep -qF -- "$text" "$work/said" && [ "$(wc -l <"$work/said")" -eq 1 ] &&
        grep -q 'mine.c' "$work/said" || fail "$*: status $status, expected '$text': $(cat "$work/said")"
}
row() {
    echo "WORLD_PLUGIN { const nic_extra_t extra = {$1, \"bad\", NULL, &ops};"
    echo "return world_registry_add_nic_part(registry, &extra, error); }"
}

policy() { # policy VICTIM OPERATION...
    cat >"$work/mine.c" <<END
#include "world/plugin.h"
static void *create(const nic_policy_place_t *place)
{
    uint32_t *const state = sim_alloc(8);
    state[0] = place->capacity;
    return state;
}
static void destroy(void *p) { sim_free(p); }
static void insert(void *p, uint32_t slot, uint32_t h, uint64_t u) { (void)p; (void)slot; (void)h; (void)u; }
static void use(void *p, uint32_t slot, uint64_t u) { (void)p; (void)slot; (void)u; }
static uint32_t victim(void *p) { (void)p; return $1; }
static void removed(void *p, uint32_t slot) { (void)p; (void)slot; }
static const nic_policy_ops_t ops = {.name = "bad", .help = "is wrong", .installs_on_miss = true,
    .create = create, .insert = insert, .use = use, .victim = victim, .remove = removed, $2};
$(row NIC_EXTRA_POLICY)
END
}
policy '*(uint32_t *)p + 7' '.destroy = destroy'
ends 1 "the operation victim of 'bad' answers the slot 16, expected one of the 9 slots" "$work/cache.yaml"
policy NIC_POLICY_NONE '.destroy = destroy'
ends 1 "the operation victim of 'bad' answers the slot" "$work/cache.yaml"
policy 0 '.age = destroy'
ends 2 "expected create, destroy, insert, use, victim and remove" "$work/cache.yaml"

store() { # store CREATE LOOK_UP
    cat >"$work/mine.c" <<END
#include "world/plugin.h"
static nic_store_t *create(const nic_store_place_t *place) { (void)place; return $1; }
static void look_up(nic_store_t *store, nic_store_lookup_t *lookup) { (void)store; $2; }
static const nic_store_ops_t ops = {.name = "bad", .help = "is wrong", .kinds = 63, .create = create,
    .look_up = look_up};
$(row NIC_EXTRA_STORE)
END
    bad=("$work/star.yaml" --set nic.detailed.store=bad)
}
made='sim_alloc(sizeof(nic_store_t))'
store NULL '(void)lookup'
ends 1 "the operation create of 'bad' returned no state" "${bad[@]}"
store "$made" 'lookup->ready_ps = 0'
ends 1 "the operation look_up of 'bad' answers the time 0 ps" "${bad[@]}"
store "$made" 'lookup->ready_ps += UINT64_C(1) << 60'
ends 1 "at most 1000 s later" "${bad[@]}"
store "$made" 'lookup->stall_ps -= 1'
ends 1 "takes time away from stall_ps" "${bad[@]}"
store "$made" 'lookup->waits = true'
ends 1 "sets waits where can_wait is false" "${bad[@]}"
store "$made" 'store->nic = NULL; (void)lookup'
ends 1 "overwrote fields of nic_store_t" "${bad[@]}"

cat >"$work/mine.c" <<END
#include "world/plugin.h"
#include <string.h>
static void post(nic_qp_t *qp, uint32_t count, bool doorbell)
{
    (void)doorbell;
    memset(nic_device_qp_state(qp), (int)count, 70);
}
static const nic_device_ops_t ops = {.name = "bad", .qp_state_bytes = 64, .post = post};
$(row NIC_EXTRA_DEVICE)
END
ends 1 "the operation post of 'bad' wrote past its state of 64 bytes" "$work/star.yaml" --set nic.model=bad

cat >"$work/mine.c" <<'END'
#include "net/switch_model.h"
#include "world/plugin.h"
static void built(net_switch_t *sw) { (void)sw; }
static uint32_t choose(net_switch_t *sw, const net_packet_t *packet, const uint32_t *ports, uint32_t count)
{
    (void)sw;
    (void)packet;
    return count > 1 ? 99 : ports[0];
}
static uint32_t path(const net_switch_t *sw, uint32_t source, uint32_t destination, uint32_t hash,
                     uint32_t count)
{
    (void)sw;
    (void)source;
    (void)destination;
    return hash % count;
}
static const net_balance_ops_t ops = {.name = "bad", .built = built, .choose = choose, .path = path};
WORLD_PLUGIN
{
    const world_network_part_t part = {WORLD_NETWORK_BALANCE, "bad", NULL, &ops};
    return world_registry_add_network_part(registry, &part, error);
}
END
ends 1 "answers port 99, expected one of the 2 ports" "$work/paths.yaml" --set network.load-balancer=bad
sed -i 's/, .built = built//' "$work/mine.c"
ends 2 "expected built, choose and path" "$work/paths.yaml" --set network.load-balancer=bad

app() { # app CREATE
    cat >"$work/mine.c" <<END
#include "world/plugin.h"
typedef struct config { uint64_t bytes; } config_t;
static const sim_attr_t rows[] = {SIM_ATTR("traffic.bad.bytes", BYTES, config_t, bytes,
    .default_text = "1KB", .help = "bytes")};
static const sim_attr_table_t attrs = {"traffic.bad", "application", sizeof(config_t), rows, 1};
static sim_err_t create(const app_context_t *c, const void *config, app_t **app, sim_message_t *message)
{ (void)c; (void)config; (void)app; (void)message; $1 }
static void destroy(app_t *app) { sim_free(app); }
static void progress(const app_t *app, uint64_t *done, uint64_t *planned) { (void)app; *done = *planned = 0; }
static const app_ops_t ops = {.name = "bad", .help = "is wrong", .attrs = &attrs, .create = create,
    .destroy = destroy, .progress = progress};
WORLD_PLUGIN { return world_registry_add_app(registry, &ops, error); }
END
    printf 'topology: {star: {hosts: 2}}\ntraffic: [bad: {}]\n' >"$work/app.yaml"
}
app 'return SIM_OK;'
ends 1 "the operation create of 'bad' made no app_t with ops and net" "$work/app.yaml"
app '*app = sim_alloc(sizeof(app_t)); return SIM_OK;'
ends 1 "the operation create of 'bad' made no app_t with ops and net" "$work/app.yaml"

# -- a timer that nobody made
cat >"$work/mine.c" <<'END'
#include "world/plugin.h"
typedef struct { nic_cc_t cc; sim_timer_t timer; } state_t;
static void start(nic_cc_t *cc)
{ sim_timer_arm(cc->node, &((state_t *)(void *)cc)->timer, cc->node->now_ps + 5000000); }
static const nic_cc_ops_t ops = {"bad", sizeof(state_t), .start = start};
WORLD_PLUGIN { return world_registry_add_cc(registry, &ops, error); }
END
status=0
"$ROCESIM" run "$work/star.yaml" --plugin "$work/mine.c" --set nic.congestion-control=bad \
    --set nic.model=ideal >/dev/null 2>"$work/said" || status=$?
[ $status -eq 1 ] && grep -q 'was not made by sim_timer_init' "$work/said" &&
    grep -q 'plug-in mine.c called it' "$work/said" || fail "a timer: status $status, $(cat "$work/said")"

# -- while it is loaded
loads() { # loads STATEMENT
    printf '#include "world/plugin.h"\n#include <stdlib.h>\n' >"$work/mine.c"
    printf 'WORLD_PLUGIN { (void)registry; (void)error; %s; return SIM_OK; }\n' "$1" >>"$work/mine.c"
}
loads 'abort()'
ends 1 "the plug-in aborted" "$work/star.yaml"
loads 'exit(0)'
ends 1 "the plug-in called exit" "$work/star.yaml"
loads '*(volatile int *)8 = 1'
ends 1 "segmentation fault" "$work/star.yaml"
loads 'for (volatile int i = 0; i < 1; i *= 1) {}'
ends 1 "does not return from a call, after 5 s" "$work/star.yaml"

[ $failures -eq 0 ]
