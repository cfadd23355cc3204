// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/application.c - the application `training`: iterations of the training of
// a language model on GPUs. docs/models/training.md
#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "apps/workload/applications.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/results/exposed.h"
#include "apps/workload/run_options.h"
#include "apps/workload/training/config.h"
#include "apps/workload/training/routing.h"
#include "apps/workload/workload.h"
#include "kernel/digits.h"

static void free_plan(app__iteration_t *plan)
{
    sim_free(plan->slow);
    plan->slow = NULL;
}

// Sets the routing of tokens to experts, if it is not uniform.
static sim_err_t set_routing(const app_context_t *context, const app__training_config_t *config,
                             app__iteration_t *plan, sim_message_t *message)
{
    const bool file = config->routing[0] != '\0';
    if (plan->model.experts == 0 || (!file && config->skew.num == 0)) {
        return SIM_OK;
    }
    app__routing_t routing;
    if (file) {
        char *text = NULL;
        size_t size_bytes = 0;
        sim_err_t error =
            context->read_file(config->routing, &text, &size_bytes, message, context->ctx);
        if (error == SIM_OK) {
            error = app__routing_read(config->routing, text, size_bytes, &routing, message);
            message->placed = error != SIM_OK;
            sim_free(text);
        }
        if (error != SIM_OK) {
            return error;
        }
    } else {
        app__routing_zipf((uint32_t)plan->model.experts, config->skew, &routing);
    }
    const sim_err_t error = app__routing_apply(&routing, !file, plan, message);
    app__routing_fini(&routing);
    return error;
}

// Returns the longest computation of a rank in an iteration, without which none ends.
static double busiest_ms(const app__schedule_t *schedule, uint32_t iterations)
{
    uint64_t most_ns = 0;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        uint64_t ns = 0;
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            ns += op->type == APP__OP_CALC ? op->size : 0;
        }
        most_ns = SIM_MAX(ns, most_ns);
    }
    return (double)most_ns / 1e6 / iterations;
}

// Says what the plan comes to, before anything runs.
static void note_plan(const app_context_t *context, const app__iteration_t *plan,
                      const app__schedule_t *schedule)
{
    double bytes[APP__DIM_COUNT] = {0};
    if (context->note == NULL) {
        return;
    }
    app__dimension_bytes(schedule, bytes);
    char *text = sim_format(
        "traffic[%u].training: %s billion parameters on tp %u x cp %u x dp %u "
        "x pp %u = %u rank%s; an iteration computes %s ms on the busiest "
        "rank; GB that leave all ranks:",
        context->index, SIM_DIGITS((double)app__model_parameters(&plan->model) / 1e9, 4), plan->tp,
        plan->cp, plan->dp, plan->pp, schedule->rank_count, sim_plural(schedule->rank_count),
        SIM_DIGITS(busiest_ms(schedule, plan->iterations), 4));
    for (uint32_t i = APP__DIM_NONE + 1; i < APP__DIM_COUNT; i++) {
        if (bytes[i] > 0) {
            char *const longer =
                sim_format("%s %s %s", text, app__dimension_name((app__dimension_t)i),
                           SIM_DIGITS(bytes[i] / 1e9 / plan->iterations, 4));
            sim_free(text);
            text = longer;
        }
    }
    context->note(text, context->ctx);
    sim_free(text);
}

static sim_err_t make_schedule(const app_context_t *context, const app__training_config_t *config,
                               app__schedule_t **schedule, sim_message_t *message)
{
    uint32_t places = 0;
    app__iteration_t plan = {.slow = NULL};
    sim_err_t error = app__ranks_count(context, &config->options, &places, message);
    if (error == SIM_OK) {
        error = app__training_plan(config, places, &plan, message);
    }
    if (error == SIM_OK) {
        sim_random_t seed;
        app__random_init(&seed, context, 0, "training");
        plan.seed = sim_random_u64(&seed);
        error =
            app__check_memory(context, "microbatches", app__training_operations(&plan),
                              sizeof(app__op_t) + sizeof(app__op_state_t) + 4 * sizeof(uint32_t),
                              "operations of all ranks", message);
    }
    if (error == SIM_OK) {
        error = set_routing(context, config, &plan, message);
    }
    if (error == SIM_OK) {
        *schedule = app__iteration_schedule(&plan);
        app__routing_hand_over(&plan, *schedule);
        note_plan(context, &plan, *schedule);
    }
    free_plan(&plan);
    return error;
}

static sim_err_t training_create(const app_context_t *context, const void *config_void, app_t **app,
                                 sim_message_t *message)
{
    const app__training_config_t *const config = config_void;
    app__schedule_t *schedule = NULL;
    app__workload_t *workload = NULL;
    app__workload_options_t options = config->options;
    options.title = "the training";
    sim_err_t error = make_schedule(context, config, &schedule, message);
    if (error == SIM_OK) {
        error =
            app__workload_create(context, &app_training, &options, schedule, &workload, message);
    }
    if (error == SIM_OK) {
        workload->iterations = (uint32_t)config->iterations;
        *app = &workload->app;
    }
    return error;
}

const app_ops_t app_training = {
    .name = "training",
    .help = "iterations of the training of a language model on GPUs",
    .attrs = &app__training_attrs,
    .create = training_create,
    APP__WORKLOAD_OPS,
};
