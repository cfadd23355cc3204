// SPDX-License-Identifier: Apache-2.0
// world/inspect/combinations.c - a table of settings that are valid and known to be bad together.
//
// Each rule names the settings, the measured cost and what to set instead. Unless a rule says
// otherwise, its figures are those of scenarios/leaf-spine.yaml with these settings.
#include "world/inspect/combinations.h"

#include <string.h>

#include "net/balance_gauges.h"
#include "net/nodes.h"
#include "net/paths.h"
#include "net/ports.h"
#include "net/route_choices.h"
#include "nic/congestion.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "world/format.h"
#include "world/planned_transfers.h"

// What the rules look at: the NICs of one configuration, and the network.
typedef struct facts {
    const world_t *world;
    const nic_config_t *nic;
    const char *name; // of the first of these NICs
    const nic_transport_ops_t *transport;
    const nic_cc_ops_t *control;
    uint32_t planes;
    sim_time_t way_ps; // delays of the links from the first NIC to the last; 0: there is no path
    const char *where; // set by a rule: the name of a switch, or a value
} facts_t;

typedef const net_switch_config_t switch_t;

// Finds the first switch for which `is` holds. Returns NULL if there is none.
typedef bool (*switch_is_fn)(const facts_t *facts, const net_node_t *node, switch_t *config);

static const net_node_t *find_switch(const facts_t *facts, switch_is_fn is)
{
    const net_t *const net = facts->world->net;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        if (node != NULL && node->kind == NET_NODE_SWITCH && !node->scale_up &&
            is(facts, node, net_switch_config(node))) {
            return node;
        }
    }
    return NULL;
}

// Finds a switch, whose name becomes facts->where.
static bool at_switch(facts_t *facts, switch_is_fn is)
{
    const net_node_t *const node = find_switch(facts, is);
    facts->where = node == NULL ? facts->where : node->sim.name;
    return node != NULL;
}

static uint32_t class_at(const facts_t *facts, switch_t *config)
{
    const nic_config_t *const nic = facts->nic;
    const uint64_t dscp = nic->dscp == SIM_AUTO ? nic->priority * 8 : nic->dscp;
    return (uint32_t)(config->trust == NET_TRUST_DSCP ? dscp >> 3 : nic->priority);
}

static bool is_transport(const facts_t *facts, const char *name)
{
    return strcmp(facts->transport->name, name) == 0;
}

// Returns whether a packet that overtook another makes the sender go back.
static bool needs_order(const facts_t *facts)
{
    return is_transport(facts, "uec-rod") ||
           (is_transport(facts, "go-back-n") && facts->nic->ooo != NIC_OOO_PLACE);
}

static bool any_switch(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    return facts != NULL && node != NULL && config != NULL;
}

static bool has_choices(const net_node_t *node)
{
    bool *const choices = sim_alloc_array(node->port_count + 1, sizeof(*choices));
    net_routes_choices(node->net, node, choices);
    const bool some = memchr(choices, true, node->port_count) != NULL;
    sim_free(choices);
    return some;
}

// -- order

static bool sprays(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    (void)config;
    const sim_time_t gap_ps = net_switch_path_gap_ps(node);
    return gap_ps != SIM_TIME_NEVER && gap_ps < SIM_MAX(facts->way_ps, 1) && has_choices(node);
}

static bool is_sprayed(facts_t *facts)
{
    return needs_order(facts) && at_switch(facts, sprays);
}

static bool has_path_choices(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    (void)facts;
    (void)config;
    return has_choices(node);
}

static bool is_sprayed_by_reps(facts_t *facts)
{
    facts->where = "reps";
    return facts->nic->repath == NIC_REPATH_REPS && is_transport(facts, "go-back-n") &&
           needs_order(facts) && find_switch(facts, has_path_choices) != NULL;
}

static bool is_sprayed_over_planes(facts_t *facts)
{
    facts->where = facts->nic->planes == NIC_PLANES_ROUND_ROBIN ? "round-robin" : "least-queue";
    return facts->planes > 1 && needs_order(facts) &&
           (facts->nic->planes == NIC_PLANES_ROUND_ROBIN ||
            facts->nic->planes == NIC_PLANES_LEAST_QUEUE);
}

// -- losses and pauses

static bool is_lossless_at(const facts_t *facts, switch_t *config)
{
    return config->pfc_enabled &&
           ((uint32_t)config->pfc_priorities >> class_at(facts, config) & 1u) != 0;
}

static bool is_lossy(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    (void)node;
    return !is_lossless_at(facts, config);
}

#define BUFFER_SMALL_S 20e-6

