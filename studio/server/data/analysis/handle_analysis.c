// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/handle_analysis.c - routes of analyses, and an analysis as an
// archive.
#include "studio/server/data/analysis/analysis.h"
#include "studio/server/data/analysis/tar.h"
#include "studio/server/data/handlers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CURVES_MAX 50u
#define SCENARIO_BYTES_MAX ((size_t)16 << 20)

static char *dump(const json_t *json, size_t flags)
{
    char *const text = json_dumps(json, flags);
    char *const copy = sim_strdup(text != NULL ? text : "{}");
    json_free_t json_free = NULL;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    return copy;
}

// Runs the steps in the body; answers and returns false on an error.
static bool run(studio_request_t *request, studio_response_t *response, const json_t *body,
                studio_sources_t *sources, studio_analysis_t *analysis,
                const studio_patience_t *patience, int *status)
{
    if (body == NULL) {
        *status = studio_response_error(response, 400, "the body is no JSON object");
        return false;
    }
    if (!studio__data_sources(request, response, json_object_get(body, "runs"), sources, status)) {
        return false;
    }
    int step = -1;
    studio_place_error_t error;
    const sim_err_t code = studio_analysis_run(analysis, sources, json_object_get(body, "steps"),
                                               patience, &step, &error);
    if (code != SIM_OK) {
        studio_analysis_fini(analysis);
        studio_sources_fini(sources);
        *status = studio__data_refuse(response, code, &error, step);
        return false;
    }
    return true;
}

int studio_handle_analysis(studio_request_t *request, studio_response_t *response)
{
    json_t *const body = studio__data_body(request);
    studio_sources_t sources;
    studio_analysis_t *const analysis = sim_alloc(sizeof(*analysis));
    const studio_patience_t patience = {studio__data_cancelled, request};
    int status = 0;
    if (run(request, response, body, &sources, analysis, &patience, &status)) {
        studio_out_t out = {.bytes = NULL};
        studio_analysis_write(analysis, &out);
        studio_analysis_fini(analysis);
        studio_sources_fini(&sources);
        status = studio__data_answer(response, &out);
    }
    sim_free(analysis);
    json_decref(body);
    return status;
}

int studio_handle_analysis_check(studio_request_t *request, studio_response_t *response)
{
    const json_t *const body = studio_request_json(request);
    const char *const text = json_string_value(json_object_get(body, "expression"));
    const json_t *const columns = json_object_get(body, "columns");
    const size_t count = json_array_size(columns);
    if (text == NULL || count > STUDIO_COLUMNS_MAX) {
        return studio_response_error(response, 400,
                                     "expected expression, a text, and columns, a list");
    }
    studio_variable_t *const variables = sim_alloc_array(count, sizeof(*variables));
    for (size_t i = 0; i < count; i++) {
        const json_t *const row = json_array_get(columns, i);
        const char *const name = json_string_value(json_object_get(row, "name"));
        const char *const unit = json_string_value(json_object_get(row, "unit"));
        const char *const type = json_string_value(json_object_get(row, "type"));
        const bool is_text = type != NULL && strcmp(type, "text") == 0;
        const bool is_bool = type != NULL && strcmp(type, "bool") == 0;
        variables[i] = (studio_variable_t){name != NULL ? name : "", unit != NULL ? unit : "",
                                           is_text   ? STUDIO_TEXT
                                           : is_bool ? STUDIO_BOOL
                                                     : STUDIO_NUMBER};
    }
    studio_place_error_t error;
    studio_expression_t *const parsed = studio_expression_parse(text, variables, count, &error);
    sim_free(variables);
    if (parsed == NULL) {
        return studio__data_refuse(response, SIM_ERR_INVALID, &error, -1);
    }
    json_t *const answer =
        json_pack("{s:s,s:s}", "type", studio_type_name(studio_expression_type(parsed)), "unit",
                  studio_expression_unit(parsed));
    studio_expression_destroy(parsed);
    return studio_response_json(response, 200, answer);
}

int studio_handle_analysis_functions(studio_request_t *request, studio_response_t *response)
{
    (void)request;
    json_t *const help = studio_expression_help();
    json_object_set_new(help, "steps", studio_analysis_help());
    return studio_response_json(response, 200, help);
}

// -- the folder

typedef struct folder {
    studio_out_t tar;
    char name[60];
} folder_t;

static void add_file(folder_t *folder, const char *path, const char *bytes, size_t size,
                     bool program)
{
    char whole[100];
    (void)snprintf(whole, sizeof(whole), "%s/%.38s", folder->name, path);
    studio_tar_add(&folder->tar, whole, bytes, size, program);
}

