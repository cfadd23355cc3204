// SPDX-License-Identifier: Apache-2.0
// apps/rates/contexts.c - operations over many queue pairs and memory regions of one NIC, in
// patterns that exercise its caches (docs/models/tiered-cache.md).
//
// The host under study has `tokens` queue pairs, each connected to one of the peer's. An operation
// is a WRITE or READ on the queue pair that the pattern chooses. Operations begin at the host under
// study (outbound), at the peer (inbound), or both. `outstanding` of them are in flight at a time;
// each completion posts the next.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "apps/rates/contexts_internal.h"

#include "apps/app_internal.h"
#include "apps/channel/pair.h"
#include "apps/report_rows.h"
#include "kernel/own_file.h"

#define PREFIX "traffic.contexts"
#define REGION_ADDRESS (UINT64_C(1) << 44) // address of the first of several regions
#define POLL_MAX 16u

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__contexts_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "host", host, "host0", "name of the host under study"),
    ATTR(STRING, "peer", peer, "host1", "name of the host at the other end of all queue pairs"),
    ATTR(COUNT, "tokens", tokens, "1024", "1", "1000000", "number of queue pairs of the host under study"),
    ATTR(ENUM, "pattern", pattern, "zipf", "uniform|zipf|scan|bursty|replay", "choice of the next queue pair; uniform: any; zipf: rank k with probability 1/k^skew; scan: one after the other; bursty: any of a set that changes; replay: as in a file"),
    ATTR(RATIO, "skew", skew, "0.99", "0", "4", "exponent of pattern zipf; a larger one concentrates operations on fewer queue pairs"),
    ATTR(BOOL, "shuffle", shuffle, "true", "on: ranks and sets take queue pairs in random order; off: in order of their numbers"),
    ATTR(COUNT, "working-set", working_set, "64", "1", "1000000", "number of queue pairs in use at a time, for pattern bursty"),
    ATTR(COUNT, "phase", phase, "10000", "1", "1000000000000", "number of operations after which pattern bursty changes its set of queue pairs"),
    ATTR(STRING, "replay-file", replay_file, "", "file for pattern replay: each line has the number of a queue pair, from 0"),
    ATTR(STRING, "record-file", record_file, "", "file to which the queue pair of each operation is written, in the format of replay-file; empty: none"),
    ATTR(ENUM, "direction", direction, "outbound", "outbound|inbound|both", "side that begins operations; outbound: the host under study; inbound: its peer; both: each of them"),
    ATTR(ENUM, "verb", verb, "write", "write|read", "verb of all operations: RDMA WRITE or RDMA READ"),
    ATTR(ENUM, "transport", transport, "rc", "rc|uc", "transport of the queue pairs; uc: outbound writes only"),
    ATTR(BYTES, "bytes", bytes, "8", "0", "1MiB", "bytes that one operation reads or writes"),
    ATTR(COUNT, "outstanding", outstanding, "1", "1", "65536", "number of operations in flight at a time, of each side that begins operations"),
    ATTR(TIME, "interval", interval_ps, "0ps", "0ps", "1s", "minimum time between the starts of two operations"),
    ATTR(ENUM, "arrivals", arrivals, "even", "even|poisson", "starts of operations; even: interval apart; poisson: at random, interval apart on average; both wait while `outstanding` are in flight"),
    ATTR(COUNT, "churn", churn, "0", "0", "1000000000000", "number of operations after which a queue pair is destroyed and made anew; 0: never; needs transport: uc and direction: outbound"),
    ATTR(COUNT, "regions", regions, "0", "0", "1000000", "number of memory regions of the host under study, chosen at random for each operation; 0: one for all, with small payloads of writes in the WQE"),
    ATTR(BYTES, "region-bytes", region_bytes, "4KiB", "4KiB", "1TiB", "bytes of each memory region"),
    ATTR(COUNT, "warm-up", warm_up, "auto", "0", "1000000000000", "number of operations before the tiered cache starts its statistics; auto: 30 per queue pair, but not less than 100,000", .auto_ok = true),
    ATTR(COUNT, "operations", operations, "auto", "1", "1000000000000", "number of operations after the warm-up; auto: 15 per queue pair, but not less than 500,000; with replay: all of the file", .auto_ok = true),
    ATTR(TIME, "start", start_ps, "1us", "0ps", "1000s", "time at which the first operation begins"),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", app__contexts_config_t, attrs);

