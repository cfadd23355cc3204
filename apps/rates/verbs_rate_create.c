// SPDX-License-Identifier: Apache-2.0
// apps/rates/verbs_rate_create.c - attributes of verbs-rate, its machines, threads and queue pairs
// (docs/models/guidelines.md).
#include "apps/app_internal.h"
#include "apps/rates/verbs_rate_internal.h"

#define QP_PAIR_BYTES 1900u // measured: 114,688 queue pairs and their peers take 208 MB
#define PREFIX "traffic.verbs-rate"

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__rate_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "from", from, "host0", "machines that post the operations"),
    ATTR(STRING, "to", to, "host[1-*]", "machines that the operations go to"),
    ATTR(ENUM, "verb", verb, "write", "write|read|send|fetch-add", "verb of all operations; a send of 0 bytes carries an immediate"),
    ATTR(ENUM, "transport", transport, "rc", "rc|uc|ud", "transport of the queue pairs; uc: write, send; ud: send"),
    ATTR(BYTES, "bytes", bytes, "32", "0", "1MiB", "bytes of a write, read or send"),
    ATTR(BYTES, "align", align, "64", "1", "4096", "alignment of remote addresses: writes and reads go to a random multiple of it"),
    ATTR(BOOL, "inline", inlined, "on", "on: the payload is in the WQE, if the NIC accepts that size (nic.detailed.wqe.inline-max)"),
    ATTR(COUNT, "threads-per-machine", threads, "14", "1", "256", "number of threads that post on each machine, each on its own core"),
    ATTR(COUNT, "qps-per-thread", qps, "1", "1", "65536", "number of queue pairs of a thread, used in turn"),
    ATTR(COUNT, "window", window, "128", "1", "65536", "number of outstanding operations on a queue pair"),
    ATTR(BOOL, "whole-window", whole_window, "off", "on: a whole window must be completed before the next one begins; off: the window slides"),
    ATTR(COUNT, "batch", batch, "1", "1", "64", "number of operations posted with one Doorbell; 1: each WQE is written into the NIC"),
    ATTR(COUNT, "signal-every", signal_every, "auto", "1", "65536", "number of operations per completion; auto: half the window, but not more than 64", .auto_ok = true),
    ATTR(COUNT, "receivers", receivers, "14", "1", "256", "number of threads that receive on each machine, for send"),
    ATTR(COUNT, "receiver-qps", receiver_qps, "1", "1", "256", "number of queue pairs of a receiving thread, for ud"),
    ATTR(COUNT, "counters", counters, "1", "1", "100000000", "number of 8-byte words of a machine that fetch-add goes to, at random"),
    ATTR(BOOL, "random-peer", random_peer, "on", "on: each send over ud goes to a random receiver; off: all sends of a queue pair go to one receiver"),
    ATTR(BYTES, "region", region_bytes, "16MiB", "64KiB", "1TiB", "registered memory of a machine; writes and reads go to its first 64 KiB"),
    APP__SPAN_ATTRS(PREFIX, app__rate_config_t),
};
// clang-format on

static const sim_attr_table_t attr_table =
    SIM_ATTR_TABLE(PREFIX, "application", app__rate_config_t, attrs);

// -- creation

static nic_qp_t *add_receiving(app__rate_receiver_t *receiver)
{
    app__rate_t *const rate = receiver->rate;
    const bool sends = rate->config.verb == APP__RATE_SEND;
    SIM_CHECK(receiver->qp_count < receiver->qp_capacity);
    nic_qp_t *const qp = app__machine_qp(receiver->thread.machine, rate->config.transport,
                                         receiver->cq, 1, sends ? APP__RATE_RECEIVES : 0);
    receiver->qps[receiver->qp_count++] = qp;
    return qp;
}

static void make_receivers(app__rate_t *rate, uint32_t threads, uint32_t ud_qps)
{
    const uint32_t all = rate->sender_count * rate->qps;
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        app__rate_receiver_t *const receiver = &rate->receivers[r];
        app__thread_init(&receiver->thread, &rate->to[r / threads], &rate->config.span, r,
                         app__rate_receive_on, receiver);
        receiver->rate = rate;
        receiver->cq = app__thread_cq(&receiver->thread);
        receiver->qp_capacity = rate->config.transport == NIC_QPT_UD ? ud_qps : all;
        receiver->qps = sim_alloc_array(receiver->qp_capacity, sizeof(nic_qp_t *));
        for (uint32_t q = 0; rate->config.transport == NIC_QPT_UD && q < ud_qps; q++) {
            app__post_receives(add_receiving(receiver), receiver->thread.machine,
                               APP__RATE_RECEIVES, rate->config.bytes);
        }
    }
}

