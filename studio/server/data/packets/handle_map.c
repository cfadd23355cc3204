// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/handle_map.c - the state of each port over time: utilisation, queue,
// pauses, drops.
//
// Pauses and drops come from the run's events.csv. Utilisation and queues over time need an observe
// block in the scenario. Without them, utilisation and drops come from a capture of the fabric.
// Otherwise there is one value for the whole run, and the answer says so. In a large network, the
// answer has the directions of the links of its folded drawing in the place of ports.
#include "studio/server/data/handlers.h"
#include "studio/server/data/import/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 500
#define VALUES_MAX 250000u      // of an answer: a large network has fewer frames
#define FRAME_OVERHEAD_BYTES 24 // bytes per frame: preamble, FCS and gap

typedef struct port {
    const char *name;
    double rate_bps;
    double total;      // over the whole run
    double *values;    // by frame of the map; NULL: nothing happened
    unsigned stopped;  // number of classes that are paused now
    double stopped_ns; // time at which the pause began
    bool seen;
} port_t;

typedef struct map {
    const studio_source_t *source;
    studio_scan_t *ports_scan;
    port_t *ports; // sorted by name
    size_t count;
    size_t frames;
    double from_ns;
    double to_ns;
    const char *source_name;
    const char *unit;
    const char *note;
} map_t;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const port_t *)a)->name, ((const port_t *)b)->name);
}

static port_t *find_port(const map_t *map, const char *name)
{
    const port_t key = {.name = name};
    return name != NULL ? bsearch(&key, map->ports, map->count, sizeof(key), by_name) : NULL;
}

// Reads the table of ports; returns false if a column is missing.
static bool take_ports(map_t *map, const char *metric)
{
    static const char *const names[] = {"port", "rate_bps", "utilisation", "queue_bytes_max"};
    studio_scan_t *const scan = map->ports_scan;
    size_t columns[SIM_COUNT_OF(names)];
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        columns[i] = studio_scan_find(scan, names[i]);
        if (columns[i] == studio_scan_column_count(scan)) {
            return false;
        }
    }
    map->count = (size_t)studio_scan_rows(scan);
    map->ports = sim_alloc_array(map->count, sizeof(*map->ports));
    for (size_t i = 0; i < map->count; i++) {
        port_t *const port = &map->ports[i];
        const char *const name = studio_scan_cell(scan, 0, i, columns[0]).text;
        port->name = name != NULL ? name : "";
        port->rate_bps = studio_scan_cell(scan, 0, i, columns[1]).real;
        port->total = metric[0] == 'q'   ? studio_scan_cell(scan, 0, i, columns[3]).real
                      : metric[0] == 'u' ? studio_scan_cell(scan, 0, i, columns[2]).real
                                         : 0;
    }
    qsort(map->ports, map->count, sizeof(*map->ports), by_name);
    return true;
}

static double frame_begin(const map_t *map, size_t frame)
{
    return map->from_ns + (map->to_ns - map->from_ns) * (double)frame / (double)map->frames;
}

static size_t frame_of(const map_t *map, double time_ns)
{
    const double share = (time_ns - map->from_ns) / (map->to_ns - map->from_ns);
    const double frame = floor(share * (double)map->frames);
    return frame <= 0 ? 0 : frame >= (double)map->frames ? map->frames - 1 : (size_t)frame;
}

static void free_ports(const map_t *map)
{
    for (size_t i = 0; map->ports != NULL && i < map->count; i++) {
        sim_free(map->ports[i].values);
    }
    sim_free(map->ports);
}

// Returns the values of a port.
static double *values_of(const map_t *map, port_t *port)
{
    if (port->values == NULL) {
        port->values = sim_alloc_array(map->frames, sizeof(double));
    }
    return port->values;
}

// -- events

static void add_stopped(const map_t *map, port_t *port, double from_ns, double to_ns)
{
    from_ns = fmax(from_ns, map->from_ns);
    to_ns = fmin(to_ns, map->to_ns);
    const double width = (map->to_ns - map->from_ns) / (double)map->frames;
    for (size_t frame = frame_of(map, from_ns); from_ns < to_ns && frame < map->frames; frame++) {
        const double end = fmin(to_ns, frame_begin(map, frame + 1));
        if (end > from_ns) {
            values_of(map, port)[frame] += (end - from_ns) / width;
            from_ns = end;
        } else if (frame + 1 == map->frames) {
            break;
        }
    }
}

