// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer.c - a server that gives out increasing 8-byte numbers, in the versions of
// Kalia et al., USENIX ATC 2016, 4.2 (docs/models/guidelines.md). This file has the version on
// remote procedure calls.
#include "apps/app_internal.h"
#include "apps/report_rows.h"
#include "apps/services/sequencer_internal.h"

#include <stdlib.h>

#define PREFIX "traffic.sequencer"
#define REQUEST_BYTES 8u
#define RESPONSE_BYTES 8u

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__sequencer_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "version", version, "rpc", "rpc|spec|fetch-add", "rpc: HERD's calls; spec: header-only SENDs and a guess of the upper half (Spec-S0); fetch-add: the NIC's atomic"),
    ATTR(COUNT, "first-number", first_number, "0", "0", NULL, "first number that the sequencer gives out"),
    ATTR(TIME, "cpu.count", count_ps, "8ns", "0ps", "1us", "time to add to the shared counter, if it is in the core's own cache"),
    ATTR(TIME, "cpu.move", move_ps, "40ns", "0ps", "1us", "time to add to the counter, if another core added last; other cores wait meanwhile"),
    APP__RPC_ATTRS(PREFIX, app__sequencer_config_t, "3", "70"),
    APP__SPAN_ATTRS(PREFIX, app__sequencer_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX, "application", sizeof(app__sequencer_config_t),
                                            attrs, SIM_COUNT_OF(attrs)};

// -- the counter

uint64_t app__sequencer_take(app__sequencer_t *sequencer, nic_core_t *core, uint32_t worker,
                             uint32_t count)
{
    const sim_time_t now_ps = nic_core_now_ps(core);
    const sim_time_t cost_ps =
        sequencer->owner == worker ? sequencer->count_ps : sequencer->move_ps;
    const sim_time_t start_ps = SIM_MAX(sequencer->free_ps, now_ps);
    sequencer->owner = worker;
    sequencer->free_ps = start_ps + cost_ps;
    nic_core_wait(core, sequencer->free_ps - now_ps);
    sequencer->next += count;
    return sequencer->next - count;
}

void app__sequencer_keep(app__sequencer_got_t *got, uint64_t requests, uint64_t number)
{
    if (got->numbers != NULL) {
        if (got->count == requests) {
            return; // all numbers have arrived: this is a duplicate made by a link
        }
        SIM_CHECK(got->count < requests);
        got->numbers[got->count] = number;
    }
    got->backward += got->count > 0 && number <= got->last;
    got->last = number;
    got->count++;
}

// -- on remote procedure calls

static app__rpc_request_t draw(const app__rpc_t *rpc, uint64_t index)
{
    return (app__rpc_request_t){(uint32_t)(index % rpc->worker_count), REQUEST_BYTES};
}

static void serve(app__rpc_t *rpc, uint32_t worker, app__rpc_call_t *calls, uint32_t count)
{
    app__sequencer_t *const sequencer = rpc->program;
    nic_core_t *const core = app__rpc_worker_core(rpc, worker);
    const uint64_t base = app__sequencer_take(sequencer, core, worker, count);
    for (uint32_t i = 0; i < count; i++) {
        calls[i].imm = (uint32_t)(base + i);
        calls[i].bytes = RESPONSE_BYTES;
    }
}

static void answered(app__rpc_t *rpc, uint32_t client, uint32_t imm)
{
    app__sequencer_t *const sequencer = rpc->program;
    app__sequencer_got_t *const got = &sequencer->got[client];
    app__sequencer_keep(got, sequencer->requests, app__sequencer_near(got, imm));
}

static const app__rpc_ops_t rpc_ops = {draw, serve, answered};

// -- creation

