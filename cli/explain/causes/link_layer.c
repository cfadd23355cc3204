// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/link_layer.c - finds links that wait for credits, and links that send damaged
// packets again.
//
// Ports of accelerators and of the switches between them count both (ports.csv); ports with Ultra
// Ethernet's link layer count retries, and their waits for credits as stops.
#include "cli/explain/causes/link_layer.h"
#include "cli/explain/causes/hardware.h"
#include "cli/explain/run_data.h"

#include "world/format.h"

#define WAIT_LEAST 0.05  // share of the run that a port waits for credits, from which it is named
#define RETRY_LEAST 1e-3 // share of the run that a link loses to retries, likewise
#define LINE_ENOUGH 1.25 // credits to the bytes of a round trip, from which more do not help
#define SHARED_LEAST 0.5 // use of an accelerator's links as it receives, from which it is named
#define SHARED_MORE 1.5  // this use to the mean of all accelerators, likewise

// The ports with a count, and the one with the largest.
typedef struct counted {
    uint32_t most; // EXPLAIN_NONE: none
    uint32_t ports;
    double sum_ps;
    uint64_t packets;
} counted_t;

static double share_of(const explain_t *explain, sim_time_t time_ps)
{
    return explain->end_ps > 0 ? (double)time_ps / (double)explain->end_ps : 0;
}

static char *others(const counted_t *counted)
{
    return counted->ports > 1 ? sim_format("; so did %u other%s", counted->ports - 1,
                                           sim_plural(counted->ports - 1))
                              : sim_strdup("");
}

// Returns the bytes that a link can send in a round trip.
static uint64_t round_bytes_of(const explain_t *explain, uint32_t uid)
{
    const uint64_t rate_bps = explain->ports[uid].port->line->rate_bps;
    const double round_s = 2 * (double)explain->scenario->scale_up.delay_ps / 1e12;
    return (uint64_t)((double)rate_bps / 8 * round_s);
}

// Returns whether the credits of a link are enough for its full rate.
static bool has_credits(const explain_t *explain, uint32_t uid)
{
    const net_scale_up_config_t *const config = &explain->scenario->scale_up;
    return (double)config->credit_bytes >= LINE_ENOUGH * (double)round_bytes_of(explain, uid) +
                                               (double)net_scale_up_packet_bytes(config);
}

// Returns the mean use of the links by which an accelerator receives.
static double receiving_use(const explain_t *explain, const net_node_t *accelerator)
{
    double sum = 0;
    for (uint32_t i = 0; i < accelerator->port_count; i++) {
        sum += explain->ports[accelerator->ports[i].peer->uid].utilisation;
    }
    return sum / accelerator->port_count;
}

// Returns the accelerator that receives most, if its links are much fuller than those of the
// others. NULL: there is none.
static const net_node_t *find_shared_receiver(const explain_t *explain, double *use, double *mean)
{
    const net_t *const net = explain->world->net;
    const net_node_t *most = NULL;
    double sum = 0;
    uint32_t count = 0;
    *use = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const host = net_node_at(net, i);
        for (uint32_t a = 0; a < net_accelerator_count(host); a++) {
            const net_node_t *const one = net_accelerator(host, a);
            const double own = receiving_use(explain, one);
            sum += own;
            count++;
            most = own > *use ? one : most;
            *use = SIM_MAX(own, *use);
        }
    }
    *mean = count > 0 ? sum / count : 0;
    return *use >= SHARED_LEAST && *use >= SHARED_MORE * *mean ? most : NULL;
}

// Suggests more credits if those that a link has are less than its bytes of a round trip; else the
// node behind the link passes on less than comes.
static void suggest_credits(const explain_t *explain, explain_finding_t *finding, uint32_t uid)
{
    const net_scale_up_config_t *const config = &explain->scenario->scale_up;
    const uint64_t round_bytes = round_bytes_of(explain, uid);
    world_text_t has;
    world_text_t needs;
    cli__explain_evidence(
        finding, sim_format("credits are %s of each virtual channel, and the bytes of a round trip "
                            "%s; credit_waits and credit_wait_ns of ports.csv count the waits",
                            world_format_bytes(&has, config->credit_bytes),
                            world_format_bytes(&needs, round_bytes)));
    if (!has_credits(explain, uid)) {
        char *const set = sim_format("scale-up.credits=%" PRIu64,
                                     2 * round_bytes + net_scale_up_packet_bytes(config));
        cli__explain_remedy(finding, set, "credits for two round trips keep the link busy");
        sim_free(set);
        return;
    }
    cli__explain_evidence(finding, sim_strdup("more credits do not help: the node behind the link, "
                                              "or a receiver that several senders share, is the "
                                              "limit"));
    if (config->reduce_bps != SIM_AUTO) {
        world_text_t rate;
        cli__explain_evidence(finding, sim_format("the unit of each switch adds up at most %s "
                                                  "(scale-up.reduce-rate)",
                                                  world_format_rate(&rate, config->reduce_bps)));
        cli__explain_remedy(finding, "scale-up.reduce-rate=auto",
                            "units that are as fast as all links of their switch");
    }
}

