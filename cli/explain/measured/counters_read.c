// SPDX-License-Identifier: Apache-2.0
// cli/explain/measured/counters_read.c - reads counters of a real network: a CSV file
// of samples over time, and a file of links.
#include "cli/explain/measured/counters_internal.h"

#include "kernel/words.h"
#include "results/csv.h"
#include "world/control_characters.h"

#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define CELLS_MAX 256u
#define MATRIX_MAX 50000000u // ports x samples

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

static bool is_of(const meter_t *meter, const meter_port_t *port, const char *node)
{
    return node == NULL || strcmp(meter->nodes[port->node].name, node) == 0;
}

// Returns the port of this name, at this node unless node is NULL; EXPLAIN_NONE: there is none.
// *several: more than one node has a port of this name.
static uint32_t find_port(const meter_t *meter, const char *node, const char *name, bool *several)
{
    uint32_t found = EXPLAIN_NONE;
    *several = false;
    for (size_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (strcmp(port->own, name) == 0 && is_of(meter, port, node)) {
            *several = found != EXPLAIN_NONE;
            found = (uint32_t)i;
        }
    }
    return found;
}

static uint32_t add_port(meter_t *meter, const char *node, const char *port)
{
    bool several = false;
    const uint32_t found = find_port(meter, node, port, &several);
    if (found != EXPLAIN_NONE) {
        return found;
    }
    const uint32_t of = node_of(meter, node);
    SIM_GROW(meter->ports, meter->port_count, &meter->port_capacity);
    meter->ports[meter->port_count] =
        (meter_port_t){.own = sim_strdup(port), .node = of, .peer = EXPLAIN_NONE};
    return (uint32_t)meter->port_count++;
}

static void add_link(meter_t *meter, const char *a_node, const char *a_port, const char *b_node,
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

// Gives each port the name by which people know it.
static void name_ports(meter_t *meter)
{
    for (size_t i = 0; i < meter->port_count; i++) {
        meter_port_t *const port = &meter->ports[i];
        bool several = false;
        (void)find_port(meter, NULL, port->own, &several);
        port->name = several ? sim_format("%s:%s", meter->nodes[port->node].name, port->own)
                             : sim_strdup(port->own);
    }
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
    if (result == SIM_OK) {
        table->at += sim_text_after_mark(table->text, size) - table->text;
    }
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
            result = bad(&table, error,
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

static sim_err_t read_links_file(meter_t *meter, const char *path, world_error_t *error)
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
        result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                            "no links, expected a list 'links'");
    }
    return result;
}

sim_err_t cli__meter_links(meter_t *meter, const char *path, world_error_t *error)
{
    const sim_err_t result = read_links_file(meter, path, error);
    if (result == SIM_OK) {
        name_ports(meter);
    }
    return result;
}

// -- samples

// Recognises a column by its name, as ethtool, SAI and SONiC's pfcstat write it, for any class:
// rx_prio3_pause, SAI_PORT_STAT_PFC_3_RX_PKTS, PFC3, rx_prio3_pause_duration,
// PFC_3_RX_PAUSE_DURATION_US; tx_bytes, SAI_PORT_STAT_IF_OUT_OCTETS.
static meter_kind_t kind_of(const char *name)
{
    const bool received = strstr(name, "rx_prio") != NULL || strstr(name, "_RX_") != NULL;
    const bool duration = strstr(name, "DURATION") != NULL || strstr(name, "duration") != NULL;
    if (received && duration) {
        return METER_DURATION;
    }
    if ((received && (strstr(name, "pause") != NULL || strstr(name, "RX_PKTS") != NULL)) ||
        (strncmp(name, "PFC", 3) == 0 && name[3] >= '0' && name[3] <= '7' && name[4] == '\0')) {
        return METER_FRAMES;
    }
    return strcmp(name, "tx_bytes") == 0 || strstr(name, "OUT_OCTETS") != NULL ? METER_BYTES
                                                                               : METER_OTHER;
}

// The columns of a file of counters.
typedef struct columns {
    size_t time;
    double unit_s;
    size_t port;
    size_t node; // SIZE_MAX: none
    meter_kind_t kinds[CELLS_MAX];
} columns_t;

