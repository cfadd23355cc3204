// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/losses.c - finds links that lose frames, and reports packets that were
// dropped.
//
// A link is accused if it lost clearly more of its frames than the other links did. Losses that all
// links share belong to the fabric: no cable would mend them.
#include "cli/explain/causes/hardware.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"

#include "net/faults.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "world/format.h"

#include <math.h>
#include <string.h>

#define LOSSES_SHARE 0.1 // a link with less of all losses is not reported, unless it has the most
#define CHANCE_MOST 1e-4 // that a link which is like the others loses as much
#define RATIO_LEAST 3.0  // to the rate of the others
#define FEW_LINKS 2u     // with losses: too few to know how losses spread
#define FEW_DROPS 1e-3   // share of all packets; fewer are minor

char *cli__explain_link_name(const explain_t *explain, uint32_t uid)
{
    const net_port_t *const port = explain->ports[uid].port;
    const char *const number = strchr(net_port_name(port), '#');
    return sim_format("%s--%s%s", port->node->sim.name, port->peer->node->sim.name,
                      number != NULL ? number : "");
}

double cli__explain_flows_of_link(const explain_t *explain, explain_finding_t *finding,
                                  uint32_t uid, bool retransmitted)
{
    const uint32_t other = explain->ports[uid].port->peer->uid;
    double lost_ps = 0;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        const bool passes =
            cli__explain_passes(explain, flow, uid) || cli__explain_passes(explain, flow, other);
        const bool whose = retransmitted ? flow->retransmitted > 0 : passes;
        if (whose && (passes || flow->spread) && flow->excess_ps > 0) {
            cli__explain_flow(finding, f);
            lost_ps += flow->excess_ps;
        }
    }
    return lost_ps;
}

void cli__explain_remedy_selective(const explain_t *explain, explain_finding_t *finding,
                                   const char *why)
{
    const char *const transport = explain->scenario->nic_config.transport;
    if (transport != NULL && strcmp(transport, "go-back-n") == 0) {
        cli__explain_remedy(finding, "nic.transport=irn", why);
    }
}

// -- links that lose frames

typedef struct lossy {
    uint64_t losses;
    double frames;
} lossy_t;

// The losses of all links, and how much of them links have that are accused.
typedef struct lossy_all {
    explain_t *explain;
    lossy_t *links; // by the uid of the link's lower port
    bool *accused;  // by the uid of the link's lower port
    uint64_t total;
    uint64_t most;      // of one link
    uint32_t count;     // links with frames
    uint32_t with_loss; // links with losses
    lossy_t rest;       // of links that are not accused
    double burst;       // frames that a link loses at one time
} lossy_all_t;

static lossy_all_t sum_losses(explain_t *explain)
{
    const size_t ports = explain->port_count + 1;
    const net_link_config_t *const config = &explain->scenario->link;
    lossy_all_t all = {.explain = explain,
                       .links = sim_alloc_array(ports, sizeof(lossy_t)),
                       .accused = sim_alloc_array(ports, sizeof(bool)),
                       .burst = config->loss_model != NET_LOSS_INDEPENDENT && config->loss_burst > 1
                                    ? (double)config->loss_burst
                                    : 1};
    memset(all.links, 0, ports * sizeof(lossy_t));
    memset(all.accused, 0, ports * sizeof(bool));
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || i > port->port->peer->uid) {
            continue;
        }
        const explain_port_t *const other = &explain->ports[port->port->peer->uid];
        lossy_t *const link = &all.links[i];
        link->losses = port->drops[NET_DROP_LINK_LOSS] + other->drops[NET_DROP_LINK_LOSS];
        link->frames = (double)(port->tx_packets + other->tx_packets);
        all.total += link->losses;
        all.most = SIM_MAX(link->losses, all.most);
        all.count += link->frames > 0;
        all.with_loss += link->losses > 0;
        all.rest.frames += link->frames;
    }
    all.rest.losses = all.total;
    return all;
}

