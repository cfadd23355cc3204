// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/qlen.c - writes qlen.txt of `rocesim hpcc`: histograms of the queues of switch ports.
//
// Every 100 ns from QLEN_MON_START to QLEN_MON_END it counts the bytes waiting at each switch
// port, in
// bins of 1000 bytes. Like the driver, it writes the counts so far at each multiple of 100 ms, and
// once more at the end if samples came after that.
#include "cli/hpcc/monitors.h"
#include "cli/hpcc/output_internal.h"
#include "cli/hpcc/outputs.h"

#include <string.h>

#include "net/nodes.h"
#include "net/port_metrics.h"
#include "net/switch_model.h"

#define PERIOD_PS (100 * SIM_PS_PER_NS)
#define DUMP_PS (100 * SIM_PS_PER_MS)
#define BIN_BYTES 1000u

typedef struct histogram {
    uint32_t *counts;
    size_t count; // number of bins
    uint32_t taken;
} histogram_t;

// The counts of all ports of a switch at one time.
typedef struct dump {
    sim_time_t time_ps;
    histogram_t *ports;
} dump_t;

typedef struct monitor {
    const net_node_t *node;
    const net_switch_t *sw; // the switch that is sampled
    sim_time_t end_ps;
    sim_time_t last_ps;
    uint32_t samples;   // samples taken of each port
    histogram_t *ports; // samples of an empty queue are added only when a dump is taken
    dump_t *dumps;
    size_t dump_count;
    size_t dump_capacity;
} monitor_t;

struct cli__hpcc_qlen {
    monitor_t **monitors;
    size_t count;
    size_t capacity;
};

static void add_samples(histogram_t *histogram, uint64_t bytes, uint32_t samples)
{
    const size_t bin = (size_t)(bytes / BIN_BYTES);
    if (bin >= histogram->count) {
        histogram->counts =
            sim_realloc_array(histogram->counts, bin + 1, sizeof(*histogram->counts));
        memset(histogram->counts + histogram->count, 0,
               (bin + 1 - histogram->count) * sizeof(*histogram->counts));
        histogram->count = bin + 1;
    }
    histogram->counts[bin] += samples;
    histogram->taken += samples;
}

static void take_dump(monitor_t *monitor, sim_time_t time_ps)
{
    SIM_GROW(monitor->dumps, monitor->dump_count, &monitor->dump_capacity);
    dump_t *const dump = &monitor->dumps[monitor->dump_count++];
    const uint32_t count = monitor->node->port_count;
    *dump = (dump_t){time_ps, sim_alloc_array(count + 1, sizeof(*dump->ports))};
    for (uint32_t p = 0; p < count; p++) {
        histogram_t *const from = &monitor->ports[p];
        add_samples(from, 0, monitor->samples - from->taken);
        dump->ports[p].count = from->count;
        dump->ports[p].counts = sim_alloc_array(from->count + 1, sizeof(*from->counts));
        if (from->count > 0) {
            memcpy(dump->ports[p].counts, from->counts, from->count * sizeof(*from->counts));
        }
    }
}

// Takes a sample. Like in the driver, the first one is taken even if QLEN_MON_END lies before it.
static void sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    monitor_t *const monitor = ctx;
    if (time_ps > monitor->end_ps && monitor->samples > 0) {
        return;
    }
    monitor->samples++;
    monitor->last_ps = time_ps;
    const bool empty = monitor->sw->held_bytes == 0;
    for (uint32_t p = 0; p < monitor->node->port_count && !empty; p++) {
        const net_port_t *const port = &monitor->node->ports[p];
        if (port->waiting != 0) {
            add_samples(&monitor->ports[p], net_port_queue_bytes(port), 1);
        }
    }
    if (time_ps % DUMP_PS == 0) {
        take_dump(monitor, time_ps);
    }
}

void cli__hpcc_qlen_attach(cli_hpcc_outputs_t *outputs)
{
    const cli_hpcc_config_t *const config = outputs->hpcc->config;
    const net_t *const net = outputs->world->net;
    const uint64_t start_ns = cli_hpcc_number(config, CLI_HPCC_QLEN_MON_START);
    const uint64_t end_ns = cli_hpcc_number(config, CLI_HPCC_QLEN_MON_END);
    outputs->qlen_monitors = sim_alloc(sizeof(*outputs->qlen_monitors));
    cli__hpcc_qlen_t *const all = outputs->qlen_monitors;
    for (size_t i = 0; i < net_node_count(net); i++) {
        net_node_t *const node = net_node_at(net, i);
        if (node->kind != NET_NODE_SWITCH) {
            continue;
        }
        monitor_t *const monitor = sim_alloc(sizeof(*monitor));
        monitor->node = node;
        monitor->sw = net_switch_of(node);
        monitor->end_ps = end_ns * SIM_PS_PER_NS;
        monitor->ports = sim_alloc_array(node->port_count + 1, sizeof(*monitor->ports));
        SIM_APPEND(all->monitors, all->count, all->capacity, monitor);
        sim_sample(outputs->world->sim, &node->sim, start_ns * SIM_PS_PER_NS, PERIOD_PS, sample,
                   monitor);
    }
}

static void write_dump(const cli__hpcc_qlen_t *all, size_t index, results_file_t *file)
{
    results_file_print(file, "time: %" PRIu64 "\n",
                       all->monitors[0]->dumps[index].time_ps / SIM_PS_PER_NS);
    for (size_t m = 0; m < all->count; m++) {
        const monitor_t *const monitor = all->monitors[m];
        const uint32_t number = cli_hpcc_node_number(monitor->node);
        for (uint32_t p = 0; p < monitor->node->port_count; p++) {
            const histogram_t *const port = &monitor->dumps[index].ports[p];
            results_file_print(file, "%u %u", number, p + 1);
            for (size_t b = 0; b < port->count; b++) {
                results_file_print(file, " %u", port->counts[b]);
            }
            results_file_put(file, "\n");
        }
    }
}

void cli__hpcc_qlen_write(cli_hpcc_outputs_t *outputs)
{
    cli__hpcc_qlen_t *const all = outputs->qlen_monitors;
    if (all == NULL || all->count == 0) {
        return;
    }
    for (size_t m = 0; m < all->count; m++) {
        monitor_t *const monitor = all->monitors[m];
        if (monitor->samples > 0 && monitor->last_ps % DUMP_PS != 0) {
            take_dump(monitor, monitor->last_ps);
        }
    }
    const size_t dumps = all->monitors[0]->dump_count;
    for (size_t i = 0; i < dumps; i++) {
        write_dump(all, i, outputs->qlen);
    }
}

static void fini_ports(histogram_t *ports, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++) {
        sim_free(ports[p].counts);
    }
    sim_free(ports);
}

void cli__hpcc_qlen_free(cli__hpcc_qlen_t *all)
{
    for (size_t m = 0; all != NULL && m < all->count; m++) {
        monitor_t *const monitor = all->monitors[m];
        for (size_t d = 0; d < monitor->dump_count; d++) {
            fini_ports(monitor->dumps[d].ports, monitor->node->port_count);
        }
        fini_ports(monitor->ports, monitor->node->port_count);
        sim_free(monitor->dumps);
        sim_free(monitor);
    }
    if (all != NULL) {
        sim_free(all->monitors);
    }
    sim_free(all);
}
