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

// Suggests more credits if those that a link has are less than its bytes of a round trip; else the
// node behind the link passes on less than comes.
static void suggest_credits(const explain_t *explain, explain_finding_t *finding, uint32_t uid)
{
    const net_scale_up_config_t *const config = &explain->scenario->scale_up;
    const uint64_t rate_bps = explain->ports[uid].port->line->rate_bps;
    const double round_bytes = (double)rate_bps / 8 * 2 * (double)config->delay_ps / 1e12;
    world_text_t has;
    world_text_t needs;
    cli__explain_evidence(
        finding, sim_format("credits are %s of each virtual channel, and the bytes of a round trip "
                            "%s; credit_waits and credit_wait_ns of ports.csv count the waits",
                            world_format_bytes(&has, config->credit_bytes),
                            world_format_bytes(&needs, (uint64_t)round_bytes)));
    if ((double)config->credit_bytes < LINE_ENOUGH * round_bytes + (double)config->packet_bytes) {
        char *const set = sim_format("scale-up.credits=%" PRIu64,
                                     (uint64_t)(2 * round_bytes) + config->packet_bytes);
        cli__explain_remedy(finding, set, "credits for two round trips keep the link busy");
        sim_free(set);
    } else {
        cli__explain_evidence(finding,
                              sim_strdup("more credits do not help: the node behind the link, or "
                                         "a receiver that several senders share, is the limit"));
    }
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
    if (share_of(explain, most_ps) < WAIT_LEAST) {
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
