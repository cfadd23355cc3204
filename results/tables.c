// SPDX-License-Identifier: Apache-2.0
// results/tables.c - the columns of flows.csv, ports.csv, events.csv and series.csv.
#include "results/tables.h"

#include "net/faults.h"

#include <string.h>

// clang-format off
#define PUT(name_, unit_, help_, per_class_, put_) \
    {.name = name_, .unit = unit_, .help = help_, .per_class = per_class_, .put = put_}
#define FIELD(name_, unit_, help_, type, member)            \
    {.name = name_, .unit = unit_, .help = help_,           \
     .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)}
#define TIME(name_, help_, type, member, none_)             \
    {.name = name_, .unit = "ns", .help = help_,            \
     .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member), .is_time = true, .none_ps = none_}
#define CLASS_FIELD(name_, unit_, help_, type, array, member)             \
    {.name = name_, .unit = unit_, .help = help_, .per_class = true,      \
     .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member), \
     .stride = sizeof(((type *)NULL)->array[0])}
// clang-format on

// -- flows.csv

#define FLOW(row) (((const results_flow_row_t *)(row))->flow)
static const void *flow_object(const void *row)
{
    return FLOW(row);
}

static bool finished(const app_flow_result_t *flow)
{
    return flow->end_ps != SIM_TIME_NEVER;
}

static void flow_src(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_flow_row_t *const flow = row;
    results_file_put_csv(file, world_interface_name(flow->world, flow->flow->source));
}

static void flow_dst(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_flow_row_t *const flow = row;
    results_file_put_csv(file, world_interface_name(flow->world, flow->flow->destination));
}

static void flow_end(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (finished(FLOW(row))) {
        results_file_put_ns(file, FLOW(row)->end_ps);
    }
}

static void flow_fct(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (finished(FLOW(row))) {
        results_file_put_ns(file, FLOW(row)->end_ps - FLOW(row)->start_ps);
    }
}

static void flow_slowdown(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (finished(FLOW(row))) {
        const uint64_t slowdown = results_flow_slowdown(FLOW(row));
        results_file_print(file,
                           "%" PRIu64 ".%06u",
                           slowdown / RESULTS_SLOWDOWN_ONE,
                           (unsigned)(slowdown % RESULTS_SLOWDOWN_ONE));
    }
}

static void flow_app(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, FLOW(row)->label);
}

static void flow_status(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const bool unfinished = !finished(FLOW(row)) && FLOW(row)->status == NIC_WC_SUCCESS;
    results_file_put_csv(file, unfinished ? "unfinished" : nic_wc_status_text(FLOW(row)->status));
}

static void flow_delivered(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (finished(FLOW(row))) {
        results_file_put_u64(file, FLOW(row)->bytes);
    } else if (FLOW(row)->status == NIC_WC_SUCCESS) {
        results_file_put_u64(file, FLOW(row)->delivered_bytes);
    }
}

// clang-format off
static const results_column_t flow_columns[] = {
    FIELD("flow_id", "", "number of the flow, unique in the run", app_flow_result_t, flow_id),
    PUT("src", "", "host (or HOST/nicN) that sends", false, flow_src),
    PUT("dst", "", "host that receives", false, flow_dst),
    FIELD("src_port", "", "UDP source port of its packets", app_flow_result_t, udp_source_port),
    FIELD("bytes", "bytes", "payload the flow carries", app_flow_result_t, bytes),
    TIME("start_ns", "when it was posted", app_flow_result_t, start_ps, SIM_TIME_NEVER),
    PUT("end_ns", "ns", "when the sender knew the last byte to be delivered; empty: unfinished or failed", false, flow_end),
    PUT("fct_ns", "ns", "flow completion time: end_ns - start_ns; empty: unfinished or failed", false, flow_fct),
    TIME("ideal_fct_ns", "completion time with the network to itself, by closed form; empty: none, or longer than 106 days", app_flow_result_t, ideal_ps, SIM_TIME_NEVER),
    PUT("slowdown", "", "fct_ns / ideal_fct_ns, rounded down to millionths; empty: unfinished or failed", false, flow_slowdown),
    FIELD("retransmitted_packets", "packets", "data packets sent again", app_flow_result_t, retransmitted_packets),
    PUT("app", "", "traffic that made it: poisson, incast...", false, flow_app),
    FIELD("priority", "", "class of its data packets, 0 to 7", app_flow_result_t, priority),
    PUT("delivered_bytes", "bytes", "payload that the sender knew to be delivered at the end of the run; empty: failed", false, flow_delivered),
    TIME("failed_ns", "when it failed; empty: it has not", app_flow_result_t, failed_ps, 0),
    PUT("status", "", "success, unfinished, or the completion error it failed with", false, flow_status),
};
const results_table_t results_flow_table = {
    "flows.csv", "A row per flow, by traffic entry, then by start. Written unless `outputs: {flows: false}`.",
    flow_columns, SIM_COUNT_OF(flow_columns), flow_object};
