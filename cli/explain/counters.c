// SPDX-License-Identifier: Apache-2.0
// cli/explain/counters.c - explains pause counters of a real network: a CSV file of samples over
// time, and a file of links. What they say is the same tree as for a run, as far as counters tell.
#include "cli/explain/explain_internal.h"

#include "results/csv.h"
#include "world/shown.h"

#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define CELLS_MAX 256u
#define MATRIX_MAX 50000000u // ports x samples
#define CHILDREN_MAX 8u
#define DEPTH_MAX 16u

typedef struct meter_port {
    char *name;
    uint32_t node;
    uint32_t peer; // port; EXPLAIN_NONE: unknown
    bool has_samples;
    double stopped_us; // in all
    double frames;     // pause frames received
    double sent_bytes;
} meter_port_t;

typedef struct meter_node {
    char *name;
    uint32_t links;
    bool is_host; // said by a topology.json
} meter_node_t;

typedef struct sample {
    uint32_t port;
    double time_s;
    double frames; // counters so far
    double stopped_us;
    double sent_bytes;
} sample_t;

typedef struct meter {
    meter_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    meter_port_t *ports;
    size_t port_count;
    size_t port_capacity;
    sample_t *samples;
    size_t sample_count;
    size_t sample_capacity;
    double *times;
    size_t time_count;
    float *active; // by port and interval: stopped us, or frames where no duration is counted
    uint32_t *parents;
    bool has_durations;
    bool has_bytes;
} meter_t;

// -- files

static uint32_t node_of(meter_t *meter, const char *name)
{
    for (size_t i = 0; i < meter->node_count; i++) {
        if (strcmp(meter->nodes[i].name, name) == 0) {
            return (uint32_t)i;
        }
    }
    SIM_GROW(meter->nodes, meter->node_count, &meter->node_capacity);
    meter->nodes[meter->node_count] = (meter_node_t){.name = sim_strdup(name)};
    return (uint32_t)meter->node_count++;
}

static uint32_t find_port(const meter_t *meter, const char *name)
{
    for (size_t i = 0; i < meter->port_count; i++) {
        if (strcmp(meter->ports[i].name, name) == 0) {
            return (uint32_t)i;
        }
    }
    return EXPLAIN_NONE;
}

static uint32_t add_port(meter_t *meter, const char *node, const char *port)
{
    const uint32_t found = find_port(meter, port);
    if (found != EXPLAIN_NONE) {
        return found;
    }
    const uint32_t of = node_of(meter, node);
    SIM_GROW(meter->ports, meter->port_count, &meter->port_capacity);
    meter->ports[meter->port_count] =
        (meter_port_t){.name = sim_strdup(port), .node = of, .peer = EXPLAIN_NONE};
    return (uint32_t)meter->port_count++;
}

static void add_link(meter_t *meter,
                     const char *a_node,
                     const char *a_port,
                     const char *b_node,
                     const char *b_port)
{
    const uint32_t a = add_port(meter, a_node, a_port);
    const uint32_t b = add_port(meter, b_node, b_port);
    SIM_CHECK(meter->ports != NULL && meter->nodes != NULL);
    meter->ports[a].peer = b;
    meter->ports[b].peer = a;
    meter->nodes[meter->ports[a].node].links++;
    meter->nodes[meter->ports[b].node].links++;
}

typedef struct table {
    char *text; // of the whole file, cut into cells
    char *at;
    const char *path;
    results_csv_cell_t cells[CELLS_MAX];
    size_t count;
    uint32_t line;
} table_t;

static sim_err_t bad(const table_t *table, world_error_t *error, const char *what)
{
    const world_place_t place = {(char *)(uintptr_t)table->path, (int)table->line, 1};
    return world_fail(error, SIM_ERR_INVALID, &place, "%s", what);
}

// Splits the next row that is not empty. Returns false at the end, or with count > CELLS_MAX.
static bool next_row(table_t *table)
{
    while (*table->at != '\0') {
        const size_t size = strcspn(table->at, "\n");
        char *const row = table->at;
        table->at += size + (row[size] != '\0');
        table->line++;
        const size_t length = size > 0 && row[size - 1] == '\r' ? size - 1 : size;
        row[length] = '\0';
        if (length > 0 && row[0] != '#') {
            table->count = results_csv_split(row, length, table->cells, CELLS_MAX);
            for (size_t i = 0; i < table->count && i < CELLS_MAX; i++) {
                table->cells[i].text[table->cells[i].size] = '\0';
            }
            return table->count <= CELLS_MAX;
        }
    }
    return false;
}

