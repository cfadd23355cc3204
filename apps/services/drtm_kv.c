// SPDX-License-Identifier: Apache-2.0
// apps/services/drtm_kv.c - a key-value store that clients use by one-sided verbs, like DrTM-KV: a
// GET is one READ, a PUT two atomics (Kalia et al., USENIX ATC 2016, 4.3.3;
// docs/models/guidelines.md).
//
// Like the suite's program it does not tie the two atomics of a PUT together: each posted operation
// is an atomic or a READ at random, in the proportion of the mix, and goes to a random item.
#include "apps/app_internal.h"
#include "apps/machine_internal.h"
#include "apps/report_rows.h"

#define PREFIX "traffic.drtm-kv"
#define ITEM_BYTES 64u // key, value, and the word that atomics go to
#define WORD_OFFSET 24u
#define POST_LIST_MAX 32u
#define SIGNAL_EVERY 32u // UNSIG_BATCH and HRD_Q_DEPTH of the suite
#define SEND_DEPTH 128u

typedef struct drtm_config {
    char *server;
    char *clients_on;
    uint64_t clients;
    uint64_t qps;
    uint64_t post_list;
    uint64_t items;
    uint64_t put_percent;
    app__span_t span;
} drtm_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(drtm_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "server", server, "host0", "machine that holds the items"),
    ATTR(STRING, "clients-on", clients_on, "host[1-*]", "machines of the clients, on which their threads are spread"),
    ATTR(COUNT, "clients", clients, "70", "1", "4096", "number of client threads, spread over the machines of clients-on"),
    ATTR(COUNT, "qps-per-client", qps, "2", "1", "1024", "number of queue pairs of a client, used in turn"),
    ATTR(COUNT, "post-list", post_list, "16", "1", "32", "number of READs and atomics posted at a time; one in 32 is signaled and waited for"),
    ATTR(COUNT, "items", items, "16000000", "1", "1000000000", "number of items of 64 bytes, with keys of 16 and values of 32 bytes"),
    ATTR(COUNT, "put-percent", put_percent, "0", "0", "100", "percentage of operations that are PUTs"),
    APP__SPAN_ATTRS(PREFIX, drtm_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", drtm_config_t, attrs);

typedef struct drtm drtm_t;

// A queue pair with the number of its operations: posted, posted up to the last signaled one, and
// done.
typedef struct queue {
    nic_qp_t *qp;
    nic_cq_t *cq;
    uint64_t gets;
    uint64_t halves; // atomics; a PUT has two
    uint64_t signaled_gets;
    uint64_t signaled_halves;
    uint64_t done_gets;
    uint64_t done_halves;
    bool broken; // it failed, so nothing more is posted to it
} queue_t;

typedef struct client {
    app__thread_t thread;
    drtm_t *drtm;
    queue_t *queues;
    uint32_t next_queue;
    nic_send_wr_t list[POST_LIST_MAX];
    uint32_t filled;
    bool waits; // for the signaled operation of the queue
    sim_random_t random;
    uint64_t gets; // done within the span
    uint64_t halves;
} client_t;

struct drtm {
    app_t app; // first
    app__span_t span;
    uint64_t items;
    uint64_t put_percent;
    uint32_t post_list;
    uint32_t qps;
    app__machine_t *machines; // the server's first
    uint32_t machine_count;
    client_t *clients;
    uint32_t client_count;
};

static uint64_t random_item(client_t *client)
{
    return client->drtm->machines[0].address +
           ITEM_BYTES * sim_random_below(&client->random, client->drtm->items);
}

static nic_send_wr_t read_of(client_t *client)
{
    return (nic_send_wr_t){
        .opcode = NIC_WR_RDMA_READ,
        .sge = {client->thread.machine->address, ITEM_BYTES,
                app__machine_key(client->thread.machine)},
        .rdma = {random_item(client), app__machine_key(&client->drtm->machines[0])},
    };
}

// Builds an atomic of a PUT. It adds one, so the words show the number of atomics at the end.
static nic_send_wr_t half_of_put(client_t *client)
{
    return (nic_send_wr_t){
        .opcode = NIC_WR_ATOMIC_FETCH_AND_ADD,
        .sge = {client->thread.machine->address, 8, app__machine_key(client->thread.machine)},
        .atomic = {random_item(client) + WORD_OFFSET, 1, 0,
                   app__machine_key(&client->drtm->machines[0])},
    };
}

// Polls for the signaled operation. If it is done, all operations before it are done, too.
static bool is_done(client_t *client, queue_t *queue)
{
    nic_wc_t wc;
    if (nic_poll_cq(queue->cq, 1, &wc) == 0) {
        return false;
    }
    if (!app__thread_succeeded(&client->thread, &wc)) {
        queue->broken = true;
        return false;
    }
    const uint64_t gets = queue->signaled_gets - queue->done_gets;
    const uint64_t halves = queue->signaled_halves - queue->done_halves;
    const sim_time_t now_ps = nic_core_now_ps(client->thread.core);
    const app__span_t *const span = client->thread.span;
    const bool within = now_ps >= app__span_begin(span) && now_ps < app__span_end(span);
    client->gets += within ? gets : 0;
    client->halves += within ? halves : 0;
    queue->done_gets = queue->signaled_gets;
    queue->done_halves = queue->signaled_halves;
    app__thread_count(&client->thread, gets + halves);
    client->waits = false;
    return true;
}

static void add_to_list(client_t *client, queue_t *queue)
{
    const drtm_t *const drtm = client->drtm;
    nic_send_wr_t *const wr = &client->list[client->filled++];
    const bool signaled = (queue->gets + queue->halves) % SIGNAL_EVERY == 0;
    const bool half =
        sim_random_below(&client->random, 100 + drtm->put_percent) < 2 * drtm->put_percent;
    *wr = half ? half_of_put(client) : read_of(client);
    queue->halves += half;
    queue->gets += !half;
    wr->send_flags = signaled ? NIC_SEND_SIGNALED : 0;
    wr->next = client->filled < drtm->post_list ? wr + 1 : NULL;
    if (signaled) {
        queue->signaled_gets = queue->gets;
        queue->signaled_halves = queue->halves;
    }
}

// Leaves a failed queue pair: drops the list begun for it and goes to the next queue pair that
// works.
static void leave_broken(client_t *client)
{
    queue_t *const queue = &client->queues[client->next_queue];
    nic_wc_t wc[POST_LIST_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(queue->cq, POST_LIST_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            (void)app__thread_succeeded(&client->thread, &wc[i]);
        }
    }
    client->waits = false;
    client->filled = 0;
    for (uint32_t q = 0; q < client->drtm->qps && client->queues[client->next_queue].broken; q++) {
        client->next_queue = (client->next_queue + 1) % client->drtm->qps;
    }
}

static bool run(nic_core_t *core, void *ctx)
{
    (void)core;
    client_t *const client = ctx;
    const drtm_t *const drtm = client->drtm;
    if (SIM_UNLIKELY(client->queues[client->next_queue].broken)) {
        leave_broken(client);
    }
    queue_t *const queue = &client->queues[client->next_queue];
    if (SIM_UNLIKELY(queue->broken)) {
        return false;
    }
    if (client->waits && !is_done(client, queue)) {
        return queue->broken;
    }
    while (client->filled < drtm->post_list) {
        const uint64_t order = queue->gets + queue->halves;
        const uint64_t under_way = order - (queue->done_gets + queue->done_halves);
        if (order % SIGNAL_EVERY == 0 && under_way >= SIGNAL_EVERY) {
            client->waits = true;
            if (!is_done(client, queue)) {
                return queue->broken;
            }
        }
        add_to_list(client, queue);
    }
    app__post(queue->qp, client->list);
    client->filled = 0;
    client->next_queue = (client->next_queue + 1) % drtm->qps;
    return true;
}

// -- creation

static void make_clients(drtm_t *drtm, const app_context_t *context)
{
    nic_cq_t *const unused = nic_cq_create(drtm->machines[0].endpoint->nic, 1, NULL, NULL);
    SIM_CHECK(drtm->machine_count > 1); // the first machine is the server
    for (uint32_t c = 0; c < drtm->client_count; c++) {
        client_t *const client = &drtm->clients[c];
        app__machine_t *const machine = &drtm->machines[1 + c % (drtm->machine_count - 1)];
        app__thread_init(&client->thread, machine, &drtm->span, c, run, client);
        client->drtm = drtm;
        client->queues = sim_alloc_array(drtm->qps, sizeof(*client->queues));
        app__random_init(&client->random, context, c, "drtm-kv");
        for (uint32_t q = 0; q < drtm->qps; q++) {
            queue_t *const queue = &client->queues[q];
            queue->cq = app__thread_cq(&client->thread);
            queue->qp = app__machine_qp(machine, NIC_QPT_RC, queue->cq, SEND_DEPTH, 0);
            app__join(queue->qp, app__machine_qp(&drtm->machines[0], NIC_QPT_RC, unused, 1, 0));
        }
    }
}

static sim_err_t drtm_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message)
{
    const drtm_config_t *const config = config_void;
    uint32_t *interfaces = NULL;
    uint32_t count = 0;
    const sim_err_t error = app__server_machines(context, config->server, config->clients_on,
                                                 &interfaces, &count, message);
    if (error != SIM_OK) {
        return error;
    }
    drtm_t *const drtm = sim_alloc(sizeof(*drtm));
    drtm->app = (app_t){&app_drtm_kv, context->net, context->index};
    drtm->span = config->span;
    drtm->items = config->items;
    drtm->put_percent = config->put_percent;
    drtm->post_list = (uint32_t)config->post_list;
    drtm->qps = (uint32_t)config->qps;
    drtm->machine_count = count;
    drtm->client_count = (uint32_t)config->clients;
    drtm->machines = sim_alloc_array(drtm->machine_count, sizeof(*drtm->machines));
    drtm->clients = sim_alloc_array(drtm->client_count, sizeof(*drtm->clients));
    for (uint32_t m = 0; m < drtm->machine_count; m++) {
        app__machine_init(&drtm->machines[m], context, interfaces[m],
                          m == 0 ? drtm->items * ITEM_BYTES : 4096, config->clients * config->qps);
    }
    sim_free(interfaces);
    make_clients(drtm, context);
    *app = &drtm->app;
    return SIM_OK;
}

