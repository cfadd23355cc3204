// SPDX-License-Identifier: Apache-2.0
// apps/sessions/program.c - programs of ranks that a session submits: collectives and workloads.
//
// A program is an application of its own, which arms its timers when it is made. The session looks
// after each step which of its ranks have ended. docs/models/submitted-transfers.md
#include "apps/sessions/session_internal.h"

#define RESTING_MAX 256u               // programs that keep their queue pairs
#define RESTS_PS (100 * SIM_PS_PER_US) // at least, from the end to the retirement

uint64_t app_session_add_program(app_session_t *session, app_t *program, sim_time_t start_ps,
                                 bool ranks)
{
    SIM_CHECK(program->ops->program != NULL && start_ps >= session->released_ps);
    app__session_transfer_t *const transfer = app__session_add(session, start_ps);
    app__session_program_t *const made = sim_alloc(sizeof(*made));
    const uint32_t rank_count = program->ops->program->rank_count(program);
    *made = (app__session_program_t){
        .app = program,
        .number = transfer->number,
        .rank_count = rank_count,
        .told = ranks ? sim_alloc_array((size_t)rank_count + 1, sizeof(bool)) : NULL,
        .next = session->programs,
    };
    transfer->program = made;
    session->programs = made;
    session->program_count++;
    return transfer->number;
}

// Returns whether a rank ended before the time up to which everything has happened.
static bool has_ended(const app_session_t *session, const app__session_program_t *program,
                      uint32_t rank, app_rank_end_t *end)
{
    return program->app->ops->program->rank_ended(program->app, rank, end) &&
           end->end_ps < session->released_ps;
}

static app_session_outcome_t outcome_of(uint64_t failed_messages)
{
    return failed_messages > 0 ? APP_SESSION_FAILED : APP_SESSION_DONE;
}

static nic_wc_status_t status_of(uint64_t failed_messages)
{
    return failed_messages > 0 ? NIC_WC_RETRY_EXC_ERR : NIC_WC_SUCCESS;
}

// Notes the completions of ranks that have ended since the last call.
static void tell_ranks(app_session_t *session, app__session_program_t *program)
{
    for (uint32_t r = program->ended; r < program->rank_count; r++) {
        app_rank_end_t end;
        if (!program->told[r] && has_ended(session, program, r, &end)) {
            program->told[r] = true;
            const app_session_completion_t completion = {
                .transfer = program->number,
                .rank = r,
                .start_ps = app__session_transfer(session, program->number)->start_ps,
                .end_ps = end.end_ps,
                .outcome = outcome_of(end.failed_messages),
                .status = status_of(end.failed_messages),
            };
            app__session_put_completion(session, &completion);
        }
    }
}

// Looks which ranks have ended. Returns whether all have.
static bool look(app_session_t *session, app__session_program_t *program)
{
    app_rank_end_t end;
    if (program->told != NULL) {
        tell_ranks(session, program);
    }
    while (program->ended < program->rank_count &&
           has_ended(session, program, program->ended, &end)) {
        program->end_ps = SIM_MAX(end.end_ps, program->end_ps);
        program->failed += end.failed_messages;
        program->ended++;
    }
    return program->ended == program->rank_count;
}

// Retires the oldest programs that have ended, once there are many: queue pairs take memory. By
// then all their packets have left the network.
static void retire(app_session_t *session)
{
    while (session->resting_count > RESTING_MAX) {
        app__session_program_t *const program = session->resting;
        if (program->end_ps + RESTS_PS >= session->released_ps ||
            !program->app->ops->program->retire(program->app)) {
            return;
        }
        session->resting = program->next;
        session->resting_count--;
    }
}

static void rest(app_session_t *session, app__session_program_t *program)
{
    program->next = NULL;
    if (session->resting_count++ == 0) {
        session->resting = program;
    } else {
        session->resting_last->next = program;
    }
    session->resting_last = program;
}

void app__session_collect(app_session_t *session)
{
    retire(session);
    app__session_program_t **at = &session->programs;
    while (*at != NULL) {
        app__session_program_t *const program = *at;
        if (!look(session, program)) {
            at = &program->next;
            continue;
        }
        *at = program->next;
        rest(session, program);
        app__session_end(app__session_transfer(session, program->number),
                         outcome_of(program->failed), status_of(program->failed), program->end_ps);
    }
}

void app__session_cancel_program(app_session_t *session, app__session_transfer_t *transfer)
{
    app__session_program_t **at = &session->programs;
    while (*at != transfer->program) {
        at = &(*at)->next;
    }
    *at = transfer->program->next;
    transfer->program->app->ops->program->cancel(transfer->program->app);
    app__session_end(transfer, APP_SESSION_CANCELLED, NIC_WC_SUCCESS, session->released_ps);
}

void app__session_programs_free(app_session_t *session)
{
    for (uint64_t i = 0; i < session->count && session->program_count > 0; i++) {
        app__session_program_t *const program = app__session_transfer(session, i)->program;
        if (program != NULL) {
            sim_free(program->told);
            sim_free(program);
        }
    }
}
