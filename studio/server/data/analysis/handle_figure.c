// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/handle_figure.c - figures as `rocesim plot` draws them.
//
// The page gets the numbers that `rocesim plot --json` prints, so that both show the same ones. The
// program gets the result folders as links named after the runs, because legends show these names.
#include "studio/server/data/analysis/figure_child.h"
#include "studio/server/data/handlers.h"
#include "studio/server/store/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 30
#define TRACE "timeline" // the kind that `rocesim timeline` draws, for Perfetto
#define TRACE_EVENTS_MAX "200000"

static const char *const kinds[] = {"slowdown", "queue", "queue-cdf", "rate",     "series",
                                    "pause",    "load",  "load-time", "app-rate", "app-cdf"};

typedef struct drawing {
    char *folder; // temporary folder below the data folder
    char *links[STUDIO_FIGURE_RUNS_MAX];
    char *results[STUDIO_FIGURE_RUNS_MAX]; // targets of the links
    size_t count;
    char *output;
    char *message; // file with the program's messages
} drawing_t;

// Makes a file name of a run's name.
static char *link_name(const studio_sources_t *sources, size_t index)
{
    const studio_source_t *const source = &sources->sources[index];
    bool twice = false;
    for (size_t i = 0; i < sources->count; i++) {
        twice = twice || (i != index && strcmp(sources->sources[i].name, source->name) == 0);
    }
    char *const name = twice ? sim_format("%.150s #%" PRId64, source->name, source->run)
                             : sim_format("%.150s", source->name);
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '/' || (uint8_t)*at < 0x20) {
            *at = '-';
        }
    }
    if (name[0] == '.') {
        name[0] = '-';
    }
    return name;
}

static bool begin(const studio_t *studio, drawing_t *drawing, const studio_sources_t *sources,
                  const char *ending)
{
    char *const data = realpath(studio->options.data, NULL);
    drawing->folder = sim_format("%s/tmp/figure-XXXXXX", data == NULL ? "" : data);
    free(data);
    if (mkdtemp(drawing->folder) == NULL) {
        drawing->folder[0] = '\0';
        return false;
    }
    drawing->output = sim_format("%s/.figure.%s", drawing->folder, ending);
    drawing->message = sim_format("%s/.message", drawing->folder);
    for (size_t i = 0; i < sources->count && i < STUDIO_FIGURE_RUNS_MAX; i++) {
        char *const name = link_name(sources, i);
        char *const target = realpath(sources->sources[i].result, NULL);
        drawing->links[i] = sim_format("%s/%s", drawing->folder, name);
        drawing->results[i] = target;
        const bool linked = target != NULL && symlink(target, drawing->links[i]) == 0;
        drawing->count++;
        sim_free(name);
        if (!linked) {
            return false;
        }
    }
    return true;
}

static void end(drawing_t *drawing)
{
    for (size_t i = 0; i < drawing->count; i++) {
        sim_free(drawing->links[i]);
        free(drawing->results[i]); // realpath allocated it
    }
    if (drawing->folder[0] != '\0') {
        (void)studio_folder_remove(drawing->folder);
    }
    SIM_FREE_ALL(drawing->output, drawing->message, drawing->folder);
}

// Waits for the child and kills it after its time limit.
static bool ended_well(pid_t child, studio_request_t *request)
{
    const double deadline_s = studio_seconds() + SECONDS_MAX;
    int status = 0;
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (ended < 0 && errno != EINTR) {
            return false;
        }
        if (studio_seconds() > deadline_s || studio_request_cancelled(request)) {
            (void)kill(-child, SIGKILL);
            (void)waitpid(child, &status, 0);
            return false;
        }
        const struct timespec pause = {0, 5000000};
        (void)nanosleep(&pause, NULL);
    }
}

