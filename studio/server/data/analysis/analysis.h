// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/analysis.h - runs a pipeline of steps over the tables of runs.
//
// The steps choose, filter and derive process rows in batches as they are read. Later steps
// (groups, percentiles, curves, fits) keep their answer and one number per row in memory. The
// result of each step is a frame; of a frame with many rows only the first ones are kept.
#ifndef STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H
#define STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H

#include "studio/server/data/query/query.h"
#include "studio/server/data/texts.h"

#define STUDIO_STEPS_MAX 40u
#define STUDIO_PREVIEW_ROWS 200u
#define STUDIO_FRAME_ROWS_MAX 200000u
#define STUDIO_COLLECT_MAX 30000000u // numbers that one step may hold in memory

typedef struct studio_frame_column {
    char *name;
    char *unit;
    studio_type_t type;
} studio_frame_column_t;

// A small table: all rows of a step, or the first of many. The text pool owns the texts.
typedef struct studio_frame {
    studio_frame_column_t *columns;
    size_t column_count;
    size_t column_capacity;
    studio_slot_t *slots; // row by row
    size_t row_count;
    size_t row_capacity;
    uint64_t all_rows; // number of rows the step gave, kept or not
} studio_frame_t;

typedef struct studio_step_result {
    const char *name;
    char *words; // description of what the step did, for people
    studio_frame_t frame;
    double seconds;
    json_t *more; // further results, such as a fit's curve; NULL: none
} studio_step_result_t;

typedef struct studio_analysis {
    const studio_sources_t *sources;
    studio_step_result_t results[STUDIO_STEPS_MAX];
    size_t count;
    studio_texts_t texts; // texts that frames point to
    const studio_patience_t *patience;
} studio_analysis_t;

// Runs the steps. On an error *step is the index of the failed step. Call the fini function in any
// case.
SIM_MUST_CHECK sim_err_t studio_analysis_run(studio_analysis_t *analysis,
                                             const studio_sources_t *sources, const json_t *steps,
                                             const studio_patience_t *patience, int *step,
                                             studio_place_error_t *error);
void studio_analysis_fini(studio_analysis_t *analysis);

// Writes {"steps": [...]}: the rows of each step, more of the last one.
void studio_analysis_write(const studio_analysis_t *analysis, studio_out_t *out);
void studio_frame_csv(const studio_frame_t *frame, studio_out_t *out);
// Returns the names and help texts of the steps.
json_t *studio_analysis_help(void);

#endif // STUDIO_SERVER_DATA_ANALYSIS_ANALYSIS_H
