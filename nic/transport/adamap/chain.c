// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/chain.c - how the NIC reads a linked chain, and the packets that wait for
// it.
//
// The NIC knows the address of the chain's head only; the address of each further block lies in the
// block before it. So it reads block by block, one read after the other has come back; a read also
// brings the rest of the head's run of adjacent blocks (nic.adamap.run-blocks). It uses those that
// turn out to follow each other in the chain. When no more maps than the watermark are left on the
// NIC, it reads until `cached` of them are there, beside the packets. A first retransmission whose
// map is not there waits, with those behind it, and so does a later one whose entry of the table is
// not there. When more than nic.adamap.wait-packets of a NIC wait, its receive pipeline stands.
#include "nic/transport/adamap/list_internal.h"

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

#define FIRST_WAITERS 8u
#define POLL_PS (100 * SIM_PS_PER_NS) // at least between two reads of the same word

// -- reading

static bool wants_maps(const nic_adamap_state_t *state)
{
    return state->refill || nic__adamap_any_waits(&state->waiters);
}

// Reads from the head's block on, from late_ps after now.
static void start_read(nic_adamap_state_t *state, uint32_t blocks, uint32_t bytes,
                       sim_time_t late_ps)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    const uint64_t address = nic__knitting_address(knitting, state->chain.head);
    state->asked = blocks;
    sim_timer_arm(nic_transport_node(state->base.qp), &state->read_timer,
                  nic__adamap_read_ps(state, address, bytes) + late_ps);
}

// Reads the head's word again until it names a next block. Reads that find nothing are counted when
// the core has linked one.
static void poll(nic_adamap_state_t *state)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    if (nic__knitting_next(knitting, state->chain.head) != NIC_KNITTING_NONE) {
        start_read(state, 1, NIC_KNITTING_NEXT_BYTES, 0);
    } else {
        state->polling = true;
        state->poll_from_ps = nic__adamap_now(state);
    }
}

static void read_on(nic_adamap_state_t *state)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    if (state->asked != 0 || state->polling || !wants_maps(state)) {
        return;
    }
    const uint32_t room = nic__list_room(state);
    if (room == 0 || nic__adamap_beyond(state) == 0) {
        state->refill = false;
        return;
    }
    if (state->chain.head == NIC_KNITTING_NONE) {
        return; // the core informs the NIC when it has linked a block to an empty chain
    }
    if (state->peeked) {
        poll(state);
        return;
    }
    const uint32_t rest = nic__knitting_run_rest(&shared->knitting, state->chain.head);
    const uint32_t blocks = SIM_MIN(rest, room);
    shared->counters.prefetches += !nic__adamap_any_waits(&state->waiters);
    start_read(state, blocks,
               (blocks - 1) * shared->knitting.block_bytes + nic__adamap_dma_bytes(state), 0);
}

void nic__adamap_refill(nic_adamap_state_t *state)
{
    if (state->cached_count <= nic__adamap_config(state)->watermark || state->cached_count == 0) {
        state->refill = true;
    }
    read_on(state);
}

void nic__adamap_note_linked(nic_adamap_state_t *state)
{
    if (!state->polling || !wants_maps(state)) {
        state->polling = false;
        read_on(state);
        return;
    }
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const sim_time_t latency_ps = nic__adamap_config(state)->read_latency_ps;
    const sim_time_t now_ps = nic__adamap_now(state);
    sim_time_t period_ps = latency_ps == SIM_AUTO ? SIM_PS_PER_US : latency_ps;
    period_ps = SIM_MAX(POLL_PS, period_ps);
    const uint64_t polls = (now_ps - state->poll_from_ps + period_ps - 1) / period_ps;
    shared->counters.rereads += polls;
    shared->counters.dma_reads += polls;
    shared->counters.dma_read_bytes += polls * NIC_KNITTING_NEXT_BYTES;
    state->polling = false;
    start_read(state, 1, NIC_KNITTING_NEXT_BYTES, state->poll_from_ps + polls * period_ps - now_ps);
}

// Moves the head as the word of its block says, and returns the block. Returns false if the word
// does not name the next one yet.
static bool step(nic_adamap_state_t *state)
{
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    const uint32_t block = state->chain.head;
    if (!nic__chain_advance(&state->chain, nic__knitting_next(knitting, block))) {
        return false;
    }
    nic__adamap_hand_back(state, block);
    return true;
}

static void serve_waiters(nic_adamap_state_t *state, nic_adamap_waiters_t *waiters);