static void add_text(folder_t *folder, const char *path, studio_out_t *text, bool program)
{
    add_file(folder, path, text->bytes != NULL ? text->bytes : "", text->size, program);
    studio_out_fini(text);
}

static bool add_scenario(folder_t *folder, const studio_source_t *source)
{
    char *const path = sim_format("%s/scenario.yaml", source->result);
    FILE *const stream = fopen(path, "rbe");
    studio_out_t text = {.bytes = NULL};
    char buffer[8192];
    size_t count = 0;
    while (stream != NULL && (count = fread(buffer, 1, sizeof(buffer), stream)) > 0 &&
           text.size < SCENARIO_BYTES_MAX) {
        studio_out_bytes(&text, buffer, count);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    sim_free(path);
    const bool there = text.size > 0;
    if (there) {
        char name[40];
        (void)snprintf(name, sizeof(name), "scenarios/run-%" PRId64 ".yaml", source->run);
        add_text(folder, name, &text, false);
    }
    return there;
}

static void quote(studio_out_t *out, const char *text)
{
    studio_out_text(out, "'");
    for (; *text != '\0'; text++) {
        if ((uint8_t)*text >= 0x20 && *text != '`') {
            studio_out_bytes(out, text, 1);
        }
        if (*text == '\'') {
            studio_out_text(out, "'");
        }
    }
    studio_out_text(out, "'");
}

static size_t column_of(const studio_frame_t *frame, const char *name)
{
    size_t i = 0;
    while (name != NULL && i < frame->column_count && strcmp(frame->columns[i].name, name) != 0) {
        i++;
    }
    return name != NULL ? i : frame->column_count;
}

static bool same_slot(studio_type_t type, studio_slot_t a, studio_slot_t b)
{
    return type == STUDIO_TEXT ? a.text == b.text
                               : !(a.number < b.number) && !(a.number > b.number);
}

// Writes the rows of one curve: all rows, or those whose `by` equals that of a given row.
static void write_curve_data(studio_out_t *out, const studio_frame_t *frame, size_t x, size_t y,
                             size_t by, size_t like)
{
    const size_t width = frame->column_count;
    for (size_t row = 0; row < frame->row_count; row++) {
        const studio_slot_t *const slots = frame->slots + row * width;
        if (by < width &&
            !same_slot(frame->columns[by].type, slots[by], frame->slots[like * width + by])) {
            continue;
        }
        if (frame->columns[x].type == STUDIO_NUMBER) {
            studio_out_real(out, slots[x].number, true);
        } else {
            studio_out_format(out, "%zu", row);
        }
        studio_out_text(out, " ");
        studio_out_real(out, slots[y].number, true);
        studio_out_text(out, "\n");
    }
}

// Finds the first row of each curve; returns the number of curves.
static size_t first_rows(const studio_frame_t *frame, size_t by, size_t *rows)
{
    size_t count = 0;
    for (size_t row = 0; row < frame->row_count && count < CURVES_MAX; row++) {
        size_t i = 0;
        while (i < count &&
               !(by == frame->column_count ||
                 same_slot(frame->columns[by].type, frame->slots[row * frame->column_count + by],
                           frame->slots[rows[i] * frame->column_count + by]))) {
            i++;
        }
        if (i == count) {
            rows[count++] = row;
        }
    }
    return count;
}

static void write_label(studio_out_t *out, const char *axis, const studio_frame_column_t *column)
{
    char *const text = column->unit[0] != '\0' ? sim_format("%s (%s)", column->name, column->unit)
                                               : sim_strdup(column->name);
    studio_out_format(out, "set %slabel ", axis);
    quote(out, text);
    studio_out_text(out, "\n");
    sim_free(text);
}

static void write_tics(studio_out_t *out, const studio_frame_t *frame, size_t x)
{
    if (frame->columns[x].type == STUDIO_NUMBER) {
        return;
    }
    studio_out_text(out, "set xtics rotate by -30 (");
    for (size_t row = 0; row < frame->row_count && row < 60; row++) {
        const char *const text = frame->slots[row * frame->column_count + x].text;
        studio_out_text(out, row > 0 ? ", " : "");
        quote(out, text != NULL ? text : "");
        studio_out_format(out, " %zu", row);
    }
    studio_out_text(out, ")\n");
}

static void write_plot(studio_out_t *out, const studio_frame_t *frame, const json_t *ys, size_t by,
                       const size_t *rows, size_t curves, const char *style)
{
    size_t number = 0;
    studio_out_text(out, "plot ");
    for (size_t i = 0; i < json_array_size(ys); i++) {
        const char *const name = json_string_value(json_array_get(ys, i));
        for (size_t j = 0; j < curves; j++) {
            studio_out_format(out, "%s$c%zu using 1:2 with %s linewidth 2 title ",
                              number > 0 ? ", " : "", number, style);
            char text[300] = "";
            if (by < frame->column_count) {
                const studio_slot_t key = frame->slots[rows[j] * frame->column_count + by];
                if (frame->columns[by].type == STUDIO_TEXT) {
                    (void)snprintf(text, sizeof(text), "%.200s", key.text != NULL ? key.text : "");
                } else {
                    (void)snprintf(text, sizeof(text), "%s %.12g", frame->columns[by].name,
                                   key.number);
                }
            }
            const bool both = json_array_size(ys) > 1 || by == frame->column_count;
            char *const title =
                sim_format("%s%s%s", text, both && text[0] != '\0' ? " " : "", both ? name : "");
            quote(out, title);
            sim_free(title);
            number++;
        }
    }
    studio_out_text(out, "\n");
}

// Writes a gnuplot script that contains its data. Returns false if the figure names a column that
// does not exist.
static bool write_figure(const studio_analysis_t *analysis, const json_t *figure, studio_out_t *out)
{
    const json_t *const number = json_object_get(figure, "step");
    const size_t step =
        json_is_integer(number) ? (size_t)json_integer_value(number) : analysis->count - 1;
    if (step >= analysis->count) {
        return false;
    }
    const studio_frame_t *const frame = &analysis->results[step].frame;
    const char *const kind = json_string_value(json_object_get(figure, "kind"));
    const char *const title = json_string_value(json_object_get(figure, "title"));
    const json_t *const ys = json_object_get(figure, "y");
    const size_t x = column_of(frame, json_string_value(json_object_get(figure, "x")));
    const size_t by = column_of(frame, json_string_value(json_object_get(figure, "by")));
    if (x == frame->column_count || json_array_size(ys) == 0) {
        return false;
    }
    size_t rows[CURVES_MAX];
    const size_t curves = first_rows(frame, by, rows);
    studio_out_text(out, "set encoding utf8\nset terminal svg size 860,520 noenhanced font "
                         "'sans-serif,13' background '#ffffff'\nset output 'figure.svg'\n"
                         "set grid linecolor '#dcdcdc'\nset key outside right top\n");
    studio_out_text(out, "set title ");
    quote(out, title != NULL ? title : "");
    studio_out_text(out, "\n");
    studio_out_text(out, json_is_true(json_object_get(figure, "x_log")) ? "set logscale x\n" : "");
    studio_out_text(out, json_is_true(json_object_get(figure, "y_log")) ? "set logscale y\n" : "");
    write_label(out, "x", &frame->columns[x]);
    write_tics(out, frame, x);
    size_t block = 0;
    for (size_t i = 0; i < json_array_size(ys); i++) {
        const size_t y = column_of(frame, json_string_value(json_array_get(ys, i)));
        if (y == frame->column_count || frame->columns[y].type != STUDIO_NUMBER) {
            return false;
        }
        if (i == 0) {
            write_label(out, "y", &frame->columns[y]);
        }
        for (size_t j = 0; j < curves; j++) {
            studio_out_format(out, "$c%zu << EOD\n", block++);
            write_curve_data(out, frame, x, y, by, rows[j]);
            studio_out_text(out, "EOD\n");
        }
    }
    const bool bars = kind != NULL && strcmp(kind, "bars") == 0;
    studio_out_text(out, bars ? "set style fill solid 0.7\nset boxwidth 0.8 relative\n" : "");
    const char *const style = bars                                          ? "boxes"
                              : kind != NULL && strcmp(kind, "points") == 0 ? "points"
                              : kind != NULL && strcmp(kind, "steps") == 0  ? "steps"
                                                                            : "lines";
    if (curves > 0) {
        write_plot(out, frame, ys, by, rows, curves, style);
    }
    return true;
}

static void write_script(const studio_sources_t *sources, bool figure, studio_out_t *out)
{
    studio_out_text(
        out, "#!/bin/bash\n"
             "# Runs the scenarios of this analysis again, says whether the results are the "
             "same, compares them,\n# and draws the figure. ROCESIM is the program, rocesim "
             "if not given.\nset -eu\ncd \"$(dirname \"$0\")\"\nrocesim=${ROCESIM:-rocesim}\n"
             "again() {\n    \"$rocesim\" run \"scenarios/run-$1.yaml\" -o \"results/run-$1\"\n"
             "    grep -q \"\\\"digest\\\": *\\\"$2\\\"\" \"results/run-$1/summary.json\" &&\n"
             "        echo \"run $1: the same results\" || echo \"run $1: OTHER results than $2\"\n"
             "}\nmkdir -p results\n");
    for (size_t i = 0; i < sources->count; i++) {
        json_t *const summary = studio__data_file(sources->sources[i].result, "summary.json");
        const char *const digest = json_string_value(json_object_get(summary, "digest"));
        const bool plain = digest != NULL && strspn(digest, "0123456789abcdef") == strlen(digest);
        studio_out_format(out, "again %" PRId64 " %s\n", sources->sources[i].run,
                          plain ? digest : "unknown");
        json_decref(summary);
    }
    studio_out_text(out, "\"$rocesim\" compare --seeds results/run-*\n");
    studio_out_text(out, figure ? "gnuplot figure.gp && echo figure.svg\n" : "");
}

static void write_readme(const studio_analysis_t *analysis, const char *name, studio_out_t *out)
{
    studio_out_format(
        out,
        "# %s\n\nAn analysis of rocesim studio. `./run.sh` runs its scenarios again, "
        "compares them with\n`rocesim compare` and draws the figure with gnuplot. "
        "analysis.json is what the studio's\n`POST /api/v1/analysis` takes, with the "
        "numbers of the runs there.\n\n| step | what | rows | in tables/ |\n|---|---|---|---|\n",
        name);
    for (size_t i = 0; i < analysis->count; i++) {
        const studio_step_result_t *const step = &analysis->results[i];
        studio_out_format(out, "| %zu | %s: %s | %" PRIu64 " | %zu |\n", i, step->name,
                          step->words != NULL ? step->words : "", step->frame.all_rows,
                          step->frame.row_count);
    }
}

static void name_folder(folder_t *folder, const char *name)
{
    size_t size = 0;
    for (; name != NULL && *name != '\0' && size < 50; name++) {
        const bool plain = isalnum((unsigned char)*name) != 0 || *name == '-' || *name == '_';
        folder->name[size++] = *name;
        folder->name[size - 1] = plain ? *name : '-';
    }
    if (size == 0) {
        (void)snprintf(folder->name, sizeof(folder->name), "analysis");
    }
}

static int answer_folder(studio_response_t *response, const json_t *body,
                         const studio_sources_t *sources, const studio_analysis_t *analysis)
{
    folder_t folder = {.tar = {.bytes = NULL}};
    const json_t *const figure = json_object_get(body, "figure");
    const char *const name = json_string_value(json_object_get(body, "name"));
    studio_out_t text = {.bytes = NULL};
    name_folder(&folder, name);
    if (json_is_object(figure)) {
        if (!write_figure(analysis, figure, &text)) {
            studio_out_fini(&text);
            return studio_response_error(
                response, 400,
                "figure: expected a step, x, and a list y of numeric columns of "
                "that step");
        }
        add_text(&folder, "figure.gp", &text, false);
    }
    for (size_t i = 0; i < sources->count; i++) {
        (void)add_scenario(&folder, &sources->sources[i]);
    }
    for (size_t i = 0; i < analysis->count; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "tables/%zu-%.20s.csv", i, analysis->results[i].name);
        studio_frame_csv(&analysis->results[i].frame, &text);
        add_text(&folder, path, &text, false);
    }
    char *const json = dump(body, JSON_INDENT(1));
    add_file(&folder, "analysis.json", json, strlen(json), false);
    sim_free(json);
    write_script(sources, json_is_object(figure), &text);
    add_text(&folder, "run.sh", &text, true);
    write_readme(analysis, folder.name, &text);
    add_text(&folder, "README.md", &text, false);
    studio_out_t gzip = {.bytes = NULL};
    studio_tar_gzip(&folder.tar, &gzip);
    char *const header = sim_format("attachment; filename=\"%s.tar.gz\"", folder.name);
    studio_response_header(response, "Content-Disposition", header);
    sim_free(header);
    const int status =
        studio_response_bytes(response, 200, "application/gzip", gzip.bytes, gzip.size);
    studio_out_fini(&gzip);
    studio_out_fini(&folder.tar);
    return status;
}

int studio_handle_analysis_export(studio_request_t *request, studio_response_t *response)
{
    json_t *const body = studio__data_body(request);
    studio_sources_t sources;
    studio_analysis_t *const analysis = sim_alloc(sizeof(*analysis));
    const studio_patience_t patience = {studio__data_cancelled, request};
    int status = 0;
    if (run(request, response, body, &sources, analysis, &patience, &status)) {
        status = answer_folder(response, body, &sources, analysis);
        studio_analysis_fini(analysis);
        studio_sources_fini(&sources);
    }
    sim_free(analysis);
    json_decref(body);
    return status;
}
