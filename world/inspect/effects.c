// SPDX-License-Identifier: Apache-2.0
// world/inspect/effects.c - which attributes need which others to have an effect, and a note for
// each that a scenario set in vain.
//
// A condition is made of PATH=VALUE, PATH=A|B and PATH!=VALUE, joined by " and ", and by " or "
// that binds less. It is asked of every NIC, switch, link or entry of traffic that the attribute
// could belong to, with the attributes of the network besides; one for which it holds is enough.
// Parts of NICs need no rows: nic.NAME.* needs a NIC that chose NAME.
#include "world/inspect/effects.h"

#include <stdlib.h>
#include <string.h>

#include "net/switch.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/bind.h"
#include "world/captures.h"
#include "world/overlays.h"
#include "world/parameters.h"
#include "world/world.h"

#define EXPERTS                                                              \
    "traffic.training.experts!=auto|0 or traffic.training.experts=auto and " \
    "traffic.training.model=mixtral-8x7b|mixtral-8x22b|deepseek-v3"
#define BANDWIDTH_TESTS "traffic.perftest.test=ib_write_bw|ib_read_bw|ib_send_bw|ib_atomic_bw"

// clang-format off
static const world_effect_t effects[] = {
    {"nic.plb.*", "nic.repath=plb"},
    {"nic.flowbender.*", "nic.repath=flowbender"},
    {"nic.reps.*", "nic.repath=reps or nic.transport=uec-rud and nic.uec.spray=mixed|reps"},
    {"nic.hpcc.window-ai", "nic.hpcc.law=window"},
    {"nic.hpcc.rate-ai", "nic.hpcc.law=rate"},
    {"nic.bdp nic.base-rtt",
     "nic.bdp-window!=none or nic.congestion-control!=dcqcn|dctcp|timely|timely-patched|none or "
     "nic.transport=adamap|uec-rud|uec-rod|mrc"},
    {"nic.ooo-window", "nic.ooo=place"},
    {"nic.retransmission nic.nak-ends nic.nak-once nic.nak-cuts nic.recovery-delay "
     "nic.nak-interval", "nic.transport=go-back-n"},
    {"nic.retransmission-chunk", "nic.retransmission=go-back-0"},
    {"nic.timeout", "nic.transport!=irn|adamap|sdr|uec-rud|uec-rod|mrc"},
    {"nic.transport nic.timeout nic.retry-count", "reliable=true"},
    {"nic.ack-chunk", "nic.ack-from!=0"},
    {"nic.detailed.* nic.cache.*", "nic.model!=ideal"},
    {"nic.cache.*", "nic.cache.policy!=flat or nic.detailed.store!=auto|flat"},
    {"nic.cache.adaptive.*", "nic.cache.adaptive.on=true"},
    {"nic.host.iommu.*", "nic.host.iommu.use=all or "
                         "nic.host.iommu.use=expands and nic.model!=ideal"},
    {"nic.host.socket-link nic.host.socket-link-latency", "nic.host.sockets!=1"},
    {"nic.host.gpu-link nic.host.gpu-places nic.host.peer nic.host.peer-rate", "nic.host.gpus!=0"},
    {"nic.host.switch-uplink", "nic.host.nics-per-switch!=0 or nic.host.nic-places!=even"},
    {"nic.planes", "planes=true"},
    {"nic.sdr.code-data nic.sdr.code-parity nic.sdr.fallback", "nic.sdr.code!=none"},
    {"nic.sdr.nack", "nic.sdr.code=none"},
    {"nic.adamap.dma-rate", "nic.adamap.read-latency!=auto"},
    {"nic.uec.*", "nic.transport=uec-rud|uec-rod"},
    {"nic.uec.spray", "nic.transport=uec-rud"},
    {"nic.uec.demand nic.uec.narrowness", "nic.uec.control=rccc|both"},
    {"nic.nscc.*", "nic.transport=uec-rud|uec-rod and nic.uec.control=nscc|both or "
                   "nic.transport=mrc and nic.mrc.control=nscc"},

    {"switch.virtual-channels", "switch.mmu=virtual-channels"},
    {"switch.trim.*", "switch.mmu=trimming"},
    {"switch.pfc.*", "switch.pfc.enabled=true"},
    {"switch.pfc.*", "switch.pfc.priorities!=[]"},
    {"switch.pfc.alpha", "switch.pfc.threshold=auto"},
    {"switch.pfc.response", "switch.pfc.headroom=auto"},
    {"switch.pfc.watchdog-detect switch.pfc.watchdog-restore", "switch.pfc.watchdog!=off"},
    {"switch.ecn.*", "switch.ecn.enabled=true"},
    {"switch.ecmp.*", "switch.load-balancing=ecmp|wecmp"},
    {"switch.adaptive.*", "switch.load-balancing=adaptive"},
    {"switch.adaptive.full switch.adaptive.refresh", "switch.adaptive.by=grades"},
    {"switch.drill.*", "switch.load-balancing=drill"},
    {"switch.letflow.*", "switch.load-balancing=letflow"},
    {"switch.conga.*", "switch.load-balancing=conga"},
    {"switch.conweave.*", "switch.load-balancing=conweave"},

    {"link.loss-model link.loss-burst link.loss-bad-rate", "link.loss-rate!=0"},
    {"link.loss-burst", "link.loss-model=bursts|high-frequency|gilbert-elliott"},
    {"link.loss-bad-rate", "link.loss-model=gilbert-elliott"},
    {"link.loss-packets link.loss-direction",
     "link.loss-rate!=0 or link.bit-error-rate!=0 or link.reorder-rate!=0 or "
     "link.duplicate-rate!=0"},
    {"link.reorder-delay", "link.reorder-rate!=0"},
    {"link.cbfc.*", "link.flow-control=cbfc"},
    {"link.llr.*", "link.llr.enabled=true"},
    {"link.headroom link.backward-headroom switch.pfc.headroom-pool", "switch.mmu!=hpcc"},

    {"network.message-overhead", "network.model=message"},
    {"network.vlan", "network.tagged=true"},
    {"network.trim-*", "switch.mmu=trimming"},
    {"network.convergence", "changes=true"},
    {"network.int-*", "nic.congestion-control=hpcc"},
    {"network.pint-*", "nic.congestion-control=hpcc-pint"},

    {"topology.rail-optimised.links-per-spine topology.rail-optimised.fabric-rate",
     "topology.rail-optimised.spines!=0"},
    {"topology.dual-tor.links-per-spine topology.dual-tor.fabric-rate "
     "topology.dual-tor.dual-plane", "topology.dual-tor.spines!=0"},
    {"topology.multi-plane.links-per-spine topology.multi-plane.fabric-rate",
     "topology.multi-plane.spines!=0"},
    {"topology.rail-optimised.nvlink-delay", "topology.rail-optimised.nvlink-rate!=auto"},
    {"topology.dual-tor.nvlink-delay", "topology.dual-tor.nvlink-rate!=auto"},
    {"topology.wan.hosts", "topology.wan.site="},
    {"topology.wan.values", "topology.wan.site!="},

    // The settings of fast-forward are not among these: the files of a run must not tell its mode.
    {"scale-up.*", "scale-up.model=packets"},
    {"scale-up.retry-delay", "scale-up.error-rate!=0"},
    {"hpcc.ecmp-port", "network.load-balancer=hpcc"},
    {"hpcc.draws-used", "hpcc.draws=hpcc"},

    {"outputs.series-max", "series=true"},
    {"outputs.cache-events", "nic.model!=ideal"},
    {"captures.before captures.after captures.at-most", "captures.around!=all"},

    {"traffic.training.skew traffic.training.routing traffic.training.top-k "
     "traffic.training.expert-ffn traffic.training.expert-overlap", EXPERTS},
    {"traffic.training.skew", "traffic.training.routing="},
    {"traffic.training.slow-factor", "traffic.training.slow-ranks!="},
    {"traffic.*.places", "traffic.*.map=list"},
    {"traffic.*.semantics traffic.*.ties traffic.*.latency traffic.*.byte-gap traffic.*.gap",
     "traffic.*.network-model=ideal"},
    {"traffic.*.send-order traffic.*.send-window traffic.*.queue-pairs traffic.*.source-ports "
     "traffic.*.connection-pairs", "traffic.*.network-model=packets"},
    {"traffic.*.send-window", "traffic.*.send-order=in-order"},
    {"traffic.*.connection-pairs", "traffic.*.queue-pairs=permanent"},
    {"traffic.*.tuning-scale traffic.*.processor", "traffic.*.tuning-latency=true"},
    {"traffic.*.nvls-rate", "traffic.*.nvls=true or traffic.*.algorithm=nvls|nvls-tree"},
    {"traffic.collective.root", "traffic.collective.kind=broadcast|reduce"},
    {"traffic.collective.matrix", "traffic.collective.kind=all-to-all"},
    {"traffic.collective.compute", "traffic.collective.repeat!=1"},
    {"traffic.incast.stop traffic.incast.random-gaps", "traffic.incast.every!=never"},
    {"traffic.bulk.depth traffic.flows.depth traffic.poisson.depth traffic.incast.depth "
     "traffic.permutation.depth traffic.all-to-all.depth", "traffic.*.messages!=1"},
    {"traffic.perftest.size", "traffic.perftest.all=false"},
    {"traffic.perftest.bidirectional traffic.perftest.tx-depth "
     "traffic.perftest.post-list", BANDWIDTH_TESTS},
    {"traffic.perftest.rx-depth", "traffic.perftest.test=ib_send_bw"},
    {"traffic.perftest.handshake", "traffic.perftest.test=ib_write_bw|ib_read_bw|ib_atomic_bw"},
    {"traffic.perftest.handshake", "traffic.perftest.bidirectional=true"},
    {"traffic.perftest.event-time", "traffic.perftest.events=true"},
    {"traffic.verbs-rate.inline", "traffic.verbs-rate.verb=write|send"},
    {"traffic.verbs-rate.receivers", "traffic.verbs-rate.verb=send"},
    {"traffic.verbs-rate.receiver-qps traffic.verbs-rate.random-peer",
     "traffic.verbs-rate.transport=ud"},
    {"traffic.verbs-rate.counters", "traffic.verbs-rate.verb=fetch-add"},
    {"traffic.verbs-rate.align", "traffic.verbs-rate.verb=write|read"},
    {"traffic.herd.model.*", "traffic.herd.service=model"},
    {"traffic.herd.verify traffic.herd.index-buckets traffic.herd.log-bytes",
     "traffic.herd.service=mica"},
    {"traffic.sequencer.workers traffic.sequencer.batch traffic.sequencer.collect",
     "traffic.sequencer.version!=fetch-add"},
    {"traffic.serving.storage traffic.serving.storage-memory traffic.serving.storage-path",
     "traffic.serving.cache=store"},
    {"traffic.serving.cache-policy traffic.serving.cache-memory", "traffic.serving.cache!=none"},
    {"traffic.serving.engine.* traffic.serving.metadata.*", "traffic.serving.transport=mooncake"},
    {"traffic.serving.kv-priority", "traffic.serving.transport=write"},
    {"traffic.serving.layer-groups", "traffic.serving.kv=layer or traffic.serving.experts=pool"},
    {"traffic.serving.arrival-cv", "traffic.serving.arrivals=gamma"},
    {"traffic.serving.burst-on traffic.serving.burst-off", "traffic.serving.arrivals=bursts"},
    {"traffic.serving.think traffic.serving.refused-wait traffic.serving.turns",
     "traffic.serving.clients!=0"},
    {"traffic.serving.timestamp-unit traffic.serving.trace-skip", "traffic.serving.trace!="},
    {"traffic.serving.decode-tp traffic.serving.decode-pp traffic.serving.decode-tp-hosts "
     "traffic.serving.decode-step-times", "traffic.serving.decode!=0"},
    {"traffic.serving.prefix-skew traffic.serving.prefix-share traffic.serving.prefix-tokens",
     "traffic.serving.prefixes!=0"},
    {"traffic.serving.fail-at traffic.serving.fail-detect", "traffic.serving.fail-host!="},
    {"traffic.mooncake-bench.drive.*", "traffic.mooncake-bench.file!=0"},
    {"traffic.*.metadata.down-until", "traffic.*.metadata.down-from!=never"},
    {"traffic.kv-matrix.model traffic.kv-matrix.requests traffic.kv-matrix.batch "
     "traffic.kv-matrix.batch-bytes traffic.kv-matrix.prefill-* traffic.kv-matrix.decode-* "
     "traffic.kv-matrix.input-* traffic.kv-matrix.node-gpus traffic.kv-matrix.storage "
     "traffic.kv-matrix.prefix-hit-rate", "traffic.kv-matrix.file="},
    {"traffic.kv-matrix.prefix-hit-rate", "traffic.kv-matrix.storage=true"},
};
// clang-format on

