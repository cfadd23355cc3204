// SPDX-License-Identifier: Apache-2.0
// cli/plot_load.c - how busy each link was over the run, as a map: a row per bundle of links, a
// cell per link and direction.
//
// A bundle is what a reader looks for in a fabric: from one node to all peers of a kind ("leaf0 ->
// spine*"), or, where a node has only one such link, from all nodes of its kind to that peer
// ("host* -> leaf0"). Kinds are names without their number. Rows and cells come in the order of
// ports.csv.
#include "cli/plot.h"

#include "cli/csv.h"
#include "net/port.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 64u
#define NUMBERED_MAX 160u // cells with their number in them, at most

typedef struct port {
    char *node;
    char *peer; // without the number of parallel links
    double load;
    size_t row;
} port_t;

typedef struct row {
    char *label;
    size_t count;
    double most;
    size_t place; // in the figure, from 1; 0: not shown
} row_t;

typedef struct map {
    port_t *ports;
    size_t port_count;
    size_t port_capacity;
    row_t *rows;
    size_t row_count;
    size_t row_capacity;
    size_t shown;
    size_t columns;
} map_t;

static size_t stem_size(const char *name)
{
    size_t size = strlen(name);
    while (size > 1 && name[size - 1] >= '0' && name[size - 1] <= '9') {
        size--;
    }
    return size;
}

static bool same_stem(const char *a, const char *b)
{
    const size_t size = stem_size(a);
    return size == stem_size(b) && memcmp(a, b, size) == 0;
}

static sim_err_t read_ports(cli_csv_t *csv, sim_time_t end_ps, map_t *map, cli_error_t *error)
{
    for (;;) {
        bool end = false;
        sim_err_t result = cli_csv_next(csv, &end, error);
        if (result != SIM_OK || end) {
            return result;
        }
        uint64_t numbers[3] = {0}; // rate, packets, bytes
        for (size_t i = 0; i < SIM_COUNT_OF(numbers) && result == SIM_OK; i++) {
            result = cli_csv_number(csv, i + 1, 1, &numbers[i], error);
        }
        if (result != SIM_OK) {
            return result;
        }
        const char *const name = cli_csv_text(csv, 0);
        const char *const arrow = strstr(name, "->");
        if (arrow == NULL || numbers[0] == 0) {
            continue;
        }
        const double bytes =
            (double)numbers[2] + (double)NET_LINK_OVERHEAD_BYTES * (double)numbers[1];
        const double could = (double)numbers[0] / 8 * ((double)end_ps / (double)SIM_PS_PER_S);
        SIM_GROW(map->ports, map->port_count, &map->port_capacity);
        map->ports[map->port_count++] = (port_t){
            .node = sim_format("%.*s", (int)(arrow - name), name),
            .peer = sim_format("%.*s", (int)strcspn(arrow + 2, "#"), arrow + 2),
            .load = could > 0 ? bytes / could : 0,
        };
    }
}

static sim_err_t load(const cli_plot_run_t *run, map_t *map, cli_error_t *error)
{
    static const char *const names[] = {"port", "rate_bps", "tx_packets", "tx_bytes"};
    char *const path = sim_format("%s/ports.csv", run->folder);
    cli_csv_t *csv = NULL;
    sim_err_t result = cli_csv_open(path, names, SIM_COUNT_OF(names), &csv, error);
    sim_free(path);
    if (result == SIM_ERR_IO) {
        return SIM_OK;
    }
    if (result == SIM_OK) {
        result = read_ports(csv, run->end_ps, map, error);
        cli_csv_close(csv);
    }
    return result;
}

static void map_fini(map_t *map)
{
    for (size_t i = 0; i < map->port_count; i++) {
        sim_free(map->ports[i].node);
        sim_free(map->ports[i].peer);
    }
    for (size_t i = 0; i < map->row_count; i++) {
        sim_free(map->rows[i].label);
    }
    sim_free(map->ports);
    sim_free(map->rows);
}

// -- rows

// Whether the node has several links to nodes of the peer's kind; its ports stand together.
static bool has_siblings(const map_t *map, size_t index)
{
    const port_t *const port = &map->ports[index];
    size_t first = index;
    while (first > 0 && strcmp(map->ports[first - 1].node, port->node) == 0) {
        first--;
    }
    for (size_t i = first; i < map->port_count && strcmp(map->ports[i].node, port->node) == 0;
         i++) {
        if (i != index && same_stem(map->ports[i].peer, port->peer)) {
            return true;
        }
    }
    return false;
}

static void find_rows(map_t *map)
{
    for (size_t i = 0; i < map->port_count; i++) {
        port_t *const port = &map->ports[i];
        char *const label =
            has_siblings(map, i)
                ? sim_format("%s → %.*s*", port->node, (int)stem_size(port->peer), port->peer)
                : sim_format("%.*s* → %s", (int)stem_size(port->node), port->node, port->peer);
        size_t r = map->row_count;
        while (r > 0 && strcmp(map->rows[r - 1].label, label) != 0) {
            r--;
        }
        if (r == 0) {
            SIM_GROW(map->rows, map->row_count, &map->row_capacity);
            map->rows[map->row_count++] = (row_t){.label = label};
            r = map->row_count;
        } else {
            sim_free(label);
        }
        row_t *const row = &map->rows[r - 1];
        port->row = r - 1;
        row->count++;
        row->most = port->load > row->most ? port->load : row->most;
    }
}

