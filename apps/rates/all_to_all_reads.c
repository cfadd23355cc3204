// SPDX-License-Identifier: Apache-2.0
// apps/rates/all_to_all_reads.c - every machine reads from every other one over many queue pairs.
//
// It shows how the rate of a NIC falls with their number. docs/models/guidelines.md describes the
// thread.
#include "apps/app_internal.h"
#include "apps/machine_internal.h"
#include "apps/report_rows.h"

#define PREFIX "traffic.all-to-all-reads"
#define POLL_MAX 16u

typedef struct reads_config {
    char *hosts;
    uint64_t threads;
    uint64_t qps; // SIM_AUTO: one to each machine from each thread
    uint64_t window;
    uint64_t read_bytes;
    uint64_t region_bytes;
    app__span_t span;
} reads_config_t;

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(reads_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "machines that read and are read from, at least two"),
    ATTR(COUNT, "threads-per-machine", threads, "14", "1", "256", "number of threads on each machine, each on its own core"),
    ATTR(COUNT, "qps-per-machine", qps, "auto", "1", "1000000", "number of queue pairs of a machine, spread evenly over all machines; those to itself are not used; auto: one from each thread to each machine", .auto_ok = true),
    ATTR(COUNT, "window-per-thread", window, "16", "1", "1024", "number of READs that a thread keeps outstanding"),
    ATTR(BYTES, "read-bytes", read_bytes, "32", "1", "1MiB", "bytes that one READ reads"),
    ATTR(BYTES, "region", region_bytes, "2MiB", "4KiB", "1TiB", "memory of a machine; READs go to random addresses in it"),
    APP__SPAN_ATTRS(PREFIX, reads_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", reads_config_t, attrs);

typedef struct reads reads_t;

typedef struct reader {
    app__thread_t thread;
    const reads_t *reads;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t *rkeys; // per QP: key of the region it reads from
    uint32_t qp_count;
    bool *broken; // per QP: it failed, so nothing more is posted to it
    uint32_t broken_count;
    bool *done; // by place in the window
    uint64_t posted;
    uint64_t oldest;
    uint32_t posted_slot; // place in the window of the next READ
    uint32_t oldest_slot;
    sim_random_t random;
    nic_send_wr_t wr; // template; only the address, key and id differ between READs
} reader_t;

struct reads {
    app_t app; // first
    app__span_t span;
    uint32_t window;
    uint64_t read_bytes;
    uint64_t region_bytes;
    app__machine_t *machines;
    uint32_t machine_count;
    reader_t *readers;
    uint32_t thread_count; // per machine
    uint32_t reader_count;
};

// -- the loop

// Returns a random QP, or the next one that works. At least one works.
static uint32_t draw_qp(reader_t *reader)
{
    uint32_t q = (uint32_t)sim_random_below(&reader->random, reader->qp_count);
    while (SIM_UNLIKELY(reader->broken[q])) {
        q = (q + 1) % reader->qp_count;
    }
    return q;
}

static SIM_ALWAYS_INLINE void post_next(reader_t *reader)
{
    const reads_t *const reads = reader->reads;
    const uint32_t slot = reader->posted_slot;
    SIM_ASSERT(reader->posted - reader->oldest < reads->window);
    reader->posted_slot = slot + 1 == reads->window ? 0 : slot + 1;
    const uint32_t q = draw_qp(reader);
    const uint64_t offset =
        sim_random_below(&reader->random, reads->region_bytes - reads->read_bytes + 1);
    nic_send_wr_t *const wr = &reader->wr;
    wr->wr_id = (uint64_t)q << 32 | slot;
    wr->sge.addr = reads->machines[0].address + offset;
    wr->rdma.remote_addr = reads->machines[0].address + offset;
    wr->rdma.rkey = reader->rkeys[q];
    reader->done[slot] = false;
    reader->posted++;
    app__post(reader->qps[q], wr);
}

static void note_broken(reader_t *reader, uint32_t q)
{
    reader->broken_count += !reader->broken[q];
    reader->broken[q] = true;
}

static bool read_on(nic_core_t *core, void *ctx)
{
    reader_t *const reader = ctx;
    const reads_t *const reads = reader->reads;
    const bool works = reader->broken_count < reader->qp_count;
    if (reader->posted < reads->window && works) {
        post_next(reader);
        return true;
    }
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(reader->cq, POLL_MAX, wc);
    uint32_t succeeded = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (app__thread_succeeded(&reader->thread, &wc[i])) {
            succeeded++;
        } else {
            note_broken(reader, (uint32_t)(wc[i].wr_id >> 32));
        }
        reader->done[(uint32_t)wc[i].wr_id] = true;
    }
    app__thread_count(&reader->thread, succeeded);
    while (reader->oldest < reader->posted && reader->done[reader->oldest_slot]) {
        reader->oldest++;
        reader->oldest_slot =
            reader->oldest_slot + 1 == reads->window ? 0 : reader->oldest_slot + 1;
        if (reader->broken_count < reader->qp_count) {
            post_next(reader);
        }
    }
    nic_core_only_polls(core);
    return count != 0;
}