static void take_event(const map_t *map, bool drops, const char *event, const char *name,
                       double time_ns)
{
    port_t *const port = find_port(map, name);
    if (port == NULL || event == NULL) {
        return;
    }
    if (drops) {
        if (strcmp(event, "drop") == 0 && time_ns >= map->from_ns && time_ns <= map->to_ns) {
            values_of(map, port)[frame_of(map, time_ns)]++;
        }
    } else if (strcmp(event, "paused") == 0) {
        port->stopped_ns = port->stopped == 0 ? time_ns : port->stopped_ns;
        port->stopped++;
    } else if (strcmp(event, "resumed") == 0 && port->stopped > 0 && --port->stopped == 0) {
        add_stopped(map, port, port->stopped_ns, time_ns);
    }
}

static bool map_events(map_t *map, const studio_sources_t *sources, bool drops)
{
    studio_place_error_t error;
    studio_scan_t *scan = NULL;
    if (studio_scan_open(sources, "events", &scan, &error) != SIM_OK) {
        map->note = "the run has no events.csv (outputs.events)";
        return false;
    }
    const size_t time = studio_scan_find(scan, "time_ns");
    const size_t event = studio_scan_find(scan, "event");
    const size_t port = studio_scan_find(scan, "port");
    const size_t none = studio_scan_column_count(scan);
    const bool there = time < none && event < none && port < none;
    studio_found_t found = {.rows = NULL};
    while (there && studio_scan_next(scan, &found)) {
        for (size_t i = 0; i < found.count; i++) {
            const uint64_t row = found.first_row + found.rows[i];
            take_event(map, drops, studio_scan_cell(scan, 0, row, event).text,
                       studio_scan_cell(scan, 0, row, port).text,
                       studio_scan_cell(scan, 0, row, time).real);
        }
    }
    for (size_t i = 0; i < map->count && !drops; i++) {
        if (map->ports[i].stopped > 0) {
            add_stopped(map, &map->ports[i], map->ports[i].stopped_ns, map->to_ns);
        }
    }
    studio_scan_close(scan);
    map->source_name = "events";
    map->unit = drops ? "packets" : "share of time";
    return true;
}

// -- series

// Returns whether a series has this metric. *of_class: it is of one class, such as "[3]"; series of
// all classes have no such suffix.
static bool is_metric(const char *metric, const char *name, bool *of_class)
{
    const size_t size = strlen(name);
    *of_class = metric[size] == '[';
    return strncmp(metric, name, size) == 0 && (metric[size] == '\0' || *of_class);
}

static double last_before(const studio_series_t *series, uint64_t at)
{
    return at > 0 ? series->points[at - 1].value : 0;
}

// Returns the value of a frame: the largest queue, the mean of a share, or a counter's growth as a
// share.
static double frame_value(const studio_series_t *series, const port_t *port, const char *metric,
                          int64_t from_ps, int64_t to_ps)
{
    const uint64_t from = studio_points_from(series, from_ps);
    const uint64_t to = studio_points_from(series, to_ps);
    if (strcmp(metric, "queue_bytes") == 0) {
        const double before = last_before(series, from);
        return to > from ? fmax(before, studio_points_span(series, from, to).most) : before;
    }
    if (strcmp(metric, "utilisation") == 0) {
        double sum = 0;
        for (uint64_t i = from; i < to; i++) {
            sum += series->points[i].value / 1e6;
        }
        return to > from ? sum / (double)(to - from) : last_before(series, from) / 1e6;
    }
    if (to == 0 || from == series->count || port->rate_bps <= 0) {
        return 0;
    }
    const studio_point_t first = series->points[from > 0 ? from - 1 : 0];
    const studio_point_t last = series->points[to < series->count ? to : to - 1];
    const double seconds = (double)(last.time_ps - first.time_ps) / 1e12;
    return seconds > 0 ? 8 * (last.value - first.value) / seconds / port->rate_bps : 0;
}

