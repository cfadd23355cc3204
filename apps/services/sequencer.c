// SPDX-License-Identifier: Apache-2.0
// apps/services/sequencer.c - a server that gives out increasing 8-byte numbers, in the versions of
// Kalia et al., USENIX ATC 2016, 4.2 (docs/models/guidelines.md). This file has the version on
// remote procedure calls.
#include "apps/app_internal.h"
#include "apps/report_rows.h"
#include "apps/services/sequencer_internal.h"

#include <stdlib.h>

#define PREFIX "traffic.sequencer"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__sequencer_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(ENUM, "version", version, "rpc", "rpc|spec|fetch-add", "rpc: HERD's calls; spec: header-only SENDs and a guess of the upper half (Spec-S0); fetch-add: the NIC's atomic"),
    ATTR(COUNT, "first-number", first_number, "0", "0", NULL, "first number that the sequencer gives out"),
    ATTR(TIME, "cpu.count", count_ps, "8ns", "0ps", "1us", "time to add to the shared counter, if it is in the core's own cache"),
    ATTR(TIME, "cpu.move", move_ps, "40ns", "0ps", "1us", "time to add to the counter, if another core added last; other cores wait meanwhile"),
    ATTR(STRING, "server", server, "host0", "machine of the server"),
    ATTR(STRING, "clients-on", clients_on, "host[1-*]", "machines of the clients, on which their threads are spread"),
    ATTR(COUNT, "workers", workers, "6", "1", "64", "number of threads that answer requests, each on its own core"),
    ATTR(COUNT, "clients", clients, "70", "1", "4096", "number of threads that send requests, spread over their machines"),
    ATTR(COUNT, "window", window, "32", "1", "256", "number of requests that a client keeps in flight; version rpc sends a window at a time and waits until all are answered"),
    ATTR(BOOL, "batch", post_list, "on", "on: responses are posted with one Doorbell per port; off: each WQE is written into the NIC"),
    ATTR(COUNT, "collect", collect, "32", "1", "128", "maximum number of requests that a worker takes at a time"),
    ATTR(COUNT, "ports", ports, "2", "1", "4", "number of ports of the server's card that clients are spread over, with queue pairs of their own"),
    ATTR(COUNT, "qps-per-port", qps_per_port, "3", "1", "64", "number of UD queue pairs of a worker on each port, used in turn"),
    ATTR(COUNT, "requests", requests, "auto", "1", "100000000", "number of requests that each client sends; auto: until the measured time is over", .auto_ok = true),
    ATTR(TIME, "cpu.look", look_ps, "1ns", "1ps", "1us", "worker's time to look at a slot without a request, in its first-level cache"),
    ATTR(TIME, "cpu.request", request_ps, "20ns", "0ps", "1us", "worker's time to take a request, which the NIC put into the last-level cache"),
    ATTR(COUNT, "cpu.overlap", overlap, "3", "1", "64", "divisor of the time to take each further request of a turn, since their memory accesses overlap with the first one's"),
    ATTR(TIME, "timeout", timeout_ps, "1ms", "1us", "1000s", "time without an answer after which a client counts the requests it waits for as lost"),
    APP__SPAN_ATTRS(PREFIX, app__sequencer_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", app__sequencer_config_t, attrs);

// -- what versions share

uint64_t app__sequencer_take(app__sequencer_worker_t *worker, uint32_t count)
{
    app__sequencer_t *const sequencer = worker->sequencer;
    const sim_time_t now_ps = nic_core_now_ps(worker->thread.core);
    const bool owns = sequencer->owner == worker->index;
    const sim_time_t start_ps = SIM_MAX(sequencer->free_ps, now_ps);
    sequencer->owner = worker->index;
    sequencer->free_ps = start_ps + (owns ? sequencer->config.count_ps : sequencer->config.move_ps);
    nic_core_wait(worker->thread.core, sequencer->free_ps - now_ps);
    sequencer->next += count;
    return sequencer->next - count;
}

void app__sequencer_keep(app__sequencer_client_t *client, uint64_t number)
{
    if (client->numbers != NULL) {
        if (client->number_count == client->sequencer->requests) {
            return; // all numbers have arrived: this is a duplicate made by a link
        }
        client->numbers[client->number_count] = number;
    }
    client->backward += client->number_count > 0 && number <= client->last;
    client->last = number;
    client->number_count++;
}

bool app__sequencer_is_done(app__sequencer_worker_t *worker)
{
    nic_wc_t wc;
    if (nic_poll_cq(worker->cqs[worker->waits_for], 1, &wc) == 0) {
        return false;
    }
    (void)app__thread_succeeded(&worker->thread, &wc);
    worker->waits = false;
    return true;
}

// -- creation

static void make_workers(app__sequencer_t *sequencer, const app__sequencer_ops_t *ops)
{
    for (uint32_t w = 0; w < sequencer->worker_count; w++) {
        app__sequencer_worker_t *const worker = &sequencer->workers[w];
        app__thread_init(&worker->thread, &sequencer->machines[0], &sequencer->config.span, w,
                         ops->serve, worker);
        worker->sequencer = sequencer;
        worker->index = w;
        if (sequencer->config.version == APP__SEQUENCER_SPEC) {
            worker->cq = app__thread_cq(&worker->thread);
        }
        worker->qps = sim_alloc_array(sequencer->qp_count, sizeof(*worker->qps));
        worker->cqs = sim_alloc_array(sequencer->qp_count, sizeof(*worker->cqs));
        worker->posted = sim_alloc_array(sequencer->qp_count, sizeof(*worker->posted));
        worker->arrived = sim_alloc_array(sequencer->client_count, sizeof(*worker->arrived));
    }
    // All workers create their queue pairs in parallel: first the first one of each, and so on.
    for (uint32_t q = 0; q < sequencer->qp_count; q++) {
        for (uint32_t w = 0; w < sequencer->worker_count; w++) {
            sequencer->workers[w].cqs[q] = app__thread_cq(&sequencer->workers[w].thread);
            ops->make_qp(&sequencer->workers[w], q);
        }
    }
}

static void make_clients(app__sequencer_t *sequencer, const app__sequencer_ops_t *ops)
{
    SIM_CHECK(sequencer->machine_count > 1); // the first machine is the server
    if (sequencer->config.version == APP__SEQUENCER_RPC) {
        sequencer->unused = nic_cq_create(sequencer->machines[0].endpoint->nic, 1, NULL, NULL);
    }
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        app__sequencer_client_t *const client = &sequencer->clients[c];
        app__thread_init(&client->thread,
                         &sequencer->machines[1 + c % (sequencer->machine_count - 1)],
                         &sequencer->config.span, c, ops->ask, client);
        client->sequencer = sequencer;
        client->index = c;
        client->cq = app__thread_cq(&client->thread);
        client->last = sequencer->config.first_number;
        if (sequencer->config.requests != SIM_AUTO) {
            client->numbers = sim_alloc_array(sequencer->requests, sizeof(uint64_t));
        }
        ops->make_client(client);
    }
}