// -- creation

// Connects QPs in pairs: QP 2k of machine m leads to QP 2k + 1 of the machine k mod (machines - 1)
// + 1 places further. So each machine has as many QPs to every other one, plus or minus one. If the
// number is odd, the last QPs of neighbours are paired.
static void join_all(reads_t *reads, nic_qp_t **all, uint32_t *peers, uint32_t qps)
{
    const uint32_t machines = reads->machine_count;
    for (uint32_t m = 0; m < machines; m++) {
        for (uint32_t k = 0; k < qps / 2; k++) {
            const uint32_t other = (m + 1 + k % (machines - 1)) % machines;
            app__join(all[m * qps + 2 * k], all[other * qps + 2 * k + 1]);
            peers[m * qps + 2 * k] = other;
            peers[other * qps + 2 * k + 1] = m;
        }
        if (qps % 2 != 0 && m % 2 == 0) {
            app__join(all[m * qps + qps - 1], all[(m + 1) * qps + qps - 1]);
            peers[m * qps + qps - 1] = m + 1;
            peers[(m + 1) * qps + qps - 1] = m;
        }
    }
}

static void make_readers(reads_t *reads, const app_context_t *context, uint32_t qps)
{
    const uint32_t threads = reads->thread_count;
    nic_qp_t **const all = sim_alloc_array((uint64_t)reads->machine_count * qps, sizeof(*all));
    uint32_t *const peers = sim_alloc_array((uint64_t)reads->machine_count * qps, sizeof(*peers));
    for (uint32_t r = 0; r < reads->reader_count; r++) {
        reader_t *const reader = &reads->readers[r];
        const uint32_t m = r / threads;
        const uint32_t first = (uint32_t)((uint64_t)(r % threads) * qps / threads);
        const uint32_t end = (uint32_t)((uint64_t)(r % threads + 1) * qps / threads);
        app__thread_init(&reader->thread, &reads->machines[m], &reads->span, r, read_on, reader);
        reader->reads = reads;
        reader->cq = app__thread_cq(&reader->thread);
        reader->qp_count = end - first;
        reader->broken = sim_alloc_array(reader->qp_count, sizeof(*reader->broken));
        reader->done = sim_alloc_array(reads->window, sizeof(*reader->done));
        app__random_init(&reader->random, context, r, "all-to-all-reads");
        for (uint32_t q = first; q < end; q++) {
            all[m * qps + q] =
                app__machine_qp(&reads->machines[m], NIC_QPT_RC, reader->cq, reads->window, 0);
        }
    }
    join_all(reads, all, peers, qps);
    for (uint32_t r = 0; r < reads->reader_count; r++) {
        reader_t *const reader = &reads->readers[r];
        const uint32_t m = r / threads;
        const uint32_t first = (uint32_t)((uint64_t)(r % threads) * qps / threads);
        reader->qps = sim_alloc_array(reader->qp_count, sizeof(*reader->qps));
        reader->rkeys = sim_alloc_array(reader->qp_count, sizeof(*reader->rkeys));
        reader->wr = (nic_send_wr_t){
            .opcode = NIC_WR_RDMA_READ,
            .send_flags = NIC_SEND_SIGNALED,
            .sge = {.length = reads->read_bytes, .lkey = app__machine_key(&reads->machines[m])},
        };
        for (uint32_t q = 0; q < reader->qp_count; q++) {
            reader->qps[q] = all[m * qps + first + q];
            reader->rkeys[q] = app__machine_key(&reads->machines[peers[m * qps + first + q]]);
        }
    }
    sim_free(all);
    sim_free(peers);
}

// Computes how many of a machine's QPs lead to other machines.
static sim_err_t count_qps(const reads_config_t *config, uint32_t machines, uint32_t *qps,
                           sim_message_t *message)
{
    const uint64_t given = config->qps == SIM_AUTO ? config->threads * machines : config->qps;
    const uint64_t used = given - given / machines;
    if (used < config->threads) {
        return sim_fail_about(
            message, SIM_ERR_RANGE, "qps-per-machine",
            " is %" PRIu64 ", %" PRIu64
            " of them to other machines, expected at least one for each of %" PRIu64 " threads",
            given, used, config->threads);
    }
    if (used % 2 != 0 && machines % 2 != 0) {
        return sim_fail_about(
            message, SIM_ERR_RANGE, "qps-per-machine",
            " is %" PRIu64 ", %" PRIu64
            " of them to other machines, expected an even number among %u machines, since each "
            "queue pair has two ends",
            given, used, machines);
    }
    if (config->read_bytes > config->region_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "region",
                              ": smaller than read-bytes, "
                              "expected read-bytes or more");
    }
    *qps = (uint32_t)used;
    return SIM_OK;
}

