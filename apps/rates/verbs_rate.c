// SPDX-License-Identifier: Apache-2.0
// apps/rates/verbs_rate.c - the rate of one verb: the turns of threads that post and receive
// (docs/models/guidelines.md).
#include "apps/rates/verbs_rate_internal.h"

#define POLL_MAX 16u
#define BATCH_MAX 64u

// -- posting

static nic_wr_opcode_t opcode_of(const app__rate_t *rate)
{
    switch (rate->config.verb) {
    case APP__RATE_READ:
        return NIC_WR_RDMA_READ;
    case APP__RATE_SEND:
        return rate->config.bytes == 0 ? NIC_WR_SEND_WITH_IMM : NIC_WR_SEND;
    case APP__RATE_FETCH_ADD:
        return NIC_WR_ATOMIC_FETCH_AND_ADD;
    case APP__RATE_WRITE:
        break;
    }
    return NIC_WR_RDMA_WRITE;
}

static void fill(app__rate_sender_t *sender, uint32_t q, nic_send_wr_t *wr)
{
    const app__rate_t *const rate = sender->rate;
    const app__machine_t *const peer = &rate->to[sender->peers[q]];
    const bool fetch =
        rate->config.verb == APP__RATE_READ || rate->config.verb == APP__RATE_FETCH_ADD;
    const uint64_t bytes = rate->config.verb == APP__RATE_FETCH_ADD ? 8 : rate->config.bytes;
    *wr = (nic_send_wr_t){
        .wr_id = q,
        .opcode = opcode_of(rate),
        .send_flags = rate->inlined && !fetch ? (uint32_t)NIC_SEND_INLINE : 0,
        .sge = {sender->thread.machine->address, bytes, app__machine_key(sender->thread.machine)},
    };
    if (rate->config.verb == APP__RATE_FETCH_ADD) {
        wr->atomic.remote_addr =
            peer->address + 8 * sim_random_below(&sender->random, rate->config.counters);
        wr->atomic.compare_add = 1;
        wr->atomic.rkey = app__machine_key(peer);
    } else if (rate->config.verb != APP__RATE_SEND) {
        wr->rdma.remote_addr =
            peer->address +
            sim_random_below(&sender->random, APP__RATE_OFFSETS / rate->config.align) *
                rate->config.align;
        wr->rdma.rkey = app__machine_key(peer);
    }
    if (rate->config.transport == NIC_QPT_UD) {
        const uint32_t r =
            rate->config.random_peer
                ? (uint32_t)sim_random_below(&sender->random, rate->receiver_count)
                : (uint32_t)((sender - rate->senders) * rate->qps + q) % rate->receiver_count;
        const app__rate_receiver_t *const receiver = &rate->receivers[r];
        const uint32_t at = rate->config.random_peer
                                ? (uint32_t)sim_random_below(&sender->random, receiver->qp_count)
                                : q % receiver->qp_count;
        wr->ud.remote_interface = receiver->thread.machine->endpoint->interface;
        wr->ud.remote_qpn = nic_qp_num(receiver->qps[at]);
    }
}

static void post_batch(app__rate_sender_t *sender, uint32_t q)
{
    const app__rate_t *const rate = sender->rate;
    nic_send_wr_t list[BATCH_MAX];
    SIM_CHECK(rate->batch > 0);
    for (uint32_t i = 0; i < rate->batch; i++) {
        fill(sender, q, &list[i]);
        sender->posted[q]++;
        list[i].send_flags |=
            sender->posted[q] % rate->signal_every == 0 ? (uint32_t)NIC_SEND_SIGNALED : 0;
        list[i].next = i + 1 < rate->batch ? &list[i + 1] : NULL;
    }
    app__post(sender->qps[q], list);
}

static bool has_room(const app__rate_sender_t *sender, uint32_t q)
{
    const app__rate_t *const rate = sender->rate;
    const uint64_t outstanding = sender->posted[q] - sender->done[q];
    if (SIM_UNLIKELY(sender->broken[q])) {
        return false;
    }
    if (rate->config.whole_window && sender->posted[q] % rate->window == 0) {
        return outstanding == 0;
    }
    return outstanding + rate->batch <= rate->window;
}

bool app__rate_send_on(nic_core_t *core, void *ctx)
{
    (void)core;
    app__rate_sender_t *const sender = ctx;
    const app__rate_t *const rate = sender->rate;
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

bool app__rate_receive_on(nic_core_t *core, void *ctx)
{
    app__rate_receiver_t *const receiver = ctx;
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
            app__post_receives((nic_qp_t *)(uintptr_t)wc[i].wr_id, receiver->thread.machine, same,
                               receiver->rate->config.bytes);
            same = 0;
        }
    }
    app__thread_count(&receiver->thread, received);
    nic_core_only_polls(core);
    return count != 0;
}

// Counts an unreliable WRITE where it arrives, since its sender gets no acknowledgement.
void app__rate_count_write(nic_qp_t *qp, uint64_t address, uint32_t byte_len, void *ctx)
{
    (void)qp;
    (void)address;
    (void)byte_len;
    app__thread_count(ctx, 1);
}

// -- the measured span: app__rate_measured

// Returns the operations that the sender's NIC has done, whether a completion reports them or not.
static uint32_t operations_done(const app__rate_sender_t *sender)
{
    uint32_t done = 0;
    for (uint32_t q = 0; q < sender->rate->qps; q++) {
        done += nic_qp_sends_done(sender->qps[q]);
    }
    return done;
}

void app__rate_sample(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    app__rate_sender_t *const sender = ctx;
    if (sender->samples == 0) {
        sender->begin = operations_done(sender);
    } else if (sender->samples == 1) {
        sender->end = operations_done(sender);
    }
    sender->samples += sender->samples < 2;
}

void app__rate_carry(app_t *app, sim_carry_t *carry)
{
    app__rate_t *const rate = (app__rate_t *)(void *)app;
    for (uint32_t s = 0; s < rate->sender_count; s++) {
        app__rate_sender_t *const sender = &rate->senders[s];
        if (!app__thread_carry(carry, &sender->thread)) {
            continue;
        }
        if (sim_carry_leaves(carry)) {
            // Rank 0 cannot ask the NIC: the span is measured here.
            sender->end = sender->begin + app__rate_measured(sender);
            sender->samples = sender->samples == 0 ? 0 : 2;
        }
        SIM_CARRY(carry, sender->begin);
        SIM_CARRY(carry, sender->end);
        SIM_CARRY(carry, sender->samples);
        sim_carry(carry, sender->posted, rate->qps * sizeof(*sender->posted));
    }
    for (uint32_t r = 0; r < rate->receiver_count; r++) {
        (void)app__thread_carry(carry, &rate->receivers[r].thread);
    }
    for (uint32_t m = 0; rate->config.verb == APP__RATE_FETCH_ADD && m < rate->to_count; m++) {
        app__machine_carry_words(carry, &rate->to[m], rate->to[m].address, rate->config.counters,
                                 8);
    }
}

uint32_t app__rate_measured(const app__rate_sender_t *sender)
{
    if (sender->samples == 0) {
        return 0;
    }
    return (sender->samples == 1 ? operations_done(sender) : sender->end) - sender->begin;
}
