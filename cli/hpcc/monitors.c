// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/monitors.c - writes bw.txt, rate.txt, cnp.txt and qlen.txt as SimAI's simulator does.
//
// Its monitors look at a fixed interval from MON_START on, as long as the next look lies before
// MON_END, and write a line for what has changed since the look before. Rows of one time are in the
// order of nodes, then of ports or queue pairs. docs/formats/hpcc.md lists the columns.
#include "cli/hpcc/monitors.h"
#include "cli/hpcc/output_internal.h"
#include "cli/hpcc/outputs.h"

#include "net/port_metrics.h"
#include "net/wire/roce.h"
#include "nic/host.h"

#include <string.h>

#define PS_PER_US (1000 * SIM_PS_PER_NS)

// A monitor's record of a queue pair of its host.
typedef struct known_qp {
    uint32_t number;
    uint32_t flow;     // 1 + its row in the flow file; 0: not looked for, or none
    uint64_t rate_bps; // at the last line
    uint64_t cnps;     // so far
    uint64_t cnps_told;
} known_qp_t;

typedef struct monitor {
    cli__hpcc_monitors_t *all;
    const net_node_t *node;
    const nic_t *nic; // rate and cnp; NULL for others
    sim_stream_t *stream;
    sim_time_t interval_ps;
    sim_time_t ahead_ps; // the next look takes place if this long after the last is before the end
    sim_time_t end_ps;
    bool over;
    uint64_t *last; // by port: bytes sent, or bytes queued
    known_qp_t *qps;
    size_t qp_count;
    size_t qp_capacity;
} monitor_t;

struct cli__hpcc_monitors {
    cli_hpcc_outputs_t *outputs;
    monitor_t **items;
    size_t count;
    size_t capacity;
};

// A line of any of the files.
typedef struct line {
    uint32_t numbers[5];
    uint64_t bytes;
    uint64_t value;
} line_t;

static bool is_over(monitor_t *monitor, sim_time_t time_ps)
{
    const bool now = monitor->over;
    monitor->over = now || time_ps + monitor->ahead_ps >= monitor->end_ps;
    return now;
}

static void put(const monitor_t *monitor, sim_time_t time_ps, const line_t *line)
{
    memcpy(sim_stream_put(monitor->stream, &monitor->node->sim, time_ps, sizeof(*line)), line,
           sizeof(*line));
}

// -- bandwidth and queues

static uint64_t sent_bytes(const net_port_t *port)
{
    uint64_t bytes = 0;
    for (size_t c = 0; c < NET_PRIORITIES; c++) {
        bytes += port->classes[c]->tx_bytes;
    }
    return bytes;
}

// Looks at how much each port has sent. Ports of switches count from 1, those of hosts from 0.
static void look_at_bandwidth(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    monitor_t *const monitor = ctx;
    if (is_over(monitor, time_ps)) {
        return;
    }
    const uint32_t first = monitor->node->kind == NET_NODE_HOST ? 0 : 1;
    for (uint32_t p = 0; p < monitor->node->port_count; p++) {
        const uint64_t bytes = sent_bytes(&monitor->node->ports[p]);
        if (bytes != monitor->last[p]) {
            put(monitor, time_ps,
                &(line_t){.numbers = {cli_hpcc_node_number(monitor->node), p + first},
                          .bytes = bytes - monitor->last[p],
                          .value = monitor->interval_ps / PS_PER_US});
            monitor->last[p] = bytes;
        }
    }
}

static void write_bandwidth(sim_time_t time_ps, uint32_t node_index, const void *record,
                            size_t record_bytes, void *ctx)
{
    (void)node_index;
    const line_t *const line = record;
    SIM_CHECK(record_bytes == sizeof(*line));
    const double bps = (double)line->bytes * 8 * 1e6 / (double)line->value;
    results_file_print(ctx, "%" PRIu64 ", %u, %u, %f\n", time_ps / SIM_PS_PER_NS, line->numbers[0],
                       line->numbers[1], bps / 1e9);
}

static void look_at_queues(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    monitor_t *const monitor = ctx;
    if (is_over(monitor, time_ps)) {
        return;
    }
    for (uint32_t p = 0; p < monitor->node->port_count; p++) {
        const net_port_t *const port = &monitor->node->ports[p];
        const uint64_t bytes = net_port_queue_bytes(port);
        for (uint32_t c = 0; c < NET_PRIORITIES && bytes != monitor->last[p]; c++) {
            put(monitor, time_ps,
                &(line_t){.numbers = {cli_hpcc_node_number(monitor->node), p + 1, c},
                          .bytes = port->classes[c]->bytes,
                          .value = bytes});
        }
        monitor->last[p] = bytes;
    }
}

static void write_queue(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    (void)node_index;
    const line_t *const line = record;
    SIM_CHECK(record_bytes == sizeof(*line));
    results_file_print(ctx, "%" PRIu64 ", %u, %u, %u, %" PRIu64 ", %" PRIu64 "\n",
                       time_ps / SIM_PS_PER_NS, line->numbers[0], line->numbers[1],
                       line->numbers[2], line->bytes, line->value);
}

