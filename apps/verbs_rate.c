// SPDX-License-Identifier: Apache-2.0
// apps/verbs_rate.c - how many verbs a second: one kind of operation from some machines to others.
// docs/models/guidelines.md says what a thread does.
#include "apps/machine_internal.h"
#include "apps/report_rows.h"

#define PREFIX "traffic.verbs-rate"
#define POLL_MAX 16u
#define BATCH_MAX 64u

typedef enum rate_verb { RATE_WRITE, RATE_READ, RATE_SEND, RATE_FETCH_ADD } rate_verb_t;

typedef struct rate_config {
    char *from;
    char *to;
    uint32_t verb;      // rate_verb_t
    uint32_t transport; // nic_qp_type_t
    uint64_t bytes;
    bool inlined;
    bool random_peer;
    bool whole_window;
    uint64_t threads;
    uint64_t qps;
    uint64_t window;
    uint64_t batch;
    uint64_t signal_every;
    uint64_t receivers;
    uint64_t receiver_qps;
    uint64_t counters;
    uint64_t region_bytes;
    app__span_t span;
} rate_config_t;

// clang-format off
static const sim_attr_t attrs[] = {
    {PREFIX ".from", SIM_ATTR_STRING, false, offsetof(rate_config_t, from), "host0", NULL, NULL,
     NULL, "machines that post"},
    {PREFIX ".to", SIM_ATTR_STRING, false, offsetof(rate_config_t, to), "host[1-*]", NULL, NULL,
     NULL, "machines it goes to"},
    {PREFIX ".verb", SIM_ATTR_ENUM, false, offsetof(rate_config_t, verb), "write", NULL, NULL,
     "write|read|send|fetch-add", "the operation; a send of 0 bytes has an immediate"},
    {PREFIX ".transport", SIM_ATTR_ENUM, false, offsetof(rate_config_t, transport), "rc", NULL,
     NULL, "rc|uc|ud", "of the queue pairs"},
    {PREFIX ".bytes", SIM_ATTR_BYTES, false, offsetof(rate_config_t, bytes), "32", "0", "1MiB",
     NULL, "size of a write, read or send"},
    {PREFIX ".inline", SIM_ATTR_BOOL, false, offsetof(rate_config_t, inlined), "on", NULL, NULL,
     NULL, "the payload is in the WQE"},
    {PREFIX ".threads-per-machine", SIM_ATTR_COUNT, false, offsetof(rate_config_t, threads), "14",
     "1", "256", NULL, "threads that post on a machine, a core each"},
    {PREFIX ".qps-per-thread", SIM_ATTR_COUNT, false, offsetof(rate_config_t, qps), "1", "1",
     "65536", NULL, "queue pairs of a thread, used in turn"},
    {PREFIX ".window", SIM_ATTR_COUNT, false, offsetof(rate_config_t, window), "128", "1", "65536",
     NULL, "operations outstanding of a queue pair"},
    {PREFIX ".whole-window", SIM_ATTR_BOOL, false, offsetof(rate_config_t, whole_window), "off",
     NULL, NULL, NULL, "a window is waited for before the next one begins"},
    {PREFIX ".batch", SIM_ATTR_COUNT, false, offsetof(rate_config_t, batch), "1", "1", "64", NULL,
     "operations posted with one Doorbell; 1: written into the NIC"},
    {PREFIX ".signal-every", SIM_ATTR_COUNT, true, offsetof(rate_config_t, signal_every), "auto",
     "1", "65536", NULL, "one completion for so many operations; auto: 64, half the window at "
     "most"},
    {PREFIX ".receivers", SIM_ATTR_COUNT, false, offsetof(rate_config_t, receivers), "14", "1",
     "256", NULL, "threads that receive on a machine, for send"},
    {PREFIX ".receiver-qps", SIM_ATTR_COUNT, false, offsetof(rate_config_t, receiver_qps), "1",
     "1", "256", NULL, "queue pairs of such a thread, for ud"},
    {PREFIX ".counters", SIM_ATTR_COUNT, false, offsetof(rate_config_t, counters), "1", "1",
     "100000000", NULL, "8-byte words of a machine that fetch-add goes to, at random"},
    {PREFIX ".random-peer", SIM_ATTR_BOOL, false, offsetof(rate_config_t, random_peer), "on", NULL,
     NULL, NULL, "ud: each send goes to a random receiver; off: those of a queue pair to one"},
    {PREFIX ".region", SIM_ATTR_BYTES, false, offsetof(rate_config_t, region_bytes), "16MiB",
     "4KiB", "1TiB", NULL, "memory of a machine, registered; writes and reads go to the first "
     "64 KiB of it"},
    APP__SPAN_ATTRS(PREFIX, rate_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table = {PREFIX,
                                            "application",
                                            sizeof(rate_config_t),
                                            attrs,
                                            SIM_COUNT_OF(attrs)};

typedef struct rate rate_t;

typedef struct sender {
    app__thread_t thread;
    rate_t *rate;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t *peers; // of each QP: machine among `to`
    uint64_t *posted;
    uint64_t *done;   // of each QP: known by a completion
    bool *broken;     // of each QP: it failed, nothing more is posted to it
    uint32_t begin;   // operations that all QPs had done when the span began,
    uint32_t end;     // and when it ended: both run freely
    unsigned samples; // of these two
    uint32_t next_qp;
    sim_random_t random;
} sender_t;

typedef struct receiver {
    app__thread_t thread;
    rate_t *rate;
    nic_cq_t *cq;
    nic_qp_t **qps;
    uint32_t qp_count;
    uint32_t qp_capacity;
} receiver_t;

struct rate {
    app_t app; // first
    app__span_t span;
    rate_verb_t verb;
    nic_qp_type_t transport;
    bool inlined;
    bool whole_window;
    bool random_peer;
    uint64_t bytes;
    uint64_t counters;
    uint32_t qps;
    uint32_t window;
    uint32_t batch;
    uint32_t signal_every;
    uint32_t from_count;
    uint32_t to_count;
    app__machine_t *from;
    app__machine_t *to;
    sender_t *senders;
    uint32_t sender_count;
    receiver_t *receivers;
    uint32_t receiver_count;
};

#define RECEIVES 512u
#define OFFSETS UINT64_C(65536)

// -- posting

static nic_wr_opcode_t opcode_of(const rate_t *rate)
{
    switch (rate->verb) {
    case RATE_READ:
        return NIC_WR_RDMA_READ;
    case RATE_SEND:
        return rate->bytes == 0 ? NIC_WR_SEND_WITH_IMM : NIC_WR_SEND;
    case RATE_FETCH_ADD:
        return NIC_WR_ATOMIC_FETCH_AND_ADD;
    case RATE_WRITE:
        break;
    }
    return NIC_WR_RDMA_WRITE;
}

static void fill(sender_t *sender, uint32_t q, nic_send_wr_t *wr)
{
    const rate_t *const rate = sender->rate;
    const app__machine_t *const peer = &rate->to[sender->peers[q]];
    const bool fetch = rate->verb == RATE_READ || rate->verb == RATE_FETCH_ADD;
    const uint64_t bytes = rate->verb == RATE_FETCH_ADD ? 8 : rate->bytes;
    *wr = (nic_send_wr_t){
        .wr_id = q,
        .opcode = opcode_of(rate),
        .send_flags = rate->inlined && !fetch ? (uint32_t)NIC_SEND_INLINE : 0,
        .sge = {APP__MEMORY_ADDRESS, bytes, app__machine_key(sender->thread.machine)},
    };
    if (rate->verb == RATE_FETCH_ADD) {
        wr->atomic.remote_addr =
            APP__MEMORY_ADDRESS + 8 * sim_random_below(&sender->random, rate->counters);
        wr->atomic.compare_add = 1;
        wr->atomic.rkey = app__machine_key(peer);
    } else if (rate->verb != RATE_SEND) {
        wr->rdma.remote_addr =
            APP__MEMORY_ADDRESS + sim_random_below(&sender->random, OFFSETS / 64) * 64;
        wr->rdma.rkey = app__machine_key(peer);
    }
    if (rate->transport == NIC_QPT_UD) {
        const uint32_t r =
            rate->random_peer
                ? (uint32_t)sim_random_below(&sender->random, rate->receiver_count)
                : (uint32_t)((sender - rate->senders) * rate->qps + q) % rate->receiver_count;
        const receiver_t *const receiver = &rate->receivers[r];
        const uint32_t at = rate->random_peer
                                ? (uint32_t)sim_random_below(&sender->random, receiver->qp_count)
                                : q % receiver->qp_count;
        wr->ud.remote_interface = receiver->thread.machine->endpoint->interface;
        wr->ud.remote_qpn = nic_qp_num(receiver->qps[at]);
    }
}

static void post_batch(sender_t *sender, uint32_t q)
{
    const rate_t *const rate = sender->rate;
    nic_send_wr_t list[BATCH_MAX];
    for (uint32_t i = 0; i < rate->batch; i++) {
        fill(sender, q, &list[i]);
        sender->posted[q]++;
        list[i].send_flags |=
            sender->posted[q] % rate->signal_every == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0;
        list[i].next = i + 1 < rate->batch ? &list[i + 1] : NULL;
    }
    app__post(sender->qps[q], list);
}

static bool has_room(const sender_t *sender, uint32_t q)
{
    const rate_t *const rate = sender->rate;
    const uint64_t outstanding = sender->posted[q] - sender->done[q];
    if (SIM_UNLIKELY(sender->broken[q])) {
        return false;
    }
    if (rate->whole_window && sender->posted[q] % rate->window == 0) {
        return outstanding == 0;
    }
    return outstanding + rate->batch <= rate->window;
}

static bool send_on(nic_core_t *core, void *ctx)
{
    (void)core;
    sender_t *const sender = ctx;
    const rate_t *const rate = sender->rate;
    for (uint32_t i = 0; i < rate->qps; i++) {
        const uint32_t q = sender->next_qp;
        sender->next_qp = (q + 1) % rate->qps;
        if (has_room(sender, q)) {
            post_batch(sender, q);
            return true;
        }
    }
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(sender->cq, POLL_MAX, wc);
    uint32_t succeeded = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (app__thread_succeeded(&sender->thread, &wc[i])) {
            sender->done[wc[i].wr_id] += rate->signal_every;
            succeeded++;
        } else {
            sender->broken[wc[i].wr_id] = true;
        }
    }
    app__thread_count(&sender->thread, (uint64_t)succeeded * rate->signal_every);
    return count != 0;
}

static bool receive_on(nic_core_t *core, void *ctx)
{
    receiver_t *const receiver = ctx;
    nic_wc_t wc[POLL_MAX];
    const uint32_t count = nic_poll_cq(receiver->cq, POLL_MAX, wc);
    uint32_t same = 0;
    uint32_t received = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!app__thread_succeeded(&receiver->thread, &wc[i])) {
            continue;
        }
        received++;
        same++;
        if (i + 1 == count || wc[i + 1].wr_id != wc[i].wr_id ||
            wc[i + 1].status != NIC_WC_SUCCESS) {
            app__post_receives((nic_qp_t *)(uintptr_t)wc[i].wr_id,
                               receiver->thread.machine,
                               same,
                               receiver->rate->bytes);
            same = 0;
        }
    }
    app__thread_count(&receiver->thread, received);
    nic_core_only_polls(core);
    return count != 0;
}

