// SPDX-License-Identifier: Apache-2.0
// cli/explain/load.c - reads the files of a run and builds its network again.
#include "cli/explain/explain_internal.h"
#include "cli/explain/flow_paths.h"
#include "cli/explain/order.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "kernel/map.h"
#include "net/faults.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "nic/extra.h"
#include "nic/transport.h"
#include "results/csv.h"
#include "world/registry.h"

#include <stdlib.h>
#include <string.h>

const char *cli__explain_port_name(const explain_t *explain, uint32_t uid)
{
    return net_port_name(explain->ports[uid].port);
}

// Names of ports or interfaces, to find the numbers that they stand for.
typedef struct names {
    const char **items; // by number; NULL: no such number
    sim_map_t numbers;  // by hash
} names_t;

static uint32_t find_name(const names_t *names, const char *name)
{
    SIM_MAP_EACH (number, &names->numbers, sim_map_hash(name, strlen(name))) {
        if (strcmp(names->items[number], name) == 0) {
            return (uint32_t)number;
        }
    }
    return EXPLAIN_NONE;
}

static void add_name(names_t *names, uint32_t number, const char *name)
{
    names->items[number] = name;
    sim_map_add(&names->numbers, sim_map_hash(name, strlen(name)), number);
}

static void names_fini(names_t *names)
{
    sim_map_fini(&names->numbers);
    sim_free((void *)(uintptr_t)names->items);
}

static names_t port_names(const explain_t *explain)
{
    names_t names = {.items = sim_alloc_array(explain->port_count + 1, sizeof(const char *))};
    for (uint32_t i = 0; i < explain->port_count; i++) {
        if (explain->ports[i].port != NULL) {
            add_name(&names, i, cli__explain_port_name(explain, i));
        }
    }
    return names;
}

static names_t interface_names(const world_t *world)
{
    names_t names = {.items = sim_alloc_array(world->nic_count + 1, sizeof(const char *))};
    for (uint32_t i = 0; i < world->nic_count; i++) {
        add_name(&names, i, world_interface_name(world, i));
    }
    return names;
}

// -- tables

// The analysis that rows are added to, and the names that occur in them.
typedef struct reading {
    explain_t *explain;
    names_t names;
    char app[64]; // of the last flow, whose entries of traffic have these values
    bool reads;
    uint64_t messages;
    uint64_t depth;
} reading_t;

static const char *const flow_columns[] = {"flow_id",
                                           "src",
                                           "dst",
                                           "src_port",
                                           "bytes",
                                           "start_ns",
                                           "end_ns",
                                           "ideal_fct_ns",
                                           "retransmitted_packets",
                                           "delivered_bytes",
                                           "app",
                                           "?src_qp", // files of versions before 0.3 have none
                                           "?dst_qp",
                                           "?reordered_packets",
                                           "?failed_ns",
                                           "?priority",
                                           "?medium"};
enum {
    F_ID,
    F_SRC,
    F_DST,
    F_PORT,
    F_BYTES,
    F_START,
    F_END,
    F_IDEAL,
    F_AGAIN,
    F_DELIVERED,
    F_APP,
    F_SRC_QP,
    F_DST_QP,
    F_REORDERED,
    F_FAILED,
    F_PRIORITY,
    F_MEDIUM
};

// Returns the value that all entries of traffic of this name have for an attribute, as text; NULL:
// they differ, or have none. flows.csv does not distinguish entries of one name. The caller frees
// it.
static char *common_value(const world_scenario_t *scenario, const char *app, const char *attribute)
{
    char *common = NULL;
    char *const path = sim_format("traffic.%s.%s", app, attribute);
    for (size_t i = 0; i < scenario->traffic_count; i++) {
        const world_traffic_t *const traffic = &scenario->traffic[i];
        if (strcmp(traffic->ops->name, app) != 0) {
            continue;
        }
        const sim_attr_t *const attr = sim_attr_find(traffic->ops->attrs, path);
        char *const value = attr != NULL ? sim_attr_get(attr, traffic->config) : NULL;
        const bool first = common == NULL;
        if (value == NULL || (!first && strcmp(value, common) != 0)) {
            sim_free(value);
            sim_free(common);
            common = NULL;
            break;
        }
        sim_free(common);
        common = value;
    }
    sim_free(path);
    return common;
}