// Returns the logarithm of the chance, at most, that the link loses as much as it did if it is like
// the others that are not accused (the Chernoff bound of Poisson's distribution). 0: it did not
// lose more than they did.
static double chance_of(const lossy_all_t *all, uint32_t uid)
{
    const lossy_t *const link = &all->links[uid];
    const double frames = all->rest.frames - link->frames;
    if (link->losses == 0 || all->accused[uid] || frames <= 0) {
        return 0;
    }
    const double others = (double)(all->rest.losses - link->losses) + 0.5;
    const double expected = link->frames * others / frames / all->burst;
    const double lost = (double)link->losses / all->burst;
    return lost < RATIO_LEAST * expected ? 0 : lost - expected + lost * log(expected / lost);
}

// Accuses the link.
static void accuse(lossy_all_t *all, uint32_t uid)
{
    all->accused[uid] = true;
    all->rest.losses -= all->links[uid].losses;
    all->rest.frames -= all->links[uid].frames;
}

// Accuses one link after the other, as long as one stands out of those that are left.
static void accuse_outliers(lossy_all_t *all)
{
    const explain_t *const explain = all->explain;
    for (;;) {
        uint32_t worst = EXPLAIN_NONE;
        double least = log(CHANCE_MOST);
        for (uint32_t i = 0; i < explain->port_count; i++) {
            const double chance = chance_of(all, i);
            if (chance < least) {
                least = chance;
                worst = i;
            }
        }
        if (worst == EXPLAIN_NONE) {
            return;
        }
        accuse(all, worst);
    }
}

// Accuses links whose errors events.csv logs, and those with losses if they are too few to compare.
// None is accused if the scenario gives losses to all links.
static void accuse_known(lossy_all_t *all)
{
    const net_link_config_t *const config = &all->explain->scenario->link;
    const bool few = all->with_loss <= FEW_LINKS && config->loss_rate.num == 0 &&
                     config->bit_error_rate.num == 0;
    for (uint32_t i = 0; i < all->explain->port_count; i++) {
        if (all->links[i].losses == 0) {
            continue;
        }
        const explain_port_t *const port = &all->explain->ports[i];
        const uint8_t faults = port->faults | all->explain->ports[port->port->peer->uid].faults;
        if (few || (faults >> NET_FAULT_ERRORS & 1u) != 0) {
            accuse(all, i);
        }
    }
}

// Says which share of frames was lost; nothing if events.csv does not contain all losses.
static char *share_text(const explain_t *explain, const lossy_t *lossy)
{
    world_text_t frames;
    return explain->events_left_out > 0 || lossy->frames <= 0
               ? sim_strdup("")
               : sim_format(" of %s frames (%.2g %%)", world_format_count(&frames, lossy->frames),
                            100 * (double)lossy->losses / lossy->frames);
}

static void tell_link(const lossy_all_t *all, uint32_t uid)
{
    explain_t *const explain = all->explain;
    const lossy_t *const link = &all->links[uid];
    const uint32_t other = explain->ports[uid].port->peer->uid;
    const uint64_t here = explain->ports[uid].drops[NET_DROP_LINK_LOSS];
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_CORRUPTING_LINK, 1, cli__explain_link_name(explain, uid));
    char *const share = share_text(explain, link);
    finding->port = here > 0 ? uid : other;
    finding->sentence = sim_format("the link %s corrupts frames: it lost %" PRIu64
                                   "%s; all links together lost %" PRIu64 ", on %u link%s",
                                   finding->place, link->losses, share, all->total, all->with_loss,
                                   all->with_loss == 1 ? "" : "s");
    sim_free(share);
    cli__explain_evidence(finding,
                          sim_format("%s lost %" PRIu64 ", %s lost %" PRIu64
                                     " (rx_crc_errors_phy at the other end)",
                                     cli__explain_port_name(explain, uid), here,
                                     cli__explain_port_name(explain, other), link->losses - here));
    finding->score_ps = cli__explain_flows_of_link(explain, finding, uid, true) +
                        (double)link->losses * SIM_PS_PER_US;
    const net_link_config_t *const config = explain->ports[uid].port->line->config;
    char *const set = sim_format("links.%s.%s=0", finding->place,
                                 config->bit_error_rate.num > 0 ? "bit-error-rate" : "loss-rate");
    cli__explain_remedy(finding, set, "replace the cable or the optics");
    sim_free(set);
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission sends only the lost packets again");
}

