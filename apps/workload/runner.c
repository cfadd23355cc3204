// SPDX-License-Identifier: Apache-2.0
// apps/workload/runner.c - makes an application that runs a schedule: what the applications of this
// folder have in common. docs/models/workload.md
#include "apps/hosts.h"
#include "apps/skips.h"
#include "apps/workload/channels.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/repeat/loops.h"
#include "apps/workload/collective/repeat/memo.h"
#include "apps/workload/places.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/run_options.h"
#include "apps/workload/workload.h"
#include "nic/transport.h"

static void message_arrived(app__rank_t *rank, uint32_t source, uint32_t word)
{
    const uint32_t op = word & APP__WORD_OP;
    switch (word & ~APP__WORD_OP) {
    case APP__WORD_READY_TO_SEND:
        app__rank_announced(rank, source, op);
        break;
    case APP__WORD_CLEAR_TO_SEND:
        app__rank_cleared(rank, op);
        break;
    default:
        app__rank_arrived(rank, source, op);
    }
}

static app__workload_t *make(const app_context_t *context, const app_ops_t *ops,
                             const app__workload_options_t *options, app__schedule_t *schedule)
{
    app__workload_t *const workload = sim_alloc(sizeof(*workload));
    *workload = (app__workload_t){
        .app = {ops, context->net, context->index},
        .schedule = schedule,
        .runtime = context->runtime,
        .arrived = message_arrived,
        .first_flow_id = app__reserve_flow_ids(context->runtime, schedule->counts.sends),
        .options = *options,
    };
    workload->options.title = NULL; // valid during creation only
    workload->options.hosts = NULL;
    workload->options.places = NULL;
    return workload;
}

void app__workload_destroy(app_t *app)
{
    app__workload_t *const workload = (app__workload_t *)app;
    for (uint32_t r = 0; workload->ranks != NULL && r < workload->schedule->rank_count; r++) {
        sim_free(workload->ranks[r].states);
        for (uint32_t i = 0; workload->ranks[r].cpus != NULL && i < workload->ranks[r].cpu_count;
             i++) {
            SIM_RING_FINI(&workload->ranks[r].cpus[i].queue);
        }
        SIM_FREE_ALL(workload->ranks[r].cpus, workload->ranks[r].granted,
                     workload->ranks[r].moments, workload->ranks[r].match.unexpected);
    }
    app__rank_channels_free(workload);
    for (uint32_t i = 0; i < workload->port_count; i++) {
        app__port_fini(&workload->ports[i]);
    }
    sim_free(workload->ranks);
    sim_free(workload->ports);
    app__loggp_fini(&workload->ideal);
    app__memo_destroy(workload->memo);
    app__loops_destroy(workload->loops);
    app__collectives_destroy(workload->collectives);
    app__schedule_destroy(workload->schedule);
    sim_free(workload);
}

#define TOLD_MAX 6u // operations that cannot end

typedef struct told {
    const app_context_t *context;
    const char *name; // of the application
} told_t;

static void print_operation(const char *text, void *ctx)
{
    const told_t *const told = ctx;
    char *const line =
        sim_format("warning: traffic[%u].%s: %s", told->context->index, told->name, text);
    told->context->note(line, told->context->ctx);
    sim_free(line);
}

// Says what of the schedule cannot come to an end: a run shows where it stops.
static void print_unmatched(const app_context_t *context, const app__workload_t *workload)
{
    const app__schedule_counts_t *const counts = &workload->schedule->counts;
    const uint64_t wrong = counts->unmatched_sends + counts->unmatched_recvs + counts->stuck;
    if (context->note == NULL || wrong == 0) {
        return;
    }
    char *const text =
        sim_format("warning: traffic[%u].%s: the schedule may not come to an "
                   "end: sends without a receive: %" PRIu64 "; receives without a send: %" PRIu64
                   "; operations that wait for each other or for a rank that never "
                   "calls: %" PRIu64,
                   context->index, workload->app.ops->name, counts->unmatched_sends,
                   counts->unmatched_recvs, counts->stuck);
    context->note(text, context->ctx);
    sim_free(text);
    told_t told = {context, workload->app.ops->name};
    const app__schedule_t *const typical = workload->schedule->typical;
    app__schedule_print_problems(typical != NULL ? typical : workload->schedule, TOLD_MAX,
                                 print_operation, &told);
}

// Refuses what cannot run.
static sim_err_t check_schedule(const app__workload_options_t *options,
                                const app__schedule_t *schedule, sim_message_t *message)
{
    if (schedule->absent_rank != NULL) {
        return sim_fail(message, SIM_ERR_INVALID, "%s", schedule->absent_rank);
    }
    if (schedule->refusal != NULL) {
        return sim_fail_about(message, SIM_ERR_RANGE, "file", ": %s cannot run: %s", options->title,
                              schedule->refusal);
    }
    if (options->network == APP__NETWORK_IDEAL && schedule->counts.colls > 0) {
        return sim_fail_about(message, SIM_ERR_INVALID, "network-model",
                              ": ideal runs messages and computations, but %s has collectives; "
                              "expected packets",
                              options->title);
    }
    return SIM_OK;
}