// An operation in flight.
typedef struct op {
    uint32_t qp;
    sim_time_t start_ps;
} op_t;

typedef struct contexts contexts_t;

// A side that begins operations.
typedef struct side {
    contexts_t *contexts;
    app__machine_t *machine;
    sim_node_t *node;
    nic_cq_t *cq;
    nic_qp_t **qps;
    bool *broken;
    uint32_t *busy; // operations in flight, per queue pair
    op_t *ops;      // operations in flight, by place
    uint32_t *free_ops;
    uint32_t free_count;
    app__choice_t choice;
    sim_random_t region_random;
    sim_random_t arrival_random;
    sim_timer_t timer;
    sim_time_t next_ps;
    uint64_t posted;
    uint64_t done;
    uint64_t failed;
    uint64_t remade;
    uint32_t remake_next;
    sim_time_t measured_from_ps;
    sim_time_t last_ps;
    sim_sample_set_t latency_ps;
    bool begins;
} side_t;

struct contexts {
    app_t app; // first
    app__contexts_config_t config;
    app__choices_t choices;
    app__machine_t machines[2];
    side_t sides[2]; // [0]: the host under study; [1]: its peer
    nic_mr_t **regions;
    uint64_t warm_up;
    uint64_t total; // operations of each side, warm-up included
    char *record_file;
    uint32_t *recorded;
    size_t recorded_count;
    size_t recorded_capacity;
};

// -- operations

static uint64_t region_address(const contexts_t *contexts, uint32_t region)
{
    // The stride keeps regions on different pages of up to 1 GiB.
    const uint64_t huge = UINT64_C(1) << 30;
    const uint64_t stride = (contexts->config.region_bytes + huge - 1) / huge * huge;
    return REGION_ADDRESS + region * stride;
}

static void fill(side_t *side, uint32_t place, nic_send_wr_t *wr)
{
    contexts_t *const contexts = side->contexts;
    const app__contexts_config_t *const config = &contexts->config;
    const bool outbound = side == &contexts->sides[0];
    const app__machine_t *const other = &contexts->machines[outbound ? 1 : 0];
    const bool writes = config->verb == APP__ACCESS_WRITE;
    *wr = (nic_send_wr_t){
        .wr_id = place,
        .opcode = writes ? NIC_WR_RDMA_WRITE : NIC_WR_RDMA_READ,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {side->machine->address, config->bytes, app__machine_key(side->machine)},
    };
    wr->rdma.remote_addr = other->address;
    wr->rdma.rkey = app__machine_key(other);
    if (config->regions == 0) {
        const bool fits = config->bytes <= 28; // the first line of a WQE has room for it
        wr->send_flags |= writes && fits ? (uint32_t)NIC_SEND_INLINE : 0;
        return;
    }
    const uint32_t region = (uint32_t)sim_random_below(&side->region_random, config->regions);
    // A random place in the region, in steps of 4 KiB.
    const uint64_t places = config->region_bytes / 4096;
    const uint64_t place_in = sim_random_below(&side->region_random, places) * 4096;
    const bool inside = place_in + config->bytes <= config->region_bytes;
    const uint64_t address = region_address(contexts, region) + (inside ? place_in : 0);
    if (outbound) {
        wr->sge.addr = address;
        wr->sge.lkey = nic_mr_lkey(contexts->regions[region]);
    } else {
        wr->rdma.remote_addr = address;
        wr->rdma.rkey = nic_mr_rkey(contexts->regions[region]);
    }
}