static sim_err_t sequencer_create(const app_context_t *context, const void *config_void,
                                  app_t **app, sim_message_t *message)
{
    const app__sequencer_config_t *const config = config_void;
    if (config->rpc.requests != SIM_AUTO) {
        // A number is kept, and sorted at the end.
        const sim_err_t fits = app__check_memory(
            context, "requests", (double)config->rpc.requests * (double)config->rpc.clients,
            2 * sizeof(uint64_t), "answers of all clients", message);
        if (fits != SIM_OK) {
            return fits;
        }
    }
    app__sequencer_t *const sequencer = sim_alloc(sizeof(*sequencer));
    sequencer->app = (app_t){&app_sequencer, context->net, context->index};
    sequencer->version = (app__sequencer_version_t)config->version;
    sequencer->next = config->first_number;
    sequencer->first_number = config->first_number;
    sequencer->owner = UINT32_MAX;
    sequencer->count_ps = config->count_ps;
    sequencer->move_ps = config->move_ps;
    sequencer->requests = config->rpc.requests == SIM_AUTO ? UINT64_MAX : config->rpc.requests;
    const sim_err_t error = sequencer->version == APP__SEQUENCER_RPC
                                ? app__rpc_init(&sequencer->rpc, context, &config->rpc,
                                                &config->span, &rpc_ops, sequencer, message)
                                : app__spec_create(sequencer, context, config, message);
    if (error != SIM_OK) {
        sim_free(sequencer);
        return error;
    }
    sequencer->client_count = (uint32_t)config->rpc.clients;
    sequencer->got = sim_alloc_array(sequencer->client_count, sizeof(*sequencer->got));
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        sequencer->got[c].last = config->first_number;
        if (config->rpc.requests != SIM_AUTO) {
            sequencer->got[c].numbers = sim_alloc_array(config->rpc.requests, sizeof(uint64_t));
        }
    }
    *app = &sequencer->app;
    return SIM_OK;
}

static void sequencer_destroy(app_t *app)
{
    app__sequencer_t *const sequencer = (app__sequencer_t *)(void *)app;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        sim_free(sequencer->got[c].numbers);
    }
    sim_free(sequencer->got);
    if (sequencer->version == APP__SEQUENCER_RPC) {
        app__rpc_fini(&sequencer->rpc);
    } else {
        app__spec_destroy(sequencer->spec);
    }
    sim_free(sequencer);
}

// -- results

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

// Counts the different numbers that clients got, from the first one up to the first missing one. If
// every request was answered, that is all of them.
static uint64_t count_without_hole(const app__sequencer_t *sequencer)
{
    uint64_t all = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        all += sequencer->got[c].numbers == NULL ? 0 : sequencer->got[c].count;
    }
    uint64_t *const numbers = sim_alloc_array(all + 1, sizeof(*numbers));
    uint64_t at = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        const app__sequencer_got_t *const got = &sequencer->got[c];
        for (uint64_t i = 0; got->numbers != NULL && i < got->count; i++) {
            numbers[at++] = got->numbers[i];
        }
    }
    qsort(numbers, all, sizeof(*numbers), compare_numbers);
    uint64_t good = 0;
    while (good < all && numbers[good] == sequencer->first_number + good) {
        good++;
    }
    sim_free(numbers);
    return good;
}

static void sequencer_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__sequencer_t *const sequencer = (const app__sequencer_t *)(const void *)app;
    *done = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        *done += sequencer->version == APP__SEQUENCER_RPC
                     ? app__rpc_client_thread(&sequencer->rpc, c)->stopped
                     : app__spec_client_thread(sequencer->spec, c)->stopped;
    }
    *planned = sequencer->client_count;
}

static void sequencer_carry(app_t *app, sim_carry_t *carry)
{
    app__sequencer_t *const sequencer = (app__sequencer_t *)(void *)app;
    const bool rpc = sequencer->version == APP__SEQUENCER_RPC;
    if (rpc) {
        app__rpc_carry(&sequencer->rpc, carry);
    } else {
        app__spec_carry(sequencer->spec, carry);
    }
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        app__sequencer_got_t *const got = &sequencer->got[c];
        const app__thread_t *const thread = rpc ? app__rpc_client_thread(&sequencer->rpc, c)
                                                : app__spec_client_thread(sequencer->spec, c);
        if (!sim_carry_has(carry, thread->machine->endpoint->node)) {
            continue;
        }
        SIM_CARRY(carry, got->count);
        SIM_CARRY(carry, got->backward);
        SIM_CARRY(carry, got->wrong);
        if (got->numbers != NULL) {
            sim_carry(carry, got->numbers, got->count * sizeof(*got->numbers));
        }
    }
}