// The busiest rows, where there are too many, in their order.
static void choose_rows(map_t *map)
{
    const size_t wanted = map->row_count < ROWS_MAX ? map->row_count : ROWS_MAX;
    for (size_t n = 0; n < wanted; n++) {
        row_t *best = NULL;
        for (size_t r = 0; r < map->row_count; r++) {
            row_t *const row = &map->rows[r];
            if (row->place == 0 && (best == NULL || row->most > best->most)) {
                best = row;
            }
        }
        SIM_CHECK(best != NULL);
        best->place = 1;
    }
    for (size_t r = 0; r < map->row_count; r++) {
        row_t *const row = &map->rows[r];
        if (row->place != 0) {
            row->place = ++map->shown;
            map->columns = row->count > map->columns ? row->count : map->columns;
        }
    }
}

// -- the script

static void draw_map(FILE *script, map_t *map, size_t run, size_t columns, bool numbered)
{
    size_t *const next = sim_alloc_array(map->row_count + 1, sizeof(*next));
    fprintf(script, "$run%zu << EOD\n", run);
    for (size_t i = 0; i < map->port_count; i++) {
        const port_t *const port = &map->ports[i];
        const row_t *const row = &map->rows[port->row];
        if (row->place != 0) {
            fprintf(script, "%zu %zu %.4g\n", ++next[port->row], row->place, port->load * 100);
        }
    }
    sim_free(next);
    fputs("EOD\nset ytics (", script);
    const char *separator = "";
    for (size_t r = 0; r < map->row_count; r++) {
        if (map->rows[r].place != 0) {
            fputs(separator, script);
            cli_figure_quote_tic(script, map->rows[r].label);
            fprintf(script, " %zu", map->rows[r].place);
            separator = ", ";
        }
    }
    fprintf(script,
            ")\nset yrange [%zu.5:0.5]\nset xrange [0.4:%zu.6]\n"
            "plot $run%zu using 1:2:($1-0.46):($1+0.46):($2-0.42):($2+0.42):3 with boxxyerror "
            "fillstyle solid 1.0 noborder linecolor palette notitle",
            map->shown,
            columns,
            run);
    if (numbered) {
        for (unsigned dark = 0; dark < 2; dark++) {
            fprintf(script,
                    ", $run%zu using 1:2:($3 %s 55 ? sprintf('%%.0f', $3) : '') with labels font "
                    "'sans-serif,10' textcolor '%s' notitle",
                    run,
                    dark ? ">=" : "<",
                    dark ? "#ffffff" : "#303030");
        }
    }
    fputc('\n', script);
}

static void draw(const cli_plot_t *plot, map_t *maps, size_t panels, cli_figure_t *figure)
{
    size_t rows = 0;
    size_t all_rows = 0;
    size_t cells = 0;
    size_t columns = 1;
    size_t label_size = 8;
    for (size_t r = 0; r < plot->run_count; r++) {
        map_t *const map = &maps[r];
        find_rows(map);
        choose_rows(map);
        rows += map->shown;
        all_rows += map->row_count;
        columns = map->columns > columns ? map->columns : columns;
        for (size_t i = 0; i < map->row_count; i++) {
            const size_t size = strlen(map->rows[i].label) - 2; // an arrow is one character
            label_size = size > label_size ? size : label_size;
            cells += map->rows[i].place != 0 ? map->rows[i].count : 0;
        }
    }
    if (rows < all_rows) {
        (void)snprintf(figure->note,
                       sizeof(figure->note),
                       "the busiest %zu of %zu rows",
                       rows,
                       all_rows);
    }
    const unsigned wide = (unsigned)(columns * 30 + label_size * 8 + 140);
    cli_figure_begin(figure,
                     wide < 480    ? 480
                     : wide > 1100 ? 1100
                                   : wide,
                     (unsigned)(80 * panels + 50 + rows * 22));
    FILE *const script = figure->script;
    fprintf(script,
            "set lmargin %zu\nset rmargin 12\nunset grid\nunset border\n"
            "set ytics font 'sans-serif,11' scale 0\nset xtics 1,%zu font 'sans-serif,11' scale 0\n"
            "set cbrange [0:100]\nset cblabel 'utilisation (%%)'\n" CLI_PLOT_LOAD_PALETTE,
            label_size * 7 / 8 + 2,
            columns > 32   ? (size_t)4
            : columns > 16 ? (size_t)2
                           : (size_t)1);
    if (panels > 1) {
        fprintf(script, "set multiplot layout %zu,1\n", panels);
    }
    size_t panel = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (maps[r].port_count == 0) {
            continue;
        }
        if (plot->run_count > 1) {
            fputs("set title ", script);
            cli_figure_quote(script, plot->runs[r].name);
            fputs(" offset 0,-0.5\n", script);
        }
        if (++panel == panels) {
            fputs("set xlabel 'link, in the order of the ports'\n", script);
        }
        draw_map(script, &maps[r], r, columns, cells <= NUMBERED_MAX);
    }
    if (panels > 1) {
        fputs("unset multiplot\n", script);
    }
    figure->what = sim_format("utilisation of %zu links and directions over the run", cells);
}

sim_err_t cli_plot_load(const cli_plot_t *plot, cli_figure_t *figure, cli_error_t *error)
{
    map_t maps[CLI_PLOT_RUNS_MAX] = {{NULL, 0, 0, NULL, 0, 0, 0, 0}};
    sim_err_t result = SIM_OK;
    size_t panels = 0;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        result = load(&plot->runs[r], &maps[r], error);
        panels += maps[r].port_count > 0;
    }
    if (result == SIM_OK && panels > 0) {
        draw(plot, maps, panels, figure);
    } else {
        cli_figure_nothing(figure, "no ports in ports.csv of %s", plot->runs[0].folder);
    }
    for (size_t r = 0; r < plot->run_count; r++) {
        map_fini(&maps[r]);
    }
    return result;
}
