// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/steps.c - runs the steps of an analysis one after the other.
#include "studio/server/data/analysis/analysis_internal.h"
#include "studio/server/studio.h"

#include <stdio.h>
#include <string.h>

typedef sim_err_t (*step_fn)(studio_work_t *work, studio_step_result_t *result);

// A step without a function is a stage that processes passing rows.
static const struct {
    const char *name;
    step_fn run;
    const char *arguments;
    const char *help;
} steps_known[] = {
    {"choose", NULL, "table, columns",
     "takes the rows of a table from all runs; the table runs has one row per run"},
    {"filter", NULL, "where, or filter", "keeps the rows for which a condition holds"},
    {"derive", NULL, "name, expression, unit", "adds a column that an expression computes"},
    {"group", studio__step_group, "by, take: [{function, column, as}]",
     "makes one row for each group of rows"},
    {"pivot", studio__step_pivot, "rows, columns, function, column",
     "makes one column for each value of a key"},
    {"percentiles", studio__step_percentiles, "column, by, points",
     "computes percentiles of each group"},
    {"cdf", studio__step_cdf, "column, by, points", "computes the share of rows up to each value"},
    {"histogram", studio__step_histogram, "column, by, bins, scale",
     "counts rows in bins of a column"},
    {"compare", studio__step_compare, "base, fields",
     "compares runs as rocesim compare --seeds does"},
    {"means", studio__step_means, "value, by, versus, base, pair",
     "computes means with intervals and stars of significance"},
    {"fit", studio__step_fit, "x, y, kind, by", "fits a curve to the points"},
    {"outliers", studio__step_outliers, "column, by, method, k, keep",
     "finds rows far from the others"},
    {"sort", studio__step_sort, "by: [{column, descending}]", "sorts the rows by columns"},
    {"limit", studio__step_limit, "rows", "keeps only the first rows"},
};

json_t *studio_analysis_help(void)
{
    json_t *const steps = json_array();
    for (size_t i = 0; i < SIM_COUNT_OF(steps_known); i++) {
        json_array_append_new(steps,
                              json_pack("{s:s,s:s,s:s}", "name", steps_known[i].name, "arguments",
                                        steps_known[i].arguments, "help", steps_known[i].help));
    }
    return steps;
}

static void pipe_fini(studio_pipe_t *pipe)
{
    for (size_t i = 0; i < pipe->stage_count; i++) {
        studio_expression_destroy(pipe->stages[i].expression);
    }
    for (size_t i = 0; i < pipe->column_count; i++) {
        sim_free(pipe->columns[i].name);
        sim_free(pipe->columns[i].unit);
    }
    studio_scan_close(pipe->scan);
    sim_free(pipe->scan_columns);
    sim_free(pipe->columns);
    *pipe = (studio_pipe_t){.scan = NULL};
}

static void add_pipe_column(studio_pipe_t *pipe, const char *name, const char *unit,
                            studio_type_t type)
{
    SIM_APPEND(pipe->columns, pipe->column_count, pipe->column_capacity,
               (studio_frame_column_t){sim_strdup(name), sim_strdup(unit), type});
}

static void pipe_from_frame(studio_pipe_t *pipe, const studio_frame_t *frame, size_t result)
{
    pipe_fini(pipe);
    pipe->frame = frame;
    pipe->first_result = result;
    for (size_t i = 0; i < frame->column_count; i++) {
        add_pipe_column(pipe, frame->columns[i].name, frame->columns[i].unit,
                        frame->columns[i].type);
    }
    pipe->base_count = pipe->column_count;
}

// Gives the table of a step the present columns of the pipe.
static void take_columns(const studio_pipe_t *pipe, studio_frame_t *frame)
{
    for (size_t i = 0; i < pipe->column_count; i++) {
        studio__frame_add_column(frame, pipe->columns[i].name, pipe->columns[i].unit,
                                 pipe->columns[i].type);
    }
}

