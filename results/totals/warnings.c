// SPDX-License-Identifier: Apache-2.0
// results/totals/warnings.c - warnings about what happened: figures that seem to say something
// else.
#include "results/results.h"
#include "world/captures.h"

#include <string.h>

#include "net/paths.h"
#include "net/ports.h"
#include "nic/cache.h"
#include "nic/cache_metrics.h"
#include "results/span.h"
#include "world/format.h"

#define FULL 0.9            // share of its rate from which on a degraded port is reported
#define ACCESSES_MANY 1000u // of a tiered cache

// Warns of ports that a fault has slowed down and that were full at the lower rate: their
// utilisation counts against their own rate, and looks low.
static void remark_ports(const world_t *world, results_t *results)
{
    const net_port_t *fullest = NULL;
    double most = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            if (!net_port_exists(node, p)) {
                continue;
            }
            const net_port_t *const port = net_port_at(node, p);
            if (!port->disturbed || port->rare->degraded_bps == 0) {
                continue;
            }
            const double left = (double)port->rare->degraded_bps / (double)port->line->rate_bps;
            const double used = results_span_utilisation(results->span, port);
            if (left < 1 && used >= FULL * left) {
                count++;
                fullest = used / left > most ? port : fullest;
                most = SIM_MAX(used / left, most);
            }
        }
    }
    if (fullest == NULL) {
        return;
    }
    world_text_t used;
    world_text_t left;
    world_text_t rate;
    char *const others =
        count == 1 ? sim_strdup("") : sim_format(" (as are %" PRIu64 " more)", count - 1);
    world_warn(&results->warnings, "degraded-full",
               "%s is used %s of its own %s, which is all that its fault leaves of it: %s%s",
               net_port_name(fullest),
               world_format_percent(&used, results_span_utilisation(results->span, fullest)),
               world_format_rate(&rate, fullest->line->rate_bps),
               world_format_rate(&left, fullest->rare->degraded_bps), others);
    sim_free(others);
}

static uint64_t cache_number(const nic_t *nic, const char *name)
{
    const nic_cache_metric_t *metric = nic_cache_metrics;
    while (metric->name != NULL && strcmp(metric->name, name) != 0) {
        metric++;
    }
    SIM_CHECKF(metric->name != NULL, "no metric %s of caches", name);
    return nic_cache_metric_read(nic, metric);
}

// Warns of the first tiered cache that was used and took nothing in; others are set alike.
static void remark_caches(const world_t *world, results_t *results)
{
    for (size_t i = 0; i < world->nic_count; i++) {
        if (!world_nic_exists(world, &world->nics[i])) {
            continue;
        }
        const nic_t *const nic = world_nic_of(world, &world->nics[i]);
        const nic_cache_config_t *const config = &nic_get_config(nic)->cache;
        const uint64_t accesses = cache_number(nic, "cache.accesses");
        if (accesses < ACCESSES_MANY) {
            continue;
        }
        const bool l1 = cache_number(nic, "cache.to_l1") > 0;
        const bool l2 = cache_number(nic, "cache.to_l2") > 0;
        if (!l1) {
            world_warn(&results->warnings, "cache-promotes-nothing",
                       "the tiered cache of %s moved nothing to L1%s in %" PRIu64
                       " accesses: no context had the %" PRIu64
                       " uses within the window of nic.cache.promote.l1%s; expected lower "
                       "thresholds, a longer window, or more accesses",
                       world->nics[i].name, l2 ? "" : " and L2", accesses, config->promote_l1,
                       l2 ? "" : " (promote.l2 likewise)");
            return;
        }
    }
}

// Warns of files in picoseconds that Wireshark shows wrongly. It multiplies the part of a second by
// 10^9 in 64 bits, whatever the resolution or offset of the interface: from 2^64 / 10^9 ps on, that
// overflows. Finer units than 100 ps therefore always fail in the course of a second.
static void remark_captures(const world_t *world, results_t *results)
{
    const world_scenario_t *const scenario = world->scenario;
    for (size_t i = 0; i < scenario->capture_count; i++) {
        const world_capture_config_t *const config = &scenario->captures[i].config;
        if (config->times == WORLD_CAPTURE_PS && results->sim_time_ps > UINT64_MAX / 1000000000u) {
            world_text_t end;
            world_warn(
                &results->warnings, "capture-ps",
                "Wireshark and tshark show wrong times in %s from 18.446 ms on: it is in ps "
                "(captures.times) and reaches to %s; rocesim capture reads it rightly; leave "
                "captures.times at ns for Wireshark",
                config->fabric, world_format_time(&end, results->sim_time_ps));
        }
    }
}