bool cli__meter_parse(const char *text, meter_value_t *value)
{
    *value = (meter_value_t){0};
    if (text[0] == '\0' || strcmp(text, "N/A") == 0 || strcmp(text, "-") == 0) {
        value->is_missing = true;
        return true;
    }
    const char *p = text;
    for (; (*p >= '0' && *p <= '9') || (*p == ',' && p > text); p++) {
        const uint64_t digit = *p == ',' ? 0 : (uint64_t)(*p - '0');
        if (*p != ',' && value->whole > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value->whole = *p == ',' ? value->whole : 10 * value->whole + digit;
    }
    double unit = 0.1;
    if (p > text && *p == '.') {
        for (p++; *p >= '0' && *p <= '9'; p++) {
            value->part += unit * (*p - '0');
            unit /= 10;
        }
    }
    return p > text && *p == '\0';
}

// Finds the port of a row: by the columns of node and port, by "NODE:PORT", or by a port's name
// that only one node has.
static sim_err_t port_of_row(meter_t *meter, const table_t *table, const columns_t *columns,
                             uint32_t *found, world_error_t *error)
{
    bool several = false;
    char *const text = table->cells[columns->port].text;
    const char *const node = columns->node < table->count ? table->cells[columns->node].text : NULL;
    // Most files list the ports in one order, again and again.
    const uint32_t next =
        meter->port_count > 0 ? (uint32_t)((meter->last_port + 1) % meter->port_count) : 0;
    const meter_port_t *const port = &meter->ports[next];
    if (strcmp(port->own, text) == 0 &&
        (node != NULL ? is_of(meter, port, node) : strcmp(port->name, text) == 0)) {
        *found = meter->last_port = next;
        return SIM_OK;
    }
    *found = find_port(meter, node, text, &several);
    char *const colon = strchr(text, ':');
    if (*found == EXPLAIN_NONE && node == NULL && colon != NULL) {
        *colon = '\0';
        *found = find_port(meter, text, colon + 1, &several);
        *colon = ':';
    }
    if (several) {
        return bad(table, error,
                   "a port's name that several nodes have, expected a column 'node', or NODE:PORT");
    }
    meter->last_port = *found != EXPLAIN_NONE ? *found : 0;
    return *found != EXPLAIN_NONE
               ? SIM_OK
               : bad(table, error,
                     "a port that the file of links does not have, expected its name");
}

static sim_err_t take_sample(meter_t *meter, const table_t *table, const columns_t *columns,
                             world_error_t *error)
{
    meter_sample_t sample = {.line = table->line, .values = meter->value_count};
    if (columns->port >= table->count || columns->time >= table->count) {
        return bad(table, error, "a row without its time or port, expected both");
    }
    const char *const time = table->cells[columns->time].text;
    char *end = NULL;
    sample.time_s = strtod(time, &end) * columns->unit_s;
    if (end == time || *end != '\0' || !(sample.time_s >= -1e18 && sample.time_s <= 1e18)) {
        return bad(table, error, "a time is no number, expected numbers");
    }
    const sim_err_t result = port_of_row(meter, table, columns, &sample.port, error);
    if (result != SIM_OK) {
        return result;
    }
    if (meter->value_count + meter->kind_count > MATRIX_MAX) {
        return bad(table, error, "too many values, expected at most 50 million");
    }
    for (size_t i = 0; i < CELLS_MAX; i++) {
        if (columns->kinds[i] == METER_OTHER) {
            continue;
        }
        SIM_GROW(meter->values, meter->value_count, &meter->value_capacity);
        if (!cli__meter_parse(i < table->count ? table->cells[i].text : "",
                              &meter->values[meter->value_count++])) {
            return bad(table, error,
                       "a counter is no number, expected numbers without sign, or N/A");
        }
    }
    SIM_APPEND(meter->samples, meter->sample_count, meter->sample_capacity, sample);
    meter->ports[sample.port].has_samples = true;
    return SIM_OK;
}

// Finds the columns in the header.
static sim_err_t take_header(meter_t *meter, const table_t *table, columns_t *columns,
                             world_error_t *error)
{
    static const struct {
        const char *name;
        double unit_s;
    } times[] = {{"time_s", 1}, {"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_ns", 1e-9}};
    bool counts = false;
    columns->time = SIZE_MAX;
    for (size_t i = 0; i < SIM_COUNT_OF(times) && columns->time == SIZE_MAX; i++) {
        columns->time = column_of(table, times[i].name);
        columns->unit_s = times[i].unit_s;
    }
    columns->port = column_of(table, "port");
    columns->node = column_of(table, "node");
    meter->kinds = sim_alloc_array(table->count + 1, sizeof(*meter->kinds));
    for (size_t i = 0; i < table->count; i++) {
        const meter_kind_t kind = kind_of(table->cells[i].text);
        columns->kinds[i] = kind;
        if (kind != METER_OTHER) {
            meter->kinds[meter->kind_count++] = kind;
        }
        meter->has_durations |= kind == METER_DURATION;
        meter->has_bytes |= kind == METER_BYTES;
        counts |= kind == METER_DURATION || kind == METER_FRAMES;
    }
    return columns->time != SIZE_MAX && columns->port != SIZE_MAX && counts
               ? SIM_OK
               : bad(table, error,
                     "columns are missing, expected time_s (or time_ms, time_us, time_ns), "
                     "port, and counters such as rx_prio3_pause or "
                     "PFC_3_RX_PAUSE_DURATION_US");
}

static sim_err_t read_samples(meter_t *meter, const char *path, world_error_t *error)
{
    columns_t columns = {.node = SIZE_MAX};
    table_t table;
    sim_err_t result = open_table(path, &table, error);
    if (result == SIM_OK) {
        result = take_header(meter, &table, &columns, error);
    }
    while (result == SIM_OK && next_row(&table)) {
        result = take_sample(meter, &table, &columns, error);
    }
    if (result == SIM_OK && table.count > CELLS_MAX) {
        result = bad(&table, error, "more than 256 cells in a row, or a quote without its end");
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
    const meter_sample_t *const x = a;
    const meter_sample_t *const y = b;
    if (x->port != y->port) {
        return x->port < y->port ? -1 : 1;
    }
    const int order = by_number(&x->time_s, &y->time_s);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

// Returns how much a counter grew. One that fell has wrapped if it was in the upper half of its 32
// or 64 bits and is in the lower half; else it was cleared and counts from 0.
static double growth(const meter_value_t *before, const meter_value_t *now)
{
    const uint64_t half32 = UINT64_C(1) << 31;
    const uint64_t half64 = UINT64_C(1) << 63;
    const double parts = now->part - before->part;
    if (now->whole >= before->whole) {
        const double grown = (double)(now->whole - before->whole) + parts;
        return SIM_MAX(grown, 0);
    }
    if (before->whole >= half64 && now->whole < half64) {
        return (double)(now->whole - before->whole) + parts; // modulo 2^64
    }
    if (before->whole >= half32 && before->whole < 2 * half32 && now->whole < half32) {
        return (double)(now->whole + 2 * half32 - before->whole) + parts;
    }
    return (double)now->whole + now->part;
}

// Adds the time for which a port was stopped between two samples, spread over the intervals.
static void add_active(meter_t *meter, uint32_t port, const meter_sample_t *before,
                       const meter_sample_t *sample, double active)
{
    float *const row = &meter->active[port * meter->time_count];
    const size_t end = interval_of(meter, sample->time_s);
    for (size_t t = interval_of(meter, before->time_s) + 1; t <= end; t++) {
        const double share =
            (meter->times[t] - meter->times[t - 1]) / (sample->time_s - before->time_s);
        row[t] += (float)(active * share);
    }
}

// Adds what a port's counters grew by between two samples: to its sums if frame_us is below 0, else
// to the intervals. A frame stands for frame_us where no duration is counted. What a peer says that
// it sent stands for what the port received if the port itself says nothing.
static void add_growth(meter_t *meter, const meter_sample_t *before, const meter_sample_t *sample,
                       double frame_us)
{
    meter_port_t *const port = &meter->ports[sample->port];
    double grown[METER_KINDS] = {0};
    for (size_t i = 0; i < meter->kind_count; i++) {
        meter_value_t *const now = &meter->values[sample->values + i];
        const meter_value_t *const then = &meter->values[before->values + i];
        if (now->is_missing || then->is_missing) {
            *now = now->is_missing ? *then : *now;
            continue;
        }
        port->has_durations |= meter->kinds[i] == METER_DURATION;
        port->has_frames |= meter->kinds[i] == METER_DURATION || meter->kinds[i] == METER_FRAMES;
        grown[meter->kinds[i]] += growth(then, now);
    }
    if (frame_us < 0) {
        port->frames += grown[METER_FRAMES];
        port->stopped_us += grown[METER_DURATION];
        port->sent_bytes += grown[METER_BYTES];
        port->errors += grown[METER_ERRORS];
        port->drops += grown[METER_DROPS];
        if (port->peer != EXPLAIN_NONE) {
            meter->ports[port->peer].peer_sent += grown[METER_SENT];
        }
        return;
    }
    add_active(meter, sample->port, before, sample,
               port->has_durations ? grown[METER_DURATION] : frame_us * grown[METER_FRAMES]);
    if (port->peer != EXPLAIN_NONE && !meter->ports[port->peer].has_frames) {
        add_active(meter, port->peer, before, sample, frame_us * grown[METER_SENT]);
    }
}

// Returns whether two samples of one port and time say the same.
static bool are_equal(const meter_t *meter, const meter_sample_t *a, const meter_sample_t *b)
{
    for (size_t i = 0; i < meter->kind_count; i++) {
        const meter_value_t *const x = &meter->values[a->values + i];
        const meter_value_t *const y = &meter->values[b->values + i];
        if (x->whole != y->whole || x->is_missing != y->is_missing || x->part < y->part ||
            x->part > y->part) {
            return false;
        }
    }
    return true;
}

// Returns how long a pause frame stops a port, from ports that count both; 1: none does.
static double us_of_frame(const meter_t *meter)
{
    double frames = 0;
    double us = 0;
    for (size_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->has_durations && port->frames > 0) {
            frames += port->frames;
            us += port->stopped_us;
        }
    }
    return frames > 0 && us > 0 ? us / frames : 1;
}

// Adds the growth between all samples of a port that follow each other.
static sim_err_t add_all(meter_t *meter, const char *path, double frame_us, world_error_t *error)
{
    for (size_t i = 1; i < meter->sample_count; i++) {
        const meter_sample_t *const before = &meter->samples[i - 1];
        const meter_sample_t *const sample = &meter->samples[i];
        if (before->port != sample->port) {
            continue;
        }
        if (sample->time_s > before->time_s) {
            add_growth(meter, before, sample, frame_us);
        } else if (!are_equal(meter, before, sample)) {
            const world_place_t place = {(char *)(uintptr_t)path, (int)sample->line, 1};
            return world_fail(error, SIM_ERR_INVALID, &place,
                              "a second sample of %s at this time, with other values than line %u, "
                              "expected one",
                              meter->ports[sample->port].name, before->line);
        }
    }
    return SIM_OK;
}

sim_err_t cli__meter_intervals(meter_t *meter, const char *path, world_error_t *error)
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
        return world_fail(
            error, SIM_ERR_RANGE, WORLD_FILE(path),
            "%zu times of samples at %zu ports, expected at least 2 times and at most "
            "%u values",
            meter->time_count, meter->port_count, MATRIX_MAX);
    }
    meter->active = sim_alloc_array(meter->port_count * meter->time_count, sizeof(float));
    memset(meter->active, 0, meter->port_count * meter->time_count * sizeof(float));
    qsort(meter->samples, meter->sample_count, sizeof(meter_sample_t), by_port_and_time);
    const sim_err_t result = add_all(meter, path, -1, error);
    if (result != SIM_OK) {
        return result;
    }
    const double frame_us = us_of_frame(meter);
    meter->has_durations = false;
    for (size_t i = 0; i < meter->port_count; i++) {
        meter_port_t *const port = &meter->ports[i];
        meter->has_durations |= port->has_durations;
        meter->has_bytes |= port->sent_bytes > 0;
        port->frames = port->has_frames ? port->frames : port->peer_sent;
        port->stopped_us = port->has_durations ? port->stopped_us : frame_us * port->frames;
    }
    return add_all(meter, path, frame_us, error);
}

sim_err_t cli__meter_samples(meter_t *meter, const char *path, world_error_t *error)
{
    const sim_err_t result = read_samples(meter, path, error);
    return result == SIM_OK ? cli__meter_intervals(meter, path, error) : result;
}

void cli__meter_fini(meter_t *meter)
{
    for (size_t i = 0; i < meter->node_count; i++) {
        sim_free(meter->nodes[i].name);
    }
    for (size_t i = 0; i < meter->port_count; i++) {
        sim_free(meter->ports[i].own);
        sim_free(meter->ports[i].name);
    }
    SIM_FREE_ALL(meter->nodes, meter->ports, meter->samples, meter->kinds, meter->values,
                 meter->times, meter->active, meter->parents, meter->unknown_port);
}