const world_effect_t *world__effects(size_t *count)
{
    *count = SIM_COUNT_OF(effects);
    return effects;
}

// -- conditions

// What an attribute can belong to: one NIC configuration, switch, link or entry of traffic.
typedef struct owner {
    const world_t *world;
    const sim_attr_table_t *table; // of config
    const void *config;
    const nic_config_t *nic; // NULL: it is no NIC
} owner_t;

// Returns whether a path is that of a pattern: a name, "nic.plb.*", or "traffic.*.places" for any
// kind of traffic.
static bool matches(const char *pattern, size_t size, const char *path)
{
    const char any_traffic[] = "traffic.*.";
    const size_t prefix = sizeof(any_traffic) - 1;
    if (size > prefix && strncmp(pattern, any_traffic, prefix) == 0 &&
        strncmp(path, any_traffic, strlen("traffic.")) == 0) {
        const char *const rest = strchr(path + strlen("traffic."), '.');
        return rest != NULL && matches(pattern + prefix, size - prefix, rest + 1);
    }
    return pattern[size - 1] == '*' ? strncmp(pattern, path, size - 1) == 0
                                    : strlen(path) == size && memcmp(pattern, path, size) == 0;
}

static bool matches_any(const char *patterns, const char *path)
{
    for (const char *at = patterns; *at != '\0'; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (matches(at, size, path)) {
            return true;
        }
        at += size;
    }
    return false;
}