static void make_senders(app__rate_t *rate, const app_context_t *context, uint32_t threads)
{
    const uint32_t per_machine = rate->receiver_count / rate->to_count;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        app__rate_sender_t *const sender = &rate->senders[s];
        app__thread_init(&sender->thread, &rate->from[s / threads], &rate->config.span, s,
                         app__rate_send_on, sender);
        sender->rate = rate;
        sender->cq = app__thread_cq(&sender->thread);
        sender->qps = sim_alloc_array(rate->qps, sizeof(*sender->qps));
        sender->peers = sim_alloc_array(rate->qps, sizeof(*sender->peers));
        sender->posted = sim_alloc_array(rate->qps, sizeof(*sender->posted));
        sender->done = sim_alloc_array(rate->qps, sizeof(*sender->done));
        sender->broken = sim_alloc_array(rate->qps, sizeof(*sender->broken));
        app__random_init(&sender->random, context, s, "verbs-rate");
        sim_sample(net_sim(context->net), sender->thread.machine->endpoint->node,
                   app__span_begin(&rate->config.span), rate->config.span.measure_ps,
                   app__rate_sample, sender);
        for (uint32_t q = 0; q < rate->qps; q++) {
            const uint32_t all = s * rate->qps + q;
            sender->qps[q] = app__machine_qp(sender->thread.machine, rate->config.transport,
                                             sender->cq, rate->window, 0);
            sender->peers[q] = all % rate->to_count;
            if (rate->config.transport != NIC_QPT_UD) {
                SIM_CHECK(per_machine > 0);
                app__rate_receiver_t *const receiver =
                    &rate->receivers[all % rate->to_count * per_machine +
                                     all / rate->to_count % per_machine];
                nic_qp_t *const peer = add_receiving(receiver);
                app__join(sender->qps[q], peer);
                if (rate->config.verb == APP__RATE_WRITE && rate->config.transport == NIC_QPT_UC) {
                    nic_qp_on_write(peer, app__rate_count_write, &receiver->thread);
                }
                if (rate->config.verb == APP__RATE_SEND) {
                    app__post_receives(peer, receiver->thread.machine, APP__RATE_RECEIVES,
                                       rate->config.bytes);
                }
            }
        }
    }
}

static sim_err_t check(const app__rate_config_t *config, uint64_t signal_every,
                       sim_message_t *message)
{
    const bool send = config->verb == APP__RATE_SEND;
    if ((config->transport == NIC_QPT_UD && !send) ||
        (config->transport == NIC_QPT_UC &&
         (config->verb == APP__RATE_READ || config->verb == APP__RATE_FETCH_ADD))) {
        return sim_fail_about(message, SIM_ERR_INVALID, "transport",
                              ": it does not have this verb, expected transport: rc");
    }
    if (config->bytes > APP__RATE_OFFSETS || config->counters > config->region_bytes / 8) {
        return sim_fail_about(message, SIM_ERR_RANGE, "bytes",
                              ", counters: too large, expected bytes up to 64 KiB and counters up "
                              "to region / 8");
    }
    const bool fits = config->whole_window ? config->window % config->batch == 0 &&
                                                 config->window % signal_every == 0
                                           : config->window + 1 >= config->batch + signal_every;
    if (!fits) {
        return sim_fail_about(message, SIM_ERR_RANGE, "window",
                              " is %" PRIu64
                              ", expected room for a batch behind a completion (batch + "
                              "signal-every - 1), or with whole-window a multiple of both",
                              config->window);
    }
    return SIM_OK;
}

static void init_machines(app__rate_t *rate, const app_context_t *context,
                          const app__rate_config_t *config, const app__places_t places[2])
{
    const uint64_t sending = config->threads * config->qps;
    const uint64_t all = sending * rate->from_count;
    const uint64_t receiving = config->transport == NIC_QPT_UD
                                   ? config->receivers * config->receiver_qps
                                   : all / rate->to_count + 1;
    for (uint32_t m = 0; m < rate->from_count; m++) {
        app__machine_init(&rate->from[m], context, places[0].list.interfaces[m],
                          config->region_bytes, sending);
    }
    for (uint32_t m = 0; m < rate->to_count; m++) {
        app__machine_init(&rate->to[m], context, places[1].list.interfaces[m], config->region_bytes,
                          receiving);
    }
}