// Replaces the next queue pair by a new one connected to the same peer, unless it has operations in
// flight.
static void remake_one(side_t *side)
{
    const uint32_t q = side->remake_next;
    side->remake_next = (q + 1) % (uint32_t)side->contexts->config.tokens;
    if (side->busy[q] != 0 || side->broken[q]) {
        return;
    }
    nic_qp_destroy(side->qps[q]);
    side->qps[q] = app__qp_create(side->machine->endpoint, NIC_QPT_UC, 0,
                                  (uint32_t)side->contexts->config.outstanding, 0,
                                  &(app__queues_t){side->cq, side->cq, NULL, false});
    app__connect_to(side->qps[q], side->contexts->machines[1].endpoint->interface,
                    nic_qp_num(side->contexts->sides[1].qps[q]));
    side->remade++;
}

// Returns whether the operations of this side are written to a file.
static bool records(const side_t *side)
{
    const contexts_t *const contexts = side->contexts;
    return contexts->record_file != NULL &&
           side == &contexts->sides[contexts->sides[0].begins ? 0 : 1];
}

// Posts one operation. Operations on a failed queue pair count as failed without being posted.
static void post_one(side_t *side)
{
    contexts_t *const contexts = side->contexts;
    const uint32_t q = app__choose(&side->choice, side->posted);
    if (records(side)) {
        SIM_APPEND(contexts->recorded, contexts->recorded_count, contexts->recorded_capacity, q);
    }
    if (side->posted == contexts->warm_up) {
        side->measured_from_ps = side->node->now_ps;
    }
    side->posted++;
    if (contexts->config.churn != 0 && side->posted % contexts->config.churn == 0) {
        remake_one(side);
    }
    if (side->broken[q]) {
        side->failed++;
        side->done++;
        return;
    }
    const uint32_t place = side->free_ops[--side->free_count];
    side->ops[place] = (op_t){q, side->node->now_ps};
    side->busy[q]++;
    nic_send_wr_t wr;
    fill(side, place, &wr);
    if (nic_post_send(side->qps[q], &wr) != SIM_OK) {
        side->broken[q] = true;
        side->busy[q]--;
        side->free_ops[side->free_count++] = place;
        side->failed++;
        side->done++;
    }
}

static void post_more(side_t *side)
{
    const contexts_t *const contexts = side->contexts;
    const sim_time_t interval_ps = contexts->config.interval_ps;
    while (side->posted < contexts->total && side->free_count != 0) {
        const sim_time_t now_ps = side->node->now_ps;
        if (interval_ps != 0) {
            if (now_ps < side->next_ps) {
                if (!sim_timer_armed(&side->timer)) {
                    sim_timer_arm(side->node, &side->timer, side->next_ps);
                }
                return;
            }
            const bool poisson = contexts->config.arrivals == APP__POISSON;
            side->next_ps =
                now_ps + (poisson ? sim_random_exponential(&side->arrival_random, interval_ps)
                                  : interval_ps);
        }
        post_one(side);
    }
}

static void timer_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    post_more(SIM_CONTAINER_OF(timer, side_t, timer));
}

static void completed(nic_cq_t *cq, void *ctx)
{
    side_t *const side = ctx;
    const contexts_t *const contexts = side->contexts;
    nic_wc_t wc[POLL_MAX];
    uint32_t count = 0;
    while ((count = nic_poll_cq(cq, POLL_MAX, wc)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t place = (uint32_t)wc[i].wr_id;
            const op_t op = side->ops[place];
            side->free_ops[side->free_count++] = place;
            side->busy[op.qp]--;
            if (wc[i].status != NIC_WC_SUCCESS) {
                side->failed++;
                side->broken[op.qp] = true;
            } else if (side->done >= contexts->warm_up) {
                sim_sample_set_add(&side->latency_ps, side->node->now_ps - op.start_ps);
            }
            side->done++;
            side->last_ps = side->node->now_ps;
        }
        sim_progress(side->node);
    }
    post_more(side);
}

// -- creation