static sim_err_t choose(studio_work_t *work, studio_step_result_t *result)
{
    const char *const table = json_string_value(json_object_get(work->step, "table"));
    const json_t *const names = json_object_get(work->step, "columns");
    studio_pipe_t *const pipe = work->pipe;
    pipe_fini(pipe);
    if (table == NULL) {
        return studio__step_fail(work, "table: expected the name of a table");
    }
    result->words =
        sim_format("rows of %.60s, of %zu run(s)", table, work->analysis->sources->count);
    if (strcmp(table, "runs") == 0) {
        const sim_err_t code = studio__choose_runs(work, result);
        if (code == SIM_OK) {
            pipe_from_frame(pipe, &result->frame, work->index);
        }
        return code;
    }
    const sim_err_t code =
        studio_scan_open(work->analysis->sources, table, &pipe->scan, work->error);
    if (code != SIM_OK) {
        return code;
    }
    const size_t all = studio_scan_column_count(pipe->scan);
    const size_t count = json_array_size(names) > 0 ? json_array_size(names) : all;
    pipe->scan_columns = sim_alloc_array(count, sizeof(*pipe->scan_columns));
    for (size_t i = 0; i < count; i++) {
        const char *const name = json_string_value(json_array_get(names, i));
        const size_t column = json_array_size(names) == 0
                                  ? i
                                  : studio_scan_find(pipe->scan, name != NULL ? name : "");
        if (column == all) {
            return studio__step_fail(work, "columns: no '%.60s'", name != NULL ? name : "");
        }
        const studio_scan_column_t *const have = studio_scan_column(pipe->scan, column);
        pipe->scan_columns[i] = column;
        add_pipe_column(pipe, have->name, have->unit, have->type);
    }
    pipe->base_count = pipe->column_count;
    pipe->first_result = work->index;
    take_columns(pipe, &result->frame);
    return SIM_OK;
}

static studio_expression_t *parse(studio_work_t *work, const char *text)
{
    const studio_pipe_t *const pipe = work->pipe;
    studio_variable_t *const variables = sim_alloc_array(pipe->column_count, sizeof(*variables));
    for (size_t i = 0; i < pipe->column_count; i++) {
        variables[i] = (studio_variable_t){pipe->columns[i].name, pipe->columns[i].unit,
                                           pipe->columns[i].type};
    }
    studio_expression_t *const parsed =
        studio_expression_parse(text, variables, pipe->column_count, work->error);
    sim_free(variables);
    return parsed;
}

static void add_stage(studio_work_t *work, studio_expression_t *expression, size_t target)
{
    studio_pipe_t *const pipe = work->pipe;
    SIM_CHECK(pipe->stage_count < STUDIO_STAGES_MAX);
    pipe->stages[pipe->stage_count++] =
        (studio_stage_t){expression, target, pipe->column_count, work->index};
}

// Adds a filter. Its conditions go to the scan if no stage has changed the rows yet.
static sim_err_t filter(studio_work_t *work, studio_step_result_t *result)
{
    const char *const where = json_string_value(json_object_get(work->step, "where"));
    studio_pipe_t *const pipe = work->pipe;
    if (where == NULL) {
        const json_t *const conditions = json_object_get(work->step, "filter");
        if (!json_is_array(conditions) || pipe->scan == NULL || pipe->stage_count > 0 ||
            pipe->pumped) {
            return studio__step_fail(work, "where is missing (a list of conditions may only follow "
                                           "choose)");
        }
        const sim_err_t code = studio_scan_filter(pipe->scan, conditions, work->error);
        studio_expression_t *const all = code == SIM_OK ? parse(work, "true") : NULL;
        if (all == NULL) {
            return code;
        }
        add_stage(work, all, SIZE_MAX);
        result->words =
            sim_format("only rows that fit %zu condition(s)", json_array_size(conditions));
        take_columns(pipe, &result->frame);
        return SIM_OK;
    }
    studio_expression_t *const parsed = parse(work, where);
    if (parsed == NULL) {
        return SIM_ERR_INVALID;
    }
    if (studio_expression_type(parsed) != STUDIO_BOOL) {
        studio_expression_destroy(parsed);
        work->error->column = 1;
        return studio__step_fail(work, "expected a condition such as fct_ns > 10us");
    }
    add_stage(work, parsed, SIZE_MAX);
    result->words = sim_format("only rows where %.300s", where);
    take_columns(pipe, &result->frame);
    return SIM_OK;
}