static uint64_t common_number(const world_scenario_t *scenario, const char *app,
                              const char *attribute, uint64_t none)
{
    char *const value = common_value(scenario, app, attribute);
    const uint64_t number = value != NULL ? strtoull(value, NULL, 10) : none;
    sim_free(value);
    return number;
}

// Finds out how the flows of an application move their data.
static void take_shape(reading_t *reading, const char *app)
{
    const world_scenario_t *const scenario = reading->explain->scenario;
    if (strncmp(reading->app, app, sizeof(reading->app) - 1) == 0) {
        return;
    }
    char *const verb = common_value(scenario, app, "verb");
    snprintf(reading->app, sizeof(reading->app), "%s", app);
    reading->reads = verb != NULL && strcmp(verb, "read") == 0;
    reading->messages = SIM_MAX(common_number(scenario, app, "messages", 1), 1);
    reading->depth = common_number(scenario, app, "depth", 0);
    sim_free(verb);
}

static uint32_t app_of(explain_t *explain, const char *name)
{
    for (size_t i = explain->app_count; i-- > 0;) {
        if (strcmp(explain->apps[i].name, name) == 0) {
            return (uint32_t)i;
        }
    }
    const explain_app_t app = {.name = sim_strdup(name)};
    SIM_APPEND(explain->apps, explain->app_count, explain->app_capacity, app);
    return (uint32_t)explain->app_count - 1;
}

static sim_err_t take_number(const results_csv_t *csv, size_t column, uint64_t one, uint64_t *value,
                             world_error_t *error)
{
    *value = 0;
    return results_csv_text(csv, column)[0] == '\0'
               ? SIM_OK
               : results_csv_number(csv, column, one, value, error);
}