static char *text_in(const sim_attr_table_t *table, const void *config, const char *path,
                     size_t size)
{
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        if (matches(path, size, table->attrs[i].path)) {
            return sim_attr_get(&table->attrs[i], config);
        }
    }
    return NULL;
}

// Returns whether some entry of traffic uses reliable connections; kinds that do not say use them.
static bool is_reliable(const world_t *world)
{
    const char *const services[] = {"traffic.*.service", "traffic.*.connection",
                                    "traffic.*.transport"};
    for (size_t i = 0; i < world->scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &world->scenario->traffic[i];
        bool reliable = true;
        for (size_t s = 0; s < SIM_COUNT_OF(services); s++) {
            char *const text =
                text_in(traffic->ops->attrs, traffic->config, services[s], strlen(services[s]));
            reliable =
                reliable && (text == NULL || (strcmp(text, "uc") != 0 && strcmp(text, "ud") != 0));
            sim_free(text);
        }
        if (reliable) {
            return true;
        }
    }
    return world->scenario->traffic_count == 0;
}

// Returns whether links go down or come up during the run.
static bool has_changes(const world_scenario_t *scenario)
{
    bool some = scenario->fault_count > 0;
    for (size_t i = 0; i < scenario->link_count; i++) {
        some = some || scenario->links[i].down_count > 0;
    }
    return some;
}