static sim_err_t reads_create(const app_context_t *context, const void *config_void, app_t **app,
                              sim_message_t *message)
{
    const reads_config_t *const config = config_void;
    app__places_t places;
    uint32_t qps = 0;
    sim_err_t error = app__machines_find(context, "hosts", config->hosts, 2, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    error = count_qps(config, places.host_count, &qps, message);
    if (error != SIM_OK) {
        app__places_fini(&places);
        return error;
    }
    reads_t *const reads = sim_alloc(sizeof(*reads));
    reads->app = (app_t){&app_all_to_all_reads, context->net, context->index};
    reads->span = config->span;
    reads->window = (uint32_t)config->window;
    reads->read_bytes = config->read_bytes;
    reads->region_bytes = config->region_bytes;
    reads->machine_count = places.host_count;
    reads->thread_count = (uint32_t)config->threads;
    reads->reader_count = reads->machine_count * reads->thread_count;
    reads->machines = sim_alloc_array(reads->machine_count, sizeof(*reads->machines));
    reads->readers = sim_alloc_array(reads->reader_count, sizeof(*reads->readers));
    for (uint32_t m = 0; m < reads->machine_count; m++) {
        app__machine_init(&reads->machines[m], context, places.list.interfaces[m],
                          reads->region_bytes, qps);
    }
    app__places_fini(&places);
    make_readers(reads, context, qps);
    *app = &reads->app;
    return SIM_OK;
}

static void reads_destroy(app_t *app)
{
    reads_t *const reads = (reads_t *)(void *)app;
    for (uint32_t r = 0; r < reads->reader_count; r++) {
        SIM_FREE_ALL(reads->readers[r].qps, reads->readers[r].rkeys, reads->readers[r].done,
                     reads->readers[r].broken);
    }
    SIM_FREE_ALL(reads->readers, reads->machines, reads);
}

// -- results

static void reads_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const reads_t *const reads = (const reads_t *)(const void *)app;
    *done = 0;
    for (uint32_t r = 0; r < reads->reader_count; r++) {
        *done += reads->readers[r].thread.stopped;
    }
    *planned = reads->reader_count;
}

static void reads_carry(app_t *app, sim_carry_t *carry)
{
    reads_t *const reads = (reads_t *)(void *)app;
    for (uint32_t r = 0; r < reads->reader_count; r++) {
        (void)app__thread_carry(carry, &reads->readers[r].thread);
    }
}

// clang-format off
#define ROWS(X) \
    X(mops_per_machine, REAL, "M/s", true, "mean over all machines of a machine's READs per second") \
    X(mops_min, REAL, "M/s", true, "READs per second of the slowest machine") \
    X(mops_max, REAL, "M/s", true, "READs per second of the fastest machine") \
    X(operations, U64, "", true, "number of READs done in the whole run, also outside of the measured time") \
    X(failed, U64, "", true, "number of READs that ended with an error")
// clang-format on
typedef struct reads_report {
    ROWS(APP__MEMBER)
} reads_report_t;

static void fill_report(const void *object, void *into)
{
    const reads_t *const reads = object;
    reads_report_t *const report = into;
    uint64_t sum = 0;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (uint32_t m = 0; m < reads->machine_count; m++) {
        uint64_t counted = 0;
        for (uint32_t t = 0; t < reads->thread_count; t++) {
            const app__thread_t *const thread = &reads->readers[m * reads->thread_count + t].thread;
            counted += thread->counted;
            report->operations += thread->total;
            report->failed += thread->failed;
        }
        sum += counted;
        least = SIM_MIN(counted, least);
        most = SIM_MAX(counted, most);
    }
    report->mops_per_machine = app__mops(&reads->app, &reads->span, sum) / reads->machine_count;
    report->mops_min = app__mops(&reads->app, &reads->span, least);
    report->mops_max = app__mops(&reads->app, &reads->span, most);
}

#define ROW(...) APP__ROW(reads_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
static const sim_report_table_t report_table =
    APP__FILLED(report_rows, reads_report_t, fill_report);

static void reads_tally(const app_t *app, app_tally_t *tally)
{
    const reads_t *const own = (const reads_t *)(const void *)app;
    tally->spans = true;
    for (uint32_t i = 0; i < own->machine_count * own->thread_count; i++) {
        const app__thread_t *const thread = &own->readers[i].thread;
        tally->succeeded += thread->total;
        tally->failed += thread->failed;
        tally->measured += thread->counted;
    }
}

const app_ops_t app_all_to_all_reads = {
    .name = "all-to-all-reads",
    .help = "every machine reads from every other over many queue pairs (detailed NIC)",
    .attrs = &attr_table,
    .posts = "READs",
    .tally = reads_tally,
    .create = reads_create,
    .destroy = reads_destroy,
    .progress = reads_progress,
    .carry = reads_carry,
    .report = &report_table,
};