// clang-format on

// -- ports.csv

#define PORT(row) (((const results_port_row_t *)(row))->port)
static const void *port_object(const void *row)
{
    return PORT(row);
}

static void port_name(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, net_port_name(PORT(row)));
}

static void put_metric(results_file_t *file, const net_port_t *port, const char *metric)
{
    results_file_put_u64(file, net_port_metric_find(metric)->read(port, 0xff, 0));
}

static void port_tx_packets(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_metric(file, PORT(row), "tx_packets");
}

static void port_tx_bytes(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_metric(file, PORT(row), "tx_bytes");
}

static void port_rx_packets(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_metric(file, PORT(row), "rx_packets");
}

static void port_rx_bytes(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_metric(file, PORT(row), "rx_bytes");
}

static void port_queue_max(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, net_port_queue_bytes_max(PORT(row)));
}

static void port_queue_now(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, net_port_queue_bytes(PORT(row)));
}

static void port_utilisation(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_port_row_t *const port = row;
    results_file_print(file, "%.6f", results_span_utilisation(port->span, port->port));
}

static void port_discards(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    uint64_t sum = 0;
    for (unsigned r = 0; r < NET_DROP_REASON_COUNT; r++) {
        sum += PORT(row)->drops[r];
    }
    results_file_put_u64(file, sum);
}

static void port_prio_paused(results_file_t *file, const void *row, unsigned priority)
{
    const results_port_row_t *const port = row;
    results_file_put_ns(file, results_port_paused_ps(port->port, priority, port->end_ps));
}