// Returns whether some NIC has a port in each of several planes, or would have without "off".
static bool has_planes(const world_t *world)
{
    bool some = false;
    for (size_t i = 0; i < world->nic_count && !some; i++) {
        some = nic_config_of_interface(world->net, (uint32_t)i)->planes == NIC_PLANES_OFF;
    }
    for (size_t i = 0; i < net_node_count(world->net) && !some; i++) {
        some = net_planes_of(world->net, i) > 1;
    }
    return some;
}

// Returns a fact about the world that conditions name as "changes", "planes" or "series"; NULL: it
// is no such name.
static const char *fact_of(const world_t *world, const char *name, size_t size)
{
    const world_scenario_t *const scenario = world->scenario;
    if (size == strlen("planes") && memcmp(name, "planes", size) == 0) {
        return has_planes(world) ? "true" : "false";
    }
    if (size == strlen("changes") && memcmp(name, "changes", size) == 0) {
        return has_changes(scenario) ? "true" : "false";
    }
    if (size == strlen("series") && memcmp(name, "series", size) == 0) {
        return scenario->series_count > 0 ? "true" : "false";
    }
    return NULL;
}

// Returns the value of an attribute, or of "reliable" (Ultra Ethernet's transports serve datagrams,
// too), as far as the owner has it; NULL: it has none of that name. Free it with sim_free.
static char *value_of(const owner_t *owner, const char *path, size_t size)
{
    const world_scenario_t *const scenario = owner->world->scenario;
    if (size == strlen("reliable") && strncmp(path, "reliable", size) == 0) {
        const bool any = owner->nic != NULL && strncmp(owner->nic->transport, "uec-", 4) == 0;
        return sim_strdup(any || is_reliable(owner->world) ? "true" : "false");
    }
    const char *const fact = fact_of(owner->world, path, size);
    if (fact != NULL) {
        return sim_strdup(fact);
    }
    char *text = text_in(owner->table, owner->config, path, size);
    const sim_attr_table_t *table = NULL;
    void *part = NULL;
    for (size_t i = 0;
         text == NULL && owner->nic != NULL && nic_config_part_at(owner->nic, i, &table, &part);
         i++) {
        text = text_in(table, part, path, size);
    }
    if (text != NULL && matches(path, size, "switch.load-balancing") &&
        strcmp(text, "network") == 0) {
        sim_free(text);
        text = sim_strdup(scenario->network.balance.text);
    }
    return text != NULL ? text : text_in(&net_config_attrs, &scenario->network, path, size);
}

