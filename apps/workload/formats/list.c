// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/list.c - the list of formats, in the order in which they are tried.
#include "apps/flow_file.h"
#include "apps/workload/formats/format.h"
#include "kernel/words.h"

const app__format_t *const app__formats[] = {
    &app__format_goal_binary,
    &app__format_aicb,
    &app__format_mscclpp,
    &app__format_chakra,
    &app__format_msccl,
    &app__format_goal_text,
    NULL,
};

// Returns the file without a byte order mark.
static app__workload_file_t without_mark(const app__workload_file_t *file)
{
    app__workload_file_t bare = *file;
    bare.text = sim_text_after_mark(file->text, file->size_bytes);
    bare.size_bytes -= (size_t)(bare.text - file->text);
    return bare;
}

const app__format_t *app__format_of(const app__workload_file_t *file)
{
    const app__workload_file_t bare = without_mark(file);
    size_t at = 0;
    while (app__formats[at] != NULL && !app__formats[at]->recognises(&bare)) {
        at++;
    }
    return app__formats[at];
}

static sim_err_t nodes_of_matrix(const app__workload_file_t *file, uint32_t *nodes,
                                 sim_message_t *message)
{
    app_flow_file_t matrix;
    const sim_err_t error = app_flow_file_parse(APP_FLOW_HTSIM, file->name, file->text,
                                                file->size_bytes, NULL, NULL, &matrix, message);
    *nodes = (uint32_t)matrix.nodes;
    app_flow_file_fini(&matrix);
    return error;
}

sim_err_t app__format_ranks(const app__workload_file_t *file, uint32_t *ranks,
                            sim_message_t *message)
{
    if (app__format_of(file) == NULL &&
        app_flow_file_detect(file->text, file->size_bytes) == APP_FLOW_HTSIM) {
        return nodes_of_matrix(file, ranks, message);
    }
    app__schedule_t *schedule = NULL;
    const sim_err_t error = app__format_read(file, &schedule, message);
    if (error == SIM_OK) {
        SIM_CHECK(schedule != NULL);
        *ranks = schedule->rank_count;
        app__schedule_destroy(schedule);
    }
    return error;
}

sim_err_t app__format_read(const app__workload_file_t *file, app__schedule_t **schedule,
                           sim_message_t *message)
{
    const app__format_t *const format = app__format_of(file);
    const app__workload_file_t bare = without_mark(file);
    // The reader of texts says best what is wrong with a file of no known format.
    return (format != NULL ? format : &app__format_goal_text)->read(&bare, schedule, message);
}