// An unreliable WRITE tells its sender nothing: it counts where it arrives.
static void count_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    app__thread_count(ctx, 1);
}

// -- the span that is measured

// Operations that the sender's NIC has done, whether a completion tells of them or not.
static uint32_t operations_done(const sender_t *sender)
{
    uint32_t done = 0;
    for (uint32_t q = 0; q < sender->rate->qps; q++) {
        done += nic_qp_sends_done(sender->qps[q]);
    }
    return done;
}

static void sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    sender_t *const sender = ctx;
    if (sender->samples == 0) {
        sender->begin = operations_done(sender);
    } else if (sender->samples == 1) {
        sender->end = operations_done(sender);
    }
    sender->samples += sender->samples < 2;
}

// 0 before the span began; up to now where the run ended within it.
static uint32_t measured(const sender_t *sender)
{
    if (sender->samples == 0) {
        return 0;
    }
    return (sender->samples == 1 ? operations_done(sender) : sender->end) - sender->begin;
}

// -- creation

static nic_qp_t *add_receiving(receiver_t *receiver)
{
    rate_t *const rate = receiver->rate;
    const bool sends = rate->verb == RATE_SEND;
    SIM_CHECK(receiver->qp_count < receiver->qp_capacity);
    nic_qp_t *const qp = app__machine_qp(receiver->thread.machine,
                                         rate->transport,
                                         receiver->cq,
                                         1,
                                         sends ? RECEIVES : 0);
    receiver->qps[receiver->qp_count++] = qp;
    return qp;
}