// Returns whether an accused link is on the flow's path or the way back.
static bool passes_accused(const lossy_all_t *all, const explain_flow_t *flow)
{
    for (uint32_t h = 0; h < flow->hop_count; h++) {
        const uint32_t uid = all->explain->hops[flow->first_hop + h];
        const uint32_t other = all->explain->ports[uid].port->peer->uid;
        if (all->accused[SIM_MIN(uid, other)]) {
            return true;
        }
    }
    return false;
}

// Reports the losses of links that are not accused.
static void tell_fabric(const lossy_all_t *all)
{
    explain_t *const explain = all->explain;
    uint32_t with_loss = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        with_loss += !all->accused[i] && all->links[i].losses > 0;
        count += !all->accused[i] && all->links[i].frames > 0;
    }
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_LOSSY_LINKS, 1, sim_strdup("fabric"));
    char *const share = share_text(explain, &all->rest);
    finding->sentence = sim_format("links all over the fabric lose frames: they lost %" PRIu64
                                   "%s, on %u of %u links in use, and %s stands out",
                                   all->rest.losses, share, with_loss, count,
                                   with_loss == all->with_loss ? "no link" : "no further link");
    sim_free(share);
    finding->score_ps = (double)all->rest.losses * SIM_PS_PER_US;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (flow->retransmitted > 0 && flow->excess_ps > 0 && !passes_accused(all, flow)) {
            cli__explain_flow(finding, f);
            finding->score_ps += flow->excess_ps;
        }
    }
    cli__explain_evidence(finding,
                          sim_strdup("the links lost about equal shares of their frames, so that "
                                     "no cable is to blame: look at optics, FEC and link margins "
                                     "in the whole fabric"));
    cli__explain_remedy(finding, "link.loss-rate=0", "links without errors");
    cli__explain_remedy_selective(explain, finding,
                                  "selective retransmission sends only the lost packets again");
}

void cli__explain_losses(explain_t *explain)
{
    lossy_all_t all = sum_losses(explain);
    if (all.total > 0) {
        accuse_known(&all);
        accuse_outliers(&all);
    }
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const double losses = (double)all.links[i].losses;
        if (all.accused[i] &&
            (all.links[i].losses == all.most || losses >= LOSSES_SHARE * (double)all.total)) {
            tell_link(&all, i);
        }
    }
    if (all.rest.losses > 0 && (double)all.rest.losses >= LOSSES_SHARE * (double)all.total) {
        tell_fabric(&all);
    }
    sim_free(all.links);
    sim_free(all.accused);
}

// -- switches without PFC among others with it

static unsigned lossless_of(const net_node_t *node)
{
    const net_switch_config_t *const config = net_switch_config(node);
    return config->pfc_enabled ? config->pfc_priorities : 0;
}

// Returns the lossless classes of most switches that have ports.
static unsigned usual_lossless(const explain_t *explain)
{
    unsigned usual = 0;
    for (unsigned priority = 0; priority < NET_PRIORITIES; priority++) {
        uint32_t with = 0;
        uint32_t all = 0;
        for (size_t i = 0; i < net_node_count(explain->world->net); i++) {
            const net_node_t *const node = net_node_at(explain->world->net, i);
            if (node->kind == NET_NODE_SWITCH) {
                all++;
                with += lossless_of(node) >> priority & 1u;
            }
        }
        usual |= 2 * with > all ? 1u << priority : 0;
    }
    return usual;
}

// Returns how many packets of these classes the node dropped for want of buffer, and stores the
// port that dropped most of them.
static uint64_t full_drops(const explain_t *explain, const net_node_t *node, unsigned classes,
                           uint32_t *worst)
{
    uint64_t sum = 0;
    uint64_t most = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        const uint32_t uid = node->ports[p].uid;
        uint64_t here = 0;
        for (unsigned priority = 0; priority < NET_PRIORITIES; priority++) {
            here += (classes >> priority & 1u) != 0 ? explain->ports[uid].full[priority] : 0;
        }
        if (here > most) {
            most = here;
            *worst = uid;
        }
        sum += here;
    }
    return sum;
}

