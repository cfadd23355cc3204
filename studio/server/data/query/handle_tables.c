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

// -- the topology

bool studio__data_network(const studio_source_t *source, studio_network_t *network)
{
    char *const path = sim_format("%s/network", source->index);
    const bool opened = studio_network_open(path, network);
    sim_free(path);
    return opened;
}

// Keeps what the column `port` of the table of hops or of packets names.
static void keep_ports_of(const studio_source_t *source, bool hops, studio_network_t *network)
{
    const char *const name = hops ? "hops" : "packets";
    char *const path = sim_format("%s/%s.table", source->index, name);
    studio_table_t *table = NULL;
    sim_message_t message;
    if (studio_table_open(path, &table, &message) == SIM_OK) {
        const size_t index = studio_table_find(table, "port");
        const uint32_t count = index < table->column_count ? table->columns[index].text_count : 0;
        json_t *const ports = json_object();
        for (uint32_t id = 0; id < count; id++) {
            (void)json_object_set_new(ports, studio_table_text(table, index, id), json_true());
        }
        studio_network_keep(network, ports);
        json_decref(ports);
        studio_table_close(table);
    }
    sim_free(path);
}

int studio_handle_topology(studio_request_t *request, studio_response_t *response)
{
    studio_sources_t sources;
    int status = 0;
    if (!studio__data_source(request, response, &sources, &status)) {
        return status;
    }
    studio_network_t network;
    if (!studio__data_network(&sources.sources[0], &network)) {
        status = studio_response_error(response, 404, "topology.json is missing or damaged");
        studio_sources_fini(&sources);
        return status;
    }
    const bool large = studio_network_is_large(network.node_count);
    const char *const table = studio_request_query(request, "table");
    if (large && table != NULL) {
        keep_ports_of(&sources.sources[0], strcmp(table, "hops") == 0, &network);
    }
    if (studio_network_is_large(network.node_count)) {
        studio_drawing_t drawing;
        studio_drawing_init(&drawing, &network, studio_request_query(request, "open"),
                            studio_request_query(request, "find"));
        status = studio_response_json(response, 200, json_incref(drawing.json));
        studio_drawing_fini(&drawing);
    } else {
        status = studio_response_json(
            response, 200,
            large ? studio_network_json(&network)
                  : studio__data_file(sources.sources[0].result, "topology.json"));
    }
    studio_network_fini(&network);
    studio_sources_fini(&sources);
    return status;
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
