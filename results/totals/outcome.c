// SPDX-License-Identifier: Apache-2.0
// results/totals/outcome.c - the outcome digest: a hash over what a run brought about.
//
// It covers flows, ports, NICs and drops, and nothing about how the engine got there. So a run that
// skips events (docs/models/fast-forward.md) has the digest of the run that does not.
#include <string.h>

#include "net/port_metrics.h"
#include "net/ports.h"
#include "results/totals/outcome.h"

static void add_flow(const app_flow_result_t *flow, void *ctx)
{
    sim_digest_t *const digest = ctx;
    sim_digest_add(digest, flow->flow_id);
    sim_digest_add(digest, (uint64_t)flow->source << 32 | flow->destination);
    sim_digest_add(digest, (uint64_t)flow->udp_source_port << 32 | (uint64_t)flow->priority);
    sim_digest_add(digest, flow->bytes);
    sim_digest_add(digest, flow->start_ps);
    sim_digest_add(digest, flow->end_ps);
    sim_digest_add(digest, flow->delivered_bytes);
    sim_digest_add(digest, flow->failed_ps);
    sim_digest_add(digest, flow->retransmitted_packets);
    sim_digest_add(digest, (uint64_t)flow->status);
}

// Adds the counters of a port that ports.csv contains, and its drops by reason.
static void add_port(sim_digest_t *digest, const net_port_t *port, sim_time_t end_ps)
{
    if (net_port_untouched(port)) {
        return;
    }
    sim_digest_add(digest, port->uid);
    sim_digest_add(digest, net_port_queue_bytes_max(port));
    for (const net_port_metric_t *metric = net_port_metrics; metric->name != NULL; metric++) {
        uint64_t values[NET_PRIORITIES];
        if (metric->total.group == NULL) {
            continue;
        }
        if (!metric->per_priority) {
            const uint64_t value =
                port->counted ? net_port_metric_read(metric, port, UINT8_MAX, end_ps) : 0;
            if (value != 0 || !metric->total.rare) {
                sim_digest_add(digest, value);
            }
        } else if (net_port_metric_read_classes(metric, port, end_ps, values)) {
            for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
                sim_digest_add(digest, values[p]);
            }
        }
    }
    for (uint32_t r = 0; port->counted && r < NET_DROP_REASON_COUNT; r++) {
        sim_digest_add(digest, port->rare->drops[r]);
    }
}

// Adds the counters of a NIC. One that does not exist has zeros, as it has in one process.
static void add_nic(sim_digest_t *digest, const world_t *world, const world_nic_t *nic)
{
    static const nic_counters_t zeros;
    const char *const counters =
        (const char *)(world_nic_exists(world, nic) ? nic_get_counters(world_nic_of(world, nic))
                                                    : &zeros);
    for (const nic_counter_info_t *info = nic_counter_infos; info->name != NULL; info++) {
        uint64_t value;
        memcpy(&value, counters + info->field.offset, sizeof(value));
        sim_digest_add(digest, value);
    }
}

uint64_t results_outcome(const world_t *world, sim_time_t end_ps)
{
    sim_digest_t digest = {0};
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        sim_digest_add(&digest, i);
        if (app->ops->flows != NULL) {
            app->ops->flows(app, add_flow, &digest);
        }
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_look(world->net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            if (net_port_exists(node, p)) {
                add_port(&digest, net_port_at(node, p), end_ps);
            }
        }
    }
    for (size_t i = 0; i < world->nic_count; i++) {
        add_nic(&digest, world, &world->nics[i]);
    }
    return digest.value;
}