static void drtm_destroy(app_t *app)
{
    drtm_t *const drtm = (drtm_t *)(void *)app;
    for (uint32_t c = 0; c < drtm->client_count; c++) {
        sim_free(drtm->clients[c].queues);
    }
    SIM_FREE_ALL(drtm->clients, drtm->machines, drtm);
}

// -- results

static void drtm_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const drtm_t *const drtm = (const drtm_t *)(const void *)app;
    *done = 0;
    for (uint32_t c = 0; c < drtm->client_count; c++) {
        *done += drtm->clients[c].thread.stopped;
    }
    *planned = drtm->client_count;
}

// Returns how many words the report sums: all of a store with few items, which is for tests.
static uint64_t summed_words(const drtm_t *drtm)
{
    return drtm->items <= 100000 ? drtm->items : 0;
}

static void drtm_carry(app_t *app, sim_carry_t *carry)
{
    drtm_t *const drtm = (drtm_t *)(void *)app;
    for (uint32_t c = 0; c < drtm->client_count; c++) {
        client_t *const client = &drtm->clients[c];
        if (!app__thread_carry(carry, &client->thread)) {
            continue;
        }
        SIM_CARRY(carry, client->gets);
        SIM_CARRY(carry, client->halves);
        for (uint32_t q = 0; q < drtm->qps; q++) {
            SIM_CARRY(carry, client->queues[q].halves);
        }
    }
    app__machine_carry_words(carry, &drtm->machines[0], drtm->machines[0].address + WORD_OFFSET,
                             summed_words(drtm), ITEM_BYTES);
}