void nic__adamap_read_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, read_timer);
    const nic_knitting_t *const knitting = &nic__adamap_shared(state)->knitting;
    const uint32_t asked = state->asked;
    state->asked = 0;
    if (state->peeked) {
        state->peeked = !step(state);
    } else {
        for (uint32_t i = 0; i < asked && !state->peeked; i++) {
            const uint32_t block = state->chain.head;
            const nic_adamap_t map =
                nic__knitting_read(knitting, block, state->kept.first_psn, node->now_ps);
            nic__list_add(state, &map);
            state->peeked = !step(state);
            if (state->chain.head != block + 1) {
                break;
            }
        }
    }
    serve_waiters(state, &state->waiters);
    if (state->base.qp->transport_open) {
        read_on(state);
    }
}

// -- waiting

static void note_waiting(nic_adamap_shared_t *shared, uint64_t wait_packets, int64_t more)
{
    shared->waiting = (uint64_t)((int64_t)shared->waiting + more);
    if (shared->waiting > shared->counters.waiting_max) {
        shared->counters.waiting_max = shared->waiting;
    }
    if (!shared->nic->host->ending) {
        nic__gate_hold(&shared->gate, shared->waiting > wait_packets);
    }
}

static void push(nic_adamap_state_t *state, nic_adamap_waiters_t *waiters,
                 const nic_adamap_waiter_t *waiter)
{
    if (waiters->end - waiters->first == waiters->capacity) {
        const uint32_t capacity = waiters->capacity == 0 ? FIRST_WAITERS : waiters->capacity * 2;
        nic_adamap_waiter_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
        for (uint32_t i = waiters->first; i != waiters->end; i++) {
            ring[i & (capacity - 1)] = waiters->ring[i & (waiters->capacity - 1)];
        }
        sim_free(waiters->ring);
        waiters->ring = ring;
        waiters->capacity = capacity;
    }
    waiters->ring[waiters->end++ & (waiters->capacity - 1)] = *waiter;
    note_waiting(nic__adamap_shared(state), nic__adamap_config(state)->wait_packets, 1);
}

void nic__adamap_wait(nic_adamap_state_t *state, net_packet_t *packet)
{
    const sim_time_t now_ps = nic__adamap_now(state);
    nic__adamap_shared(state)->counters.list_access++;
    nic__adamap_shared(state)->counters.prefetch_stalls++;
    push(state, &state->waiters, &(nic_adamap_waiter_t){packet, now_ps, SIM_TIME_NEVER});
    read_on(state);
}

void nic__adamap_wait_entry(nic_adamap_state_t *state, net_packet_t *packet, sim_time_t ready_ps)
{
    nic_adamap_waiters_t *const waiters = &state->entry_waiters;
    const sim_time_t now_ps = nic__adamap_now(state);
    if (nic__adamap_any_waits(waiters)) {
        const sim_time_t last_ps =
            waiters->ring[(waiters->end - 1) & (waiters->capacity - 1)].ready_ps;
        ready_ps = SIM_MAX(ready_ps, last_ps); // entries keep their order
    } else {
        sim_timer_arm(nic_transport_node(state->base.qp), &state->entry_timer, ready_ps);
    }
    push(state, waiters, &(nic_adamap_waiter_t){packet, now_ps, ready_ps});
}

// Takes the packets whose map or entry is there, in their order.
static void serve_waiters(nic_adamap_state_t *state, nic_adamap_waiters_t *waiters)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    const uint64_t wait_packets = nic__adamap_config(state)->wait_packets;
    const sim_time_t now_ps = nic__adamap_now(state);
    while (nic__adamap_any_waits(waiters)) {
        // A packet may close the queue pair, which consumes those that still wait.
        const nic_adamap_waiter_t waiter = waiters->ring[waiters->first & (waiters->capacity - 1)];
        if (waiter.ready_ps != SIM_TIME_NEVER && waiter.ready_ps > now_ps) {
            sim_timer_arm(nic_transport_node(state->base.qp), &state->entry_timer, waiter.ready_ps);
            return;
        }
        waiters->first++;
        if (!nic__adamap_take(state, waiter.packet, true)) {
            waiters->first--;
            return;
        }
        shared->counters.stalled_ps += now_ps - waiter.since_ps;
        note_waiting(shared, wait_packets, -1);
    }
}

void nic__adamap_entry_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    nic_adamap_state_t *const state = SIM_CONTAINER_OF(timer, nic_adamap_state_t, entry_timer);
    serve_waiters(state, &state->entry_waiters);
}

static void free_waiters(nic_adamap_state_t *state, nic_adamap_waiters_t *waiters)
{
    for (; nic__adamap_any_waits(waiters); waiters->first++) {
        nic_transport_consume(state->base.qp,
                              waiters->ring[waiters->first & (waiters->capacity - 1)].packet);
        note_waiting(nic__adamap_shared(state), nic__adamap_config(state)->wait_packets, -1);
    }
    sim_free(waiters->ring);
    *waiters = (nic_adamap_waiters_t){0};
}

void nic__adamap_waiters_free(nic_adamap_state_t *state)
{
    free_waiters(state, &state->waiters);
    free_waiters(state, &state->entry_waiters);
}