// Returns whether PATH=A|B or PATH!=A|B holds.
static bool term_holds(const owner_t *owner, const char *term, size_t size)
{
    const size_t path_size = strcspn(term, "!=");
    const bool unequal = term[path_size] == '!';
    const char *at = term + path_size + (unequal ? 2 : 1);
    char *const value = value_of(owner, term, path_size);
    if (value == NULL) {
        return false;
    }
    bool equal = false;
    while (at <= term + size) {
        const size_t length = SIM_MIN(strcspn(at, "| "), (size_t)(term + size - at));
        equal = equal || (strlen(value) == length && memcmp(value, at, length) == 0);
        at += length + 1;
    }
    sim_free(value);
    return equal != unequal;
}

static bool all_hold(const owner_t *owner, const char *terms, size_t size)
{
    const char *const end = terms + size;
    for (const char *at = terms; at < end;) {
        const char *const joined = strstr(at, " and ");
        const char *const until = joined != NULL && joined < end ? joined : end;
        if (!term_holds(owner, at, (size_t)(until - at))) {
            return false;
        }
        at = until == end ? end : until + strlen(" and ");
    }
    return true;
}

static bool holds(const owner_t *owner, const char *needs)
{
    for (const char *at = needs;;) {
        const char *const next = strstr(at, " or ");
        if (all_hold(owner, at, next != NULL ? (size_t)(next - at) : strlen(at))) {
            return true;
        }
        if (next == NULL) {
            return false;
        }
        at = next + strlen(" or ");
    }
}

// -- owners

// Calls fn with each owner until it returns true. Returns whether it did.
typedef bool (*owner_fn)(const owner_t *owner, const char *wanted);

static bool any_node(const world_t *world, owner_fn fn, const char *wanted)
{
    const nic_config_t *before = NULL;
    for (size_t i = 0; i < world->nic_count; i++) {
        const nic_config_t *const config = nic_config_of_interface(world->net, (uint32_t)i);
        const owner_t owner = {world, &nic_config_attrs, config, config};
        if (config != before && fn(&owner, wanted)) {
            return true;
        }
        before = config;
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        if (node != NULL && node->kind == NET_NODE_SWITCH) {
            const owner_t owner = {world, &net_switch_config_attrs, net_switch_config(node), NULL};
            if (fn(&owner, wanted)) {
                return true;
            }
        }
    }
    return false;
}

static bool any_link(const world_t *world, owner_fn fn, const char *wanted)
{
    const net_link_config_t *before = NULL;
    for (size_t i = 0; i < net_link_count(world->net); i++) {
        const net_link_config_t *const config = net_link_config(world->net, i);
        const owner_t owner = {world, &net_link_config_attrs, config, NULL};
        if (config != before && fn(&owner, wanted)) {
            return true;
        }
        before = config;
    }
    return false;
}

// Returns whether a NIC chose the part whose attributes are nic.NAME.*, where some part has that
// name; a custom part may be any.
static bool chose(const owner_t *owner, const char *path)
{
    const char *const name = path + strlen("nic.");
    const size_t size = strcspn(name, ".");
    bool exists = false;
    bool chosen = false;
    for (uint32_t kind = 0; owner->nic != NULL && kind < NIC_EXTRA_KIND_COUNT; kind++) {
        char part_name[64] = "";
        const void *part = NULL;
        const char *const attribute = nic_extra_kind_attribute((nic_extra_kind_t)kind);
        memcpy(part_name, name, SIM_MIN(size, sizeof(part_name) - 1));
        exists =
            exists || nic_config_find(owner->nic, (nic_extra_kind_t)kind, part_name, &part) != NULL;
        char *const value = kind == NIC_EXTRA_CC ? sim_strdup(nic_config_control(owner->nic))
                                                 : value_of(owner, attribute, strlen(attribute));
        chosen = chosen || (value != NULL && strcmp(value, part_name) == 0);
        sim_free(value);
    }
    return owner->nic != NULL && (chosen || !exists);
}

// -- notes

typedef struct search {
    const world_t *world;
    world_warnings_t *out;
    const char *section; // "nic", "switch", "link", or "" where own is the owner
    owner_t own;
    char *told; // paths that have a note, each between blanks
} search_t;

