// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/handle_tables.c - routes of a run's import, summary, topology and
// tables.
#include "studio/server/data/data.h"
#include "studio/server/data/handlers.h"
#include "studio/server/data/import/points.h"

#include "results/runner.h"
#include "results/schema.h"
#include "results/story.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUES_MAX 64u
#define TABLES_MAX 64u
#define LAYERS_MAX 64u

static int import(studio_request_t *request, studio_response_t *response, bool again)
{
    studio_run_t run;
    int status = 0;
    if (!studio__data_run(request, response, &run, &status)) {
        return status;
    }
    if (again && !studio_run_may_change(studio_request_user(request), &run)) {
        return studio_response_error(response, 403, "this run belongs to another user");
    }
    status = again ? studio_response_disk_full(response, studio_request_studio(request)) : 0;
    if (status != 0) {
        return status;
    }
    bool done = false;
    json_t *const state =
        studio_data_want(studio_request_studio(request)->data, run.id, run.folder, again, &done);
    return studio_response_json(response, 200, state);
}

int studio_handle_import(studio_request_t *request, studio_response_t *response)
{
    return import(request, response, false);
}

int studio_handle_import_again(studio_request_t *request, studio_response_t *response)
{
    return import(request, response, true);
}

static bool is_table_file(const char *name, size_t *size)
{
    const size_t all = strlen(name);
    *size = all > 6 ? all - 6 : 0;
    return all > 6 && strcmp(name + all - 6, ".table") == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t table_names(const char *index, char **names)
{
    size_t count = 0;
    size_t size = 0;
    DIR *const directory = opendir(index);
    const struct dirent *entry = NULL;
    while (directory != NULL && (entry = readdir(directory)) != NULL && count < TABLES_MAX) {
        if (is_table_file(entry->d_name, &size)) {
            names[count++] = sim_format("%.*s", (int)size, entry->d_name);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    qsort(names, count, sizeof(*names), by_text);
    return count;
}

int studio_handle_summary(studio_request_t *request, studio_response_t *response)
{
    studio_run_t run;
    int status = 0;
    if (!studio__data_run(request, response, &run, &status)) {
        return status;
    }
    char *const result = sim_format("%s/result", run.folder);
    char *const index = sim_format("%s/index", run.folder);
    json_t *const summary = studio__data_file(result, "summary.json");
    json_t *const manifest = studio__data_file(result, "manifest.json");
    char *names[TABLES_MAX];
    const size_t count = table_names(index, names);
    json_t *const tables = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(tables, json_string(names[i]));
        sim_free(names[i]);
    }
    sim_free(index);
    sim_free(result);
    if (summary == NULL) {
        json_decref(manifest);
        json_decref(tables);
        return studio_response_error(response, 409, "summary.json is missing or damaged");
    }
    return studio_response_json(response, 200,
                                json_pack("{s:o,s:o,s:o,s:o}", "summary", summary, "manifest",
                                          manifest != NULL ? manifest : json_null(), "words",
                                          results_story(summary), "tables", tables));
}

// -- the topology with a layout

typedef struct layout {
    json_t *topology;
    size_t count;
    const char **names;
    unsigned *layers;
} layout_t;

static size_t node_of(const layout_t *layout, const json_t *indices, const char *name)
{
    const json_t *const index = name != NULL ? json_object_get(indices, name) : NULL;
    return index != NULL ? (size_t)json_integer_value(index) : layout->count;
}

// Computes the layers of the drawing: hosts have layer 0, a switch has its distance in links from
// the nearest host.
static void find_layers(layout_t *layout)
{
    const json_t *const nodes = json_object_get(layout->topology, "nodes");
    const json_t *const links = json_object_get(layout->topology, "links");
    json_t *const indices = json_object();
    for (size_t i = 0; i < layout->count; i++) {
        const json_t *const node = json_array_get(nodes, i);
        const char *const kind = json_string_value(json_object_get(node, "kind"));
        const char *const name = json_string_value(json_object_get(node, "name"));
        layout->names[i] = name != NULL ? name : "";
        layout->layers[i] = kind != NULL && strcmp(kind, "host") == 0 ? 0 : LAYERS_MAX;
        json_object_set_new(indices, layout->names[i], json_integer((json_int_t)i));
    }
    const size_t link_count = json_array_size(links);
    size_t *const ends = sim_alloc_array(2 * link_count, sizeof(*ends));
    for (size_t i = 0; i < link_count; i++) {
        const json_t *const link = json_array_get(links, i);
        ends[2 * i] = node_of(layout, indices, json_string_value(json_object_get(link, "a")));
        ends[2 * i + 1] = node_of(layout, indices, json_string_value(json_object_get(link, "b")));
    }
    bool changed = true;
    for (unsigned layer = 0; layer < LAYERS_MAX && changed; layer++) {
        changed = false;
        for (size_t i = 0; i < 2 * link_count; i++) {
            const size_t a = ends[i];
            const size_t b = ends[i ^ 1];
            if (a < layout->count && b < layout->count && layout->layers[a] == layer &&
                layout->layers[b] > layer + 1) {
                layout->layers[b] = layer + 1;
                changed = true;
            }
        }
    }
    sim_free(ends);
    json_decref(indices);
}

static json_t *place_nodes(const layout_t *layout)
{
    size_t counts[LAYERS_MAX + 1] = {0};
    size_t placed[LAYERS_MAX + 1] = {0};
    unsigned highest = 1;
    for (size_t i = 0; i < layout->count; i++) {
        counts[layout->layers[i]]++;
        const bool higher = layout->layers[i] < LAYERS_MAX && layout->layers[i] > highest;
        highest = higher ? layout->layers[i] : highest;
    }
    json_t *const places = json_object();
    for (size_t i = 0; i < layout->count; i++) {
        const unsigned layer = layout->layers[i];
        const double x = ((double)placed[layer]++ + 0.5) / (double)counts[layer];
        const double y = layer == LAYERS_MAX ? 0.5 : 1 - (double)layer / highest;
        json_object_set_new(places, layout->names[i],
                            json_pack("{s:f,s:f,s:i}", "x", x, "y", y, "layer",
                                      layer == LAYERS_MAX ? -1 : (int)layer));
    }
    return places;
}

int studio_handle_topology(studio_request_t *request, studio_response_t *response)
{
    studio_run_t run;
    int status = 0;
    if (!studio__data_run(request, response, &run, &status)) {
        return status;
    }
    char *const result = sim_format("%s/result", run.folder);
    layout_t layout = {.topology = studio__data_file(result, "topology.json")};
    sim_free(result);
    if (!json_is_object(layout.topology)) {
        json_decref(layout.topology);
        return studio_response_error(response, 404, "topology.json is missing or damaged");
    }
    layout.count = json_array_size(json_object_get(layout.topology, "nodes"));
    layout.names = sim_alloc_array(layout.count, sizeof(*layout.names));
    layout.layers = sim_alloc_array(layout.count, sizeof(*layout.layers));
    find_layers(&layout);
    json_object_set_new(layout.topology, "layout", place_nodes(&layout));
    sim_free(layout.names);
    sim_free(layout.layers);
    return studio_response_json(response, 200, layout.topology);
}

// -- tables

static void write_column(studio_out_t *out, const studio_table_t *table, size_t index)
{
    const studio_column_t *const column = &table->columns[index];
    studio_out_text(out, index > 0 ? ",{\"name\":" : "{\"name\":");
    studio_out_json(out, column->spec.name);
    studio_out_format(out, ",\"type\":\"%s\",\"unit\":", studio_type_name(column->spec.type));
    studio_out_json(out, column->spec.unit);
    studio_out_text(out, ",\"help\":");
    studio_out_json(out, column->spec.help);
    if (column->spec.type == STUDIO_NUMBER) {
        studio_out_text(out, ",\"min\":");
        studio_out_real(out, column->least, false);
        studio_out_text(out, ",\"max\":");
        studio_out_real(out, column->most, false);
    } else {
        studio_out_format(out, ",\"distinct\":%u", column->text_count);
        if (column->text_count <= VALUES_MAX && strcmp(table->name, "log") != 0) {
            studio_out_text(out, ",\"values\":[");
            for (uint32_t id = 0; id < column->text_count; id++) {
                studio_out_text(out, id > 0 ? "," : "");
                studio_out_json(out, studio_table_text(table, index, id));
            }
            studio_out_text(out, "]");
        }
    }
    studio_out_text(out, "}");
}

// Returns the number of rows that a run did not write into a table, because it was full.
static uint64_t rows_left_out(const json_t *summary, const char *name)
{
    const bool flows = strcmp(name, "flows") == 0;
    char *const field = sim_format("%s%s.left_out", name, flows ? "" : "_csv");
    const double left_out = json_number_value(results_json_at(summary, field));
    sim_free(field);
    return left_out > 0 ? (uint64_t)left_out : 0;
}

static void write_table(studio_out_t *out, const studio_table_t *table, const json_t *summary)
{
    studio_out_text(out, "{\"name\":");
    studio_out_json(out, table->name);
    studio_out_text(out, ",\"help\":");
    studio_out_json(out, table->help);
    studio_out_format(out, ",\"rows\":%" PRIu64 ",\"left_out\":%" PRIu64, table->row_count,
                      rows_left_out(summary, table->name));
    size_t from = studio_table_find(table, "time_ns");
    size_t to = from;
    if (from == table->column_count) {
        from = studio_table_find(table, "start_ns");
        to = studio_table_find(table, "end_ns");
    }
    if (from < table->column_count && to < table->column_count) {
        studio_out_text(out, ",\"from_ns\":");
        studio_out_real(out, table->columns[from].least, false);
        studio_out_text(out, ",\"to_ns\":");
        studio_out_real(out, table->columns[to].most, false);
    }
    studio_out_text(out, ",\"columns\":[");
    for (size_t i = 0; i < table->column_count; i++) {
        write_column(out, table, i);
    }
    studio_out_text(out, "]}");
}

static void write_metrics(studio_out_t *out, const studio_points_t *points)
{
    // kind and metric -> list of names, in order of appearance
    json_t *const metrics = json_object();
    for (size_t i = 0; i < points->count; i++) {
        const studio_series_t *const series = &points->series[i];
        char *const key = sim_format("%s|%s", series->kind, series->metric);
        if (json_object_get(metrics, key) == NULL) {
            json_object_set_new(metrics, key,
                                json_pack("{s:s,s:s,s:s,s:[]}", "metric", series->metric, "kind",
                                          series->kind, "unit", results_metric_unit(series->metric),
                                          "of"));
        }
        json_array_append_new(json_object_get(json_object_get(metrics, key), "of"),
                              json_string(series->of));
        sim_free(key);
    }
    const char *key = NULL;
    json_t *metric = NULL;
    size_t count = 0;
    json_object_foreach(metrics, key, metric)
    {
        char *const text = json_dumps(metric, JSON_COMPACT);
        studio_out_text(out, count++ > 0 ? "," : "");
        studio_out_text(out, text != NULL ? text : "{}");
        json_free_t json_free = NULL;
        json_get_alloc_funcs(NULL, &json_free);
        json_free(text);
    }
    json_decref(metrics);
}

int studio_handle_tables(studio_request_t *request, studio_response_t *response)
{
    studio_sources_t sources;
    int status = 0;
    if (!studio__data_source(request, response, &sources, &status)) {
        return status;
    }
    const studio_source_t *const source = &sources.sources[0];
    studio_out_t out = {.bytes = NULL};
    json_t *const summary = studio__data_file(source->result, "summary.json");
    char *names[TABLES_MAX];
    const size_t count = table_names(source->index, names);
    studio_out_text(&out, "{\"tables\":[");
    for (size_t i = 0, written = 0; i < count; i++) {
        char *const path = sim_format("%s/%s.table", source->index, names[i]);
        studio_table_t *table = NULL;
        sim_message_t message;
        if (studio_table_open(path, &table, &message) == SIM_OK) {
            studio_out_text(&out, written++ > 0 ? ",\n" : "\n");
            write_table(&out, table, summary);
            studio_table_close(table);
        }
        sim_free(path);
        sim_free(names[i]);
    }
    json_decref(summary);
    studio_out_text(&out, "],\"metrics\":[");
    char *const path = sim_format("%s/series.points", source->index);
    studio_points_t *points = NULL;
    sim_message_t message;
    if (access(path, F_OK) == 0 && studio_points_open(path, &points, &message) == SIM_OK) {
        write_metrics(&out, points);
        studio_points_close(points);
    }
    sim_free(path);
    json_t *const state = studio__data_file(source->index, "import.json");
    json_t *const captures = json_object_get(state, "captures");
    char *const text = captures != NULL ? json_dumps(captures, JSON_COMPACT) : NULL;
    studio_out_format(&out, "],\"captures\":%s}\n", text != NULL ? text : "[]");
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    json_decref(state);
    studio_sources_fini(&sources);
    return studio__data_answer(response, &out);
}