static void make_side(contexts_t *contexts, uint32_t s, const app_context_t *context)
{
    const app__contexts_config_t *const config = &contexts->config;
    side_t *const side = &contexts->sides[s];
    side->contexts = contexts;
    side->machine = &contexts->machines[s];
    side->node = side->machine->endpoint->node;
    side->begins = config->direction == APP__BOTH_WAYS || (uint32_t)config->direction == s;
    side->cq = nic_cq_create(side->machine->endpoint->nic, (uint32_t)config->outstanding + 1,
                             completed, side);
    const size_t tokens = config->tokens;
    side->qps = sim_alloc_array(tokens, sizeof(nic_qp_t *));
    side->broken = sim_alloc_array(tokens, sizeof(*side->broken));
    side->busy = sim_alloc_array(tokens, sizeof(*side->busy));
    side->ops = sim_alloc_array(config->outstanding, sizeof(*side->ops));
    side->free_ops = sim_alloc_array(config->outstanding, sizeof(*side->free_ops));
    for (uint32_t i = 0; i < config->outstanding; i++) {
        side->free_ops[side->free_count++] = i;
    }
    for (size_t q = 0; q < tokens; q++) {
        side->qps[q] = app__machine_qp(
            side->machine, config->transport == APP__CARRIER_RC ? NIC_QPT_RC : NIC_QPT_UC, side->cq,
            (uint32_t)config->outstanding, 0);
    }
    sim_sample_set_init(&side->latency_ps);
    sim_timer_init(&side->timer, timer_fired);
    side->choice.shared = &contexts->choices;
    app__random_init(&side->choice.random, context, s, "contexts");
    app__random_init(&side->region_random, context, s, "contexts regions");
    app__random_init(&side->arrival_random, context, s, "contexts arrivals");
    if (side->begins) {
        sim_timer_arm(side->node, &side->timer, config->start_ps);
    }
}

static void make_regions(contexts_t *contexts)
{
    const app__contexts_config_t *const config = &contexts->config;
    const uint32_t rights =
        NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_REMOTE_READ;
    contexts->regions = sim_alloc_array(config->regions + 1, sizeof(nic_mr_t *));
    for (uint32_t r = 0; r < config->regions; r++) {
        const sim_err_t error =
            nic_mr_register(contexts->machines[0].endpoint->pd, region_address(contexts, r),
                            config->region_bytes, rights, &contexts->regions[r]);
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    }
}

static uint64_t or_auto(uint64_t value, uint64_t automatic, uint64_t least)
{
    return value != SIM_AUTO ? value : SIM_MAX(automatic, least);
}

static void make(contexts_t *contexts, const app_context_t *context, const uint32_t interfaces[2])
{
    const app__contexts_config_t *const config = &contexts->config;
    for (uint32_t s = 0; s < 2; s++) {
        app__machine_init(&contexts->machines[s], context, interfaces[s], UINT64_C(1) << 21,
                          config->tokens);
    }
    for (uint32_t s = 0; s < 2; s++) {
        make_side(contexts, s, context);
    }
    for (size_t q = 0; q < config->tokens; q++) {
        app__join(contexts->sides[0].qps[q], contexts->sides[1].qps[q]);
    }
    make_regions(contexts);
    const bool both = contexts->sides[0].begins && contexts->sides[1].begins;
    (void)nic_cache_count_from(contexts->machines[0].endpoint->nic,
                               contexts->warm_up * (both ? 2 : 1));
}

static sim_err_t check(const app__contexts_config_t *config, sim_message_t *message)
{
    if (config->transport == APP__CARRIER_UC &&
        (config->verb == APP__ACCESS_READ || config->direction != APP__OUTBOUND)) {
        return sim_fail_about(message, SIM_ERR_INVALID, "transport",
                              ": uc supports only writes and does not tell their sender when they "
                              "arrive, expected verb: write and direction: outbound, or transport: "
                              "rc");
    }
    if (config->churn != 0 && config->transport != APP__CARRIER_UC) {
        return sim_fail_about(message, SIM_ERR_INVALID, "churn",
                              ": churn needs transport: uc and direction: outbound, because with "
                              "rc the peer would have to reconnect too");
    }
    if (config->regions != 0 && config->bytes > config->region_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "bytes",
                              ": larger than a region, expected at most region-bytes (%" PRIu64 ")",
                              config->region_bytes);
    }
    if (config->working_set > config->tokens && config->pattern == APP__BURSTY) {
        return sim_fail_about(message, SIM_ERR_RANGE, "working-set",
                              " is %" PRIu64 ", expected at most tokens (%" PRIu64 ")",
                              config->working_set, config->tokens);
    }
    return SIM_OK;
}