static void make_receivers(rate_t *rate, uint32_t threads, uint32_t ud_qps)
{
    const uint32_t all = rate->sender_count * rate->qps;
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        receiver_t *const receiver = &rate->receivers[r];
        app__thread_init(&receiver->thread,
                         &rate->to[r / threads],
                         &rate->span,
                         r,
                         receive_on,
                         receiver);
        receiver->rate = rate;
        receiver->cq = app__thread_cq(&receiver->thread);
        receiver->qp_capacity = rate->transport == NIC_QPT_UD ? ud_qps : all;
        receiver->qps = sim_alloc_array(receiver->qp_capacity, sizeof(nic_qp_t *));
        for (uint32_t q = 0; rate->transport == NIC_QPT_UD && q < ud_qps; q++) {
            app__post_receives(add_receiving(receiver),
                               receiver->thread.machine,
                               RECEIVES,
                               rate->bytes);
        }
    }
}

static void make_senders(rate_t *rate, const app_context_t *context, uint32_t threads)
{
    const uint32_t per_machine = rate->receiver_count / rate->to_count;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        sender_t *const sender = &rate->senders[s];
        app__thread_init(&sender->thread,
                         &rate->from[s / threads],
                         &rate->span,
                         s,
                         send_on,
                         sender);
        sender->rate = rate;
        sender->cq = app__thread_cq(&sender->thread);
        sender->qps = sim_alloc_array(rate->qps, sizeof(*sender->qps));
        sender->peers = sim_alloc_array(rate->qps, sizeof(*sender->peers));
        sender->posted = sim_alloc_array(rate->qps, sizeof(*sender->posted));
        sender->done = sim_alloc_array(rate->qps, sizeof(*sender->done));
        sender->broken = sim_alloc_array(rate->qps, sizeof(*sender->broken));
        app__random_init(&sender->random, context, s, "verbs-rate");
        sim_sample(net_sim(context->net),
                   sender->thread.machine->endpoint->node,
                   app__span_begin(&rate->span),
                   rate->span.measure_ps,
                   sample,
                   sender);
        for (uint32_t q = 0; q < rate->qps; q++) {
            const uint32_t all = s * rate->qps + q;
            sender->qps[q] = app__machine_qp(sender->thread.machine,
                                             rate->transport,
                                             sender->cq,
                                             rate->window,
                                             0);
            sender->peers[q] = all % rate->to_count;
            if (rate->transport != NIC_QPT_UD) {
                SIM_CHECK(per_machine > 0);
                receiver_t *const receiver = &rate->receivers[all % rate->to_count * per_machine +
                                                              all / rate->to_count % per_machine];
                nic_qp_t *const peer = add_receiving(receiver);
                app__join(sender->qps[q], peer);
                if (rate->verb == RATE_WRITE && rate->transport == NIC_QPT_UC) {
                    nic_qp_on_write(peer, count_write, &receiver->thread);
                }
                if (rate->verb == RATE_SEND) {
                    app__post_receives(peer, receiver->thread.machine, RECEIVES, rate->bytes);
                }
            }
        }
    }
}

