// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/analysis.h - a pipeline of steps over the tables of runs, each
// step's table visible.
//
// choose, filter and derive work on rows as they are read: memory is a batch of them. What follows
// collects: groups, percentiles, curves, fits need as much memory as their answer and one number a
// row. What each step gives is a frame, a small table; of a frame of many rows the first are kept.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H
#define STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H

#include "studio/server/data/query/query.h"

#define STUDIO_STEPS_MAX 40u
#define STUDIO_PREVIEW_ROWS 200u
#define STUDIO_FRAME_ROWS_MAX 200000u
#define STUDIO_COLLECT_MAX 30000000u // numbers that one step may hold

typedef struct studio_frame_column {
    char *name;
    char *unit;
    studio_type_t type;
} studio_frame_column_t;

// Rows in memory, or the first of many. Texts are the pool's.
typedef struct studio_frame {
    studio_frame_column_t *columns;
    size_t column_count;
    size_t column_capacity;
    studio_slot_t *slots; // row by row
    size_t row_count;
    size_t row_capacity;
    uint64_t all_rows; // as many as there are
} studio_frame_t;

typedef struct studio_step_result {
    const char *name;
    char *words; // what it did, for people
    studio_frame_t frame;
    double seconds;
    json_t *more; // of a fit: its curve; NULL: nothing
} studio_step_result_t;

typedef struct studio_analysis {
    const studio_sources_t *sources;
    studio_step_result_t results[STUDIO_STEPS_MAX];
    size_t count;
    char **texts; // that frames point to
    size_t text_count;
    size_t text_capacity;
    size_t *text_slots; // a table of them by their hash
    size_t text_slot_count;
    const studio_patience_t *patience;
} studio_analysis_t;

// Runs the steps. On an error *step is the one it is in. To be finished in any case.
SIM_MUST_CHECK sim_err_t studio_analysis_run(studio_analysis_t *analysis,
                                             const studio_sources_t *sources,
                                             const json_t *steps,
                                             const studio_patience_t *patience,
                                             int *step,
                                             studio_place_error_t *error);
void studio_analysis_fini(studio_analysis_t *analysis);

// Rows of a step: the last one in full. {"steps": [...]}.
void studio_analysis_write(const studio_analysis_t *analysis, studio_out_t *out);
void studio_frame_csv(const studio_frame_t *frame, studio_out_t *out);
// Names and help of the steps.
json_t *studio_analysis_help(void);

#endif // STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H
