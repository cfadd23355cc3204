// SPDX-License-Identifier: Apache-2.0
// cli/plot/load.c - draws the load of each link while traffic arrived, as a map: one row per bundle
// of links, one cell per link and direction.
//
// A bundle holds the links from one node to all peers of a kind ("leaf0 -> spine*"). If a node has
// only one such link, it holds the links of all nodes of its kind to that peer ("host* -> leaf0").
// A kind is a name without its number. Rows and cells are in the order of ports.csv.
#include "cli/plot/figure.h"

#include <stdlib.h>
#include <string.h>

#define LOAD_ONE UINT64_C(1000000)
#define ROWS_MAX 64u
#define NUMBERED_MAX 160u // cells with their number in them, at most
#define JOIN_ABOVE 32u    // rows
#define JOINED_CELLS 32u  // at most, in a row that several nodes share

typedef struct port {
    char *node;
    char *peer; // name of the peer, without the number of a parallel link
    double load;
    size_t row;
} port_t;

typedef struct row {
    char *node;    // the one node that all its links share
    char *last;    // the last of several nodes that share this row; NULL: one node only
    char *kind;    // kind of the nodes at the other ends
    bool outgoing; // true: links from the node, false: links to the node
    size_t tier;   // number of the tier; rows of the same kinds are one tier
    size_t into;   // index of the row in which this row is shown, usually itself
    size_t count;
    double most;
    size_t place; // place in the figure, from 1; 0: not shown
} row_t;