static sim_err_t check(const rate_config_t *config, uint64_t signal_every, sim_message_t *message)
{
    const bool send = config->verb == RATE_SEND;
    if ((config->transport == NIC_QPT_UD && !send) ||
        (config->transport == NIC_QPT_UC &&
         (config->verb == RATE_READ || config->verb == RATE_FETCH_ADD))) {
        return sim_fail_about(message,
                              SIM_ERR_INVALID,
                              "transport",
                              ": it does not have this verb, expected rc");
    }
    if (config->bytes > OFFSETS || config->counters > config->region_bytes / 8) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "bytes",
                              ", counters: expected 64 KiB and region / 8 at most");
    }
    const bool fits = config->whole_window ? config->window % config->batch == 0 &&
                                                 config->window % signal_every == 0
                                           : config->window + 1 >= config->batch + signal_every;
    if (!fits) {
        return sim_fail_about(message,
                              SIM_ERR_RANGE,
                              "window",
                              " is %" PRIu64 ": expected room for a batch behind a completion "
                              "(batch + signal-every - 1), or with whole-window a multiple of both",
                              config->window);
    }
    return SIM_OK;
}

static void init_machines(rate_t *rate,
                          const app_context_t *context,
                          const rate_config_t *config,
                          const app__places_t places[2])
{
    const uint64_t sending = config->threads * config->qps;
    const uint64_t all = sending * rate->from_count;
    const uint64_t receiving = config->transport == NIC_QPT_UD
                                   ? config->receivers * config->receiver_qps
                                   : all / rate->to_count + 1;
    for (uint32_t m = 0; m < rate->from_count; m++) {
        app__machine_init(&rate->from[m],
                          context->runtime,
                          places[0].list.interfaces[m],
                          config->region_bytes,
                          sending);
    }
    for (uint32_t m = 0; m < rate->to_count; m++) {
        app__machine_init(&rate->to[m],
                          context->runtime,
                          places[1].list.interfaces[m],
                          config->region_bytes,
                          receiving);
    }
}