static sim_err_t find_interface(const app_context_t *context, const char *attribute,
                                const char *pattern, uint32_t *interface, sim_message_t *message)
{
    app__places_t places;
    const sim_err_t error = app__places_find(context, attribute, pattern, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    const bool one = places.host_count == 1;
    *interface = places.list.interfaces[0];
    app__places_fini(&places);
    return one ? SIM_OK
               : sim_fail_about(message, SIM_ERR_INVALID, attribute,
                                ": the pattern names several hosts, expected one host");
}

static sim_err_t contexts_create(const app_context_t *context, const void *config_void, app_t **app,
                                 sim_message_t *message)
{
    const app__contexts_config_t *const config = config_void;
    uint32_t interfaces[2];
    sim_err_t error = check(config, message);
    if (error == SIM_OK) {
        error = find_interface(context, "host", config->host, &interfaces[0], message);
    }
    if (error == SIM_OK) {
        error = find_interface(context, "peer", config->peer, &interfaces[1], message);
    }
    if (error == SIM_OK && !app__find_talk(context->net, &interfaces[0], &interfaces[1])) {
        error = app__cannot_talk(context->net, interfaces[0], interfaces[1], "peer", message);
    }
    if (error != SIM_OK) {
        return error;
    }
    contexts_t *const contexts = sim_alloc(sizeof(*contexts));
    contexts->app = (app_t){&app_contexts, context->net, context->index};
    contexts->config = *config;
    error = app__choices_init(&contexts->choices, context, &contexts->config, message);
    if (error != SIM_OK) {
        sim_free(contexts);
        return error;
    }
    const size_t replay_count = contexts->choices.replay_count;
    contexts->warm_up = or_auto(config->warm_up, 30 * config->tokens, 100000);
    const uint64_t measured =
        config->pattern == APP__REPLAY && config->operations == SIM_AUTO
            ? (replay_count > contexts->warm_up ? replay_count - contexts->warm_up : 1)
            : or_auto(config->operations, 15 * config->tokens, 500000);
    contexts->total = contexts->warm_up + measured;
    contexts->record_file = config->record_file[0] != '\0' ? sim_strdup(config->record_file) : NULL;
    make(contexts, context, interfaces);
    *app = &contexts->app;
    return SIM_OK;
}

static sim_err_t contexts_save(const app_t *app, sim_message_t *message)
{
    const contexts_t *const contexts = (const contexts_t *)(const void *)app;
    if (contexts->record_file == NULL) {
        return SIM_OK;
    }
    errno = 0;
    const int descriptor = sim_own_file_open(contexts->record_file, O_WRONLY);
    FILE *const file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    bool failed = file == NULL;
    for (size_t i = 0; !failed && i < contexts->recorded_count; i++) {
        failed = fprintf(file, "%" PRIu32 "\n", contexts->recorded[i]) < 0;
    }
    const int error = errno; // of the first failure; closing may set it anew
    if (file != NULL && fclose(file) != 0 && !failed) {
        return sim_fail(message, SIM_ERR_IO, "%s: cannot write: %s", contexts->record_file,
                        sim_own_file_reason(errno));
    }
    return failed ? sim_fail(message, SIM_ERR_IO, "%s: cannot write: %s", contexts->record_file,
                             sim_own_file_reason(error))
                  : SIM_OK;
}

static void contexts_destroy(app_t *app)
{
    contexts_t *const contexts = (contexts_t *)(void *)app;
    for (uint32_t s = 0; s < 2; s++) {
        side_t *const side = &contexts->sides[s];
        SIM_FREE_ALL(side->qps, side->broken, side->busy, side->ops, side->free_ops);
        sim_sample_set_fini(&side->latency_ps);
    }
    app__choices_fini(&contexts->choices);
    SIM_FREE_ALL(contexts->regions, contexts->recorded, contexts->record_file, contexts);
}

// -- results

static void contexts_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const contexts_t *const contexts = (const contexts_t *)(const void *)app;
    *done = 0;
    *planned = 0;
    for (uint32_t s = 0; s < 2; s++) {
        *done += contexts->sides[s].done;
        *planned += contexts->sides[s].begins ? contexts->total : 0;
    }
}