// Makes the machines. That of the server has a slot for each request of version rpc.
static void make_machines(app__sequencer_t *sequencer, const app_context_t *context,
                          const uint32_t *interfaces)
{
    const bool rpc = sequencer->config.version == APP__SEQUENCER_RPC;
    const uint64_t slots = (uint64_t)sequencer->worker_count * sequencer->client_count *
                           sequencer->window * APP__SEQUENCER_SLOT_BYTES;
    const uint64_t server_qps =
        (uint64_t)sequencer->worker_count * sequencer->qp_count + sequencer->client_count;
    for (uint32_t m = 0; m < sequencer->machine_count; m++) {
        app__machine_init(&sequencer->machines[m], context, interfaces[m], (rpc ? slots : 0) + 4096,
                          rpc && m > 0 ? 2 * (uint64_t)sequencer->client_count : server_qps);
    }
}

static sim_err_t check(const app_context_t *context, const app__sequencer_config_t *config,
                       sim_message_t *message)
{
    if (config->requests != SIM_AUTO) {
        // A number is kept, and sorted at the end.
        const sim_err_t fits = app__check_memory(
            context, "requests", (double)config->requests * (double)config->clients,
            2 * sizeof(uint64_t), "answers of all clients", message);
        if (fits != SIM_OK) {
            return fits;
        }
    }
    if (config->version != APP__SEQUENCER_RPC && config->window > APP__SEQUENCER_COLLECT_MAX) {
        return sim_fail_about(message, SIM_ERR_RANGE, "window",
                              " is %" PRIu64 ", expected at most %u unless version is rpc",
                              config->window, APP__SEQUENCER_COLLECT_MAX);
    }
    return SIM_OK;
}