static size_t column_of(const table_t *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->cells[i].text, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static sim_err_t open_table(const char *path, table_t *table, world_error_t *error)
{
    size_t size = 0;
    *table = (table_t){.path = path};
    const sim_err_t result = world_read_file(path, FILE_BYTES_MAX, &table->text, &size, error);
    table->at = table->text;
    if (result == SIM_OK && !next_row(table)) {
        return bad(table, error, "no header row, expected names of columns");
    }
    return result;
}

static sim_err_t read_links_csv(meter_t *meter, const char *path, world_error_t *error)
{
    static const char *const names[] = {"a_node", "a_port", "b_node", "b_port"};
    size_t columns[4] = {0};
    table_t table;
    sim_err_t result = open_table(path, &table, error);
    for (size_t i = 0; i < 4 && result == SIM_OK; i++) {
        columns[i] = column_of(&table, names[i]);
        if (columns[i] == SIZE_MAX) {
            result = bad(&table,
                         error,
                         "a column is missing, expected a_node, a_port, b_node and b_port, or a "
                         "topology.json of rocesim");
        }
    }
    while (result == SIM_OK && next_row(&table)) {
        const char *cells[4];
        for (size_t i = 0; i < 4; i++) {
            cells[i] = columns[i] < table.count ? table.cells[columns[i]].text : "";
            if (cells[i][0] == '\0') {
                result = bad(&table, error, "a link without all of its names, expected four");
            }
        }
        if (result == SIM_OK) {
            add_link(meter, cells[0], cells[1], cells[2], cells[3]);
        }
    }
    sim_free(table.text);
    return result;
}

static sim_err_t read_links(meter_t *meter, const char *path, world_error_t *error)
{
    json_error_t parse;
    json_t *const json = json_load_file(path, 0, &parse);
    if (json == NULL) {
        return read_links_csv(meter, path, error);
    }
    size_t i = 0;
    const json_t *link = NULL;
    sim_err_t result = SIM_OK;
    json_array_foreach(json_object_get(json, "links"), i, link)
    {
        const char *const a = json_string_value(json_object_get(link, "a"));
        const char *const b = json_string_value(json_object_get(link, "b"));
        const char *const a_port = json_string_value(json_object_get(link, "a_port"));
        const char *const b_port = json_string_value(json_object_get(link, "b_port"));
        if (a != NULL && b != NULL && a_port != NULL && b_port != NULL) {
            add_link(meter, a, a_port, b, b_port);
        }
    }
    json_array_foreach(json_object_get(json, "nodes"), i, link)
    {
        const char *const name = json_string_value(json_object_get(link, "name"));
        const char *const kind = json_string_value(json_object_get(link, "kind"));
        if (name != NULL && kind != NULL && strcmp(kind, "host") == 0) {
            const uint32_t node = node_of(meter, name);
            SIM_CHECK(meter->nodes != NULL);
            meter->nodes[node].is_host = true;
        }
    }
    json_decref(json);
    if (meter->port_count == 0) {
        const world_place_t place = {(char *)(uintptr_t)path, 0, 0};
        result = world_fail(error, SIM_ERR_INVALID, &place, "no links, expected a list 'links'");
    }
    return result;
}

// The kind of values in a column of counters.
typedef enum column_kind {
    COLUMN_OTHER,
    COLUMN_FRAMES,
    COLUMN_DURATION,
    COLUMN_BYTES
} column_kind_t;

// Tells a column by its name, as ethtool, SAI and SONiC's pfcstat write it, for any class:
// rx_prio3_pause, SAI_PORT_STAT_PFC_3_RX_PKTS, PFC3, rx_prio3_pause_duration,
// PFC_3_RX_PAUSE_DURATION_US; tx_bytes, SAI_PORT_STAT_IF_OUT_OCTETS.
static column_kind_t kind_of(const char *name)
{
    const bool received = strstr(name, "rx_prio") != NULL || strstr(name, "_RX_") != NULL;
    const bool duration = strstr(name, "DURATION") != NULL || strstr(name, "duration") != NULL;
    if (received && duration) {
        return COLUMN_DURATION;
    }
    if ((received && (strstr(name, "pause") != NULL || strstr(name, "RX_PKTS") != NULL)) ||
        (strncmp(name, "PFC", 3) == 0 && name[3] >= '0' && name[3] <= '7' && name[4] == '\0')) {
        return COLUMN_FRAMES;
    }
    return strcmp(name, "tx_bytes") == 0 || strstr(name, "OUT_OCTETS") != NULL ? COLUMN_BYTES
                                                                               : COLUMN_OTHER;
}

static sim_err_t take_sample(meter_t *meter,
                             const table_t *table,
                             const column_kind_t *kinds,
                             size_t time,
                             double unit_s,
                             size_t port,
                             world_error_t *error)
{
    sample_t sample = {.port = EXPLAIN_NONE};
    for (size_t i = 0; i < table->count; i++) {
        char *end = NULL;
        const char *const text = table->cells[i].text;
        if (i == port) {
            sample.port = find_port(meter, text);
            continue;
        }
        const double value = strtod(text, &end);
        if ((kinds[i] != COLUMN_OTHER || i == time) && (*end != '\0' || end == text)) {
            return bad(table, error, "a counter or a time is no number, expected numbers");
        }
        sample.time_s = i == time ? value * unit_s : sample.time_s;
        sample.frames += kinds[i] == COLUMN_FRAMES ? value : 0;
        sample.stopped_us += kinds[i] == COLUMN_DURATION ? value : 0;
        sample.sent_bytes += kinds[i] == COLUMN_BYTES ? value : 0;
    }
    if (sample.port == EXPLAIN_NONE) {
        return bad(table, error, "a port that the file of links does not have, expected its name");
    }
    SIM_GROW(meter->samples, meter->sample_count, &meter->sample_capacity);
    meter->samples[meter->sample_count++] = sample;
    meter->ports[sample.port].has_samples = true;
    return SIM_OK;
}

static sim_err_t read_samples(meter_t *meter, const char *path, world_error_t *error)
{
    static const struct {
        const char *name;
        double unit_s;
    } times[] = {{"time_s", 1}, {"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_ns", 1e-9}};
    column_kind_t kinds[CELLS_MAX] = {COLUMN_OTHER};
    table_t table;
    sim_err_t result = open_table(path, &table, error);
    size_t time = SIZE_MAX;
    double unit_s = 1;
    size_t port = SIZE_MAX;
    bool counts = false;
    if (result == SIM_OK) {
        for (size_t i = 0; i < SIM_COUNT_OF(times) && time == SIZE_MAX; i++) {
            time = column_of(&table, times[i].name);
            unit_s = times[i].unit_s;
        }
        port = column_of(&table, "port");
        for (size_t i = 0; i < table.count; i++) {
            kinds[i] = kind_of(table.cells[i].text);
            meter->has_durations |= kinds[i] == COLUMN_DURATION;
            meter->has_bytes |= kinds[i] == COLUMN_BYTES;
            counts |= kinds[i] == COLUMN_DURATION || kinds[i] == COLUMN_FRAMES;
        }
        if (time == SIZE_MAX || port == SIZE_MAX || !counts) {
            result = bad(&table,
                         error,
                         "columns are missing, expected time_s (or time_ms, time_us, time_ns), "
                         "port, and counters such as rx_prio3_pause or "
                         "PFC_3_RX_PAUSE_DURATION_US");
        }
    }
    while (result == SIM_OK && next_row(&table)) {
        result = take_sample(meter, &table, kinds, time, unit_s, port, error);
    }
    sim_free(table.text);
    return result;
}

// -- intervals

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t interval_of(const meter_t *meter, double time_s)
{
    size_t low = 0;
    size_t high = meter->time_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (meter->times[middle] < time_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int by_port_and_time(const void *a, const void *b)
{
    const sample_t *const x = a;
    const sample_t *const y = b;
    if (x->port != y->port) {
        return x->port < y->port ? -1 : 1;
    }
    return by_number(&x->time_s, &y->time_s);
}

static sim_err_t fill_intervals(meter_t *meter, const char *path, world_error_t *error)
{
    meter->times = sim_alloc_array(meter->sample_count + 1, sizeof(double));
    for (size_t i = 0; i < meter->sample_count; i++) {
        meter->times[i] = meter->samples[i].time_s;
    }
    qsort(meter->times, meter->sample_count, sizeof(double), by_number);
    for (size_t i = 0; i < meter->sample_count; i++) {
        if (meter->time_count == 0 || meter->times[i] > meter->times[meter->time_count - 1]) {
            meter->times[meter->time_count++] = meter->times[i];
        }
    }
    if (meter->time_count < 2 || meter->port_count * meter->time_count > MATRIX_MAX) {
        const world_place_t place = {(char *)(uintptr_t)path, 0, 0};
        return world_fail(
            error,
            SIM_ERR_RANGE,
            &place,
            "%zu times of samples at %zu ports, expected at least 2 times and at most "
            "%u values",
            meter->time_count,
            meter->port_count,
            MATRIX_MAX);
    }
    meter->active = sim_alloc_array(meter->port_count * meter->time_count, sizeof(float));
    memset(meter->active, 0, meter->port_count * meter->time_count * sizeof(float));
    qsort(meter->samples, meter->sample_count, sizeof(sample_t), by_port_and_time);
    for (size_t i = 1; i < meter->sample_count; i++) {
        const sample_t *const before = &meter->samples[i - 1];
        const sample_t *const sample = &meter->samples[i];
        if (before->port != sample->port) {
            continue;
        }
        meter_port_t *const port = &meter->ports[sample->port];
        // A counter that falls was cleared: it counts from 0.
        const double frames =
            sample->frames >= before->frames ? sample->frames - before->frames : sample->frames;
        const double us = sample->stopped_us >= before->stopped_us
                              ? sample->stopped_us - before->stopped_us
                              : sample->stopped_us;
        const double bytes = sample->sent_bytes - before->sent_bytes;
        port->frames += frames;
        port->stopped_us += us;
        port->sent_bytes += bytes > 0 ? bytes : 0;
        meter->active[sample->port * meter->time_count + interval_of(meter, sample->time_s)] =
            (float)(meter->has_durations ? us : frames);
    }
    return SIM_OK;
}

// -- the tree

static double weight_of(const meter_t *meter, const meter_port_t *port)
{
    return meter->has_durations ? port->stopped_us : port->frames;
}

// Returns how much of a port's pauses falls into intervals in which another port is stopped, too.
static double together(const meter_t *meter, uint32_t port, uint32_t other)
{
    double sum = 0;
    for (size_t t = 0; t < meter->time_count; t++) {
        const double mine = (double)meter->active[port * meter->time_count + t];
        sum += meter->active[other * meter->time_count + t] > 0 ? mine : 0;
    }
    return sum;
}

static void find_parents(meter_t *meter)
{
    meter->parents = sim_alloc_array(meter->port_count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        meter->parents[i] = EXPLAIN_NONE;
        if (weight_of(meter, port) <= 0 || port->peer == EXPLAIN_NONE) {
            continue;
        }
        const uint32_t node = meter->ports[port->peer].node;
        // At least half of the pauses must fall together with those of the next port.
        double most = weight_of(meter, port) / 2;
        for (uint32_t j = 0; j < meter->port_count; j++) {
            if (meter->ports[j].node == node && j != port->peer &&
                weight_of(meter, &meter->ports[j]) > 0) {
                const double both = together(meter, i, j);
                const bool more = both > most;
                most = more ? both : most;
                meter->parents[i] = more ? j : meter->parents[i];
            }
        }
    }
}

// Finds a circle of ports that wait for each other, cuts it at one of them, and returns the names
// in it; NULL: there is none. The caller frees it.
static char *cut_circle(meter_t *meter)
{
    for (uint32_t i = 0; i < meter->port_count; i++) {
        uint32_t at = meter->parents[i];
        for (size_t steps = 0; at != EXPLAIN_NONE && at != i && steps < meter->port_count;
             steps++) {
            at = meter->parents[at];
        }
        if (at != i) {
            continue;
        }
        char *names = sim_strdup(meter->ports[i].name);
        for (at = meter->parents[i]; at != i; at = meter->parents[at]) {
            char *const longer = sim_format("%s, %s", names, meter->ports[at].name);
            sim_free(names);
            names = longer;
        }
        meter->parents[i] = EXPLAIN_NONE;
        return names;
    }
    return NULL;
}

// A node at which pauses began.
typedef struct origin {
    uint32_t node;
    double weight; // of the ports that it stopped itself
    uint32_t ports;
} origin_t;

static int by_weight(const void *a, const void *b)
{
    const origin_t *const x = a;
    const origin_t *const y = b;
    if (x->weight < y->weight || x->weight > y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

static size_t find_origins(const meter_t *meter, origin_t *origins)
{
    size_t count = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (weight_of(meter, port) <= 0 || port->peer == EXPLAIN_NONE ||
            meter->parents[i] != EXPLAIN_NONE) {
            continue;
        }
        const uint32_t node = meter->ports[port->peer].node;
        size_t at = 0;
        while (at < count && origins[at].node != node) {
            at++;
        }
        if (at == count) {
            origins[count++] = (origin_t){.node = node};
        }
        origins[at].weight += weight_of(meter, port);
        origins[at].ports++;
    }
    if (count > 0) {
        qsort(origins, count, sizeof(*origins), by_weight);
    }
    return count;
}

// Returns whether a node that pauses is the end of a link: a NIC, and not a switch.
static bool is_host(const meter_t *meter, uint32_t node)
{
    return meter->nodes[node].links == 1 || meter->nodes[node].is_host;
}

// Returns the port of a switch that sent most: the likely bottleneck.
static uint32_t busiest_port(const meter_t *meter, uint32_t node)
{
    uint32_t best = EXPLAIN_NONE;
    for (uint32_t i = 0; i < meter->port_count && meter->has_bytes; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->node == node && port->sent_bytes > 0 &&
            (best == EXPLAIN_NONE || port->sent_bytes > meter->ports[best].sent_bytes)) {
            best = i;
        }
    }
    return best;
}

static char *sentence_of(const meter_t *meter, const origin_t *origin)
{
    const char *const name = meter->nodes[origin->node].name;
    if (is_host(meter, origin->node)) {
        return sim_format("%s is a slow receiver or its NIC storms: it stops its switch itself",
                          name);
    }
    const uint32_t port = busiest_port(meter, origin->node);
    if (port != EXPLAIN_NONE) {
        return sim_format(
            "%s stops its peers while it is not stopped itself: most likely %s, which "
            "sent most, is congested (incast, a slow link or a hash collision)",
            name,
            meter->ports[port].name);
    }
    return sim_format("%s stops its peers while none of its ports is stopped: one of these is "
                      "congested (incast, a slow link or a hash collision)",
                      name);
}

static void print_branch(const meter_t *meter, uint32_t parent, uint32_t node, uint32_t depth)
{
    uint32_t shown = 0;
    uint32_t more = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (weight_of(meter, port) <= 0 || port->peer == EXPLAIN_NONE ||
            meter->parents[i] != parent || meter->ports[port->peer].node != node) {
            continue;
        }
        if (shown++ >= CHILDREN_MAX) {
            more++;
            continue;
        }
        printf("    %*s%s stopped", (int)(2 * depth), "", port->name);
        if (meter->has_durations) {
            printf(" for %.1f us", port->stopped_us);
        }
        printf(port->frames > 0 ? ", %.0f pause frames received\n" : "\n", port->frames);
        if (depth < DEPTH_MAX) {
            print_branch(meter, i, port->node, depth + 1);
        }
    }
    if (more > 0) {
        printf("    %*sand %u more port%s\n", (int)(2 * depth), "", more, sim_plural(more));
    }
}

static json_t *branch_json(const meter_t *meter, uint32_t parent, uint32_t node, uint32_t depth)
{
    json_t *const list = json_array();
    for (uint32_t i = 0; i < meter->port_count && depth <= DEPTH_MAX; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (weight_of(meter, port) > 0 && port->peer != EXPLAIN_NONE &&
            meter->parents[i] == parent && meter->ports[port->peer].node == node) {
            json_array_append_new(list,
                                  json_pack("{s:s, s:f, s:f, s:o}",
                                            "port",
                                            port->name,
                                            "stopped_us",
                                            port->stopped_us,
                                            "pause_frames",
                                            port->frames,
                                            "stops",
                                            branch_json(meter, i, port->node, depth + 1)));
        }
    }
    return list;
}

static char *limits_of(const meter_t *meter)
{
    const double step_s =
        (meter->times[meter->time_count - 1] - meter->times[0]) / (double)(meter->time_count - 1);
    uint32_t silent = 0;
    for (size_t i = 0; i < meter->port_count; i++) {
        silent += !meter->ports[i].has_samples;
    }
    return sim_format(
        "counters cannot tell: which flows and queue pairs are behind it; bytes held; "
        "the order of pauses within a sampling interval (%.6g s)%s; and nothing of %u "
        "port%s without samples",
        step_s,
        meter->has_durations ? "" : "; how long a pause lasted (no duration counter)",
        silent,
        sim_plural(silent));
}

static void print_all(const meter_t *meter,
                      const origin_t *origins,
                      size_t count,
                      const char *circle,
                      bool json)
{
    char *const limits = limits_of(meter);
    json_t *const causes = json_array();
    if (circle != NULL && json) {
        json_array_append_new(causes, json_pack("{s:s, s:s}", "kind", "deadlock", "place", circle));
    } else if (circle != NULL) {
        printf("main cause: these ports stop each other in a circle, a PFC deadlock if it lasts: "
               "%s\n\n",
               circle);
    } else if (!json) {
        printf(count > 0 ? "main cause: " : "no port received a pause\n");
    }
    for (size_t i = 0; i < count; i++) {
        char *const sentence = sentence_of(meter, &origins[i]);
        const char *const name = meter->nodes[origins[i].node].name;
        if (json) {
            json_array_append_new(
                causes,
                json_pack("{s:s, s:s, s:s, s:o}",
                          "kind",
                          is_host(meter, origins[i].node) ? "slow-receiver" : "congested-switch",
                          "place",
                          name,
                          "sentence",
                          sentence,
                          "stops",
                          branch_json(meter, EXPLAIN_NONE, origins[i].node, 0)));
        } else {
            if (i == 0 && circle == NULL) {
                printf("%s\n\n", sentence);
            }
            printf("%zu. pauses began at %s: it stopped %u port%s itself\n  %s\n",
                   i + 1,
                   name,
                   origins[i].ports,
                   sim_plural(origins[i].ports),
                   sentence);
            print_branch(meter, EXPLAIN_NONE, origins[i].node, 0);
        }
        sim_free(sentence);
    }
    if (json) {
        json_t *const all = json_pack("{s:O, s:s}", "causes", causes, "limits", limits);
        char *const text = json_dumps(all, JSON_INDENT(1));
        puts(text);
        free(text);
        json_decref(all);
    } else {
        printf("\n%s\n", limits);
    }
    json_decref(causes);
    sim_free(limits);
}

static void fini(meter_t *meter)
{
    for (size_t i = 0; i < meter->node_count; i++) {
        sim_free(meter->nodes[i].name);
    }
    for (size_t i = 0; i < meter->port_count; i++) {
        sim_free(meter->ports[i].name);
    }
    sim_free(meter->nodes);
    sim_free(meter->ports);
    sim_free(meter->samples);
    sim_free(meter->times);
    sim_free(meter->active);
    sim_free(meter->parents);
}

sim_err_t cli__explain_counters(const char *counters,
                                const char *topology,
                                bool json,
                                world_error_t *error)
{
    meter_t meter = {.nodes = NULL};
    sim_err_t result = read_links(&meter, topology, error);
    if (result == SIM_OK) {
        result = read_samples(&meter, counters, error);
    }
    if (result == SIM_OK) {
        result = fill_intervals(&meter, counters, error);
    }
    if (result == SIM_OK) {
        find_parents(&meter);
        origin_t *const origins = sim_alloc_array(meter.node_count + 1, sizeof(*origins));
        char *const circle = cut_circle(&meter);
        const size_t count = find_origins(&meter, origins);
        print_all(&meter, origins, count, circle, json);
        sim_free(circle);
        sim_free(origins);
    }
    fini(&meter);
    return result;
}