// Names the accelerator at which several senders meet, if there is one that stands out.
static bool find_incast(explain_t *explain, const counted_t *waits)
{
    double use;
    double mean;
    const net_node_t *const receiver = find_shared_receiver(explain, &use, &mean);
    if (receiver == NULL || !has_credits(explain, waits->most)) {
        return false;
    }
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_INCAST, 2, sim_strdup(receiver->sim.name));
    world_text_t text[3];
    const sim_time_t most_ps = explain->ports[waits->most].credit_wait_ps;
    finding->score_ps = waits->sum_ps / waits->ports;
    finding->sentence = sim_format(
        "several accelerators send to %s: its links received for %s of the run, "
        "those of all accelerators for %s on average",
        finding->place, world_format_percent(&text[0], use), world_format_percent(&text[1], mean));
    cli__explain_evidence(finding,
                          sim_format("%u ports waited for credits meanwhile, %s longest, for %s",
                                     waits->ports, cli__explain_port_name(explain, waits->most),
                                     world_format_time(&text[2], most_ps)));
    return true;
}

static void find_credit_waits(explain_t *explain)
{
    counted_t waits = {.most = EXPLAIN_NONE};
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || port->credit_wait_ps == 0) {
            continue;
        }
        waits.ports++;
        waits.sum_ps += (double)port->credit_wait_ps;
        if (waits.most == EXPLAIN_NONE ||
            port->credit_wait_ps > explain->ports[waits.most].credit_wait_ps) {
            waits.most = i;
        }
    }
    if (waits.most == EXPLAIN_NONE) {
        return;
    }
    const sim_time_t most_ps = explain->ports[waits.most].credit_wait_ps;
    if (share_of(explain, most_ps) < WAIT_LEAST || find_incast(explain, &waits)) {
        return;
    }
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_CREDIT_WAIT, 2, sim_strdup(cli__explain_port_name(explain, waits.most)));
    char *const rest = others(&waits);
    world_text_t time;
    world_text_t share;
    finding->port = waits.most;
    finding->score_ps = waits.sum_ps / waits.ports;
    finding->sentence = sim_format("%s waited for credits for %s, %s of the run%s", finding->place,
                                   world_format_time(&time, most_ps),
                                   world_format_percent(&share, share_of(explain, most_ps)), rest);
    sim_free(rest);
    suggest_credits(explain, finding, waits.most);
}

static void find_retries(explain_t *explain)
{
    counted_t retries = {.most = EXPLAIN_NONE};
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        if (port->port == NULL || port->retry_ps == 0) {
            continue;
        }
        retries.ports++;
        retries.sum_ps += (double)port->retry_ps;
        retries.packets += port->retries;
        if (retries.most == EXPLAIN_NONE ||
            port->retry_ps > explain->ports[retries.most].retry_ps) {
            retries.most = i;
        }
    }
    if (retries.most == EXPLAIN_NONE ||
        share_of(explain, explain->ports[retries.most].retry_ps) < RETRY_LEAST) {
        return;
    }
    const explain_port_t *const port = &explain->ports[retries.most];
    explain_finding_t *const finding = cli__explain_add(
        explain, EXPLAIN_LINK_RETRIES, 1, cli__explain_link_name(explain, retries.most));
    char *const rest = others(&retries);
    world_text_t time;
    world_text_t share;
    finding->port = retries.most;
    finding->score_ps = retries.sum_ps / retries.ports;
    finding->sentence =
        sim_format("%s sent %" PRIu64 " damaged packet%s again, which cost it %s, %s of the run%s",
                   cli__explain_port_name(explain, retries.most), port->retries,
                   sim_plural(port->retries), world_format_time(&time, port->retry_ps),
                   world_format_percent(&share, share_of(explain, port->retry_ps)), rest);
    sim_free(rest);
    cli__explain_evidence(finding, sim_format("%" PRIu64 " packets were damaged on all links; "
                                              "retries and retry_ns of ports.csv count them",
                                              retries.packets));
    if (explain->scenario->scale_up.model == NET_SCALE_UP_PACKETS) {
        cli__explain_remedy(finding, "scale-up.error-rate=0", "links without damage");
    }
}

void cli__explain_link_layer(explain_t *explain)
{
    find_credit_waits(explain);
    find_retries(explain);
}