static rate_t *make(const app_context_t *context,
                    const rate_config_t *config,
                    const app__places_t places[2],
                    uint64_t signal_every)
{
    rate_t *const rate = sim_alloc(sizeof(*rate));
    rate->app = (app_t){&app_verbs_rate, context->net, context->index};
    rate->span = config->span;
    rate->verb = (rate_verb_t)config->verb;
    rate->transport = (nic_qp_type_t)config->transport;
    rate->inlined = config->inlined;
    rate->whole_window = config->whole_window;
    rate->random_peer = config->random_peer;
    rate->bytes = config->bytes;
    rate->counters = config->counters;
    rate->qps = (uint32_t)config->qps;
    rate->window = (uint32_t)config->window;
    rate->batch = (uint32_t)config->batch;
    rate->signal_every = (uint32_t)signal_every;
    rate->from_count = places[0].host_count;
    rate->to_count = places[1].host_count;
    rate->sender_count = rate->from_count * (uint32_t)config->threads;
    rate->receiver_count = rate->to_count * (uint32_t)config->receivers;
    rate->from = sim_alloc_array(rate->from_count, sizeof(*rate->from));
    rate->to = sim_alloc_array(rate->to_count, sizeof(*rate->to));
    rate->senders = sim_alloc_array(rate->sender_count, sizeof(*rate->senders));
    rate->receivers = sim_alloc_array(rate->receiver_count, sizeof(*rate->receivers));
    init_machines(rate, context, config, places);
    make_receivers(rate, (uint32_t)config->receivers, (uint32_t)config->receiver_qps);
    make_senders(rate, context, (uint32_t)config->threads);
    return rate;
}