static bool any_owner(const search_t *search, owner_fn fn, const char *wanted)
{
    return *search->section == '\0'
               ? fn(&search->own, wanted) ||
                     ((strncmp(search->own.table->prefix, "network", strlen("network")) == 0 ||
                       strncmp(search->own.table->prefix, "outputs", strlen("outputs")) == 0) &&
                      any_node(search->world, fn, wanted))
           : strcmp(search->section, "link") == 0 ? any_link(search->world, fn, wanted)
                                                  : any_node(search->world, fn, wanted);
}

// Returns whether a condition asks for the attribute itself.
static bool asks_for(const char *needs, const char *path)
{
    const char *const at = strstr(needs, path);
    return at != NULL && strchr("!=", at[strlen(path)]) != NULL;
}

// Returns what the attribute needs and nobody has; NULL: it has an effect.
static const char *missing(const search_t *search, const char *path)
{
    for (size_t i = 0; i < SIM_COUNT_OF(effects); i++) {
        if (matches_any(effects[i].paths, path) && !asks_for(effects[i].needs, path) &&
            !any_owner(search, holds, effects[i].needs)) {
            return effects[i].needs;
        }
    }
    const bool part = strncmp(path, "nic.", strlen("nic.")) == 0 && strchr(path + 4, '.') != NULL;
    return part && !any_owner(search, chose, path) ? "" : NULL;
}