static sim_err_t take_flow(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    reading_t *const reading = ctx;
    explain_t *const explain = reading->explain;
    const names_t *const names = &reading->names;
    explain_flow_t flow = {.bottleneck = EXPLAIN_NONE};
    uint64_t port = 0;
    uint64_t source_qp = 0;
    uint64_t destination_qp = 0;
    uint64_t failed_ps = 0;
    uint64_t priority = 0;
    const struct {
        size_t column;
        uint64_t one;
        uint64_t *value;
    } fields[] = {{F_ID, 1, &flow.id},
                  {F_PORT, 1, &port},
                  {F_BYTES, 1, &flow.bytes},
                  {F_START, SIM_PS_PER_NS, &flow.start_ps},
                  {F_END, SIM_PS_PER_NS, &flow.end_ps},
                  {F_IDEAL, SIM_PS_PER_NS, &flow.ideal_ps},
                  {F_AGAIN, 1, &flow.retransmitted},
                  {F_DELIVERED, 1, &flow.delivered_bytes},
                  {F_PRIORITY, 1, &priority},
                  {F_REORDERED, 1, &flow.reordered},
                  {F_FAILED, SIM_PS_PER_NS, &failed_ps},
                  {F_SRC_QP, 1, &source_qp},
                  {F_DST_QP, 1, &destination_qp}};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(fields) && result == SIM_OK; i++) {
        result = take_number(csv, fields[i].column, fields[i].one, fields[i].value, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    flow.source = find_name(names, results_csv_text(csv, F_SRC));
    flow.destination = find_name(names, results_csv_text(csv, F_DST));
    flow.source_qp = (uint32_t)source_qp;
    flow.destination_qp = (uint32_t)destination_qp;
    take_shape(reading, results_csv_text(csv, F_APP));
    flow.reads = reading->reads;
    flow.message_bytes = flow.bytes / reading->messages;
    flow.depth = reading->messages > 1 ? reading->depth : 0;
    if (flow.reads) {
        const uint32_t reader = flow.source;
        flow.source = flow.destination;
        flow.destination = reader;
        flow.source_qp = (uint32_t)destination_qp;
        flow.destination_qp = (uint32_t)source_qp;
    }
    flow.source_port = (uint16_t)port;
    flow.priority = (uint8_t)SIM_MIN(priority, NET_PRIORITIES - 1u);
    flow.ended = results_csv_text(csv, F_END)[0] != '\0';
    flow.failed = failed_ps != 0;
    flow.end_ps = flow.ended ? flow.end_ps : flow.failed ? failed_ps : explain->end_ps;
    const bool local = strcmp(results_csv_text(csv, F_MEDIUM), "host") == 0;
    if (local || flow.source == EXPLAIN_NONE || flow.destination == EXPLAIN_NONE ||
        flow.start_ps >= flow.end_ps) {
        return SIM_OK; // not over the network, never begun, or of a host that is not there
    }
    flow.app = app_of(explain, results_csv_text(csv, F_APP));
    SIM_APPEND(explain->flows, explain->flow_count, explain->flow_capacity, flow);
    return SIM_OK;
}

static const char *const port_columns[] = {"port",
                                           "utilisation",
                                           "queue_bytes_max",
                                           "discards",
                                           "tx_bytes",
                                           "tx_packets",
                                           "paused_prio0_ns",
                                           "paused_prio1_ns",
                                           "paused_prio2_ns",
                                           "paused_prio3_ns",
                                           "paused_prio4_ns",
                                           "paused_prio5_ns",
                                           "paused_prio6_ns",
                                           "paused_prio7_ns",
                                           "ecn_marked_prio0",
                                           "ecn_marked_prio1",
                                           "ecn_marked_prio2",
                                           "ecn_marked_prio3",
                                           "ecn_marked_prio4",
                                           "ecn_marked_prio5",
                                           "ecn_marked_prio6",
                                           "ecn_marked_prio7",
                                           "credit_wait_ns",
                                           "retries",
                                           "retry_ns"};
enum {
    P_PORT,
    P_USED,
    P_QUEUE,
    P_DISCARDS,
    P_SENT,
    P_PACKETS,
    P_PAUSED,
    P_MARKED = P_PAUSED + NET_PRIORITIES,
    P_CREDIT_WAIT = P_MARKED + NET_PRIORITIES,
    P_RETRIES,
    P_RETRY_TIME
};

static sim_err_t take_port(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    explain_t *const explain = ((reading_t *)ctx)->explain;
    const names_t *const names = &((reading_t *)ctx)->names;
    const uint32_t uid = find_name(names, results_csv_text(csv, P_PORT));
    if (uid == EXPLAIN_NONE) {
        return SIM_OK;
    }
    explain_port_t *const port = &explain->ports[uid];
    port->utilisation = strtod(results_csv_text(csv, P_USED), NULL);
    sim_err_t result = take_number(csv, P_QUEUE, 1, &port->queue_bytes_max, error);
    if (result == SIM_OK) {
        result = take_number(csv, P_DISCARDS, 1, &port->discards, error);
    }
    if (result == SIM_OK) {
        result = take_number(csv, P_SENT, 1, &port->tx_bytes, error);
    }
    if (result == SIM_OK) {
        result = take_number(csv, P_PACKETS, 1, &port->tx_packets, error);
    }
    for (size_t p = 0; p < NET_PRIORITIES && result == SIM_OK; p++) {
        sim_time_t *const paused_ps = &port->paused_by_priority_ps[p];
        result = take_number(csv, P_PAUSED + p, SIM_PS_PER_NS, paused_ps, error);
        port->paused_ps += *paused_ps;
    }
    for (size_t p = 0; p < NET_PRIORITIES && result == SIM_OK; p++) {
        uint64_t marked = 0;
        result = take_number(csv, P_MARKED + p, 1, &marked, error);
        port->marked += marked;
    }
    const struct {
        size_t column;
        uint64_t one;
        uint64_t *value;
    } link_layer[] = {{P_CREDIT_WAIT, SIM_PS_PER_NS, &port->credit_wait_ps},
                      {P_RETRIES, 1, &port->retries},
                      {P_RETRY_TIME, SIM_PS_PER_NS, &port->retry_ps}};
    for (size_t i = 0; i < SIM_COUNT_OF(link_layer) && result == SIM_OK; i++) {
        result =
            take_number(csv, link_layer[i].column, link_layer[i].one, link_layer[i].value, error);
    }
    return result;
}

static const char *const nic_columns[] = {"nic",
                                          "tx_data_bytes",
                                          "rx_data_bytes",
                                          "np_ecn_marked_roce_packets",
                                          "np_cnp_sent",
                                          "rp_cnp_handled",
                                          "rp_cnp_ignored",
                                          "out_of_sequence",
                                          "local_ack_timeout_err",
                                          "retransmitted_packets",
                                          "tx_packets",
                                          "rx_packets",
                                          "qps_peak"};

static sim_err_t take_nic(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    explain_t *const explain = ((reading_t *)ctx)->explain;
    const uint32_t interface = find_name(&((reading_t *)ctx)->names, results_csv_text(csv, 0));
    if (interface == EXPLAIN_NONE) {
        return SIM_OK;
    }
    explain_nic_t *const nic = &explain->nics[interface];
    uint64_t *const values[] = {&nic->sent_bytes,      &nic->received_bytes,   &nic->marked,
                                &nic->cnps_sent,       &nic->cnps_handled,     &nic->cnps_ignored,
                                &nic->out_of_sequence, &nic->timeouts,         &nic->retransmitted,
                                &nic->sent_packets,    &nic->received_packets, &nic->queue_pairs};
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < SIM_COUNT_OF(values) && result == SIM_OK; i++) {
        result = take_number(csv, i + 1, 1, values[i], error);
    }
    return result;
}