// Returns whether the buffer holds less than BUFFER_SMALL_S of what its ports carry: switches with
// 27 us of buffer lost nothing, those with 13 us did.
static bool is_small_and_lossy(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    double bps = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        bps += (double)net_port_at(node, p)->line->rate_bps;
    }
    return !is_lossless_at(facts, config) &&
           (double)config->buffer_bytes * 8 < bps * BUFFER_SMALL_S;
}

static bool places(const facts_t *facts)
{
    return is_transport(facts, "go-back-n") && facts->nic->ooo == NIC_OOO_PLACE;
}

static bool loses_and_goes_back(facts_t *facts)
{
    return is_transport(facts, "go-back-n") && !places(facts) &&
           at_switch(facts, is_small_and_lossy);
}

// A receiver that places cannot tell a late packet from a lost one.
static bool loses_and_places(facts_t *facts)
{
    const world_survey_t *const survey = facts->world->survey;
    facts->where = "links";
    return places(facts) &&
           ((survey != NULL && survey->lossy) || at_switch(facts, is_small_and_lossy));
}

static bool never_repeats(facts_t *facts)
{
    const world_survey_t *const survey = facts->world->survey;
    if (facts->nic->timeout != 0 || facts->transport->own_timeouts) {
        return false;
    }
    facts->where = "links";
    return (survey != NULL && survey->lossy) || at_switch(facts, is_lossy);
}

// -- what congestion control hears

static bool writes_nothing(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    (void)facts;
    (void)node;
    return !config->telemetry;
}

static bool lacks_telemetry(facts_t *facts)
{
    return facts->control->telemetry != NET_TELEMETRY_NONE && at_switch(facts, writes_nothing);
}

static bool marks(const facts_t *facts, const net_node_t *node, switch_t *config)
{
    (void)node;
    return config->ecn_enabled &&
           ((uint32_t)config->ecn_priorities >> class_at(facts, config) & 1u) != 0;
}

// Returns whether `rocesim hpcc` made the scenario: it puts what it sets itself at 1:1, where no
// value of a mapping can stand.
static bool is_of_hpcc(const world_t *world)
{
    const world_tree_t *const folder = world_tree_value(world->scenario->root, "folder");
    return folder != NULL && folder->place.line == 1 && folder->place.column == 1;
}

// HPCC's simulator lets its own algorithms hear marks as CNPs do; those that echo hear marks only.
// Its configurations say themselves whether switches mark.
static bool lacks_marks(facts_t *facts)
{
    const nic_cc_ops_t *const control = facts->control;
    const bool hears = control->cnp != NULL || control->echoes_ecn;
    return hears && control->telemetry == NET_TELEMETRY_NONE && !is_of_hpcc(facts->world) &&
           (!facts->nic->ecn_capable || find_switch(facts, marks) == NULL) &&
           at_switch(facts, any_switch);
}

// -- hashes

// Returns whether two switches of one path choose by one hash: the second one then only gets flows
// for which the first one chose alike.
static bool is_polarised(facts_t *facts)
{
    const world_t *const world = facts->world;
    net_path_t path;
    uint64_t seed = SIM_AUTO;
    if (facts->way_ps == 0 ||
        !net_path_of(world->net, 0, (uint32_t)world->nic_count - 1, 0, &path)) {
        return false;
    }
    for (uint32_t i = 0; i < path.hop_count && i < SIM_COUNT_OF(path.ports); i++) {
        const net_port_t *const port = path.ports[i];
        bool spreads = false;
        if (port->node->kind != NET_NODE_SWITCH || port->node->port_count > UINT16_MAX ||
            strcmp(net_switch_balancer(port->node, &spreads), "ecmp") != 0) {
            continue;
        }
        bool *const choices = sim_alloc_array(port->node->port_count + 1, sizeof(*choices));
        net_routes_choices(world->net, port->node, choices);
        const bool chosen = choices[port->index];
        sim_free(choices);
        const uint64_t own = net_switch_config(port->node)->ecmp_seed;
        if (chosen && own != SIM_AUTO && own == seed) {
            facts->where = port->node->sim.name;
            return true;
        }
        seed = chosen ? own : seed;
    }
    return false;
}

// -- the table

// A text is: NIC's name, `what`, facts->where, `why`; then `cost` and `instead`.
typedef struct rule {
    const char *kind;
    bool (*holds)(facts_t *facts);
    const char *what;
    const char *why;
    const char *cost; // measured
    const char *instead;
} rule_t;