// -- queue pairs

// Returns what is known of the queue pair. They are kept in the order of their numbers.
static known_qp_t *know(monitor_t *monitor, uint32_t number)
{
    size_t at = monitor->qp_count;
    size_t low = 0;
    while (low < at) {
        const size_t middle = low + (at - low) / 2;
        if (monitor->qps[middle].number < number) {
            low = middle + 1;
        } else {
            at = middle;
        }
    }
    if (low == monitor->qp_count || monitor->qps[low].number != number) {
        SIM_GROW(monitor->qps, monitor->qp_count, &monitor->qp_capacity);
        memmove(monitor->qps + low + 1, monitor->qps + low,
                (monitor->qp_count - low) * sizeof(*monitor->qps));
        monitor->qps[low] = (known_qp_t){.number = number};
        monitor->qp_count++;
    }
    return &monitor->qps[low];
}

// Counts a CNP, or an ACK that says what a CNP does, as HPCC's ACKs do.
static void on_receive(const net_trace_t *trace, void *ctx)
{
    const net_packet_t *const packet = trace->packet;
    const bool tells =
        packet->opcode == ROCE_CNP || (packet->opcode == ROCE_ACKNOWLEDGE && packet->becn);
    if (packet->kind != NET_PACKET_CONTROL && tells) {
        know(ctx, packet->destination_qp)->cnps++;
    }
}

// Finds the flow of a queue pair: its hosts and its source port identify it.
static uint32_t find_flow(const monitor_t *monitor, const nic_qp_t *qp)
{
    const cli_hpcc_outputs_t *const outputs = monitor->all->outputs;
    const app_flow_file_t *const flows = &outputs->hpcc->flows;
    const uint32_t interface = nic_qp_destination(qp);
    const uint16_t port = nic_qp_udp_source_port(qp);
    const uint32_t source = cli_hpcc_node_number(monitor->node);
    if (interface >= outputs->world->nic_count) {
        return 0;
    }
    const uint32_t destination =
        cli_hpcc_node_number(world_host_of(outputs->world, &outputs->world->nics[interface]));
    for (size_t i = 0; i < flows->count; i++) {
        const app_flow_row_t *const row = &flows->rows[i];
        if (row->source == source && row->destination == destination && row->source_port == port) {
            return (uint32_t)i + 1;
        }
    }
    return 0;
}

static line_t line_of(const monitor_t *monitor, const known_qp_t *known, uint64_t value)
{
    const app_flow_row_t *const row = &monitor->all->outputs->hpcc->flows.rows[known->flow - 1];
    return (line_t){
        .numbers = {row->source, row->destination, row->source_port, row->destination_port},
        .bytes = row->bytes,
        .value = value};
}

typedef struct look {
    monitor_t *monitor;
    sim_time_t time_ps;
} look_t;

static uint64_t rate_of(const nic_qp_t *qp)
{
    return nic_qp_metric_read(&nic_qp_metrics[0], qp); // rate_bps
}

// Returns what is known of a queue pair with a flow that has begun and not ended; NULL for others.
static known_qp_t *active(const look_t *look, const nic_qp_t *qp)
{
    if (!nic_qp_sends(qp) || nic_qp_quiet(qp)) {
        return NULL;
    }
    known_qp_t *const known = know(look->monitor, nic_qp_num(qp));
    known->flow = known->flow == 0 ? find_flow(look->monitor, qp) : known->flow;
    return known->flow == 0 ? NULL : known;
}

static void look_at_rate(const nic_qp_t *qp, void *ctx)
{
    const look_t *const look = ctx;
    known_qp_t *const known = active(look, qp);
    if (known != NULL && rate_of(qp) != known->rate_bps) {
        known->rate_bps = rate_of(qp);
        const line_t line = line_of(look->monitor, known, known->rate_bps);
        put(look->monitor, look->time_ps, &line);
    }
}

static void look_at_cnps(const nic_qp_t *qp, void *ctx)
{
    const look_t *const look = ctx;
    known_qp_t *const known = active(look, qp);
    if (known != NULL && known->cnps != known->cnps_told) {
        known->cnps_told = known->cnps;
        const line_t line = line_of(look->monitor, known, known->cnps);
        put(look->monitor, look->time_ps, &line);
    }
}

static void look_at_rates(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    monitor_t *const monitor = ctx;
    look_t look = {monitor, time_ps};
    if (!is_over(monitor, time_ps)) {
        nic_for_each_qp(monitor->nic, look_at_rate, &look);
    }
}

static void look_at_cnp_numbers(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    monitor_t *const monitor = ctx;
    look_t look = {monitor, time_ps};
    if (!is_over(monitor, time_ps)) {
        nic_for_each_qp(monitor->nic, look_at_cnps, &look);
    }
}

