// SPDX-License-Identifier: Apache-2.0
// results/tables.c - the columns of flows.csv, ports.csv, events.csv and series.csv.
#include "results/tables.h"

#include "net/faults.h"

#include <string.h>

// -- flows.csv

#define FLOW(row) (((const results_flow_row_t *)(row))->flow)

static bool finished(const app_flow_result_t *flow)
{
    return flow->end_ps != SIM_TIME_NEVER;
}

static void flow_id(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, FLOW(row)->flow_id);
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

static void flow_src_port(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, FLOW(row)->udp_source_port);
}

static void flow_bytes(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, FLOW(row)->bytes);
}

static void flow_start(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (FLOW(row)->start_ps != SIM_TIME_NEVER) {
        results_file_put_ns(file, FLOW(row)->start_ps);
    }
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

static void flow_ideal(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (FLOW(row)->ideal_ps != SIM_TIME_NEVER) {
        results_file_put_ns(file, FLOW(row)->ideal_ps);
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

static void flow_retransmitted(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, FLOW(row)->retransmitted_packets);
}

static void flow_app(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, FLOW(row)->label);
}

static void flow_priority(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, FLOW(row)->priority);
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

static void flow_failed(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    if (FLOW(row)->failed_ps > 0) {
        results_file_put_ns(file, FLOW(row)->failed_ps);
    }
}

// clang-format off
static const results_column_t flow_columns[] = {
    {"flow_id", "", "number of the flow, unique in the run", false, flow_id},
    {"src", "", "host (or HOST/nicN) that sends", false, flow_src},
    {"dst", "", "host that receives", false, flow_dst},
    {"src_port", "", "UDP source port of its packets", false, flow_src_port},
    {"bytes", "bytes", "payload the flow carries", false, flow_bytes},
    {"start_ns", "ns", "when it was posted", false, flow_start},
    {"end_ns", "ns", "when the sender knew the last byte to be delivered; empty: unfinished or failed", false, flow_end},
    {"fct_ns", "ns", "flow completion time: end_ns - start_ns; empty: unfinished or failed", false, flow_fct},
    {"ideal_fct_ns", "ns", "completion time with the network to itself, by closed form; empty: none, or longer than 106 days", false, flow_ideal},
    {"slowdown", "", "fct_ns / ideal_fct_ns, rounded down to millionths; empty: unfinished or failed", false, flow_slowdown},
    {"retransmitted_packets", "packets", "data packets sent again", false, flow_retransmitted},
    {"app", "", "traffic that made it: poisson, incast...", false, flow_app},
    {"priority", "", "class of its data packets, 0 to 7", false, flow_priority},
    {"delivered_bytes", "bytes", "payload that the sender knew to be delivered at the end of the run; empty: failed", false, flow_delivered},
    {"failed_ns", "ns", "when it failed; empty: it has not", false, flow_failed},
    {"status", "", "success, unfinished, or the completion error it failed with", false, flow_status},
};
const results_table_t results_flow_table = {
    "flows.csv", "A row per flow, by traffic entry, then by start. Written unless `outputs: {flows: false}`.",
    flow_columns, SIM_COUNT_OF(flow_columns)};
// clang-format on

// -- ports.csv

#define PORT(row) (((const results_port_row_t *)(row))->port)

static void port_name(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_csv(file, net_port_name(PORT(row)));
}

static void port_rate(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, PORT(row)->rate_bps);
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

static void port_prio_queue_max(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->classes[priority].bytes_max);
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

static void port_discarded_bytes(results_file_t *file, const void *row, unsigned priority)
{
    (void)priority;
    results_file_put_u64(file, PORT(row)->dropped_bytes);
}

static void port_prio_tx_packets(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->classes[priority].tx_packets);
}

static void port_prio_tx_bytes(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->classes[priority].tx_bytes);
}

static void port_prio_rx_packets(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->received[priority].packets);
}

static void port_prio_rx_bytes(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->received[priority].bytes);
}

static void port_prio_tx_pause(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->pauses[priority].tx_pause);
}

static void port_prio_rx_pause(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->pauses[priority].rx_pause);
}

static void port_prio_tx_resume(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->pauses[priority].tx_resume);
}

static void port_prio_rx_resume(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->pauses[priority].rx_resume);
}

static void port_prio_paused(results_file_t *file, const void *row, unsigned priority)
{
    const results_port_row_t *const port = row;
    results_file_put_ns(file, results_port_paused_ps(port->port, priority, port->end_ps));
}

static void port_prio_marked(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->ecn_marked[priority]);
}

static void port_prio_storms(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->watchdog[priority].detected);
}

static void port_prio_storms_over(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->watchdog[priority].restored);
}

static void port_prio_storm_drops(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->watchdog[priority].dropped);
}

static void port_prio_marked_again(results_file_t *file, const void *row, unsigned priority)
{
    results_file_put_u64(file, PORT(row)->ecn_marked_again[priority]);
}

