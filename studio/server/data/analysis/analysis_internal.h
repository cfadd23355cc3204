// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/analysis_internal.h - what the files of an analysis share.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H
#define STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H

#include "studio/server/data/analysis/analysis.h"

#define STUDIO_KEYS_MAX 8u
#define STUDIO_TAKES_MAX 32u
#define STUDIO_STAGES_MAX STUDIO_STEPS_MAX
#define STUDIO_LAST_ROWS 5000u // of the last step, that are sent

// A filter or a derived column, of rows as they pass.
typedef struct studio_stage {
    studio_expression_t *expression;
    size_t target; // column that is made; SIZE_MAX: a filter
    size_t columns_before;
    size_t result; // step whose table this makes
} studio_stage_t;

// Where rows come from: a scan, or the frame of an earlier step; and the stages behind it.
typedef struct studio_pipe {
    studio_scan_t *scan;
    size_t *scan_columns; // of the first columns
    const studio_frame_t *frame;
    studio_frame_column_t *columns; // all, derived ones behind
    size_t base_count;
    size_t column_count;
    size_t column_capacity;
    studio_stage_t stages[STUDIO_STAGES_MAX];
    size_t stage_count;
    size_t first_result; // whose table are the rows before any stage
    bool pumped;
} studio_pipe_t;

// Rows column by column, at most STUDIO_BATCH_ROWS.
typedef struct studio_batch {
    studio_slot_t **columns; // NULL: not asked for
    size_t rows;
} studio_batch_t;

typedef void (*studio_sink_fn)(const studio_batch_t *batch, void *ctx);

typedef struct studio_work {
    studio_analysis_t *analysis;
    studio_pipe_t *pipe;
    const json_t *step;
    size_t index;
    studio_place_error_t *error;
} studio_work_t;

// Sends all rows through the stages to the sink (NULL: nowhere), which looks at the columns that
// are set in wanted (NULL: all).
void studio__pipe_pump(studio_analysis_t *analysis,
                       studio_pipe_t *pipe,
                       const bool *wanted,
                       studio_sink_fn sink,
                       void *ctx);
size_t studio__pipe_find(const studio_pipe_t *pipe, const char *name);
// Index of the column that the step names under key; SIZE_MAX: the error says why. type:
// STUDIO_BOOL: any.
size_t studio__step_column(studio_work_t *work, const char *key, studio_type_t type);
// Columns in a list of names; false: the error says why.
bool studio__step_columns(studio_work_t *work,
                          const char *key,
                          size_t *columns,
                          size_t most,
                          size_t *count);
sim_err_t studio__step_fail(studio_work_t *work, const char *format, ...) SIM_PRINTF(2, 3);

void studio__frame_add_column(studio_frame_t *frame,
                              const char *name,
                              const char *unit,
                              studio_type_t type);
// A row of the frame's columns, to be filled at once; NULL: there are enough.
studio_slot_t *studio__frame_add_row(studio_frame_t *frame);
const char *studio__analysis_text(studio_analysis_t *analysis, const char *text);
studio_slot_t studio__analysis_slot(studio_analysis_t *analysis,
                                    studio_type_t type,
                                    studio_slot_t slot);

// -- groups: keys, and all values of some columns

typedef struct studio_group {
    studio_slot_t keys[STUDIO_KEYS_MAX];
    studio_slot_t *values[STUDIO_TAKES_MAX];
    size_t count;
    size_t capacity;
} studio_group_t;

typedef struct studio_groups {
    size_t keys[STUDIO_KEYS_MAX];
    studio_type_t key_types[STUDIO_KEYS_MAX];
    size_t key_count;
    size_t values[STUDIO_TAKES_MAX];
    studio_type_t value_types[STUDIO_TAKES_MAX];
    size_t value_count;
    studio_group_t *groups; // in order of appearance
    size_t count;
    size_t capacity;
    uint32_t *slots;
    size_t slot_count;
    uint64_t held;
    bool too_many;
} studio_groups_t;

sim_err_t studio__groups_collect(studio_work_t *work, studio_groups_t *groups);
void studio__groups_fini(studio_groups_t *groups);
size_t studio__groups_find(const studio_groups_t *groups, const studio_slot_t *keys);

// Missing values go; what is left is sorted. Returns how many.
size_t studio__sort_values(studio_slot_t *values, size_t count);
// Nearest rank, as `rocesim run` has it: of sorted values.
double studio__percentile(const studio_slot_t *sorted, size_t count, double percent);

// The columns of the keys, as the first of a frame.
void studio__groups_add_keys(const studio_work_t *work,
                             const studio_groups_t *groups,
                             studio_frame_t *frame);

// -- functions of groups: "mean", "p99.9"...

bool studio__is_function(const char *name);
// Of a column's values in order of appearance; a number, but for first and last.
studio_slot_t studio__function_of(const char *name,
                                  studio_type_t type,
                                  const studio_slot_t *values,
                                  size_t count);
// Whether its value has the unit of the column.
bool studio__function_keeps_unit(const char *function);

// -- steps (collect.c, distributions.c, sort.c, fit.c,
// runs.c): fill the frame of the result

sim_err_t studio__step_group(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_pivot(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_percentiles(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_cdf(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_histogram(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_means(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_fit(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_outliers(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_sort(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_limit(studio_work_t *work, studio_step_result_t *result);
sim_err_t studio__step_compare(studio_work_t *work, studio_step_result_t *result);
// The table `runs`: a row per run, its parameters that differ and the fields of its summary.
sim_err_t studio__choose_runs(studio_work_t *work, studio_step_result_t *result);

#endif // STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H