// Draws the figure, or prints it as JSON, into the file drawing->output.
static bool draw(studio_request_t *request, drawing_t *drawing, const char *kind, const char *app,
                 bool json)
{
    char *const program = realpath(studio_request_studio(request)->options.program, NULL);
    const char *arguments[STUDIO_FIGURE_RUNS_MAX + 12];
    size_t count = 0;
    arguments[count++] = "rocesim";
    if (strcmp(kind, TRACE) == 0) {
        arguments[count++] = "timeline";
        arguments[count++] = "--events";
        arguments[count++] = TRACE_EVENTS_MAX;
    } else {
        arguments[count++] = "plot";
        arguments[count++] = "--kind";
        arguments[count++] = kind;
    }
    arguments[count++] = json ? "--json" : "-o";
    if (!json) {
        arguments[count++] = drawing->output;
    }
    if (app != NULL && app[0] != '\0' && app[0] != '-') {
        arguments[count++] = "--app";
        arguments[count++] = app;
    }
    studio_figure_order_t order = {
        .program = program == NULL ? "" : program,
        .folder = drawing->folder,
        .message = drawing->message,
        .output = json ? drawing->output : NULL,
        .arguments = arguments,
    };
    SIM_CHECK(count + drawing->count < SIM_COUNT_OF(arguments)); // NULL ends them
    for (size_t i = 0; i < drawing->count; i++) {
        arguments[count++] = drawing->links[i];
        order.results[i] = drawing->results[i];
    }
    arguments[count] = NULL;
    const pid_t child = studio_figure_spawn(&order);
    free(program);
    return child > 0 && ended_well(child, request);
}

static bool read_output(const drawing_t *drawing, studio_out_t *out)
{
    FILE *const stream = fopen(drawing->output, "rbe");
    struct stat status;
    char buffer[16384];
    size_t count = 0;
    if (stream == NULL || fstat(fileno(stream), &status) != 0 ||
        status.st_size > (off_t)STUDIO_FIGURE_BYTES_MAX) {
        if (stream != NULL) {
            (void)fclose(stream);
        }
        return false;
    }
    while ((count = fread(buffer, 1, sizeof(buffer), stream)) > 0) {
        studio_out_bytes(out, buffer, count);
    }
    (void)fclose(stream);
    return out->size > 0;
}

// Returns the program's reason why there is no figure, without the folder's name.
static char *why_not(const drawing_t *drawing)
{
    char line[500] = "";
    FILE *const stream = drawing->message != NULL ? fopen(drawing->message, "rbe") : NULL;
    if (stream != NULL) {
        (void)!fgets(line, sizeof(line), stream);
        (void)fclose(stream);
    }
    studio_out_t text = {.bytes = NULL};
    const size_t folder = strlen(drawing->folder);
    const char *at = strncmp(line, "rocesim plot: ", 14) == 0 ? line + 14 : line;
    for (; *at != '\0' && *at != '\n'; at++) {
        if (strncmp(at, drawing->folder, folder) == 0 && at[folder] == '/') {
            at += folder;
        } else {
            studio_out_bytes(&text, at, 1);
        }
    }
    return text.bytes != NULL ? text.bytes : sim_strdup("it could not be drawn");
}

static bool is_kind(const char *kind)
{
    for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i], kind) == 0) {
            return true;
        }
    }
    return false;
}

static int answer_figure(studio_request_t *request, studio_response_t *response, const json_t *body,
                         const studio_sources_t *sources)
{
    static const char *const formats[][3] = {{"json", "json", "application/json"},
                                             {"gnuplot", "gnuplot", "text/plain; charset=utf-8"},
                                             {"svg", "svg", "image/svg+xml"},
                                             {"png", "png", "image/png"},
                                             {"trace", "json", "application/json"}};
    const char *const kind = json_string_value(json_object_get(body, "kind"));
    const char *format = json_string_value(json_object_get(body, "format"));
    format = format != NULL ? format : "json";
    size_t i = 0;
    while (i < SIM_COUNT_OF(formats) && strcmp(formats[i][0], format) != 0) {
        i++;
    }
    const bool trace = strcmp(format, "trace") == 0;
    const bool known = kind != NULL && (trace ? strcmp(kind, TRACE) == 0 : is_kind(kind));
    if (i == SIM_COUNT_OF(formats) || !known || (trace && sources->count != 1)) {
        return studio_response_error(
            response, 400,
            "expected a kind of rocesim plot, and format json, gnuplot, svg or png; or the kind "
            "timeline of one run, and format trace");
    }
    drawing_t drawing = {.count = 0};
    studio_out_t out = {.bytes = NULL};
    const bool drawn =
        begin(studio_request_studio(request), &drawing, sources, formats[i][1]) &&
        draw(request, &drawing, kind, json_string_value(json_object_get(body, "app")), i == 0) &&
        read_output(&drawing, &out);
    char *const why = drawn ? NULL : why_not(&drawing);
    end(&drawing);
    int status = 0;
    if (!drawn) {
        status = studio_response_error(response, 404, "no figure: %s", why);
    } else if (i == 0) {
        json_t *const printed = json_loadb(out.bytes, out.size, 0, NULL);
        json_t *const figure = json_array_get(json_object_get(printed, "figures"), 0);
        status = figure != NULL
                     ? studio_response_json(response, 200, json_incref(figure))
                     : studio_response_error(response, 500, "rocesim plot has printed no figure");
        json_decref(printed);
    } else {
        char *const name = sim_format("attachment; filename=\"%s.%s\"", kind, formats[i][1]);
        studio_response_header(response, "Content-Disposition", name);
        sim_free(name);
        status = studio_response_bytes(response, 200, formats[i][2], out.bytes, out.size);
    }
    sim_free(why);
    studio_out_fini(&out);
    return status;
}

