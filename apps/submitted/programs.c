// SPDX-License-Identifier: Apache-2.0
// apps/submitted/programs.c - submitted programs of ranks: collectives and workloads.
//
// A program is an application of its own, which arms its timers when it is made. After each
// step, the application looks which of its ranks have ended. docs/models/submitted-transfers.md
#include "apps/submitted/submitted_internal.h"

#define RESTING_MAX 256u               // programs that keep their queue pairs
#define RESTS_PS (100 * SIM_PS_PER_US) // at least, from the end to the retirement

uint64_t app_submitted_add_program(app_submitted_t *submitted, app_t *program, sim_time_t start_ps,
                                   bool ranks)
{
    SIM_CHECK(program->ops->program != NULL && start_ps >= submitted->now_ps);
    app__submitted_transfer_t *const transfer = app__submitted_add(submitted, start_ps);
    app__submitted_program_t *const made = sim_alloc(sizeof(*made));
    const uint32_t rank_count = program->ops->program->rank_count(program);
    *made = (app__submitted_program_t){
        .app = program,
        .number = transfer->number,
        .rank_count = rank_count,
        .told = ranks ? sim_alloc_array((size_t)rank_count + 1, sizeof(bool)) : NULL,
        .next = submitted->programs,
    };
    transfer->program = made;
    submitted->programs = made;
    submitted->program_count++;
    return transfer->number;
}

// Returns whether a rank ended before the time up to which everything has happened.
static bool has_ended(const app_submitted_t *submitted, const app__submitted_program_t *program,
                      uint32_t rank, app_rank_end_t *end)
{
    return program->app->ops->program->rank_ended(program->app, rank, end) &&
           end->end_ps < submitted->now_ps;
}

static app_submitted_outcome_t outcome_of(uint64_t failed_messages)
{
    return failed_messages > 0 ? APP_SUBMITTED_FAILED : APP_SUBMITTED_DONE;
}

static nic_wc_status_t status_of(uint64_t failed_messages)
{
    return failed_messages > 0 ? NIC_WC_RETRY_EXC_ERR : NIC_WC_SUCCESS;
}

// Notes the completions of ranks that have ended since the last call.
static void tell_ranks(app_submitted_t *submitted, app__submitted_program_t *program)
{
    for (uint32_t r = program->ended; r < program->rank_count; r++) {
        app_rank_end_t end;
        if (!program->told[r] && has_ended(submitted, program, r, &end)) {
            program->told[r] = true;
            const app_submitted_completion_t completion = {
                .transfer = program->number,
                .rank = r,
                .start_ps = app__submitted_transfer(submitted, program->number)->start_ps,
                .end_ps = end.end_ps,
                .outcome = outcome_of(end.failed_messages),
                .status = status_of(end.failed_messages),
            };
            app__submitted_put_completion(submitted, &completion);
        }
    }
}

// Looks which ranks have ended. Returns whether all have.
static bool look(app_submitted_t *submitted, app__submitted_program_t *program)
{
    app_rank_end_t end;
    if (program->told != NULL) {
        tell_ranks(submitted, program);
    }
    while (program->ended < program->rank_count &&
           has_ended(submitted, program, program->ended, &end)) {
        program->end_ps = SIM_MAX(end.end_ps, program->end_ps);
        program->failed += end.failed_messages;
        program->ended++;
    }
    return program->ended == program->rank_count;
}

// Retires the oldest programs that have ended, once there are many: queue pairs take memory. By
// then all their packets have left the network.
static void retire(app_submitted_t *submitted)
{
    while (submitted->resting_count > RESTING_MAX) {
        app__submitted_program_t *const program = submitted->resting;
        if (program->end_ps + RESTS_PS >= submitted->now_ps ||
            !program->app->ops->program->retire(program->app)) {
            return;
        }
        submitted->resting = program->next;
        submitted->resting_count--;
    }
}

static void rest(app_submitted_t *submitted, app__submitted_program_t *program)
{
    program->next = NULL;
    if (submitted->resting_count++ == 0) {
        submitted->resting = program;
    } else {
        submitted->resting_last->next = program;
    }
    submitted->resting_last = program;
}

void app__submitted_collect(app_submitted_t *submitted)
{
    retire(submitted);
    app__submitted_program_t **at = &submitted->programs;
    while (*at != NULL) {
        app__submitted_program_t *const program = *at;
        if (!look(submitted, program)) {
            at = &program->next;
            continue;
        }
        *at = program->next;
        rest(submitted, program);
        app__submitted_end(app__submitted_transfer(submitted, program->number),
                           outcome_of(program->failed), status_of(program->failed),
                           program->end_ps);
    }
}

void app__submitted_cancel_program(app_submitted_t *submitted, app__submitted_transfer_t *transfer)
{
    app__submitted_program_t **at = &submitted->programs;
    while (*at != transfer->program) {
        at = &(*at)->next;
    }
    *at = transfer->program->next;
    transfer->program->app->ops->program->cancel(transfer->program->app);
    app__submitted_end(transfer, APP_SUBMITTED_CANCELLED, NIC_WC_SUCCESS, submitted->now_ps);
}

void app__submitted_programs_free(app_submitted_t *submitted)
{
    for (uint64_t i = 0; i < submitted->count && submitted->program_count > 0; i++) {
        app__submitted_program_t *const program = app__submitted_transfer(submitted, i)->program;
        if (program != NULL) {
            sim_free(program->told);
            sim_free(program);
        }
    }
}