static const char *const event_columns[] = {"time_ns", "event", "port", "priority", "reason"};
enum { E_TIME, E_EVENT, E_PORT, E_PRIORITY, E_REASON };

static uint32_t root_of(explain_t *explain, const char *name, const names_t *names)
{
    for (uint32_t i = 0; i < explain->root_count; i++) {
        if (strcmp(explain->roots[i].name, name) == 0) {
            return i;
        }
    }
    const uint32_t uid = find_name(names, name);
    const net_node_t *node = uid != EXPLAIN_NONE ? explain->ports[uid].port->node : NULL;
    for (size_t i = 0; node == NULL && i < net_node_count(explain->world->net); i++) {
        const net_node_t *const one = net_node_at(explain->world->net, i);
        node = strcmp(one->sim.name, name) == 0 ? one : NULL;
    }
    SIM_GROW(explain->roots, explain->root_count, &explain->root_capacity);
    explain->roots[explain->root_count] =
        (explain_root_t){.name = sim_strdup(name), .port = uid, .node = node};
    return (uint32_t)explain->root_count++;
}

static void begin_stop(explain_t *explain, uint32_t uid, uint8_t priority, sim_time_t time_ps,
                       const char *root, const names_t *names)
{
    SIM_APPEND(explain->stops, explain->stop_count, explain->stop_capacity,
               (explain_stop_t){.port = uid,
                                .root = root_of(explain, root, names),
                                .priority = priority,
                                .from_ps = time_ps,
                                .to_ps = explain->end_ps});
}

static void end_stop(explain_t *explain, uint32_t uid, uint8_t priority, sim_time_t time_ps)
{
    for (size_t i = explain->stop_count; i-- > 0;) {
        explain_stop_t *const stop = &explain->stops[i];
        if (stop->port == uid && stop->priority == priority) {
            if (!stop->ended) {
                stop->ended = true;
                stop->to_ps = time_ps;
            }
            return;
        }
    }
}

