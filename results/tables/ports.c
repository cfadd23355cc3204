// SPDX-License-Identifier: Apache-2.0
// results/tables/ports.c - the columns of ports.csv.
#include "results/columns.h"

#define PORT(row) (((const results_port_row_t *)(row))->port)
static const void *port_object(const void *row)
{
    return PORT(row);
}

static bool port_idle(const void *row)
{
    return net_port_untouched(PORT(row));
}

static void port_name(results_file_t *file, const void *row)
{
    results_file_put_csv(file, net_port_name(PORT(row)));
}

static void port_queue_max(results_file_t *file, const void *row)
{
    results_file_put_u64(file, net_port_queue_bytes_max(PORT(row)));
}

static void port_queue_now(results_file_t *file, const void *row)
{
    results_file_put_u64(file, net_port_queue_bytes(PORT(row)));
}

static void port_utilisation(results_file_t *file, const void *row)
{
    const results_port_row_t *const port = row;
    results_file_print(file, "%.6f", results_span_utilisation(port->span, port->port));
}

static void port_discards(results_file_t *file, const void *row)
{
    uint64_t sum = 0;
    for (unsigned r = 0; r < NET_DROP_REASON_COUNT; r++) {
        sum += PORT(row)->drops[r];
    }
    results_file_put_u64(file, sum);
}

static void port_discarded(results_file_t *file, const void *row)
{
    results_file_put_u64(file, PORT(row)->rare->dropped_bytes);
}

static void port_prio_paused(results_file_t *file, const void *row, unsigned priority)
{
    const results_port_row_t *const port = row;
    results_file_put_ns(file, results_port_paused_ps(port->port, priority, port->end_ps));
}

// clang-format off
static const results_column_t port_columns[] = {
    MADE("port", "", "the transmitting end of a link: NODE->PEER, with #N where they have several", port_name),
    WHOLE("rate_bps", "bit/s", "rate of the link", net_port_t, rate_bps),
    METRIC("tx_packets", "packets", "frames sent, all classes, PFC frames too"),
    METRIC("tx_bytes", "bytes", "of them, without preamble, FCS and gap"),
    METRIC("rx_packets", "packets", "frames received"),
    METRIC("rx_bytes", "bytes", "of them"),
    MADE("queue_bytes_max", "bytes", "most that ever waited, all classes together", port_queue_max),
    MADE("queue_bytes", "bytes", "what waited when the run ended", port_queue_now),
    MADE("utilisation", "", "share of the link's time that its frames took, preamble to gap, from rates.from_ps to rates.until_ps of summary.json", port_utilisation),
    MADE("discards", "packets", "frames dropped at the port, for any reason", port_discards),
    MADE("discarded_bytes", "bytes", "of them", port_discarded),
    APART_WHOLE("queue_prio%u_bytes_max", "bytes", "most that ever waited of the class", classes, net_class_t, bytes_max),
    APART_WHOLE("tx_prio%u_packets", "packets", "frames of the class sent", classes, net_class_t, tx_packets),
    APART_WHOLE("tx_prio%u_bytes", "bytes", "of them", classes, net_class_t, tx_bytes),
    APART_WHOLE("rx_prio%u_packets", "packets", "frames of the class received", received, net_received_t, packets),
    APART_WHOLE("rx_prio%u_bytes", "bytes", "of them", received, net_received_t, bytes),
    RARE_WHOLE("tx_prio%u_pause", "frames", "PFC frames sent that stop the class", pauses, pauses[0].tx_pause),
    RARE_WHOLE("rx_prio%u_pause", "frames", "PFC frames received that stop the class", pauses, pauses[0].rx_pause),
    RARE_WHOLE("tx_prio%u_resume", "frames", "PFC frames sent that release the class", pauses, pauses[0].tx_resume),
    RARE_WHOLE("rx_prio%u_resume", "frames", "PFC frames received that release the class", pauses, pauses[0].rx_resume),
    CLASS_MADE("paused_prio%u_ns", "ns", "time the peer kept the class stopped", port_prio_paused),
    RARE_WHOLE("ecn_marked_prio%u", "packets", "packets of the class that got CE here", ecn_marked, ecn_marked[0]),
    RARE_WHOLE("ecn_marked_again_prio%u", "packets", "packets of the class that would have got CE here, but came with it", ecn_marked_again, ecn_marked_again[0]),
    RARE_WHOLE("pfcwd_detected_prio%u", "storms", "times the PFC watchdog found the class stopped for too long", watchdog, watchdog[0].detected),
    RARE_WHOLE("pfcwd_restored_prio%u", "storms", "times it found that over", watchdog, watchdog[0].restored),
    RARE_WHOLE("pfcwd_dropped_prio%u", "packets", "packets it dropped meanwhile", watchdog, watchdog[0].dropped),
};
const results_table_t results_port_table = {
    "ports.csv", "A row per port, by node, then by port number. Totals over the whole run.",
    port_columns, SIM_COUNT_OF(port_columns), port_object, port_idle};
// clang-format on