static sim_err_t rate_create(const app_context_t *context,
                             const void *config_void,
                             app_t **app,
                             sim_message_t *message)
{
    const rate_config_t *const config = config_void;
    app__places_t places[2];
    const uint64_t half = config->window / 2 < 1 ? 1 : config->window / 2;
    const uint64_t automatic = config->whole_window ? 1 : half < 64 ? half : 64;
    const uint64_t signal_every =
        config->signal_every == SIM_AUTO ? automatic : config->signal_every;
    sim_err_t error = check(config, signal_every, message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__machines_find(context, "from", config->from, 1, &places[0], message);
    if (error != SIM_OK) {
        return error;
    }
    error = app__machines_find(context, "to", config->to, 1, &places[1], message);
    for (size_t f = 0; error == SIM_OK && f < places[0].list.count; f++) {
        for (size_t t = 0; error == SIM_OK && t < places[1].list.count; t++) {
            const uint32_t a = places[0].list.interfaces[f];
            const uint32_t b = places[1].list.interfaces[t];
            if (!app__can_talk(context->net, a, b)) {
                error = app__cannot_talk(context->net, a, b, "to", message);
                app__places_fini(&places[1]);
            }
        }
    }
    if (error != SIM_OK) {
        app__places_fini(&places[0]);
        return error;
    }
    *app = &make(context, config, places, signal_every)->app;
    app__places_fini(&places[0]);
    app__places_fini(&places[1]);
    return SIM_OK;
}

static void rate_destroy(app_t *app)
{
    rate_t *const rate = (rate_t *)(void *)app;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        sim_free(rate->senders[s].qps);
        sim_free(rate->senders[s].peers);
        sim_free(rate->senders[s].posted);
        sim_free(rate->senders[s].done);
        sim_free(rate->senders[s].broken);
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        sim_free(rate->receivers[r].qps);
    }
    sim_free(rate->senders);
    sim_free(rate->receivers);
    sim_free(rate->from);
    sim_free(rate->to);
    sim_free(rate);
}

// -- results

static void rate_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const rate_t *const rate = (const rate_t *)(const void *)app;
    *done = 0;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        *done += rate->senders[s].thread.stopped;
    }
    *planned = rate->sender_count;
}

static uint64_t sum_words(const rate_t *rate)
{
    uint64_t sum = 0;
    for (uint32_t m = 0; rate->verb == RATE_FETCH_ADD && m < rate->to_count; m++) {
        for (uint64_t i = 0; i < rate->counters; i++) {
            sum += nic_mr_read64(rate->to[m].memory, APP__MEMORY_ADDRESS + 8 * i);
        }
    }
    return sum;
}

typedef struct rate_report {
    double mops;
    double mops_received;
    double mops_per_machine;
    uint64_t operations;
    uint64_t failed;
    uint64_t received;
    uint64_t counters_sum;
} rate_report_t;

static void fill_report(const void *object, void *report)
{
    const rate_t *const rate = object;
    uint64_t sent = 0;
    uint64_t posted = 0;
    uint64_t failed = 0;
    uint64_t received = 0;
    uint64_t received_all = 0;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        sent += measured(&rate->senders[s]);
        failed += rate->senders[s].thread.failed;
        for (uint32_t q = 0; q < rate->qps; q++) {
            posted += rate->senders[s].posted[q];
        }
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        received += rate->receivers[r].thread.counted;
        received_all += rate->receivers[r].thread.total;
    }
    *(rate_report_t *)report = (rate_report_t){
        .mops = app__mops(&rate->span, sent),
        .mops_received = app__mops(&rate->span, received),
        .mops_per_machine = app__mops(&rate->span, sent) / rate->from_count,
        .operations = posted,
        .failed = failed,
        .received = received_all,
        .counters_sum = sum_words(rate),
    };
}

// clang-format off
static const sim_report_row_t report_rows[] = {
    APP__REAL(rate_report_t, mops, "M/s", "operations per second of all senders"),
    APP__REAL(rate_report_t, mops_received, "M/s", "messages per second that receivers took"),
    APP__REAL(rate_report_t, mops_per_machine, "M/s", "operations per second of a sending machine"),
    APP__WHOLE(rate_report_t, operations, "", "in the whole run"),
    APP__WHOLE(rate_report_t, failed, "", "that ended with an error"),
    APP__WHOLE(rate_report_t, received, "", "messages in the whole run"),
    APP__WHOLE(rate_report_t, counters_sum, "", "of the words that atomics added to"),
};
// clang-format on
static const sim_report_table_t report_table = {
    .rows = report_rows,
    .count = SIM_COUNT_OF(report_rows),
    .bytes = sizeof(rate_report_t),
    .fill = fill_report,
};

const app_ops_t app_verbs_rate = {
    .name = "verbs-rate",
    .help = "the rate of one verb from machines to machines (detailed NIC)",
    .attrs = &attr_table,
    .create = rate_create,
    .destroy = rate_destroy,
    .progress = rate_progress,
    .report = &report_table,
};