static size_t map_metric(map_t *map, const studio_points_t *points, const char *metric)
{
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const studio_series_t *const series = &points->series[i];
        bool of_class = false;
        port_t *const port =
            strcmp(series->kind, "port") == 0 && is_metric(series->metric, metric, &of_class)
                ? find_port(map, series->of)
                : NULL;
        // The values of the classes are added, but a series of all classes takes their place.
        if (port == NULL || (port->seen && !of_class && port->stopped == 0)) {
            continue;
        }
        if (!of_class) {
            memset(values_of(map, port), 0, map->frames * sizeof(double));
            port->stopped = 1;
        } else if (port->stopped == 1) {
            continue;
        }
        port->seen = true;
        count++;
        for (size_t frame = 0; frame < map->frames; frame++) {
            values_of(map, port)[frame] +=
                frame_value(series, port, metric, (int64_t)(frame_begin(map, frame) * 1000),
                            (int64_t)(frame_begin(map, frame + 1) * 1000));
        }
    }
    return count;
}

static bool map_series(map_t *map, bool queues)
{
    char *const path = sim_format("%s/series.points", map->source->index);
    studio_points_t *points = NULL;
    sim_message_t message;
    size_t count = 0;
    if (access(path, F_OK) == 0 && studio_points_open(path, &points, &message) == SIM_OK) {
        if (queues) {
            count = map_metric(map, points, "queue_bytes");
        } else {
            count = map_metric(map, points, "utilisation");
            count = count == 0 ? map_metric(map, points, "tx_bytes") : count;
        }
        studio_points_close(points);
    }
    sim_free(path);
    map->source_name = count > 0 ? "series" : "totals";
    map->unit = queues ? "bytes" : "share";
    return count > 0;
}

// -- a capture of the fabric

// Takes the sent frames of the first capture that names ports, or its comments on drops. Returns
// false if the run has none.
static bool map_capture(map_t *map, const studio_sources_t *sources, bool drops)
{
    studio_place_error_t error;
    studio_scan_t *scan = NULL;
    json_t *const only =
        drops ? json_pack("[{s:s,s:s,s:s}]", "column", "note", "op", "contains", "value", "dropped")
              : json_pack("[{s:s,s:s,s:s}]", "column", "way", "op", "=", "value", "sent");
    bool fits = studio_scan_open(sources, "packets", &scan, &error) == SIM_OK &&
                studio_scan_filter(scan, only, &error) == SIM_OK &&
                studio_scan_range(scan, map->from_ns, map->to_ns, &error) == SIM_OK;
    const size_t time = fits ? studio_scan_find(scan, "time_ns") : 0;
    const size_t name = fits ? studio_scan_find(scan, "port") : 0;
    const size_t bytes = fits ? studio_scan_find(scan, "bytes") : 0;
    const size_t file = fits ? studio_scan_find(scan, "file") : 0;
    const double frame_s = (map->to_ns - map->from_ns) / (double)map->frames / 1e9;
    const char *taken = NULL;
    studio_found_t found = {.rows = NULL};
    while (fits && studio_scan_next(scan, &found)) {
        for (size_t i = 0; i < found.count; i++) {
            const uint64_t row = found.first_row + found.rows[i];
            const char *const from = studio_scan_cell(scan, 0, row, file).text;
            port_t *const port = find_port(map, studio_scan_cell(scan, 0, row, name).text);
            taken = taken == NULL ? from : taken;
            if (from != taken || port == NULL) {
                continue; // another capture may have the same frames
            }
            const double bits =
                8 * (studio_scan_cell(scan, 0, row, bytes).real + FRAME_OVERHEAD_BYTES);
            const double able = port->rate_bps * frame_s;
            values_of(map, port)[frame_of(map, studio_scan_cell(scan, 0, row, time).real)] +=
                drops      ? 1
                : able > 0 ? bits / able
                           : 0;
            port->seen = true;
        }
    }
    studio_scan_close(scan);
    json_decref(only);
    if (taken != NULL) {
        map->source_name = "capture";
        map->unit = drops ? "packets" : "share";
    }
    return taken != NULL;
}

