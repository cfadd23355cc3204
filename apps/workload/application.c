// SPDX-License-Identifier: Apache-2.0
// apps/workload/application.c - the application `workload`: a schedule of messages and
// computations, read from a file and run by hosts. docs/models/workload.md
#include "apps/workload/formats/format.h"
#include "apps/workload/internal.h"

#include "kernel/attribute.h"

#define PREFIX "traffic.workload"

typedef struct workload_config {
    char *file;
    app__workload_options_t options;
} workload_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    SIM_ATTR(PREFIX ".file", STRING, workload_config_t, file,
             .default_text = "",
             .help = "schedule in the format GOAL, as text or binary"),
    APP__WORKLOAD_ATTRS(PREFIX, workload_config_t, options),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(workload_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

static sim_err_t read_schedule(const app_context_t *context,
                               const workload_config_t *config,
                               app__schedule_t **schedule,
                               sim_message_t *message)
{
    char *text = NULL;
    size_t size_bytes = 0;
    if (config->file[0] == '\0') {
        return sim_fail_about(message,
                              SIM_ERR_INVALID,
                              "file",
                              ": the file is missing, expected the name of a schedule (GOAL)");
    }
    sim_err_t error = context->read_file(config->file, &text, &size_bytes, message, context->ctx);
    if (error == SIM_OK) {
        const app__workload_file_t file = {
            .name = config->file,
            .text = text,
            .size_bytes = size_bytes,
            .read_file = context->read_file,
            .ctx = context->ctx,
        };
        error = app__format_read(&file, schedule, message);
        sim_free(text);
    }
    return error;
}

static sim_err_t workload_create(const app_context_t *context,
                                 const void *config_void,
                                 app_t **app,
                                 sim_message_t *message)
{
    const workload_config_t *const config = config_void;
    app__schedule_t *schedule = NULL;
    app__workload_t *workload = NULL;
    app__workload_options_t options = config->options;
    options.title = config->file;
    sim_err_t error = read_schedule(context, config, &schedule, message);
    if (error == SIM_OK) {
        error =
            app__workload_create(context, &app_workload, &options, schedule, &workload, message);
    }
    if (error == SIM_OK) {
        *app = &workload->app;
    }
    return error;
}

const app_ops_t app_workload = {
    .name = "workload",
    .help = "a schedule of messages and computations from a file (GOAL)",
    .attrs = &attr_table,
    .create = workload_create,
    .destroy = app__workload_destroy,
    .flows = app__workload_flows,
    .progress = app__workload_progress,
    .report = &app__workload_report,
    .warn = app__workload_warn,
};