// Returns the port with the most packets that had no route, and sums those of all ports.
static const net_port_t *most_unrouted(const net_t *net, uint64_t *sum)
{
    const net_port_t *most = NULL;
    *sum = 0;
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            const net_port_t *const port = &node->ports[p];
            const uint64_t count =
                net_port_exists(node, p) ? port->rare->drops[NET_DROP_NO_ROUTE] : 0;
            *sum += count;
            if (count > 0 && (most == NULL || count > most->rare->drops[NET_DROP_NO_ROUTE])) {
                most = port;
            }
        }
    }
    return most;
}

// Warns of packets that had no route to their destination, with two NICs without a path between
// them if there are any: no application may lose them in silence.
static void remark_routes(const world_t *world, results_t *results)
{
    uint64_t sum = 0;
    const net_port_t *const port = most_unrouted(world->net, &sum);
    if (port == NULL) {
        return;
    }
    const net_t *const net = world->net;
    const net_port_t *const sender = net_port_peer(port);
    const uint32_t from = net_port_interface(sender);
    const bool by_nic = from < net_interface_count(net) && net_interface_of_nic(net, from) == from;
    uint32_t to = 0;
    net_path_t path;
    while (by_nic && to < net_interface_count(net) &&
           (to == from || net_interface_of_nic(net, to) != to ||
            net_path_of(net, from, to, 0, &path))) {
        to++;
    }
    const bool parted = by_nic && to < net_interface_count(net);
    char *const example =
        parted ? sim_format(": there is no path between %s and %s, for example; expected traffic "
                            "between NICs with a path between them",
                            net_port_name(sender), net_port_name(net_interface_port(net, to)))
               : sim_strdup("");
    world_warn(&results->warnings, "no-path",
               "%" PRIu64 " packet%s had no route to the destination and were dropped, most of "
               "them at %s%s",
               sum, sim_plural(sum), net_port_name(port), example);
    sim_free(example);
}

// Warns of programs whose rates are 0 because their span is too short.
static void remark_spans(const world_t *world, results_t *results)
{
    for (size_t i = 0; i < world->app_count; i++) {
        if (app_measured_nothing(world->apps[i])) {
            world_warn(&results->warnings, "no-answer",
                       "traffic[%zu] (%s): no answer came within its measured span, so its rates "
                       "are 0; expected a longer `measure`",
                       i, world->apps[i]->ops->name);
        }
    }
}

// Warns of pauses of a class that only repairs its losses by IRN, which needs none.
static void remark_irn(const world_t *world, results_t *results)
{
    uint64_t pauses[NET_PRIORITIES] = {0};
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            for (uint32_t c = 0; net_port_exists(node, p) && c < NET_PRIORITIES; c++) {
                pauses[c] += node->ports[p].rare->pauses[c].pauses;
            }
        }
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        const nic_config_t *const config = nic_config_of_interface(world->net, (uint32_t)i);
        const uint64_t count = pauses[config->priority];
        if (count > 0 && strcmp(config->transport, "irn") == 0) {
            world_warn(&results->warnings, "irn-with-pfc",
                       "%s has nic.transport irn, which needs no lossless class, and its class %u "
                       "was paused %" PRIu64 " time%s; measured: with 2 MB of buffer, pauses made "
                       "the median flow 7 %% slower and the largest slowdown 11 %% larger; "
                       "expected switch.pfc.enabled: false",
                       world->nics[i].name, (unsigned)config->priority, count, sim_plural(count));
            return;
        }
    }
}

void results__remark(const world_t *world, results_t *results)
{
    results->remark_first = results->warnings.count;
    remark_ports(world, results);
    remark_caches(world, results);
    remark_captures(world, results);
    remark_routes(world, results);
    remark_spans(world, results);
    remark_irn(world, results);
}