static const rule_t rules[] = {
    {"reordering", is_sprayed, "sends again whatever was overtaken, and at",
     "packets of a flow overtake each other (load-balancing)",
     "with go-back-n, the median flow took 15 us with load balancing by flow and 41 to 91 us by "
     "packet, and 3 of 100 flows did not end",
     "load balancing by flow (ecmp), nic.ooo: place, or a transport that keeps packets (irn, sdr, "
     "uec-rud, mrc)"},
    {"reordering-reps", is_sprayed_by_reps, "has nic.repath:",
     "by which each packet takes another path, and go-back-n, which sends again whatever was "
     "overtaken",
     "a permutation on scenarios/fat-tree.yaml took 78 ms with reps and 1.9 ms without",
     "nic.ooo: place, nic.transport irn, or nic.repath: off"},
    {"reordering-planes", is_sprayed_over_planes, "has nic.planes:",
     "by which packets of a flow overtake each other, and a transport that sends again whatever "
     "was overtaken",
     "with four planes the median flow of a permutation took 3.3 ms, and 0.3 ms with nic.planes: "
     "hash",
     "nic.planes: hash, or a transport that keeps packets (irn, sdr, uec-rud, mrc)"},
    {"lossy-go-back-n", loses_and_goes_back, "repairs losses with go-back-n, its class is lossy at",
     "and the buffer there is less than 20 us of the traffic of its ports",
     "with 2 MB of buffer, 3 of 100 flows did not end within 10 ms without PFC, and all did with "
     "PFC or with irn",
     "switch.pfc.enabled: true, a larger switch.buffer, nic.transport irn, or a smaller "
     "nic.timeout"},
    {"no-timeout", never_repeats, "has nic.timeout: 0, so nothing repeats a lost last packet, and",
     "may lose packets", "with 2 MB of buffer and no PFC, 3 of 100 flows never ended",
     "nic.timeout: 14, or a lossless class"},
    {"lossy-place", loses_and_places,
     "has nic.ooo: place, which leaves each loss to nic.timeout, and", "may lose packets",
     "with losses of 0.01 %, a permutation of 32 hosts took 67 ms, and 0.3 ms with irn",
     "nic.transport irn, or a nic.timeout of a few round trips"},
    {"no-telemetry", lacks_telemetry, "has a congestion control that needs INT or PINT, and",
     "writes none (switch.telemetry: false)",
     "hpcc then keeps its first window, and the 99th percentile of slowdowns rose from 3.6 to 6.7",
     "switch.telemetry: true, or another nic.congestion-control"},
    {"no-marks", lacks_marks, "has a congestion control that needs ECN marks, and neither",
     "nor any other switch marks its packets (switch.ecn, nic.ecn)",
     "dcqcn and dctcp then work as none, and the 99th percentile of dcqcn's slowdowns rose from 23 "
     "to 81",
     "switch.ecn.enabled: true with the class in switch.ecn.priorities, nic.ecn: true, or "
     "nic.congestion-control: none"},
    {"same-hash", is_polarised, "sends flows through several switches of one switch.ecmp-seed, and",
     "only gets flows for which the one before it chose alike, so that it uses few of its paths",
     "a permutation on scenarios/fat-tree.yaml took 2.8 ms with one seed and 1.9 ms with many",
     "switch.ecmp-seed: auto"},
};

// Fills in what is known of the NICs of one configuration. Returns false if a program brought their
// parts, about which nothing is known.
static bool gather(const world_t *world, size_t nic, facts_t *facts)
{
    const void *part = NULL;
    const nic_config_t *const config = nic_config_of_interface(world->net, (uint32_t)nic);
    if (config->custom_transport != NULL || config->custom_cc != NULL) {
        return false;
    }
    facts->nic = config;
    facts->name = world->nics[nic].name;
    facts->planes = net_planes_of(world->net, world->nics[nic].host);
    facts->transport = nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
    facts->control =
        nic_config_find(config, NIC_EXTRA_CC,
                        facts->transport->own_control ? "none" : config->congestion_control, &part);
    return facts->control != NULL;
}

void world__advise_combinations(const world_t *world, world_warnings_t *out)
{
    facts_t facts = {.world = world};
    net_path_t path;
    const bool carries = world->scenario->network.model == NET_MODEL_PACKET && world->app_count > 0;
    if (carries && world->nic_count > 1 &&
        net_path_of(world->net, 0, (uint32_t)world->nic_count - 1, 0, &path)) {
        facts.way_ps = path.delay_ps;
    }
    uint32_t told = 0; // a bit per rule
    const nic_config_t *before = NULL;
    for (size_t i = 0; carries && i < world->nic_count; i++) {
        if (nic_config_of_interface(world->net, (uint32_t)i) == before ||
            !gather(world, i, &facts)) {
            continue;
        }
        before = facts.nic;
        for (size_t r = 0; r < SIM_COUNT_OF(rules); r++) {
            if ((told >> r & 1u) != 0 || !rules[r].holds(&facts)) {
                continue;
            }
            told |= 1u << r;
            world_warn(out, rules[r].kind, "%s %s %s %s; measured: %s; expected %s", facts.name,
                       rules[r].what, facts.where, rules[r].why, rules[r].cost, rules[r].instead);
        }
    }
}