// clang-format off
#define ROWS(X) \
    X(mops, REAL, "M/s", true, "operations per second of all clients") \
    X(gets_mops, REAL, "M/s", true, "GETs per second of all clients") \
    X(puts_mops, REAL, "M/s", true, "PUTs per second of all clients; each takes two atomics") \
    X(atomics, U64, "", true, "number of atomics that were posted") \
    X(failed, U64, "", true, "number of work requests that ended with an error") \
    X(words_sum, U64, "", true, "sum of the items' words at the end, where there are at most 100000 items; each atomic adds one")
// clang-format on
typedef struct drtm_report {
    ROWS(APP__MEMBER)
} drtm_report_t;

static void fill_report(const void *object, void *into)
{
    const drtm_t *const drtm = object;
    drtm_report_t *const report = into;
    uint64_t gets = 0;
    uint64_t halves = 0;
    for (uint32_t c = 0; c < drtm->client_count; c++) {
        gets += drtm->clients[c].gets;
        halves += drtm->clients[c].halves;
        report->failed += drtm->clients[c].thread.failed;
        for (uint32_t q = 0; q < drtm->qps; q++) {
            report->atomics += drtm->clients[c].queues[q].halves;
        }
    }
    for (uint64_t i = 0; i < summed_words(drtm); i++) { // unwritten words are 0
        report->words_sum += nic_mr_read64(
            drtm->machines[0].memory, drtm->machines[0].address + i * ITEM_BYTES + WORD_OFFSET);
    }
    report->gets_mops = app__mops(&drtm->app, &drtm->span, gets);
    report->puts_mops = app__mops(&drtm->app, &drtm->span, halves) / 2;
    report->mops = report->gets_mops + report->puts_mops;
}

#define ROW(...) APP__ROW(drtm_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
static const sim_report_table_t report_table = APP__FILLED(report_rows, drtm_report_t, fill_report);

static void drtm_tally(const app_t *app, app_tally_t *tally)
{
    const drtm_t *const own = (const drtm_t *)(const void *)app;
    tally->spans = true;
    for (uint32_t i = 0; i < own->client_count; i++) {
        const app__thread_t *const thread = &own->clients[i].thread;
        tally->succeeded += thread->total;
        tally->failed += thread->failed;
        tally->measured += thread->counted;
    }
}

const app_ops_t app_drtm_kv = {
    .name = "drtm-kv",
    .help = "a key-value store by READs and atomics, as DrTM-KV (detailed NIC)",
    .attrs = &attr_table,
    .posts = "READs and atomics",
    .tally = drtm_tally,
    .create = drtm_create,
    .destroy = drtm_destroy,
    .progress = drtm_progress,
    .carry = drtm_carry,
    .report = &report_table,
};