// Gives back the numbers that the workload has reserved: a session goes on without it.
static void give_back(app__workload_t *workload)
{
    app__collectives_return(workload);
    for (uint32_t p = workload->port_count; p > 0; p--) {
        app__return_qps(workload->ports[p - 1].endpoint, &workload->ports[p - 1]);
    }
    app__return_flow_ids(workload->runtime, workload->first_flow_id);
}

// Lets the run skip collectives of the workload if it is to, and if they are all of the traffic.
static void watch(const app_context_t *context, app__workload_t *workload)
{
    if (context->skips == NULL || workload->collectives == NULL) {
        return;
    }
    context->skips->taken = true;
    if (context->skips->barred == NULL) {
        workload->memo = app__memo_create(workload, context->skips);
        workload->loops = app__loops_create(workload, context->skips);
    }
}

// Fails if the transport of some rank's NIC does not have the SENDs of plain collectives.
static sim_err_t check_transports(const app__workload_t *workload,
                                  const app__workload_options_t *options, sim_message_t *message)
{
    if (options->collective.protocol != APP__PROTOCOL_PLAIN) {
        return SIM_OK;
    }
    for (uint32_t p = 0; p < workload->port_count; p++) {
        const app__endpoint_t *const endpoint = workload->ports[p].endpoint;
        const char *const name = nic_transport_refuses(nic_get_config(endpoint->nic), NIC_WR_SEND);
        if (name != NULL) {
            return sim_fail_about(message, SIM_ERR_INVALID, "protocol",
                                  ": plain collectives SEND, and nic.transport %s of %s has WRITE "
                                  "alone, expected auto, simple, ll or ll128, or "
                                  "nic.%s.operations: all",
                                  name, app__host_name(workload->app.net, endpoint->interface),
                                  name);
        }
    }
    return SIM_OK;
}

sim_err_t app__workload_create(const app_context_t *context, const app_ops_t *ops,
                               const app__workload_options_t *options, app__schedule_t *schedule,
                               app__workload_t **created, sim_message_t *message)
{
    app__workload_t *const workload = make(context, ops, options, schedule);
    sim_err_t error = check_schedule(options, schedule, message);
    if (error == SIM_OK) {
        error = app__ranks_place(context, options, workload, message);
    }
    if (error == SIM_OK && schedule->counts.colls > 0) {
        error = check_transports(workload, options, message);
    }
    if (error == SIM_OK && schedule->counts.colls > 0) {
        error = app__collectives_create(context, workload, message);
    }
    if (error != SIM_OK) {
        give_back(workload);
        app__workload_destroy(&workload->app);
        return error;
    }
    print_unmatched(context, workload);
    if (options->network == APP__NETWORK_IDEAL) {
        app__ideal_begin(workload);
    }
    for (uint32_t r = 0; options->network == APP__NETWORK_PACKETS && r < schedule->rank_count;
         r++) {
        app__rank_begin(&workload->ranks[r], options->start_ps);
    }
    watch(context, workload);
    *created = workload;
    return SIM_OK;
}

void app__workload_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    *done = 0;
    *planned = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        *planned += workload->ranks[r].ops->count;
        *done += workload->ranks[r].ops->count - workload->ranks[r].left;
    }
}

// -- as a program of a session

static uint32_t rank_count(const app_t *app)
{
    return ((const app__workload_t *)app)->schedule->rank_count;
}

static bool rank_ended(const app_t *app, uint32_t number, app_rank_end_t *end)
{
    const app__rank_t *const rank = &((const app__workload_t *)app)->ranks[number];
    *end = (app_rank_end_t){rank->end_ps, rank->failed};
    return rank->left == 0 && rank->moment_at == rank->moment_count;
}

static void cancel(app_t *app)
{
    app__workload_t *const workload = (app__workload_t *)app;
    workload->cancelled = true;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        if (rank->begun && (rank->left > 0 || rank->moment_at < rank->moment_count)) {
            sim_work_end(rank->node, 1);
        }
    }
}

static bool retire(app_t *app)
{
    app__workload_t *const workload = (app__workload_t *)app;
    if (workload->cancelled || workload->options.network == APP__NETWORK_IDEAL) {
        return true; // a rank that was stopped keeps what it had
    }
    if (!app__rank_channels_quiet(workload) || !app__collectives_quiet(workload)) {
        return false;
    }
    workload->retired = true;
    app__rank_channels_retire(workload);
    app__collectives_retire(workload);
    return true;
}

const app_program_ops_t app__workload_program = {rank_count, rank_ended, cancel, retire};
