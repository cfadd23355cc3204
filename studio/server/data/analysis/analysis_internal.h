// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/analysis_internal.h - shared by the files of an analysis.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H
#define STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H

#include "studio/server/data/analysis/analysis.h"

#define STUDIO_KEYS_MAX 8u
#define STUDIO_TAKES_MAX 32u
#define STUDIO_STAGES_MAX STUDIO_STEPS_MAX
#define STUDIO_LAST_ROWS 5000u // rows of the last step that are sent

// A filter or a derived column that is applied to passing rows.
typedef struct studio_stage {
    studio_expression_t *expression;
    size_t target; // column it computes; SIZE_MAX: it is a filter
    size_t columns_before;
    size_t result; // index of the step whose table it gives
} studio_stage_t;

// A source of rows (a scan, or the frame of an earlier step) and the stages behind it.
typedef struct studio_pipe {
    studio_scan_t *scan;
    size_t *scan_columns; // the scan's indices of the first columns
    const studio_frame_t *frame;
    studio_frame_column_t *columns; // all columns; derived ones come last
    size_t base_count;
    size_t column_count;
    size_t column_capacity;
    studio_stage_t stages[STUDIO_STAGES_MAX];
    size_t stage_count;
    size_t first_result; // index of the step whose table is the rows before all stages
    bool pumped;
} studio_pipe_t;

// At most STUDIO_BATCH_ROWS rows, column by column.
typedef struct studio_batch {
    studio_slot_t **columns; // NULL: the column is not needed
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

// Sends all rows through the stages to the sink (NULL: nowhere). The sink reads only the columns
// set in wanted (NULL: all).
void studio__pipe_pump(studio_analysis_t *analysis, studio_pipe_t *pipe, const bool *wanted,
                       studio_sink_fn sink, void *ctx);
size_t studio__pipe_find(const studio_pipe_t *pipe, const char *name);
// Returns the index of the column that the step names under key; SIZE_MAX with an error if there is
// none. type STUDIO_BOOL accepts any type.
size_t studio__step_column(studio_work_t *work, const char *key, studio_type_t type);
// Finds the columns of a list of names; returns false with an error.
bool studio__step_columns(studio_work_t *work, const char *key, size_t *columns, size_t most,
                          size_t *count);
sim_err_t studio__step_fail(studio_work_t *work, const char *format, ...) SIM_PRINTF(2, 3);

void studio__frame_add_column(studio_frame_t *frame, const char *name, const char *unit,
                              studio_type_t type);
// Adds a row to the frame and returns its slots, which the caller fills at once; NULL: the frame is
// full.
studio_slot_t *studio__frame_add_row(studio_frame_t *frame);
const char *studio__analysis_text(studio_analysis_t *analysis, const char *text);
studio_slot_t studio__analysis_slot(studio_analysis_t *analysis, studio_type_t type,
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
    studio_group_t *groups; // in order of first appearance
    size_t count;
    size_t capacity;
    sim_map_t map; // from the hash of a group's keys to its index
    uint64_t held;
    bool too_many;
} studio_groups_t;

sim_err_t studio__groups_collect(studio_work_t *work, studio_groups_t *groups);
void studio__groups_fini(studio_groups_t *groups);
size_t studio__groups_find(const studio_groups_t *groups, const studio_slot_t *keys);

// Removes missing values and sorts the others; returns how many are left.
size_t studio__sort_values(studio_slot_t *values, size_t count);
// Returns a percentile of sorted values by nearest rank, as `rocesim run` does.
double studio__percentile(const studio_slot_t *sorted, size_t count, double percent);

// Makes the key columns the first columns of the frame.
void studio__groups_add_keys(const studio_work_t *work, const studio_groups_t *groups,
                             studio_frame_t *frame);

// -- functions of groups: "mean", "p99.9"...

bool studio__is_function(const char *name);
// Applies a function to a column's values, given in order of appearance. The result is a number,
// except for first and last.
studio_slot_t studio__function_of(const char *name, studio_type_t type, const studio_slot_t *values,
                                  size_t count);
// Returns whether the function's value has the unit of the column.
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
// Makes the table `runs`: one row per run with its differing parameters and its summary.
sim_err_t studio__choose_runs(studio_work_t *work, studio_step_result_t *result);

#endif // STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_INTERNAL_H