int studio_handle_figure(studio_request_t *request, studio_response_t *response)
{
    json_t *const body = studio__data_body(request);
    studio_sources_t sources;
    int status = 0;
    if (body == NULL) {
        return studio_response_error(response, 400, "the body is no JSON object");
    }
    if (json_array_size(json_object_get(body, "runs")) > STUDIO_FIGURE_RUNS_MAX) {
        status = studio_response_error(response, 400, "runs: expected at most 16 runs in a figure");
    } else if (studio__data_sources(request, response, json_object_get(body, "runs"), &sources,
                                    &status)) {
        status = answer_figure(request, response, body, &sources);
        studio_sources_fini(&sources);
    }
    json_decref(body);
    return status;
}

// Returns whether a run has a table that the kind of figure needs; see docs/formats/plots.md.
static bool has_table(const studio_source_t *source, const char *name)
{
    studio_table_t *table = NULL;
    sim_message_t message;
    char *const path = sim_format("%s/%s.table", source->index, name);
    const bool there = studio_table_open(path, &table, &message) == SIM_OK && table->row_count > 0;
    studio_table_close(table);
    sim_free(path);
    return there;
}

static bool has_series(const studio_source_t *source, const char *part)
{
    studio_table_t *table = NULL;
    sim_message_t message;
    char *const path = sim_format("%s/series.table", source->index);
    bool there = false;
    if (studio_table_open(path, &table, &message) == SIM_OK) {
        const size_t column = studio_table_find(table, "path");
        for (uint32_t id = 0;
             column < table->column_count && id < table->columns[column].text_count && !there;
             id++) {
            there = strstr(studio_table_text(table, column, id), part) != NULL;
        }
    }
    studio_table_close(table);
    sim_free(path);
    return there;
}

// Returns whether an application of the run reports a list that ends so: "bandwidth", "_cdf".
static bool has_list(const json_t *summary, const char *ending)
{
    const json_t *const apps = json_object_get(summary, "apps");
    const size_t end = strlen(ending);
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const char *name = NULL;
        json_t *list = NULL;
        json_object_foreach(json_array_get(apps, i), name, list)
        {
            const size_t size = strlen(name);
            if (size >= end && strcmp(name + size - end, ending) == 0 &&
                json_array_size(list) > 0) {
                return true;
            }
        }
    }
    return false;
}

int studio_handle_figure_kinds(studio_request_t *request, studio_response_t *response)
{
    json_t *const runs = studio__data_run_list(request, "runs");
    studio_sources_t sources;
    int status = 0;
    if (studio__data_sources(request, response, runs, &sources, &status)) {
        bool has[SIM_COUNT_OF(kinds)] = {false};
        for (size_t i = 0; i < sources.count; i++) {
            const studio_source_t *const source = &sources.sources[i];
            json_t *const summary = studio__data_file(source->result, "summary.json");
            const bool queues =
                has_series(source, "queue_bytes") || has_series(source, "buffer_bytes");
            const bool found[] = {has_table(source, "flows"),
                                  queues,
                                  queues,
                                  has_series(source, ".rate_bps"),
                                  has_table(source, "series"),
                                  has_table(source, "events"),
                                  has_table(source, "ports"),
                                  has_series(source, ".utilisation"),
                                  has_list(summary, "bandwidth"),
                                  has_list(summary, "_cdf")};
            json_decref(summary);
            for (size_t j = 0; j < SIM_COUNT_OF(kinds); j++) {
                has[j] = has[j] || found[j];
            }
        }
        json_t *const list = json_array();
        for (size_t i = 0; i < SIM_COUNT_OF(kinds); i++) {
            if (has[i]) {
                json_array_append_new(list, json_string(kinds[i]));
            }
        }
        studio_sources_fini(&sources);
        status = studio_response_json(response, 200, json_pack("{s:o}", "kinds", list));
    }
    json_decref(runs);
    return status;
}