static sim_err_t derive(studio_work_t *work, studio_step_result_t *result)
{
    const char *const name = json_string_value(json_object_get(work->step, "name"));
    const char *const text = json_string_value(json_object_get(work->step, "expression"));
    const char *const unit = json_string_value(json_object_get(work->step, "unit"));
    if (name == NULL || name[0] == '\0' || strlen(name) > 100 || text == NULL) {
        return studio__step_fail(work, "expected name and expression");
    }
    if (studio__pipe_find(work->pipe, name) < work->pipe->column_count) {
        return studio__step_fail(work, "name: there is a column '%.60s' already", name);
    }
    studio_expression_t *const parsed = parse(work, text);
    if (parsed == NULL) {
        return SIM_ERR_INVALID;
    }
    add_stage(work, parsed, work->pipe->column_count);
    add_pipe_column(work->pipe, name, unit != NULL ? unit : studio_expression_unit(parsed),
                    studio_expression_type(parsed));
    result->words = sim_format("%.100s = %.300s", name, text);
    take_columns(work->pipe, &result->frame);
    return SIM_OK;
}

static sim_err_t run_step(studio_work_t *work, studio_step_result_t *result)
{
    const char *const name = json_string_value(json_object_get(work->step, "do"));
    size_t i = 0;
    while (i < SIM_COUNT_OF(steps_known) &&
           (name == NULL || strcmp(steps_known[i].name, name) != 0)) {
        i++;
    }
    if (i == SIM_COUNT_OF(steps_known)) {
        return studio__step_fail(work,
                                 "do: '%.30s' is no step, expected one such as choose, filter, "
                                 "derive, group",
                                 name != NULL ? name : "");
    }
    result->name = steps_known[i].name;
    const bool chooses = strcmp(name, "choose") == 0;
    const bool begun = work->pipe->column_count > 0;
    if (!begun && !chooses && steps_known[i].run != studio__step_compare) {
        return studio__step_fail(work, "the first step chooses a table");
    }
    if (chooses) {
        return choose(work, result);
    }
    if (steps_known[i].run == NULL) {
        return strcmp(name, "filter") == 0 ? filter(work, result) : derive(work, result);
    }
    const sim_err_t code = steps_known[i].run(work, result);
    if (code == SIM_OK) {
        pipe_from_frame(work->pipe, &result->frame, work->index);
    }
    return code;
}

sim_err_t studio_analysis_run(studio_analysis_t *analysis, const studio_sources_t *sources,
                              const json_t *steps, const studio_patience_t *patience, int *step,
                              studio_place_error_t *error)
{
    *analysis = (studio_analysis_t){.sources = sources, .patience = patience};
    *error = (studio_place_error_t){.column = 0};
    *step = -1;
    const size_t count = json_array_size(steps);
    if (count == 0 || count > STUDIO_STEPS_MAX) {
        return sim_fail(&error->message, SIM_ERR_INVALID,
                        "steps: expected a list of 1 to 40 steps");
    }
    studio_pipe_t *const pipe = sim_alloc(sizeof(*pipe));
    sim_err_t code = SIM_OK;
    // The number of steps decides how many rows of each table are kept: the last one keeps more.
    analysis->count = count;
    for (size_t i = 0; i < count && code == SIM_OK; i++) {
        const double began_s = studio_seconds();
        studio_work_t work = {analysis, pipe, json_array_get(steps, i), i, error};
        *step = (int)i;
        // A new choose step first completes the tables of the previous pipe.
        const char *const name = json_string_value(json_object_get(work.step, "do"));
        if (name != NULL && strcmp(name, "choose") == 0 && pipe->scan != NULL && !pipe->pumped) {
            studio__pipe_pump(analysis, pipe, NULL, NULL, NULL);
        }
        code = run_step(&work, &analysis->results[i]);
        analysis->results[i].seconds = studio_seconds() - began_s;
    }
    if (code == SIM_OK && !pipe->pumped) {
        const double began_s = studio_seconds();
        bool *const wanted = sim_alloc(pipe->column_count);
        studio__pipe_pump(analysis, pipe, wanted, NULL, NULL);
        sim_free(wanted);
        analysis->results[count - 1].seconds += studio_seconds() - began_s;
    }
    pipe_fini(pipe);
    sim_free(pipe);
    if (code == SIM_OK && studio_is_over(patience)) {
        code = sim_fail(&error->message, SIM_ERR_STATE,
                        "the analysis was stopped because the client is gone");
    }
    return code;
}