// Adds the values of a port to those of a link of the drawing, which has the largest of its ports'.
static void take_largest(const map_t *map, port_t *all, const port_t *port)
{
    if (port == NULL) {
        return;
    }
    all->seen = all->seen || port->seen;
    all->total = fmax(all->total, port->total);
    for (size_t frame = 0; port->values != NULL && frame < map->frames; frame++) {
        values_of(map, all)[frame] = fmax(values_of(map, all)[frame], port->values[frame]);
    }
}

// Puts the two directions of each link of a drawing in the place of the ports, and its nodes, which
// have the largest value of the links inside.
static void fold_ports(map_t *map, const studio_network_t *network, const studio_drawing_t *drawing)
{
    const json_t *const links = json_object_get(drawing->json, "links");
    const size_t count = json_array_size(links);
    const json_t *const nodes = json_object_get(drawing->json, "nodes");
    const size_t node_count = json_array_size(nodes);
    port_t *const all = sim_alloc_array(2 * count + node_count + 1, sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        const json_t *const link = json_array_get(links, i);
        all[2 * i].name = json_string_value(json_object_get(link, "a_port"));
        all[2 * i + 1].name = json_string_value(json_object_get(link, "b_port"));
    }
    for (size_t i = 0; i < node_count; i++) {
        all[2 * count + i].name =
            json_string_value(json_object_get(json_array_get(nodes, i), "name"));
    }
    for (size_t i = 0; i < network->link_count; i++) {
        const studio_network_link_t *const link = &network->links[i];
        const uint32_t place = drawing->link_of[i];
        const bool inside = place == UINT32_MAX;
        port_t *const node = &all[2 * count + drawing->node_of[link->a]];
        take_largest(map, inside ? node : &all[place],
                     find_port(map, network->texts + link->a_port));
        take_largest(map, inside ? node : &all[place ^ 1],
                     find_port(map, network->texts + link->b_port));
    }
    free_ports(map);
    map->ports = all;
    map->count = 2 * count + node_count;
}

static void write_map(const map_t *map, const char *metric, studio_out_t *out)
{
    const bool totals = strcmp(map->source_name, "totals") == 0;
    const size_t frames = totals ? 1 : map->frames;
    double most = 0;
    studio_out_format(out,
                      "{\"metric\":\"%s\",\"unit\":\"%s\",\"source\":\"%s\",\"from_ns\":%.3f,"
                      "\"to_ns\":%.3f,\"time_ns\":[",
                      metric, map->unit, map->source_name, map->from_ns, map->to_ns);
    for (size_t i = 0; i < frames; i++) {
        studio_out_format(out, "%s%.3f", i > 0 ? "," : "", frame_begin(map, i));
    }
    studio_out_text(out, "],\"ports\":{");
    size_t written = 0;
    for (size_t i = 0; i < map->count; i++) {
        const port_t *const port = &map->ports[i];
        if (strcmp(map->source_name, "series") == 0 && !port->seen) {
            continue;
        }
        studio_out_text(out, written++ > 0 ? ",\n" : "\n");
        studio_out_json(out, port->name);
        studio_out_text(out, ":[");
        for (size_t frame = 0; frame < frames; frame++) {
            const double value = totals                 ? port->total
                                 : port->values != NULL ? port->values[frame]
                                                        : 0;
            most = fmax(most, value);
            studio_out_format(out, "%s%.5g", frame > 0 ? "," : "", value);
        }
        studio_out_text(out, "]");
    }
    studio_out_format(out, "},\"most\":%.6g", most);
    if (map->note != NULL) {
        studio_out_text(out, ",\"note\":");
        studio_out_json(out, map->note);
    }
    studio_out_text(out, "}\n");
}

// Limits a time to what 64 bits of picoseconds can hold.
static double within(double time_ns)
{
    return fmin(fmax(time_ns, -9e15), 9e15);
}