static void count_drop(explain_port_t *port, const char *reason, uint64_t priority)
{
    for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        const bool is = strcmp(net_drop_reason_name((net_drop_reason_t)r), reason) == 0;
        port->drops[r] += is;
        port->full[priority] += is && (r == NET_DROP_EGRESS_FULL || r == NET_DROP_BUFFER_FULL);
    }
}

static sim_err_t take_event(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    explain_t *const explain = ((reading_t *)ctx)->explain;
    const names_t *const names = &((reading_t *)ctx)->names;
    const char *const event = results_csv_text(csv, E_EVENT);
    const char *const reason = results_csv_text(csv, E_REASON);
    const uint32_t uid = find_name(names, results_csv_text(csv, E_PORT));
    uint64_t priority = 0;
    sim_time_t time_ps = 0;
    sim_err_t result = take_number(csv, E_TIME, SIM_PS_PER_NS, &time_ps, error);
    if (result == SIM_OK) {
        result = take_number(csv, E_PRIORITY, 1, &priority, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    explain->events_end_ps = SIM_MAX(time_ps, explain->events_end_ps);
    if (uid == EXPLAIN_NONE || priority >= NET_PRIORITIES) {
        return result;
    }
    explain_port_t *const port = &explain->ports[uid];
    if (strcmp(event, "paused") == 0) {
        begin_stop(explain, uid, (uint8_t)priority, time_ps, reason, names);
    } else if (strcmp(event, "resumed") == 0) {
        end_stop(explain, uid, (uint8_t)priority, time_ps);
    } else if (strcmp(event, "drop") == 0) {
        count_drop(port, reason, priority);
    } else if (strcmp(event, "link_down") == 0) {
        port->down_ps = port->downs++ == 0 ? time_ps : port->down_ps;
    } else if (strcmp(event, "fault") == 0) {
        for (uint32_t kind = 0; kind <= NET_FAULT_PAUSE_STORM; kind++) {
            const bool is = strcmp(reason, net_fault_name((net_fault_kind_t)kind)) == 0;
            port->faults |= (uint8_t)(is ? 1u << kind : 0);
        }
    }
    return SIM_OK;
}

// Ends the stops that are open where events.csv is cut, since their releases are in rows that it
// leaves out. A stop lasts to the end of the run only if ports.csv counts all of that time.
static void close_stops(explain_t *explain)
{
    if (explain->events_left_out == 0) {
        return;
    }
    const size_t bytes = (explain->port_count + 1) * NET_PRIORITIES * sizeof(sim_time_t);
    sim_time_t *const known_ps = sim_alloc(bytes);
    memset(known_ps, 0, bytes);
    for (size_t i = 0; i < explain->stop_count; i++) {
        const explain_stop_t *const stop = &explain->stops[i];
        known_ps[stop->port * NET_PRIORITIES + stop->priority] +=
            stop->ended ? stop->to_ps - stop->from_ps : 0;
    }
    for (size_t i = 0; i < explain->stop_count; i++) {
        explain_stop_t *const stop = &explain->stops[i];
        const sim_time_t all_ps =
            explain->ports[stop->port].paused_by_priority_ps[stop->priority] + SIM_PS_PER_NS;
        const sim_time_t before_ps = known_ps[stop->port * NET_PRIORITIES + stop->priority];
        if (!stop->ended && all_ps < before_ps + (explain->end_ps - stop->from_ps)) {
            stop->ended = true;
            stop->to_ps = explain->events_end_ps;
        }
    }
    sim_free(known_ps);
}

static bool is_one_pair(const explain_flow_t *a, const explain_flow_t *b)
{
    return a->source == b->source && a->destination == b->destination &&
           a->source_qp == b->source_qp && a->destination_qp == b->destination_qp &&
           a->source_port == b->source_port;
}

// Compares flows of one source and destination by queue pair, then by start.
static int by_queue_pair(const void *a, const void *b)
{
    const explain_flow_t *const x = *(explain_flow_t *const *)a;
    const explain_flow_t *const y = *(explain_flow_t *const *)b;
    const uint64_t keys[][2] = {{x->source_qp, y->source_qp},
                                {x->destination_qp, y->destination_qp},
                                {x->source_port, y->source_port},
                                {x->start_ps, y->start_ps},
                                {x->id, y->id}};
    for (size_t i = 0; i < SIM_COUNT_OF(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

// Sorts flows of one source and destination, which mostly are in the order of their queue pairs.
static void sort_flows(explain_flow_t **flows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (by_queue_pair(&flows[i - 1], &flows[i]) > 0) {
            qsort(flows, count, sizeof(*flows), by_queue_pair);
            return;
        }
    }
}

// Returns all flows by source, destination, queue pair and start. The caller frees the array.
static explain_flow_t **by_ends(const explain_t *explain)
{
    const size_t count = explain->flow_count;
    explain_flow_t **const flows = sim_alloc_array(count + 1, sizeof(*flows));
    uint64_t *const ends = sim_alloc_array(count + 1, sizeof(*ends));
    uint32_t *const order = sim_alloc_array(count + 1, sizeof(*order));
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = (uint64_t)explain->flows[i].source << 32 | explain->flows[i].destination;
        order[i] = i;
    }
    cli__explain_sort(ends, order, count);
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        flows[i] = &explain->flows[order[i]];
        if (i + 1 == count || ends[i + 1] != ends[i]) {
            sort_flows(flows + from, i + 1 - from);
            from = i + 1;
        }
    }
    sim_free(ends);
    sim_free(order);
    return flows;
}

// Numbers the queue pairs. Each sends one message after the other: finds out when the turn of each
// flow comes.
static void line_up(explain_t *explain)
{
    explain_flow_t **const flows = by_ends(explain);
    sim_time_t free_ps = 0;
    for (size_t i = 0; i < explain->flow_count; i++) {
        explain_flow_t *const flow = flows[i];
        const bool new_pair = i == 0 || !is_one_pair(flows[i - 1], flow);
        flow->pair = explain->pair_count - !new_pair;
        explain->pair_count += new_pair;
        if (new_pair || flow->source_port == 0) {
            free_ps = 0;
        }
        flow->begin_ps = free_ps < flow->start_ps ? flow->start_ps : SIM_MIN(free_ps, flow->end_ps);
        free_ps = SIM_MAX(flow->end_ps, free_ps);
        explain->flows_ps += (double)(flow->end_ps - flow->begin_ps);
    }
    sim_free(flows);
}

// Finds the congestion control of each NIC.
static void take_controls(explain_t *explain)
{
    explain->controls = sim_alloc_array(explain->world->nic_count + 1, sizeof(*explain->controls));
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        const nic_config_t *const config = nic_config_of_interface(explain->world->net, i);
        const void *part = NULL;
        const nic_transport_ops_t *const transport =
            nic_config_find(config, NIC_EXTRA_TRANSPORT, config->transport, &part);
        explain->controls[i] =
            transport == NULL || transport->own_control
                ? NULL
                : nic_config_find(config, NIC_EXTRA_CC, config->congestion_control, &part);
    }
}

static void take_ports(explain_t *explain)
{
    const net_t *const net = explain->world->net;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < net_node_count(net); i++) {
            const net_node_t *const node = net_node_at(net, i);
            for (uint32_t p = 0; p < node->port_count; p++) {
                const net_port_t *const port = &node->ports[p];
                if (pass == 0 && port->uid >= explain->port_count) {
                    explain->port_count = port->uid + 1;
                } else if (pass == 1) {
                    explain->ports[port->uid].port = port;
                }
            }
        }
        if (pass == 0) {
            explain->ports = sim_alloc_array(explain->port_count + 1, sizeof(explain_port_t));
        }
    }
}