static void write_qp(sim_time_t time_ps, uint32_t node_index, const void *record,
                     size_t record_bytes, void *ctx)
{
    (void)node_index;
    const line_t *const line = record;
    SIM_CHECK(record_bytes == sizeof(*line));
    results_file_print(ctx, "%" PRIu64 ", %u, %u, %u, %u, %" PRIu64 ", %" PRIu64 "\n",
                       time_ps / SIM_PS_PER_NS, line->numbers[0], line->numbers[1],
                       line->numbers[2], line->numbers[3], line->bytes, line->value);
}

// -- attaching

typedef struct kind {
    const char *header;
    cli_hpcc_key_t interval;
    cli_hpcc_key_t ahead; // the interval that its end depends on, in its simulator's code
    sim_sample_fn look;
    sim_record_fn write;
    bool of_hosts;
    bool of_switches;
    bool of_qps;
} kind_t;

static const kind_t kinds[] = {
    [CLI__HPCC_BANDWIDTH] = {"time, node_id, port_id, bandwidth\n", CLI_HPCC_BW_MON_INTERVAL,
                             CLI_HPCC_BW_MON_INTERVAL, look_at_bandwidth, write_bandwidth, true,
                             true, false},
    [CLI__HPCC_RATES] = {"time, src, dst, sport, dport, size, curr_rate\n",
                         CLI_HPCC_QP_MON_INTERVAL, CLI_HPCC_QLEN_MON_INTERVAL, look_at_rates,
                         write_qp, true, false, true},
    [CLI__HPCC_CNPS] = {"time, src, dst, sport, dport, size, cnp_number\n",
                        CLI_HPCC_QP_MON_INTERVAL, CLI_HPCC_QP_MON_INTERVAL, look_at_cnp_numbers,
                        write_qp, true, false, true},
    [CLI__HPCC_QUEUES] = {"time, sw_id, port_id, q_id, q_len, port_len\n",
                          CLI_HPCC_QLEN_MON_INTERVAL, CLI_HPCC_QLEN_MON_INTERVAL, look_at_queues,
                          write_queue, false, true, false},
};

static monitor_t *add(cli__hpcc_monitors_t *all, const kind_t *kind, sim_stream_t *stream,
                      const net_node_t *node, const nic_t *nic)
{
    cli_hpcc_outputs_t *const outputs = all->outputs;
    const cli_hpcc_config_t *const config = outputs->hpcc->config;
    monitor_t *const monitor = sim_alloc(sizeof(*monitor));
    *monitor = (monitor_t){
        .all = all,
        .node = node,
        .nic = nic,
        .stream = stream,
        .interval_ps = cli_hpcc_number(config, kind->interval) * PS_PER_US,
        .ahead_ps = cli_hpcc_number(config, kind->ahead) * PS_PER_US,
        .end_ps = cli_hpcc_number(config, CLI_HPCC_MON_END) * PS_PER_US,
        .last = sim_alloc_array(node->port_count + 1, sizeof(*monitor->last)),
    };
    SIM_APPEND(all->items, all->count, all->capacity, monitor);
    sim_sample(outputs->world->sim, &net_node_at(outputs->world->net, node->sim.index)->sim,
               cli_hpcc_number(config, CLI_HPCC_MON_START) * PS_PER_US, monitor->interval_ps,
               kind->look, monitor);
    return monitor;
}

// Counts what arrives at the port of an interface.
static void listen(const net_t *net, uint32_t interface, monitor_t *monitor)
{
    net_node_t *const node = net_node_at(net, monitor->node->sim.index);
    for (uint32_t p = 0; p < node->port_count; p++) {
        if (node->ports[p].interface == interface) {
            net_port_listen(&node->ports[p], NET_TRACE_RX, on_receive, monitor);
        }
    }
}

void cli__hpcc_monitor(cli_hpcc_outputs_t *outputs, cli__hpcc_monitor_t which, results_file_t *file)
{
    const kind_t *const kind = &kinds[which];
    const world_t *const world = outputs->world;
    if (outputs->monitors == NULL) {
        outputs->monitors = sim_alloc(sizeof(*outputs->monitors));
        outputs->monitors->outputs = outputs;
    }
    results_file_put(file, kind->header);
    sim_stream_t *const stream = sim_stream_create(world->sim, kind->write, file);
    for (size_t i = 0; kind->of_qps && i < world->nic_count; i++) {
        monitor_t *const monitor =
            add(outputs->monitors, kind, stream, world_host_of(world, &world->nics[i]),
                world_nic_of(world, &world->nics[i]));
        if (which == CLI__HPCC_CNPS) {
            listen(world->net, (uint32_t)i, monitor);
        }
    }
    for (size_t i = 0; !kind->of_qps && i < net_node_count(world->net); i++) {
        net_node_t *const node = net_node_at(world->net, i);
        if (node->kind == NET_NODE_HOST ? kind->of_hosts : kind->of_switches) {
            (void)add(outputs->monitors, kind, stream, node, NULL);
        }
    }
}

void cli__hpcc_monitors_free(cli__hpcc_monitors_t *all)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        SIM_FREE_ALL(all->items[i]->last, all->items[i]->qps, all->items[i]);
    }
    if (all != NULL) {
        sim_free(all->items);
    }
    sim_free(all);
}
