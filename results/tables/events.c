// SPDX-License-Identifier: Apache-2.0
// results/tables/events.c - the columns of what comes over time: events.csv, pauses.csv,
// series.csv.
#include "net/faults.h"
#include "net/ports.h"
#include "results/tables/columns.h"
#include "results/tables/event_rows.h"
#include "results/tables/tables.h"
#include "results/totals/pause_roots.h"
#include "world/names.h"

// -- events.csv

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
    case NET_TRACE_TRIM:
    case NET_TRACE_RELEASE:
        break;
    }
    return "";
}

static void event_name(results_file_t *file, const void *row)
{
    const results_event_row_t *const event = row;
    results_file_put(file, event->cache != NULL ? event->cache : event_text(event));
}

static void event_port(results_file_t *file, const void *row)
{
    const results_event_row_t *const event = row;
    if (event->cache != NULL) {
        char *const name = sim_format("%s:%" PRIu32, event->nic->name, event->qp);
        results_file_put_csv(file, name);
        sim_free(name);
    } else {
        results_file_put_csv(file, net_port_name(event->port));
    }
}

static void event_priority(results_file_t *file, const void *row)
{
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

static void event_reason(results_file_t *file, const void *row)
{
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

static void put_event_interface(results_file_t *file, const results_event_row_t *event,
                                uint32_t interface)
{
    if (event->has_packet && interface < event->world->nic_count) {
        results_file_put_csv(file, world_interface_name(event->world, interface));
    }
}

static void event_src(results_file_t *file, const void *row)
{
    put_event_interface(file, row, ((const results_event_row_t *)row)->source);
}

static void event_dst(results_file_t *file, const void *row)
{
    put_event_interface(file, row, ((const results_event_row_t *)row)->destination);
}

static void event_bytes(results_file_t *file, const void *row)
{
    const results_event_row_t *const event = row;
    if (event->has_packet) {
        results_file_put_u64(file, event->frame_bytes);
    }
}

// clang-format off
static const results_column_t event_columns[] = {
    TIME("time_ns", "simulated time of the event", results_event_row_t, time_ps, SIM_TIME_NEVER),
    MADE("event", "", "drop, paused, resumed, link_down, link_up; fault and fault_over (faults:); storm and storm_over (switch.pfc.watchdog); with outputs.cache-events what a tiered cache does: l2_hit, expand (of accesses), to_l1, to_l2, to_l3, write_back (of tokens), and denied_pd, denied_mr, denied_cq, denied_qp, denied_srq, denied_mtt, a context that the IOMMU kept from the NIC", event_name),
    MADE("port", "", "port of the event; paused, resumed: the port that was stopped; events of a cache: NIC:QP", event_port),
    MADE("priority", "", "class of the pause or the packet", event_priority),
    MADE("reason", "", "number of drop: its reason; fault: its kind; paused: the port where the chain of pauses began (pfc.roots of summary.json)", event_reason),
    MADE("src", "", "host that sent the dropped packet", event_src),
    MADE("dst", "", "host to which the dropped packet was sent", event_dst),
    MADE("frame_bytes", "bytes", "frame bytes of the dropped packet", event_bytes),
};
const results_table_t results_event_table = {
    "events.csv",
    "A row per drop, pause, release and link change (and cache miss and move, where asked for), by time, then by node. At most `outputs.events-max` rows: "
    "`events_csv.left_out` in summary.json says how many there would have been beyond them.",
    event_columns, SIM_COUNT_OF(event_columns), NULL, NULL};
// clang-format on

// -- pauses.csv

// clang-format off
static const results_column_t pause_columns[] = {
    PORT_NAME("port", "", "port that its peer stopped", results_pause_row_t, port),
    WHOLE("priority", "", "class that was stopped, 0 to 7", results_pause_row_t, priority),
    TIME("from_ns", "simulated time at which the bin begins", results_pause_row_t, from_ps, SIM_TIME_NEVER),
    TIME("to_ns", "simulated time at which the bin ends", results_pause_row_t, to_ps, SIM_TIME_NEVER),
    TIME("stopped_ns", "time within the bin during which the class was stopped", results_pause_row_t, stopped_ps, SIM_TIME_NEVER),
};
const results_table_t results_pause_table = {
    "pauses.csv", "A row per port, class and bin of time in which PFC stopped it, by port, class and time: all pauses of a run, however many "
    "events.csv could hold. A run has at most 320 bins of one width, a power of two of microseconds.",
    pause_columns, SIM_COUNT_OF(pause_columns), NULL, NULL};
// clang-format on

// -- series.csv

// clang-format off
static const results_column_t series_columns[] = {
    TIME("time_ns", "simulated time; a sample shows the value before the events of that time, a row on change the value after them", results_series_row_t, time_ps, SIM_TIME_NEVER),
    TEXT("path", "", "path of the metric: port[leaf0->host5].queue_bytes", results_series_row_t, path),
    WHOLE("value", "", "value in the unit of the metric (below)", results_series_row_t, value),
};
const results_table_t results_series_table = {
    "series.csv", "A row per sample of what `observe` asks for, or per change of it, by time, then by node. Only where it asks. At most "
    "`outputs.series-max` rows: `series_csv.left_out` in summary.json says how many there would have been beyond them.",
    series_columns, SIM_COUNT_OF(series_columns), NULL, NULL};
// clang-format on