typedef struct sequencer_report {
    app__server_sums_t sums;
    uint64_t numbers;
    uint64_t backward;
    uint64_t wrong_guesses;
    bool rpc; // version
    bool raw; // the other versions
} sequencer_report_t;

static void fill_report(const void *object, void *report)
{
    const app__sequencer_t *const sequencer = object;
    const bool rpc = sequencer->version == APP__SEQUENCER_RPC;
    const app__server_sums_t sums = rpc ? app__rpc_sums(&sequencer->app, &sequencer->rpc)
                                        : app__spec_sums(&sequencer->app, sequencer->spec);
    uint64_t backward = 0;
    uint64_t wrong = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        backward += sequencer->got[c].backward;
        wrong += sequencer->got[c].wrong;
    }
    *(sequencer_report_t *)report = (sequencer_report_t){
        .sums = sums,
        .numbers = count_without_hole(sequencer),
        .backward = backward,
        .wrong_guesses = wrong,
        .rpc = rpc,
        .raw = !rpc,
    };
}

// clang-format off
#define ROW(...) APP__ROW(sequencer_report_t, __VA_ARGS__)
#define SUM(name_, kind_, unit_, help_) \
    {#name_, SIM_REPORT_##kind_, unit_, help_, .offset = offsetof(sequencer_report_t, sums.name_), .shown = true},
#define SUM_IF(name_, given_, help_) \
    {#name_, SIM_REPORT_U64, "", help_, .offset = offsetof(sequencer_report_t, sums.name_), .shown = true, \
     .given = offsetof(sequencer_report_t, given_)},
static const sim_report_row_t report_rows[] = {
    SUM(mops, REAL, "M/s", "numbers per second that clients received")
    SUM(responses_per_batch, REAL, "", "mean number of answers that a worker posts with one Doorbell")
    SUM_IF(full_queue_waits, rpc, "number of times that a worker waited for room in a queue; version rpc only")
    SUM(requests, U64, "", "number of requests that clients sent")
    SUM(responses, U64, "", "number of responses that clients received")
    SUM(lost, U64, "", "number of requests given up as lost")
    SUM_IF(late, rpc, "number of answers to requests that were given up; version rpc only")
    SUM_IF(failed, raw, "number of work requests that ended with an error; not in version rpc")
    ROW(numbers, U64, "", true, "numbers given out without a gap, from the first one")
    ROW(backward, U64, "", true, "numbers that a client received after a larger one")
    ROW(wrong_guesses, U64, "", true, "wrong guesses of the upper half of the number; version spec only")
};
// clang-format on
static const sim_report_table_t report_table =
    APP__FILLED(report_rows, sequencer_report_t, fill_report);

static void sequencer_tally(const app_t *app, app_tally_t *tally)
{
    sequencer_report_t report;
    fill_report(app, &report);
    *tally = (app_tally_t){
        .succeeded = report.sums.responses,
        .failed = report.sums.lost + report.sums.failed,
        .measured = report.sums.responses,
        .spans = true,
    };
}

const app_ops_t app_sequencer = {
    .name = "sequencer",
    .help = "a networked sequencer: HERD's calls, Spec-S0 or fetch-and-add (detailed NIC)",
    .attrs = &attr_table,
    .tally = sequencer_tally,
    .create = sequencer_create,
    .destroy = sequencer_destroy,
    .progress = sequencer_progress,
    .carry = sequencer_carry,
    .report = &report_table,
};