// clang-format off
static const results_column_t port_columns[] = {
    PUT("port", "", "the transmitting end of a link: NODE->PEER, with #N where they have several", false, port_name),
    FIELD("rate_bps", "bit/s", "rate of the link", net_port_t, rate_bps),
    PUT("tx_packets", "packets", "frames sent, all classes, PFC frames too", false, port_tx_packets),
    PUT("tx_bytes", "bytes", "of them, without preamble, FCS and gap", false, port_tx_bytes),
    PUT("rx_packets", "packets", "frames received", false, port_rx_packets),
    PUT("rx_bytes", "bytes", "of them", false, port_rx_bytes),
    PUT("queue_bytes_max", "bytes", "most that ever waited, all classes together", false, port_queue_max),
    PUT("queue_bytes", "bytes", "what waited when the run ended", false, port_queue_now),
    PUT("utilisation", "", "share of the link's time that its frames took, preamble to gap, from rates.from_ps to rates.until_ps of summary.json", false, port_utilisation),
    PUT("discards", "packets", "frames dropped at the port, for any reason", false, port_discards),
    FIELD("discarded_bytes", "bytes", "of them", net_port_t, dropped_bytes),
    CLASS_FIELD("queue_prio%u_bytes_max", "bytes", "most that ever waited of the class", net_port_t, classes, classes[0].bytes_max),
    CLASS_FIELD("tx_prio%u_packets", "packets", "frames of the class sent", net_port_t, classes, classes[0].tx_packets),
    CLASS_FIELD("tx_prio%u_bytes", "bytes", "of them", net_port_t, classes, classes[0].tx_bytes),
    CLASS_FIELD("rx_prio%u_packets", "packets", "frames of the class received", net_port_t, received, received[0].packets),
    CLASS_FIELD("rx_prio%u_bytes", "bytes", "of them", net_port_t, received, received[0].bytes),
    CLASS_FIELD("tx_prio%u_pause", "frames", "PFC frames sent that stop the class", net_port_t, pauses, pauses[0].tx_pause),
    CLASS_FIELD("rx_prio%u_pause", "frames", "PFC frames received that stop the class", net_port_t, pauses, pauses[0].rx_pause),
    CLASS_FIELD("tx_prio%u_resume", "frames", "PFC frames sent that release the class", net_port_t, pauses, pauses[0].tx_resume),
    CLASS_FIELD("rx_prio%u_resume", "frames", "PFC frames received that release the class", net_port_t, pauses, pauses[0].rx_resume),
    PUT("paused_prio%u_ns", "ns", "time the peer kept the class stopped", true, port_prio_paused),
    CLASS_FIELD("ecn_marked_prio%u", "packets", "packets of the class that got CE here", net_port_t, ecn_marked, ecn_marked[0]),
    CLASS_FIELD("ecn_marked_again_prio%u", "packets", "packets of the class that would have got CE here, but came with it", net_port_t, ecn_marked_again, ecn_marked_again[0]),
    CLASS_FIELD("pfcwd_detected_prio%u", "storms", "times the PFC watchdog found the class stopped for too long", net_port_t, watchdog, watchdog[0].detected),
    CLASS_FIELD("pfcwd_restored_prio%u", "storms", "times it found that over", net_port_t, watchdog, watchdog[0].restored),
    CLASS_FIELD("pfcwd_dropped_prio%u", "packets", "packets it dropped meanwhile", net_port_t, watchdog, watchdog[0].dropped),
};
const results_table_t results_port_table = {
    "ports.csv", "A row per port, by node, then by port number. Totals over the whole run.",
    port_columns, SIM_COUNT_OF(port_columns), port_object};
// clang-format on

// -- events.csv

static void event_time(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_ns(file, ((const results_event_row_t *)row)->time_ps);
}

static const char *event_text(const results_event_row_t *event)
{
    switch (event->point) {
    case NET_TRACE_DROP:
        return "drop";
    case NET_TRACE_PAUSED:
        return "paused";
    case NET_TRACE_RESUMED:
        return "resumed";
    case NET_TRACE_LINK:
        return event->detail != 0 ? "link_up" : "link_down";
    case NET_TRACE_FAULT:
        return event->detail >> 8 != 0 ? "fault_over" : "fault";
    case NET_TRACE_WATCHDOG:
        return event->detail >> 8 != 0 ? "storm_over" : "storm";
    case NET_TRACE_TX:
    case NET_TRACE_RX:
    case NET_TRACE_ENQUEUE:
    case NET_TRACE_MARK:
    case NET_TRACE_XOFF:
    case NET_TRACE_XON:
    case NET_TRACE_PFC:
    case NET_TRACE_RELEASE:
        break;
    }
    return "";
}

static void event_name(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_event_row_t *const event = row;
    results_file_put(file, event->cache != NULL ? event->cache : event_text(event));
}

static void event_port(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_event_row_t *const event = row;
    if (event->cache != NULL) {
        char *const name = sim_format("%s:%" PRIu32, event->nic->name, event->qp);
        results_file_put_csv(file, name);
        sim_free(name);
    } else {
        results_file_put_csv(file, net_port_name(event->port));
    }
}

static void event_priority(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_event_row_t *const event = row;
    if (event->cache != NULL) {
        return;
    }
    if (event->point == NET_TRACE_PAUSED || event->point == NET_TRACE_RESUMED) {
        results_file_put_u64(file, event->detail);
    } else if (event->point == NET_TRACE_WATCHDOG) {
        results_file_put_u64(file, event->detail & 0xff);
    } else if (event->has_packet) {
        results_file_put_u64(file, event->priority);
    }
}

static void event_reason(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_event_row_t *const event = row;
    if (event->cache != NULL) {
        return;
    }
    if (event->point == NET_TRACE_DROP) {
        results_file_put(file, net_drop_reason_name((net_drop_reason_t)event->detail));
    } else if (event->point == NET_TRACE_FAULT) {
        results_file_put(file, net_fault_name((net_fault_kind_t)(event->detail & 0xff)));
    } else if (event->root != NULL) {
        results_file_put_csv(file, results_pause_root_name(event->root));
    }
}

