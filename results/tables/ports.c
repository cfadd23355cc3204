// SPDX-License-Identifier: Apache-2.0
// results/tables/ports.c - the columns of ports.csv.
#include "results/span.h"
#include "results/tables/columns.h"
#include "results/tables/end_rows.h"
#include "results/tables/tables.h"

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
    results_file_put_csv(file, ((const results_port_row_t *)row)->name);
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

// clang-format off
static const results_column_t port_columns[] = {
    MADE("port", "", "the transmitting end of a link: NODE->PEER, with #N where they have several",
         port_name),
    APART_WHOLE("rate_bps", "bit/s", "rate of the link", line, net_line_t, rate_bps),
    COUNTERS("traffic"),
    MADE("queue_bytes_max", "bytes", "maximum number of frame bytes that waited at the port, all "
                                     "classes together",
         port_queue_max),
    MADE("queue_bytes", "bytes", "frame bytes that waited at the port when the run ended",
         port_queue_now),
    MADE("utilisation", "",
         "share of the link's time that the port's frames took, preamble to gap, from "
         "rates.from_ps to rates.until_ps of summary.json",
         port_utilisation),
    COUNTERS("drops"),
    COUNTERS("credits"),
    APART_CLASSES("queue_prio%u_bytes_max", "bytes",
                  "maximum number of frame bytes of the class that waited at the port", classes,
                  net_class_t, bytes_max),
    CLASS_COUNTERS("traffic"),
    CLASS_COUNTERS("pfc"),
    CLASS_COUNTERS("ecn"),
    CLASS_COUNTERS("watchdog"),
};
const results_table_t results_port_table = {
    "ports.csv", "A row per port, by node, then by port number. Totals over the whole run.",
    port_columns, SIM_COUNT_OF(port_columns), port_object, port_idle};
// clang-format on
