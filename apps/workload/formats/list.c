// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/list.c - the list of formats, in the order in which they are tried.
#include "apps/workload/formats/format.h"

const app__format_t *const app__formats[] = {
    &app__format_goal_binary,
    &app__format_aicb,
    &app__format_chakra,
    &app__format_msccl,
    &app__format_goal_text,
    NULL,
};

const app__format_t *app__format_of(const app__workload_file_t *file)
{
    size_t at = 0;
    while (app__formats[at] != NULL && !app__formats[at]->recognises(file)) {
        at++;
    }
    return app__formats[at];
}

sim_err_t app__format_read(const app__workload_file_t *file,
                           app__schedule_t **schedule,
                           sim_message_t *message)
{
    const app__format_t *const format = app__format_of(file);
    // The reader of texts says best what is wrong with a file of no known format.
    return (format != NULL ? format : &app__format_goal_text)->read(file, schedule, message);
}