// Reports a switch that dropped packets of classes which others protect.
static void tell_mismatch(explain_t *explain, const net_node_t *node, unsigned lacks,
                          uint32_t worst, uint64_t drops)
{
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_PFC_MISMATCH, 1, sim_strdup(node->sim.name));
    world_text_t classes;
    finding->port = worst;
    finding->sentence =
        sim_format("%s has no PFC for class %s, which most switches protect: it "
                   "dropped %" PRIu64 " packet%s for want of buffer",
                   node->sim.name, world_format_classes(&classes, lacks), drops, sim_plural(drops));
    cli__explain_evidence(
        finding, sim_format("the port with the largest number of drops is %s (tx_discards)",
                            cli__explain_port_name(explain, worst)));
    finding->score_ps = (double)drops * SIM_PS_PER_US;
    for (uint32_t p = 0; p < node->port_count; p++) {
        finding->score_ps += cli__explain_flows_of_link(explain, finding, node->ports[p].uid, true);
    }
    char *const set = sim_format("nodes.%s.switch.pfc.enabled=true", node->sim.name);
    cli__explain_remedy(finding, set, "PFC as at the other switches: it stops senders in time");
    sim_free(set);
}

void cli__explain_mismatch(explain_t *explain)
{
    const unsigned usual = usual_lossless(explain);
    for (size_t i = 0; usual != 0 && i < net_node_count(explain->world->net); i++) {
        const net_node_t *const node = net_node_at(explain->world->net, i);
        const unsigned lacks = node->kind == NET_NODE_SWITCH ? usual & ~lossless_of(node) : 0;
        uint32_t worst = EXPLAIN_NONE;
        const uint64_t drops = lacks != 0 ? full_drops(explain, node, lacks, &worst) : 0;
        if (drops > 0) {
            tell_mismatch(explain, node, lacks, worst, drops);
        }
    }
}

// -- packets that were dropped

static const struct reason {
    net_drop_reason_t reason;
    const char *means;
} reasons[] = {
    {NET_DROP_HOST,
     "they reached a host without their queue pair: its program ended it, or the host failed"},
    {NET_DROP_NO_ROUTE, "a switch had no route to their destination"},
    {NET_DROP_TTL, "their TTL expired: routes make a loop, or the path is too long"},
    {NET_DROP_WATCHDOG, "the PFC watchdog emptied their queue, which was stopped for too long"},
};

// Returns the port that dropped most packets for the reason.
static uint32_t worst_port(const explain_t *explain, net_drop_reason_t reason)
{
    uint32_t worst = EXPLAIN_NONE;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const uint64_t drops = explain->ports[i].drops[reason];
        if (drops > (worst == EXPLAIN_NONE ? 0 : explain->ports[worst].drops[reason])) {
            worst = i;
        }
    }
    return worst;
}

void cli__explain_drops(explain_t *explain)
{
    const json_t *const counted = json_object_get(explain->summary, "drops");
    const json_t *const packets = json_object_get(explain->summary, "packets");
    const double created = json_number_value(json_object_get(packets, "created"));
    for (size_t i = 0; i < SIM_COUNT_OF(reasons); i++) {
        const char *const name = net_drop_reason_name(reasons[i].reason);
        const uint64_t drops = (uint64_t)json_integer_value(json_object_get(counted, name));
        if (drops == 0) {
            continue;
        }
        const uint32_t worst = worst_port(explain, reasons[i].reason);
        const char *const place = worst == EXPLAIN_NONE ? "network"
                                  : reasons[i].reason == NET_DROP_HOST
                                      ? explain->ports[worst].port->node->sim.name
                                      : cli__explain_port_name(explain, worst);
        explain_finding_t *const finding =
            cli__explain_add(explain, EXPLAIN_DROPS, 3, sim_strdup(place));
        finding->port = worst;
        finding->score_ps = (double)drops * SIM_PS_PER_US;
        finding->minor = (double)drops < FEW_DROPS * created;
        finding->sentence =
            sim_format("%" PRIu64 " packet%s dropped as %s, most at %s: %s", drops,
                       drops == 1 ? " was" : "s were", name, place, reasons[i].means);
    }
}