static uint64_t summary_number(const explain_t *explain, const char *object, const char *key)
{
    const json_t *const inner =
        object != NULL ? json_object_get(explain->summary, object) : explain->summary;
    const json_int_t value = json_integer_value(json_object_get(inner, key));
    return value > 0 ? (uint64_t)value : 0;
}

static sim_err_t build(explain_t *explain, world_error_t *error)
{
    char *const path = sim_format("%s/scenario.yaml", explain->folder);
    explain->registry = world_registry_create();
    sim_err_t result =
        world_scenario_load(explain->registry, path, NULL, 0, &explain->scenario, error);
    sim_free(path);
    if (result == SIM_OK) {
        result = world_create(explain->scenario, WORLD_BUILD_NETWORK, &explain->world, error);
    }
    return result;
}

sim_err_t cli__explain_load(explain_t *explain, world_error_t *error)
{
    sim_err_t result = results_result_summary(explain->folder, &explain->summary, error);
    if (result == SIM_OK) {
        result = build(explain, error);
    }
    if (result != SIM_OK) {
        return result;
    }
    const char *const ended = json_string_value(json_object_get(explain->summary, "ended"));
    explain->stalled = ended != NULL && strcmp(ended, "stalled") == 0;
    explain->end_ps = summary_number(explain, NULL, "sim_time_ps");
    explain->events_left_out = summary_number(explain, "events_csv", "left_out");
    explain->flows_left_out = summary_number(explain, "flows", "left_out");
    take_ports(explain);
    take_controls(explain);
    explain->nics = sim_alloc_array(explain->world->nic_count + 1, sizeof(explain_nic_t));
    reading_t ports = {.explain = explain, .names = port_names(explain)};
    reading_t interfaces = {.explain = explain, .names = interface_names(explain->world)};
    result = results_csv_rows(explain->folder, "ports.csv", port_columns,
                              SIM_COUNT_OF(port_columns), take_port, &ports, error);
    if (result == SIM_OK) {
        result = results_csv_rows(explain->folder, "events.csv", event_columns,
                                  SIM_COUNT_OF(event_columns), take_event, &ports, error);
    }
    if (result == SIM_OK) {
        result = results_csv_rows(explain->folder, "flows.csv", flow_columns,
                                  SIM_COUNT_OF(flow_columns), take_flow, &interfaces, error);
    }
    if (result == SIM_OK) {
        result = results_csv_rows(explain->folder, "nics.csv", nic_columns,
                                  SIM_COUNT_OF(nic_columns), take_nic, &interfaces, error);
    }
    close_stops(explain);
    cli__explain_paths(explain);
    line_up(explain);
    names_fini(&ports.names);
    names_fini(&interfaces.names);
    return result;
}

