// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/format.h - the file formats of workloads, each recognised by a file's
// content.
#ifndef APPS_WORKLOAD_FORMATS_FORMAT_H
#define APPS_WORKLOAD_FORMATS_FORMAT_H

#include "apps/workload/schedule.h"

// A file of a workload, and what its reader may need besides.
typedef struct app__workload_file {
    const char *name; // as the scenario names it
    const char *text; // its bytes; no 0 ends them
    size_t size_bytes;
    uint32_t ranks;      // ranks to make where the file does not say; 0: as few as make sense
    uint32_t iterations; // AICB: passes over the layers; 0: one
    bool aicb_simai;     // AICB: SimAI's meanings, also where they leave out what the file says
    // AICB: ranks that do the same share their operations in a schedule of more operations and
    // calls than this. Others have their own.
    uint64_t own_operations_max;
    // Reads another file beside this one, such as that of the next rank. The caller frees *text
    // with sim_free. NULL: there are no other files.
    sim_err_t (*read_file)(const char *name, char **text, size_t *size, sim_message_t *message,
                           void *ctx);
    void *ctx;
} app__workload_file_t;

typedef struct app__format {
    const char *name; // "goal"
    const char *what; // "GOAL, text"
    // Returns whether the content is in this format, however broken it is further on.
    bool (*recognises)(const app__workload_file_t *file);
    // Makes a schedule; the caller destroys it. A message begins with "NAME:LINE:COLUMN: ", or with
    // "NAME: " for a binary file.
    SIM_MUST_CHECK sim_err_t (*read)(const app__workload_file_t *file, app__schedule_t **schedule,
                                     sim_message_t *message);
} app__format_t;

extern const app__format_t app__format_goal_binary;
extern const app__format_t app__format_goal_text;
extern const app__format_t app__format_aicb;
extern const app__format_t app__format_chakra;
extern const app__format_t app__format_msccl;
extern const app__format_t app__format_mscclpp;
extern const app__format_t *const app__formats[]; // ends with NULL

// Returns the first format that recognises the file; NULL: none does.
const app__format_t *app__format_of(const app__workload_file_t *file);
// Reads a file in the format that it has. The caller destroys *schedule.
SIM_MUST_CHECK sim_err_t app__format_read(const app__workload_file_t *file,
                                          app__schedule_t **schedule, sim_message_t *message);
// Counts the ranks of a workload in any format, and the nodes of a matrix of connections.
SIM_MUST_CHECK sim_err_t app__format_ranks(const app__workload_file_t *file, uint32_t *ranks,
                                           sim_message_t *message);

#endif // APPS_WORKLOAD_FORMATS_FORMAT_H
