// SPDX-License-Identifier: Apache-2.0
// results/run/pause_bins.c - all rows have bins of one width. When time goes beyond the last bin,
// each two bins become one.
#include "results/run/pause_bins.h"
#include "results/tables/tables.h"

#include "net/ports.h"
#include "results/tables/event_rows.h"

#include <string.h>

#define FIRST_WIDTH_PS SIM_PS_PER_US

// A class of a port that was stopped at least once.
typedef struct stopped {
    sim_time_t since_ps;
    bool open;
    sim_time_t bins_ps[RESULTS_PAUSE_BINS];
} stopped_t;

struct results_pause_bins {
    const net_t *net;
    sim_time_t width_ps;
    sim_time_t end_ps;
    size_t *first_port; // of each node, in classes
    size_t port_count;
    stopped_t **classes; // NET_PRIORITIES of each port; NULL: never stopped
};

results_pause_bins_t *results_pause_bins_create(const net_t *net)
{
    results_pause_bins_t *const made = sim_alloc(sizeof(*made));
    made->net = net;
    made->width_ps = FIRST_WIDTH_PS;
    made->first_port = sim_alloc_array(net_node_count(net) + 1, sizeof(*made->first_port));
    for (size_t i = 0; i < net_node_count(net); i++) {
        made->first_port[i] = made->port_count;
        made->port_count += net_ports_of(net, i);
    }
    made->classes = sim_alloc_array(made->port_count * NET_PRIORITIES + 1, sizeof(*made->classes));
    return made;
}

void results_pause_bins_destroy(results_pause_bins_t *bins)
{
    if (bins == NULL) {
        return;
    }
    for (size_t i = 0; i < bins->port_count * NET_PRIORITIES; i++) {
        sim_free(bins->classes[i]);
    }
    SIM_FREE_ALL(bins->classes, bins->first_port, bins);
}

static void widen(results_pause_bins_t *bins, sim_time_t until_ps)
{
    while (until_ps > bins->width_ps * RESULTS_PAUSE_BINS) {
        bins->width_ps *= 2;
        for (size_t i = 0; i < bins->port_count * NET_PRIORITIES; i++) {
            stopped_t *const stopped = bins->classes[i];
            for (size_t b = 0; stopped != NULL && b < RESULTS_PAUSE_BINS; b++) {
                const bool there = 2 * b + 1 < RESULTS_PAUSE_BINS;
                stopped->bins_ps[b] =
                    there ? stopped->bins_ps[2 * b] + stopped->bins_ps[2 * b + 1] : 0;
            }
        }
    }
}

static void close_pause(results_pause_bins_t *bins, stopped_t *stopped, sim_time_t time_ps)
{
    stopped->open = false;
    widen(bins, time_ps);
    for (sim_time_t from_ps = stopped->since_ps; from_ps < time_ps;) {
        const size_t bin = (size_t)(from_ps / bins->width_ps);
        const sim_time_t border_ps = (bin + 1) * bins->width_ps;
        const sim_time_t to_ps = SIM_MIN(border_ps, time_ps);
        stopped->bins_ps[bin] += to_ps - from_ps;
        from_ps = to_ps;
    }
}

void results_pause_bins_take(results_pause_bins_t *bins, sim_time_t time_ps, const net_port_t *port,
                             uint32_t priority, bool paused)
{
    const size_t at = bins->first_port[port->node->sim.index] + port->index;
    stopped_t **const slot = &bins->classes[at * NET_PRIORITIES + priority % NET_PRIORITIES];
    if (*slot == NULL) {
        *slot = sim_alloc(sizeof(**slot));
    }
    SIM_CHECK(at < bins->port_count && priority < NET_PRIORITIES);
    SIM_CHECK((*slot)->since_ps <= time_ps);
    if ((*slot)->open) {
        close_pause(bins, *slot, time_ps);
    }
    (*slot)->open = paused;
    (*slot)->since_ps = time_ps;
}

void results_pause_bins_end(results_pause_bins_t *bins, sim_time_t end_ps)
{
    bins->end_ps = end_ps;
    for (size_t i = 0; i < bins->port_count * NET_PRIORITIES; i++) {
        if (bins->classes[i] != NULL && bins->classes[i]->open) {
            close_pause(bins, bins->classes[i], end_ps);
        }
    }
}

static void write_class(const results_pause_bins_t *bins, results_file_t *file,
                        const stopped_t *stopped, const net_port_t *port, uint32_t priority)
{
    for (size_t b = 0; b < RESULTS_PAUSE_BINS; b++) {
        SIM_CHECK(stopped->bins_ps[b] <= bins->width_ps);
        if (stopped->bins_ps[b] > 0) {
            const sim_time_t to_ps = (b + 1) * bins->width_ps;
            const results_pause_row_t row = {
                .port = port,
                .priority = priority,
                .from_ps = b * bins->width_ps,
                .to_ps = SIM_MIN(to_ps, bins->end_ps),
                .stopped_ps = stopped->bins_ps[b],
            };
            results_table_put_row(&results_pause_table, file, &row);
        }
    }
}

sim_err_t results_pause_bins_write(const results_pause_bins_t *bins, const char *folder,
                                   world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_table_open(&results_pause_table, folder, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    for (size_t i = 0; i < net_node_count(bins->net); i++) {
        // Hosts and ports of other ranks are made only if a pause stopped them.
        const size_t first = bins->first_port[i] * NET_PRIORITIES;
        const size_t count = (size_t)net_ports_of(bins->net, i) * NET_PRIORITIES;
        for (uint32_t c = 0; c < count; c++) {
            const stopped_t *const stopped = bins->classes[first + c];
            if (stopped != NULL) {
                const net_node_t *const node = net_node_at(bins->net, i);
                const net_port_t *const port = net_port_at(node, c / NET_PRIORITIES);
                write_class(bins, file, stopped, port, c % NET_PRIORITIES);
            }
        }
    }
    return results_file_close(file, error);
}