typedef struct map {
    port_t *ports;
    size_t port_count;
    size_t port_capacity;
    row_t *rows;
    size_t row_count;
    size_t row_capacity;
    size_t all; // number of rows before some were left out
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

static sim_err_t take_port(const results_csv_t *csv, void *ctx, world_error_t *error)
{
    map_t *const map = ctx;
    uint64_t millionths = 0;
    const sim_err_t result = results_csv_number(csv, 1, LOAD_ONE, &millionths, error);
    const char *const name = results_csv_text(csv, 0);
    const char *const arrow = strstr(name, "->");
    if (result == SIM_OK && arrow != NULL) {
        SIM_APPEND(map->ports, map->port_count, map->port_capacity,
                   (port_t){
                       .node = sim_format("%.*s", (int)(arrow - name), name),
                       .peer = sim_format("%.*s", (int)strcspn(arrow + 2, "#"), arrow + 2),
                       .load = (double)millionths / (double)LOAD_ONE,
                   });
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
        SIM_FREE_ALL(map->rows[i].node, map->rows[i].last, map->rows[i].kind);
    }
    sim_free(map->ports);
    sim_free(map->rows);
}

// -- rows

// Returns whether a node has several links to nodes of the peer's kind. The ports of a node are
// adjacent.
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

static bool is_row_of(const row_t *row, const char *node, const char *other, bool outgoing)
{
    return row->outgoing == outgoing && strcmp(row->node, node) == 0 &&
           strlen(row->kind) == stem_size(other) &&
           memcmp(row->kind, other, strlen(row->kind)) == 0;
}

static bool same_tier(const row_t *a, const row_t *b)
{
    return a->outgoing == b->outgoing && same_stem(a->node, b->node) &&
           strcmp(a->kind, b->kind) == 0;
}

static void find_rows(map_t *map)
{
    for (size_t i = 0; i < map->port_count; i++) {
        port_t *const port = &map->ports[i];
        const bool outgoing = has_siblings(map, i);
        const char *const node = outgoing ? port->node : port->peer;
        const char *const other = outgoing ? port->peer : port->node;
        size_t r = map->row_count;
        while (r > 0 && !is_row_of(&map->rows[r - 1], node, other, outgoing)) {
            r--;
        }
        if (r == 0) {
            SIM_GROW(map->rows, map->row_count, &map->row_capacity);
            r = ++map->row_count;
            map->rows[r - 1] = (row_t){
                .node = sim_strdup(node),
                .kind = sim_format("%.*s", (int)stem_size(other), other),
                .outgoing = outgoing,
                .into = r - 1,
            };
        }
        row_t *const row = &map->rows[r - 1];
        port->row = r - 1;
        row->count++;
        row->most = SIM_MAX(port->load, row->most);
    }
}

// Numbers the tiers in the order of appearance, and joins neighbouring rows of one tier if there
// are too many rows.
static void join_rows(map_t *map)
{
    size_t tiers = 0;
    for (size_t r = 0; r < map->row_count; r++) {
        row_t *const row = &map->rows[r];
        size_t before = r; // index of the previous row of this tier, plus 1
        while (before > 0 && !same_tier(&map->rows[before - 1], row)) {
            before--;
        }
        if (before == 0) {
            row->tier = tiers++;
            continue;
        }
        row->tier = map->rows[before - 1].tier;
        const size_t into = map->rows[before - 1].into;
        row_t *const open = &map->rows[into];
        if (map->row_count > JOIN_ABOVE && open->count + row->count <= JOINED_CELLS) {
            row->into = into;
            open->count += row->count;
            open->most = SIM_MAX(row->most, open->most);
            sim_free(open->last);
            open->last = sim_strdup(row->node);
        }
    }
}

// Returns a row's label: "leaf0 → spine*", "host* → edge0–7". Free with sim_free.
static char *label_of(const row_t *row)
{
    char *const nodes = row->last != NULL
                            ? sim_format("%s–%s", row->node, row->last + stem_size(row->last))
                            : sim_strdup(row->node);
    char *const label = row->outgoing ? sim_format("%s → %s*", nodes, row->kind)
                                      : sim_format("%s* → %s", row->kind, nodes);
    sim_free(nodes);
    return label;
}

// Chooses the busiest rows if there are too many, and keeps their order.
static void choose_rows(map_t *map)
{
    for (size_t n = 0; n < ROWS_MAX; n++) {
        row_t *best = NULL;
        for (size_t r = 0; r < map->row_count; r++) {
            row_t *const row = &map->rows[r];
            if (row->into == r && row->place == 0 && (best == NULL || row->most > best->most)) {
                best = row;
            }
        }
        if (best == NULL) {
            break;
        }
        best->place = 1;
    }
    for (size_t tier = 0; tier < map->row_count; tier++) {
        for (size_t r = 0; r < map->row_count; r++) {
            row_t *const row = &map->rows[r];
            map->all += row->into == r && row->tier == tier;
            if (row->place != 0 && row->tier == tier) {
                row->place = ++map->shown;
                map->columns = SIM_MAX(row->count, map->columns);
            }
        }
    }
}

// -- the script

static void draw_map(const cli_figure_t *figure, map_t *map, size_t run, size_t columns,
                     bool numbered)
{
    FILE *const script = figure->script;
    const cli_block_t block = {"run", run, 0};
    size_t *const next = sim_alloc_array(map->row_count + 1, sizeof(*next));
    cli_figure_block_begin(figure, block);
    for (size_t i = 0; i < map->port_count; i++) {
        const port_t *const port = &map->ports[i];
        const size_t into = map->rows[port->row].into;
        const size_t place = map->rows[into].place;
        if (place != 0) {
            cli_figure_row(figure, "%.0f %.0f %.4g", (double)++next[into], (double)place,
                           port->load * 100);
        }
    }
    sim_free(next);
    cli_figure_block_end(figure);
    cli_figure_tics_begin(figure, "ytics", "");
    bool first = true;
    for (size_t r = 0; r < map->row_count; r++) {
        if (map->rows[r].place != 0) {
            char *const label = label_of(&map->rows[r]);
            cli_figure_tic(figure, first, label, (double)map->rows[r].place);
            sim_free(label);
            first = false;
        }
    }
    cli_figure_tics_end(figure);
    cli_figure_range(figure, "yrange", (double)map->shown + 0.5, 0.5);
    cli_figure_range(figure, "xrange", 0.4, (double)columns + 0.6);
    fprintf(script,
            "plot $run%zu using 1:2:($1-0.46):($1+0.46):($2-0.42):($2+0.42):3 with boxxyerror "
            "fillstyle solid 1.0 noborder linecolor palette notitle",
            run);
    static const cli_using_t use[] = {{1, 0}, {1, -0.46}, {1, 0.46}, {2, -0.42}, {2, 0.42}, {3, 0}};
    cli_figure_curve(figure, block, "boxes", "palette", "", use, SIM_COUNT_OF(use));
    if (numbered) {
        for (unsigned dark = 0; dark < 2; dark++) {
            fprintf(script,
                    ", $run%zu using 1:2:($3 %s 55 ? sprintf('%%.0f', $3) : '') with labels font "
                    "'sans-serif,10' textcolor '%s' notitle",
                    run, dark ? ">=" : "<", dark ? "#ffffff" : "#303030");
        }
    }
    cli_figure_panel_end(figure);
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
        join_rows(map);
        choose_rows(map);
        rows += map->shown;
        all_rows += map->all;
        columns = SIM_MAX(map->columns, columns);
        for (size_t i = 0; i < map->row_count; i++) {
            if (map->rows[i].place == 0) {
                continue;
            }
            char *const label = label_of(&map->rows[i]);
            // An arrow and a dash have three bytes each but one character of width.
            const size_t size = strlen(label) - (map->rows[i].last != NULL ? 4 : 2);
            sim_free(label);
            label_size = SIM_MAX(size, label_size);
            cells += map->rows[i].count;
        }
    }
    if (rows < all_rows) {
        (void)snprintf(figure->note, sizeof(figure->note), "the busiest %zu of %zu rows", rows,
                       all_rows);
    }
    const unsigned wide = (unsigned)(columns * 30 + label_size * 8 + 140);
    cli_figure_begin(figure, wide < 480 ? 480 : SIM_MIN(1100, wide),
                     (unsigned)(80 * panels + 50 + rows * 22));
    FILE *const script = figure->script;
    fprintf(
        script,
        "set lmargin %zu\nset rmargin 12\nunset grid\nunset border\n"
        "set ytics font 'sans-serif,11' scale 0\nset xtics 1,%zu font 'sans-serif,11' scale 0\n",
        label_size * 7 / 8 + 2,
        columns > 32   ? (size_t)4
        : columns > 16 ? (size_t)2
                       : (size_t)1);
    cli_figure_range(figure, "cbrange", 0, 100);
    cli_figure_label(figure, "cblabel", "utilisation (%)", "");
    cli_plot_load_palette(figure);
    if (panels > 1) {
        fprintf(script, "set multiplot layout %zu,1\n", panels);
    }
    size_t panel = 0;
    for (size_t r = 0; r < plot->run_count; r++) {
        if (maps[r].port_count == 0) {
            continue;
        }
        cli_plot_run_title(figure, plot, r);
        if (++panel == panels) {
            cli_figure_label(figure, "xlabel", "link, in the order of the ports", "");
        }
        draw_map(figure, &maps[r], r, columns, cells <= NUMBERED_MAX);
    }
    if (panels > 1) {
        fputs("unset multiplot\n", script);
    }
    figure->what = sim_format("utilisation of %zu link%s and directions over the run", cells,
                              sim_plural(cells));
}

static sim_err_t plot_load(const cli_plot_t *plot, cli_figure_t *figure, world_error_t *error)
{
    static const char *const names[] = {"port", "utilisation"};
    map_t maps[CLI_PLOT_RUNS_MAX] = {{NULL, 0, 0, NULL, 0, 0, 0, 0, 0}};
    sim_err_t result = SIM_OK;
    size_t panels = 0;
    for (size_t r = 0; r < plot->run_count && result == SIM_OK; r++) {
        result = results_csv_rows(plot->runs[r].folder, "ports.csv", names, SIM_COUNT_OF(names),
                                  take_port, &maps[r], error);
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

const cli_plot_kind_t cli_plot_load = {"load", "ports.csv", NULL, plot_load};