static void contexts_carry(app_t *app, sim_carry_t *carry)
{
    contexts_t *const contexts = (contexts_t *)(void *)app;
    for (uint32_t s = 0; s < 2; s++) {
        side_t *const side = &contexts->sides[s];
        if (!sim_carry_has(carry, side->node)) {
            continue;
        }
        SIM_CARRY(carry, side->done);
        SIM_CARRY(carry, side->failed);
        SIM_CARRY(carry, side->remade);
        SIM_CARRY(carry, side->measured_from_ps);
        SIM_CARRY(carry, side->last_ps);
        sim_sample_set_carry(&side->latency_ps, carry);
        if (records(side)) {
            SIM_CARRY_LIST(carry, contexts->recorded, contexts->recorded_count,
                           contexts->recorded_capacity);
        }
    }
}

// clang-format off
#define ROWS(X) \
    X(operations, U64, "", true, "number of operations done after the warm-up") \
    X(warm_up, U64, "", true, "number of operations of the warm-up") \
    X(failed, U64, "", true, "number of operations that failed, or whose queue pair had failed before") \
    X(remade, U64, "", true, "number of queue pairs destroyed and made anew") \
    X(mops, REAL, "M/s", true, "operations per second after the warm-up, in millions") \
    X(latency_us, TIMES, "us", true, "time of operations after the warm-up, from post to completion")
// clang-format on
typedef struct contexts_report {
    ROWS(APP__MEMBER)
} contexts_report_t;

static void fill_report(const void *object, void *into)
{
    const contexts_t *const contexts = object;
    contexts_report_t *const report = into;
    const side_t *const first = &contexts->sides[contexts->sides[0].begins ? 0 : 1];
    sim_sample_set_t all;
    sim_sample_set_init(&all);
    for (uint32_t s = 0; s < 2; s++) {
        const side_t *const side = &contexts->sides[s];
        report->operations += side->done > contexts->warm_up ? side->done - contexts->warm_up : 0;
        report->warm_up += side->begins ? contexts->warm_up : 0;
        report->failed += side->failed;
        report->remade += side->remade;
        sim_sample_set_add_all(&all, &side->latency_ps);
    }
    const sim_time_t span_ps =
        first->last_ps > first->measured_from_ps ? first->last_ps - first->measured_from_ps : 1;
    report->mops = (double)report->operations * (double)SIM_PS_PER_US / (double)span_ps;
    report->latency_us = sim_percentiles(&all, SIM_PS_PER_US);
    sim_sample_set_fini(&all);
}

#define ROW(...) APP__ROW(contexts_report_t, __VA_ARGS__)
static const sim_report_row_t report_rows[] = {ROWS(ROW)};
static const sim_report_table_t report_table =
    APP__FILLED(report_rows, contexts_report_t, fill_report);

static void contexts_tally(const app_t *app, app_tally_t *tally)
{
    const contexts_t *const contexts = (const contexts_t *)(const void *)app;
    for (uint32_t s = 0; s < 2; s++) {
        tally->succeeded += contexts->sides[s].done - contexts->sides[s].failed;
        tally->failed += contexts->sides[s].failed;
    }
}

const app_ops_t app_contexts = {
    .name = "contexts",
    .help = "operations over many queue pairs and regions of one NIC, in patterns",
    .attrs = &attr_table,
    .tally = contexts_tally,
    .create = contexts_create,
    .destroy = contexts_destroy,
    .save = contexts_save,
    .progress = contexts_progress,
    .carry = contexts_carry,
    .report = &report_table,
};