static void put_event_interface(results_file_t *file,
                                const results_event_row_t *event,
                                uint32_t interface)
{
    if (event->has_packet && interface < event->world->nic_count) {
        results_file_put_csv(file, world_interface_name(event->world, interface));
    }
}

static void event_src(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_event_interface(file, row, ((const results_event_row_t *)row)->source);
}

static void event_dst(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    put_event_interface(file, row, ((const results_event_row_t *)row)->destination);
}

static void event_bytes(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    const results_event_row_t *const event = row;
    if (event->has_packet) {
        results_file_put_u64(file, event->frame_bytes);
    }
}

// clang-format off
static const results_column_t event_columns[] = {
    PUT("time_ns", "ns", "when", false, event_time),
    PUT("event", "", "drop, paused, resumed, link_down, link_up; fault and fault_over (faults:); storm and storm_over (switch.pfc.watchdog); with outputs.cache-events what a tiered cache does: l2_hit, expand (of accesses), to_l1, to_l2, to_l3, write_back (of tokens)", false, event_name),
    PUT("port", "", "where; of a pause, the port that was stopped; of a cache NIC:QP", false, event_port),
    PUT("priority", "", "class of the pause or the packet", false, event_priority),
    PUT("reason", "", "of a drop; of a fault its kind; of paused: the port where the pauses began that led to it (pfc.roots of summary.json)", false, event_reason),
    PUT("src", "", "of the dropped packet", false, event_src),
    PUT("dst", "", "of the dropped packet", false, event_dst),
    PUT("frame_bytes", "bytes", "of the dropped packet", false, event_bytes),
};
const results_table_t results_event_table = {
    "events.csv",
    "A row per drop, pause, release and link change (and cache miss and move, where asked for), by time, then by node. At most `outputs.events-max` rows: "
    "`events_csv.left_out` in summary.json says how many there would have been beyond them.",
    event_columns, SIM_COUNT_OF(event_columns), NULL};
// clang-format on

// -- pauses.csv

static void pause_port(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, net_port_name(((const results_pause_row_t *)row)->port));
}

static void pause_priority(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, ((const results_pause_row_t *)row)->priority);
}

static void pause_from(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_ns(file, ((const results_pause_row_t *)row)->from_ps);
}

static void pause_to(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_ns(file, ((const results_pause_row_t *)row)->to_ps);
}

static void pause_stopped(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_ns(file, ((const results_pause_row_t *)row)->stopped_ps);
}

// clang-format off
static const results_column_t pause_columns[] = {
    PUT("port", "", "the port that was stopped", false, pause_port),
    PUT("priority", "", "the class", false, pause_priority),
    PUT("from_ns", "ns", "the bin begins", false, pause_from),
    PUT("to_ns", "ns", "and ends", false, pause_to),
    PUT("stopped_ns", "ns", "how much of it the class was stopped", false, pause_stopped),
};
const results_table_t results_pause_table = {
    "pauses.csv", "A row per port, class and bin of time in which PFC stopped it, by port, class and time: all pauses of a run, however many "
    "events.csv could hold. A run has at most 320 bins of one width, a power of two of microseconds.",
    pause_columns, SIM_COUNT_OF(pause_columns), NULL};
// clang-format on

// -- series.csv

static void series_time(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_ns(file, ((const results_series_row_t *)row)->time_ps);
}

static void series_path(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, ((const results_series_row_t *)row)->path);
}

static void series_value(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, ((const results_series_row_t *)row)->value);
}

// clang-format off
static const results_column_t series_columns[] = {
    PUT("time_ns", "ns", "of a sample: it shows what all earlier events left; on change: when, and it shows what the events of that instant left", false, series_time),
    PUT("path", "", "what is observed: port[leaf0->host5].queue_bytes", false, series_path),
    PUT("value", "", "in the unit of the metric (below)", false, series_value),
};
const results_table_t results_series_table = {
    "series.csv", "A row per sample of what `observe` asks for, or per change of it, by time, then by node. Only where it asks. At most "
    "`outputs.series-max` rows: `series_csv.left_out` in summary.json says how many there would have been beyond them.",
    series_columns, SIM_COUNT_OF(series_columns), NULL};