static sim_err_t sequencer_create(const app_context_t *context, const void *config_void,
                                  app_t **app, sim_message_t *message)
{
    static const app__sequencer_ops_t *const versions[] = {
        &app__sequencer_rpc, &app__sequencer_spec, &app__sequencer_fetch_add};
    const app__sequencer_config_t *const config = config_void;
    const app__sequencer_ops_t *const ops = versions[config->version];
    const bool rpc = config->version == APP__SEQUENCER_RPC;
    uint32_t *interfaces = NULL;
    uint32_t count = 0;
    sim_err_t error = check(context, config, message);
    if (error == SIM_OK) {
        error = app__server_machines(context, config->server, config->clients_on, &interfaces,
                                     &count, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    app__sequencer_t *const sequencer = sim_alloc(sizeof(*sequencer));
    *sequencer = (app__sequencer_t){
        .app = {&app_sequencer, context->net, context->index},
        .config = *config,
        .machine_count = count,
        .worker_count = ops->serve == NULL ? 0 : (uint32_t)config->workers,
        .client_count = (uint32_t)config->clients,
        .window = (uint32_t)config->window,
        .ports = (uint32_t)config->ports,
        .per_port = (uint32_t)config->qps_per_port,
        .qp_count = (uint32_t)(rpc ? config->ports * config->qps_per_port : config->qps_per_port),
        .requests = config->requests == SIM_AUTO ? UINT64_MAX : config->requests,
        .next = config->first_number,
        .owner = UINT32_MAX,
    };
    sequencer->machines = sim_alloc_array(count, sizeof(*sequencer->machines));
    sequencer->workers = sim_alloc_array(sequencer->worker_count + 1, sizeof(*sequencer->workers));
    sequencer->clients = sim_alloc_array(sequencer->client_count, sizeof(*sequencer->clients));
    make_machines(sequencer, context, interfaces);
    sim_free(interfaces);
    if (config->version == APP__SEQUENCER_FETCH_ADD) {
        nic_mr_write64(sequencer->machines[0].memory, sequencer->machines[0].address,
                       sequencer->next);
    }
    make_workers(sequencer, ops);
    make_clients(sequencer, ops);
    *app = &sequencer->app;
    return SIM_OK;
}

static void sequencer_destroy(app_t *app)
{
    app__sequencer_t *const sequencer = (app__sequencer_t *)(void *)app;
    for (uint32_t w = 0; w < sequencer->worker_count; w++) {
        app__sequencer_worker_t *const worker = &sequencer->workers[w];
        SIM_FREE_ALL(worker->qps, worker->cqs, worker->posted, worker->arrived);
    }
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        sim_free(sequencer->clients[c].numbers);
    }
    SIM_FREE_ALL(sequencer->machines, sequencer->workers, sequencer->clients, sequencer);
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
    uint64_t *numbers = NULL;
    size_t all = 0;
    size_t capacity = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        const app__sequencer_client_t *const client = &sequencer->clients[c];
        for (uint64_t i = 0; client->numbers != NULL && i < client->number_count; i++) {
            SIM_APPEND(numbers, all, capacity, client->numbers[i]);
        }
    }
    if (all > 0) {
        qsort(numbers, all, sizeof(*numbers), compare_numbers);
    }
    uint64_t good = 0;
    while (good < all && numbers[good] == sequencer->config.first_number + good) {
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
        *done += sequencer->clients[c].thread.stopped;
    }
    *planned = sequencer->client_count;
}