static void take_times(const studio_request_t *request, map_t *map, double end_ns)
{
    const double at_ns = studio__data_real(request, "at_ns");
    const double from_ns = studio__data_real(request, "from_ns");
    const double to_ns = studio__data_real(request, "to_ns");
    map->from_ns = isnan(from_ns) ? 0 : within(from_ns);
    map->to_ns = isnan(to_ns) ? end_ns : within(to_ns);
    if (!isnan(at_ns)) {
        map->frames = 1;
        map->from_ns = within(at_ns);
        map->to_ns = map->from_ns + fmax(end_ns / 1000, 1);
    }
    map->to_ns = map->to_ns > map->from_ns ? map->to_ns : map->from_ns + 1;
}

static int answer_map(studio_request_t *request, studio_response_t *response,
                      const studio_sources_t *sources, const char *metric, size_t frames,
                      const studio_network_t *network, const studio_drawing_t *drawing)
{
    const json_t *const links = drawing == NULL ? NULL : json_object_get(drawing->json, "links");
    const size_t ways = 2 * (drawing == NULL ? network->link_count : json_array_size(links));
    map_t map = {.source = &sources->sources[0],
                 .frames = SIM_MAX(SIM_MIN(frames, VALUES_MAX / (ways + 1)), 1),
                 .source_name = "totals",
                 .unit = "packets"};
    studio_place_error_t error;
    sim_err_t code = studio_scan_open(sources, "ports", &map.ports_scan, &error);
    if (code != SIM_OK) {
        return studio__data_refuse(response, code, &error, -1);
    }
    json_t *const summary = studio__data_file(map.source->result, "summary.json");
    const double end_ps = json_number_value(json_object_get(summary, "sim_time_ps"));
    json_decref(summary);
    take_times(request, &map, end_ps / 1000);
    int status = 0;
    if (!take_ports(&map, metric)) {
        status =
            studio_response_error(response, 409, "ports.csv lacks a column that rocesim writes");
    } else {
        const bool drops = metric[0] == 'd';
        const bool has_own = drops || metric[0] == 'p' ? map_events(&map, sources, drops)
                                                       : map_series(&map, metric[0] == 'q');
        if (!has_own && (drops || metric[0] == 'u') && map_capture(&map, sources, drops)) {
            map.note = NULL;
        }
        if (drawing != NULL) {
            fold_ports(&map, network, drawing);
        }
        studio_out_t out = {.bytes = NULL};
        write_map(&map, metric, &out);
        status = studio__data_answer(response, &out);
    }
    free_ports(&map);
    studio_scan_close(map.ports_scan);
    return status;
}

int studio_handle_map(studio_request_t *request, studio_response_t *response)
{
    static const char *const metrics[] = {"utilisation", "queue", "pause", "drops"};
    const char *const metric = studio_request_query(request, "metric");
    size_t i = 0;
    while (i < SIM_COUNT_OF(metrics) && (metric == NULL || strcmp(metrics[i], metric) != 0)) {
        i++;
    }
    int64_t frames = 0;
    if (i == SIM_COUNT_OF(metrics) ||
        !studio_request_query_number(request, "frames", 60, 1, FRAMES_MAX, &frames)) {
        return studio_response_error(
            response, 400,
            "expected metric=utilisation, queue, pause or drops, and frames "
            "from 1 to %d",
            FRAMES_MAX);
    }
    if (studio__data_real(request, "from_ns") > studio__data_real(request, "to_ns")) {
        return studio_response_error(response, 400, "from_ns is after to_ns");
    }
    studio_sources_t sources;
    int status = 0;
    if (!studio__data_source(request, response, &sources, &status)) {
        return status;
    }
    studio_network_t network = {.nodes = NULL};
    studio_drawing_t drawing;
    const bool folded = studio__data_network(&sources.sources[0], &network) &&
                        studio_network_is_large(network.node_count);
    if (folded) {
        studio_drawing_init(&drawing, &network, studio_request_query(request, "open"),
                            studio_request_query(request, "find"));
    }
    status = answer_map(request, response, &sources, metrics[i], (size_t)frames, &network,
                        folded ? &drawing : NULL);
    if (folded) {
        studio_drawing_fini(&drawing);
    }
    studio_network_fini(&network);
    studio_sources_fini(&sources);
    return status;
}