// clang-format off
static const results_column_t port_columns[] = {
    {"port", "", "the transmitting end of a link: NODE->PEER, with #N where they have several", false, port_name},
    {"rate_bps", "bit/s", "rate of the link", false, port_rate},
    {"tx_packets", "packets", "frames sent, all classes, PFC frames too", false, port_tx_packets},
    {"tx_bytes", "bytes", "of them, without preamble, FCS and gap", false, port_tx_bytes},
    {"rx_packets", "packets", "frames received", false, port_rx_packets},
    {"rx_bytes", "bytes", "of them", false, port_rx_bytes},
    {"queue_bytes_max", "bytes", "most that ever waited, all classes together", false, port_queue_max},
    {"queue_bytes", "bytes", "what waited when the run ended", false, port_queue_now},
    {"utilisation", "", "share of the link's time that its frames took, preamble to gap, from rates.from_ps to rates.until_ps of summary.json", false, port_utilisation},
    {"discards", "packets", "frames dropped at the port, for any reason", false, port_discards},
    {"discarded_bytes", "bytes", "of them", false, port_discarded_bytes},
    {"queue_prio%u_bytes_max", "bytes", "most that ever waited of the class", true, port_prio_queue_max},
    {"tx_prio%u_packets", "packets", "frames of the class sent", true, port_prio_tx_packets},
    {"tx_prio%u_bytes", "bytes", "of them", true, port_prio_tx_bytes},
    {"rx_prio%u_packets", "packets", "frames of the class received", true, port_prio_rx_packets},
    {"rx_prio%u_bytes", "bytes", "of them", true, port_prio_rx_bytes},
    {"tx_prio%u_pause", "frames", "PFC frames sent that stop the class", true, port_prio_tx_pause},
    {"rx_prio%u_pause", "frames", "PFC frames received that stop the class", true, port_prio_rx_pause},
    {"tx_prio%u_resume", "frames", "PFC frames sent that release the class", true, port_prio_tx_resume},
    {"rx_prio%u_resume", "frames", "PFC frames received that release the class", true, port_prio_rx_resume},
    {"paused_prio%u_ns", "ns", "time the peer kept the class stopped", true, port_prio_paused},
    {"ecn_marked_prio%u", "packets", "packets of the class that got CE here", true, port_prio_marked},
    {"ecn_marked_again_prio%u", "packets", "packets of the class that would have got CE here, but came with it", true, port_prio_marked_again},
    {"pfcwd_detected_prio%u", "storms", "times the PFC watchdog found the class stopped for too long", true, port_prio_storms},
    {"pfcwd_restored_prio%u", "storms", "times it found that over", true, port_prio_storms_over},
    {"pfcwd_dropped_prio%u", "packets", "packets it dropped meanwhile", true, port_prio_storm_drops},
};
const results_table_t results_port_table = {
    "ports.csv", "A row per port, by node, then by port number. Totals over the whole run.",
    port_columns, SIM_COUNT_OF(port_columns)};
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
    {"time_ns", "ns", "when", false, event_time},
    {"event", "", "drop, paused, resumed, link_down, link_up; fault and fault_over (faults:); storm and storm_over (switch.pfc.watchdog); with outputs.cache-events what a tiered cache does: l2_hit, expand (of accesses), to_l1, to_l2, to_l3, write_back (of tokens)", false, event_name},
    {"port", "", "where; of a pause, the port that was stopped; of a cache NIC:QP", false, event_port},
    {"priority", "", "class of the pause or the packet", false, event_priority},
    {"reason", "", "of a drop; of a fault its kind; of paused: the port where the pauses began that led to it (pfc.roots of summary.json)", false, event_reason},
    {"src", "", "of the dropped packet", false, event_src},
    {"dst", "", "of the dropped packet", false, event_dst},
    {"frame_bytes", "bytes", "of the dropped packet", false, event_bytes},
};
const results_table_t results_event_table = {
    "events.csv",
    "A row per drop, pause, release and link change (and cache miss and move, where asked for), by time, then by node. At most `outputs.events-max` rows: "
    "`events_csv.left_out` in summary.json says how many there would have been beyond them.",
    event_columns, SIM_COUNT_OF(event_columns)};
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
    {"port", "", "the port that was stopped", false, pause_port},
    {"priority", "", "the class", false, pause_priority},
    {"from_ns", "ns", "the bin begins", false, pause_from},
    {"to_ns", "ns", "and ends", false, pause_to},
    {"stopped_ns", "ns", "how much of it the class was stopped", false, pause_stopped},
};
const results_table_t results_pause_table = {
    "pauses.csv", "A row per port, class and bin of time in which PFC stopped it, by port, class and time: all pauses of a run, however many "
    "events.csv could hold. A run has at most 320 bins of one width, a power of two of microseconds.",
    pause_columns, SIM_COUNT_OF(pause_columns)};
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
    {"time_ns", "ns", "of a sample: it shows what all earlier events left; on change: when, and it shows what the events of that instant left", false, series_time},
    {"path", "", "what is observed: port[leaf0->host5].queue_bytes", false, series_path},
    {"value", "", "in the unit of the metric (below)", false, series_value},
};
const results_table_t results_series_table = {
    "series.csv", "A row per sample of what `observe` asks for, or per change of it, by time, then by node. Only where it asks. At most "
    "`outputs.series-max` rows: `series_csv.left_out` in summary.json says how many there would have been beyond them.",
    series_columns, SIM_COUNT_OF(series_columns)};
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

void results_table_put_row(const results_table_t *table, results_file_t *file, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const unsigned repeats = table->columns[i].per_class ? NET_PRIORITIES : 1;
        for (unsigned p = 0; p < repeats; p++) {
            results_file_put(file, i + p > 0 ? "," : "");
            table->columns[i].put(file, row, p);
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