// Returns whether the payload fits into a WQE of every sender.
static bool all_inline(const app__rate_t *rate)
{
    for (uint32_t m = 0; m < rate->from_count; m++) {
        if (rate->config.bytes > nic_inline_max(rate->from[m].endpoint->nic)) {
            return false;
        }
    }
    return true;
}

static app__rate_t *make(const app_context_t *context, const app__rate_config_t *config,
                         const app__places_t places[2], uint64_t signal_every)
{
    app__rate_t *const rate = sim_alloc(sizeof(*rate));
    rate->app = (app_t){&app_verbs_rate, context->net, context->index};
    rate->config = *config;
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
    rate->inlined = config->inlined && all_inline(rate);
    make_receivers(rate, (uint32_t)config->receivers, (uint32_t)config->receiver_qps);
    make_senders(rate, context, (uint32_t)config->threads);
    return rate;
}

static sim_err_t check_pair(const app_context_t *context, const app__rate_config_t *config,
                            uint32_t from, uint32_t to, sim_message_t *message)
{
    if (!app__can_talk(context->net, from, to)) {
        return app__cannot_talk(context->net, from, to, "to", message);
    }
    const uint64_t mtu_bytes = nic_config_of_interface(context->net, from)->mtu_bytes;
    if (config->transport == NIC_QPT_UD && config->bytes > mtu_bytes) {
        return sim_fail_about(message, SIM_ERR_RANGE, "bytes",
                              " is %" PRIu64 ", expected at most nic.mtu (%" PRIu64
                              "), the size of a datagram",
                              config->bytes, mtu_bytes);
    }
    return SIM_OK;
}

static sim_err_t rate_create(const app_context_t *context, const void *config_void, app_t **app,
                             sim_message_t *message)
{
    const app__rate_config_t *const config = config_void;
    app__places_t places[2];
    const uint64_t half = SIM_MAX(1, config->window / 2);
    const uint64_t automatic = config->whole_window ? 1 : SIM_MIN(half, 64);
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
            error = check_pair(context, config, a, b, message);
            if (error != SIM_OK) {
                app__places_fini(&places[1]);
            }
        }
    }
    if (error == SIM_OK) {
        error = app__check_memory(context, "qps-per-thread",
                                  (double)places[0].host_count * (double)config->threads *
                                      (double)config->qps,
                                  QP_PAIR_BYTES, "queue pairs with their peers", message);
        if (error != SIM_OK) {
            app__places_fini(&places[1]);
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
    app__rate_t *const rate = (app__rate_t *)(void *)app;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        SIM_FREE_ALL(rate->senders[s].qps, rate->senders[s].peers, rate->senders[s].posted,
                     rate->senders[s].done, rate->senders[s].broken);
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        sim_free(rate->receivers[r].qps);
    }
    SIM_FREE_ALL(rate->senders, rate->receivers, rate->from, rate->to, rate);
}

static void rate_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__rate_t *const rate = (const app__rate_t *)(const void *)app;
    *done = 0;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        *done += rate->senders[s].thread.stopped;
    }
    *planned = rate->sender_count;
}

// Operations of the span count, too: a thread may have stopped before their first completion.
static void rate_tally(const app_t *app, app_tally_t *tally)
{
    const app__rate_t *const own = (const app__rate_t *)(const void *)app;
    tally->spans = true;
    for (uint32_t i = 0; i < own->sender_count; i++) {
        const app__thread_t *const thread = &own->senders[i].thread;
        tally->succeeded += thread->total + app__rate_measured(&own->senders[i]);
        tally->failed += thread->failed;
        tally->measured += app__rate_measured(&own->senders[i]);
    }
}

const app_ops_t app_verbs_rate = {
    .name = "verbs-rate",
    .help = "the rate of one verb from machines to machines (detailed NIC)",
    .attrs = &attr_table,
    .tally = rate_tally,
    .create = rate_create,
    .destroy = rate_destroy,
    .progress = rate_progress,
    .carry = app__rate_carry,
    .report = &app__rate_report,
};