// clang-format on

const results_table_t *const results_tables[] = {&results_flow_table,
                                                 &results_port_table,
                                                 &results_event_table,
                                                 &results_pause_table,
                                                 &results_series_table,
                                                 NULL};

// -- writing

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_column_name(results_file_t *file, const results_column_t *column, unsigned priority)
{
    if (column->per_class) {
        results_file_print(file, column->name, priority);
    } else {
        results_file_put(file, column->name);
    }
}
#pragma GCC diagnostic pop

void results_table_put_header(const results_table_t *table, results_file_t *file)
{
    for (size_t i = 0; i < table->count; i++) {
        const unsigned repeats = table->columns[i].per_class ? NET_PRIORITIES : 1;
        for (unsigned p = 0; p < repeats; p++) {
            results_file_put(file, i + p > 0 ? "," : "");
            put_column_name(file, &table->columns[i], p);
        }
    }
    results_file_put(file, "\n");
}

// Of an unsigned integer of so many bytes.
static uint64_t field_of(const void *object, const results_column_t *column, unsigned priority)
{
    const char *const at = (const char *)object + column->offset + priority * column->stride;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (column->size) {
    case sizeof(one):
        memcpy(&one, at, sizeof(one));
        return one;
    case sizeof(two):
        memcpy(&two, at, sizeof(two));
        return two;
    case sizeof(four):
        memcpy(&four, at, sizeof(four));
        return four;
    default:
        SIM_CHECK(column->size == sizeof(eight));
        memcpy(&eight, at, sizeof(eight));
        return eight;
    }
}

static void put_column(results_file_t *file,
                       const results_table_t *table,
                       const results_column_t *column,
                       const void *row,
                       unsigned priority)
{
    if (column->put != NULL) {
        column->put(file, row, priority);
        return;
    }
    const void *const object = table->object != NULL ? table->object(row) : row;
    const uint64_t value = field_of(object, column, priority);
    if (!column->is_time) {
        results_file_put_u64(file, value);
    } else if (value != column->none_ps) {
        results_file_put_ns(file, value);
    }
}

void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const unsigned repeats = table->columns[i].per_class ? NET_PRIORITIES : 1;
        for (unsigned p = 0; p < repeats; p++) {
            results_file_put(file, i + p > 0 ? "," : "");
            put_column(file, table, &table->columns[i], row, p);
        }
    }
    results_file_put(file, "\n");
}

sim_err_t results_table_open(const results_table_t *table,
                             const char *folder,
                             results_file_t **file,
                             world_error_t *error)
{
    char *const path = sim_format("%s/%s", folder, table->file_name);
    const sim_err_t result = results_file_open(path, file, error);
    sim_free(path);
    if (result == SIM_OK) {
        results_table_put_header(table, *file);
    }
    return result;
}

typedef struct flow_writer {
    const world_t *world;
    results_file_t *file;
} flow_writer_t;

static void write_flow(const app_flow_result_t *flow, void *ctx)
{
    const flow_writer_t *const writer = ctx;
    const results_flow_row_t row = {writer->world, flow};
    results_table_put_row(&results_flow_table, writer->file, &row);
}

sim_err_t results_write_flows(const world_t *world, const char *folder, world_error_t *error)
{
    flow_writer_t writer = {world, NULL};
    const sim_err_t result = results_table_open(&results_flow_table, folder, &writer.file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < world->app_count; i++) {
        const app_t *const app = world->apps[i];
        if (app->ops->flows != NULL) {
            app->ops->flows(app, write_flow, &writer);
        }
    }
    return results_file_close(writer.file, error);
}

sim_err_t results_write_ports(const world_t *world,
                              const results_t *results,
                              const char *folder,
                              world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_port_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            const results_port_row_t row = {world,
                                            &node->ports[p],
                                            results->sim_time_ps,
                                            results->span};
            results_table_put_row(&results_port_table, file, &row);
        }
    }
    return results_file_close(file, error);
}