static void sequencer_carry(app_t *app, sim_carry_t *carry)
{
    app__sequencer_t *const sequencer = (app__sequencer_t *)(void *)app;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        app__sequencer_client_t *const client = &sequencer->clients[c];
        if (!app__thread_carry(carry, &client->thread)) {
            continue;
        }
        SIM_CARRY_FIELDS(carry, client, sent, late);
        SIM_CARRY_FIELDS(carry, client, number_count, wrong);
        if (client->numbers != NULL) {
            sim_carry(carry, client->numbers, client->number_count * sizeof(*client->numbers));
        }
    }
    for (uint32_t w = 0; w < sequencer->worker_count; w++) {
        app__sequencer_worker_t *const worker = &sequencer->workers[w];
        if (app__thread_carry(carry, &worker->thread)) {
            SIM_CARRY_FIELDS(carry, worker, waited, answers);
        }
    }
}

// clang-format off
#define ROWS(X, IF) \
    X(mops, REAL, "M/s", true, "numbers per second that clients received") \
    X(responses_per_batch, REAL, "", true, "mean number of answers that a worker posts with one Doorbell") \
    IF(rpc, full_queue_waits, U64, "", true, "number of times that a worker waited for room in a queue; version rpc only") \
    X(requests, U64, "", true, "number of requests that clients sent") \
    X(responses, U64, "", true, "number of responses that clients received") \
    X(lost, U64, "", true, "number of requests given up as lost") \
    IF(rpc, late, U64, "", true, "number of answers to requests that were given up; version rpc only") \
    IF(raw, failed, U64, "", true, "number of work requests that ended with an error; not in version rpc") \
    X(numbers, U64, "", true, "numbers given out without a gap, from the first one") \
    X(backward, U64, "", true, "numbers that a client received after a larger one") \
    X(wrong_guesses, U64, "", true, "wrong guesses of the upper half of the number; version spec only")
// clang-format on
#define MEMBER_IF(given, ...) APP__MEMBER(__VA_ARGS__)
typedef struct sequencer_report {
    ROWS(APP__MEMBER, MEMBER_IF)
    bool rpc; // version
    bool raw; // the other versions
} sequencer_report_t;

static void fill_report(const void *object, void *into)
{
    const app__sequencer_t *const sequencer = object;
    sequencer_report_t *const report = into;
    uint64_t counted = 0;
    uint64_t lists = 0;
    uint64_t in_lists = 0;
    for (uint32_t c = 0; c < sequencer->client_count; c++) {
        const app__sequencer_client_t *const client = &sequencer->clients[c];
        counted += client->thread.counted;
        report->requests += client->sent;
        report->responses += client->answered;
        report->lost += client->lost;
        report->late += client->late;
        report->failed += client->thread.failed;
        report->backward += client->backward;
        report->wrong_guesses += client->wrong;
    }
    for (uint32_t w = 0; w < sequencer->worker_count; w++) {
        lists += sequencer->workers[w].lists;
        in_lists += sequencer->workers[w].answers;
        report->full_queue_waits += sequencer->workers[w].waited;
    }
    report->rpc = sequencer->config.version == APP__SEQUENCER_RPC;
    report->raw = !report->rpc;
    report->mops = app__mops(&sequencer->app, &sequencer->config.span, counted);
    report->responses_per_batch = lists == 0 ? 0.0 : (double)in_lists / (double)lists;
    report->numbers = count_without_hole(sequencer);
}

#define ROW(...) APP__ROW(sequencer_report_t, __VA_ARGS__)
#define ROW_IF(...) APP__ROW_IF(sequencer_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW, ROW_IF)};
static const sim_report_table_t report_table =
    APP__FILLED(report_rows, sequencer_report_t, fill_report);

static void sequencer_tally(const app_t *app, app_tally_t *tally)
{
    sequencer_report_t report = {0};
    fill_report(app, &report);
    *tally = (app_tally_t){
        .succeeded = report.responses,
        .failed = report.lost + (report.raw ? report.failed : 0),
        .measured = report.responses,
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