static void finding_fini(explain_finding_t *finding)
{
    sim_free_each(finding->evidence, finding->evidence_count);
    for (size_t i = 0; i < finding->remedy_count; i++) {
        sim_free(finding->remedies[i].set);
        sim_free(finding->remedies[i].why);
    }
    SIM_FREE_ALL(finding->evidence, finding->remedies, finding->flows, finding->place,
                 finding->sentence);
}

void cli__explain_fini(explain_t *explain)
{
    for (size_t i = 0; i < explain->finding_count; i++) {
        finding_fini(&explain->findings[i]);
    }
    for (size_t i = 0; i < explain->root_count; i++) {
        sim_free(explain->roots[i].name);
        sim_free(explain->roots[i].by_port);
    }
    for (size_t i = 0; i < explain->app_count; i++) {
        sim_free(explain->apps[i].name);
    }
    SIM_FREE_ALL(explain->apps, explain->findings, explain->roots, explain->stops, explain->hops,
                 explain->passing, explain->passing_from, explain->flows, explain->ports,
                 explain->nics, explain->inside_busiest, explain->held_hosts,
                 (void *)(uintptr_t)explain->controls);
    json_decref(explain->summary);
    world_destroy(explain->world);
    world_scenario_destroy(explain->scenario);
    world_registry_destroy(explain->registry);
}