// Writes a condition for people: PATH!=A|B as "PATH other than A or B". Free it with sim_free.
static char *in_words(const char *needs, const char *path)
{
    static const char *const facts[][2] = {
        {"changes=true", "a link that goes down (links.down) or a fault (faults)"},
        {"series=true", "a series (observe)"},
        {"planes=true", "NICs with a port in each of several planes"},
        {"reliable=true", "traffic on reliable connections"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(facts); i++) {
        if (strcmp(needs, facts[i][0]) == 0) {
            return sim_strdup(facts[i][1]);
        }
    }
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    SIM_CHECK(out != NULL);
    for (const char *at = needs; *at != '\0'; at++) {
        const bool unequal = at[0] == '!';
        if (strncmp(at, "traffic.*", strlen("traffic.*")) == 0) {
            const size_t kind = strlen("traffic.") + strcspn(path + strlen("traffic."), ".");
            (void)fprintf(out, "%.*s", (int)kind, path);
            at += strlen("traffic.*") - 1;
        } else if (unequal || *at == '=') {
            at += unequal;
            const bool empty = at[1] == '\0' || at[1] == ' ';
            (void)fputs(unequal ? (empty ? "" : " other than ") : empty ? " empty" : ": ", out);
        } else {
            (void)fputs(*at == '|' ? " or " : (const char[]){*at, '\0'}, out);
        }
    }
    (void)fclose(out);
    char *const copy = sim_strdup(text);
    free(text);
    return copy;
}

// Returns whether the user wrote a value: `rocesim hpcc` puts what it sets itself at 1:1, where no
// value of a mapping can stand.
static bool is_written(const world_place_t *place)
{
    return place->line != 1 || place->column != 1;
}

// Returns the attribute that chooses the part of the NIC to which an attribute belongs:
// nic.congestion-control for nic.hpcc.eta. NULL: none does.
static const char *chooser(const search_t *search, const char *path)
{
    char name[64] = "";
    memcpy(name, path + strlen("nic."),
           SIM_MIN(strcspn(path + strlen("nic."), "."), sizeof(name) - 1));
    for (uint32_t kind = 0; kind < NIC_EXTRA_KIND_COUNT; kind++) {
        const void *part = NULL;
        if (nic_config_find(&search->world->scenario->nic_config, (nic_extra_kind_t)kind, name,
                            &part) != NULL) {
            return nic_extra_kind_attribute((nic_extra_kind_t)kind);
        }
    }
    return NULL;
}

// Returns whether an attribute decides over a condition.
static bool path_decides(const char *path, const char *needs, const char *chosen_by)
{
    // Switches whose load-balancing is "network", as by default, have that of the network.
    const bool of_network = strcmp(path, "network.load-balancer") == 0;
    return asks_for(needs, of_network ? "switch.load-balancing" : path) ||
           (chosen_by != NULL && strcmp(path, chosen_by) == 0);
}

// Returns whether a path of a parameter, or one in its list, decides over a condition.
static bool decides(const world_tree_t *paths, const char *needs, const char *chosen_by)
{
    bool found = false;
    for (size_t i = 0; paths != NULL && paths->kind == WORLD_TREE_LIST && i < paths->count; i++) {
        found = found || decides(paths->entries[i].value, needs, chosen_by);
    }
    if (paths == NULL || paths->kind != WORLD_TREE_SCALAR) {
        return found;
    }
    // nodes.NAME.nic.ATTRIBUTE, nodes.NAME.switch.ATTRIBUTE, links.NAME.ATTRIBUTE
    const char *const of_nic = strstr(paths->text, ".nic.");
    const char *const of_switch = strstr(paths->text, ".switch.");
    const char *const of_link =
        strncmp(paths->text, "links.", 6) == 0 ? strchr(paths->text + 6, '.') : NULL;
    char *const path = of_nic != NULL      ? sim_strdup(of_nic + 1)
                       : of_switch != NULL ? sim_strdup(of_switch + 1)
                       : of_link != NULL   ? sim_format("link%s", of_link)
                                           : sim_strdup(paths->text);
    found = path_decides(path, needs, chosen_by);
    sim_free(path);
    return found;
}

// Returns whether a choice of a parameter, a part of a scenario, sets what decides over a
// condition.
static bool choice_decides(const world_tree_t *part, const char *path, const char *needs,
                           const char *chosen_by)
{
    bool found = false;
    for (size_t i = 0; part != NULL && part->kind == WORLD_TREE_MAP && i < part->count && !found;
         i++) {
        const char *const key = part->entries[i].key->text;
        char *const below = path[0] != '\0' ? sim_format("%s.%s", path, key) : sim_strdup(key);
        found = choice_decides(part->entries[i].value, below, needs, chosen_by);
        sim_free(below);
    }
    return found || (part != NULL && part->kind == WORLD_TREE_SCALAR &&
                     path_decides(path, needs, chosen_by));
}

// Returns whether one of a parameter's choices decides over a condition.
static bool choices_decide(const world_tree_t *choices, const char *needs, const char *chosen_by)
{
    bool found = false;
    for (size_t i = 0; choices != NULL && choices->kind == WORLD_TREE_MAP && i < choices->count;
         i++) {
        found = found || choice_decides(choices->entries[i].value, "", needs, chosen_by);
    }
    return found;
}

// Returns whether a value of the file is on offer, and need not have an effect with each choice: it
// is the default of a parameter, or a parameter decides over what it needs.
static bool is_on_offer(const search_t *search, const sim_attr_t *attr, const world_place_t *place,
                        const char *needs)
{
    const world_tree_t *const section = world__parameters_section(search->world->scenario->root);
    const char *const chosen_by = *needs == '\0' ? chooser(search, attr->path) : NULL;
    for (size_t i = 0; section != NULL && place->line > 0 && i < section->count; i++) {
        const world_tree_t *const row = section->entries[i].value; // a path, or {path, default...}
        const bool is_long = row->kind == WORLD_TREE_MAP;
        const world_tree_t *const usual = is_long ? world_tree_value(row, "default") : NULL;
        if (decides(is_long ? world_tree_value(row, "path") : row, needs, chosen_by) ||
            (is_long && choices_decide(world_tree_value(row, "choose"), needs, chosen_by)) ||
            (usual != NULL && usual->place.line == place->line &&
             usual->place.column == place->column &&
             strcmp(usual->place.origin, place->origin) == 0)) {
            return true;
        }
    }
    return false;
}

// Adds a note for an attribute that is set to another value than its default, and has no effect.
static void look_at(search_t *search, const sim_attr_table_t *table, const sim_attr_t *attr,
                    const world_tree_t *value)
{
    world_error_t ignored;
    sim_message_t message;
    void *const config = sim_alloc(table->config_bytes);
    sim_attrs_default(table, config);
    char *const text = world_value_text(value, attr->path, &ignored);
    char *const usual = sim_attr_get(attr, config);
    const bool set = text != NULL && sim_attr_set(attr, config, text, &message) == SIM_OK;
    char *const given = sim_attr_get(attr, config);
    char *const mark = sim_format(" %s ", attr->path);
    const char *const needs =
        !set || strcmp(usual, given) == 0 || strstr(search->told, mark) != NULL
            ? NULL
            : missing(search, attr->path);
    if (needs != NULL && !is_on_offer(search, attr, &value->place, needs)) {
        const world_place_t *const place = &value->place;
        char *const where = place->line == 0
                                ? sim_format("%s", place->origin)
                                : sim_format("%s:%d:%d", place->origin, place->line, place->column);
        char *const named = *needs != '\0'
                                ? in_words(needs, attr->path)
                                : sim_format("a NIC that chooses %.*s",
                                             (int)strcspn(attr->path + 4, "."), attr->path + 4);
        world_warn(search->out, "unused-setting",
                   "%s: %s is set to %s and has no effect: it needs %s", where, attr->path, given,
                   named);
        char *const told = sim_format("%s%s", search->told, mark);
        sim_free(search->told);
        search->told = told;
        sim_free(named);
        sim_free(where);
    }
    SIM_FREE_ALL(mark, given, usual, text);
    sim_attrs_fini(table, config);
    sim_free(config);
}

static void look_below(search_t *search, const world_tree_t *map, const char *prefix,
                       const world_targets_t *targets)
{
    for (size_t i = 0; map != NULL && map->kind == WORLD_TREE_MAP && i < map->count; i++) {
        const world_tree_t *const value = map->entries[i].value;
        char *const path = sim_format("%s.%s", prefix, map->entries[i].key->text);
        world_target_t target;
        if (value->kind == WORLD_TREE_MAP) {
            look_below(search, value, path, targets);
        }
        for (size_t t = 0; world_target_at(targets, t, &target); t++) {
            const sim_attr_t *const attr = sim_attr_find(target.table, path);
            if (attr != NULL && !value->is_null && is_written(&value->place)) {
                look_at(search, target.table, attr, value);
                break;
            }
        }
        sim_free(path);
    }
}

static void look_in(search_t *search, const world_tree_t *map, const char *section)
{
    world_scenario_t *const scenario = (world_scenario_t *)(uintptr_t)search->world->scenario;
    const world_targets_t targets =
        strcmp(section, "nic") == 0      ? world_targets_nic(&scenario->nic_config)
        : strcmp(section, "switch") == 0 ? world_targets_one(&net_switch_config_attrs, NULL)
                                         : world_targets_one(&net_link_config_attrs, NULL);
    search->section = section;
    look_below(search, map, section, &targets);
}

static void look_in_own(search_t *search, const world_tree_t *map, const sim_attr_table_t *table,
                        void *config)
{
    const world_targets_t targets = world_targets_one(table, config);
    search->section = "";
    search->own = (owner_t){search->world, table, config, NULL};
    if (table != NULL) {
        look_below(search, map, table->prefix, &targets);
    }
}

void world__advise_effects(const world_t *world, world_warnings_t *out)
{
    world_scenario_t *const scenario = (world_scenario_t *)(uintptr_t)world->scenario;
    const world_tree_t *const root = scenario->root;
    search_t search = {.world = world, .out = out, .told = sim_strdup("")};
    look_in(&search, world_tree_value(root, "nic"), "nic");
    look_in(&search, world_tree_value(root, "switch"), "switch");
    for (size_t i = 0; i < scenario->node_count; i++) {
        look_in(&search, scenario->nodes[i].nic_map, "nic");
        look_in(&search, scenario->nodes[i].switch_map, "switch");
    }
    if (scenario->fault_count == 0) { // a fault may lose packets on any link
        look_in(&search, scenario->link_map, "link");
        for (size_t i = 0; i < scenario->link_count; i++) {
            look_in(&search, scenario->links[i].map, "link");
        }
    }
    look_in_own(&search, world_tree_value(root, "network"), &net_config_attrs, &scenario->network);
    look_in_own(&search, world_tree_value(root, "outputs"), &world_outputs_config_attrs,
                &scenario->outputs);
    look_in_own(&search, world_tree_value(root, "scale-up"), &net_scale_up_attrs,
                &scenario->scale_up);
    look_in_own(&search, world_tree_value(root, "hpcc"), &compat_hpcc_config_attrs,
                &scenario->hpcc);
    if (scenario->topology != NULL) {
        look_in_own(&search, scenario->topology_map, scenario->topology->attrs,
                    scenario->topology_config);
    }
    const world_tree_t *const captures = world_tree_value(root, "captures");
    for (size_t i = 0; captures != NULL && i < SIM_MIN(captures->count, scenario->capture_count);
         i++) {
        sim_free(search.told);
        search.told = sim_strdup("");
        look_in_own(&search, captures->entries[i].value, &world_capture_config_attrs,
                    &scenario->captures[i].config);
    }
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        sim_free(search.told); // each entry has attributes of its own
        search.told = sim_strdup("");
        look_in_own(&search, traffic->map, traffic->ops->attrs, traffic->config);
    }
    sim_free(search.told);
}
