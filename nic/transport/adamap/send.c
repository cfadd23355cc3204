// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/send.c - the transport "adamap": attributes, the sending side, its
// numbers.
//
// Selective repeat without a window of its own: the receiver remembers what is missing in Adamaps,
// most of them in its host's memory, and asks for it; the sender keeps nothing but the packets it
// was asked for. docs/models/adamap.md
// Source: OmniDMA (APNet 2025), and the description of its context management.
#include "nic/transport/adamap/adamap_internal.h"

#include "nic/cc/control.h"
#include "nic/fabric.h"
#include "nic/host/listen.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/path/repath.h"
#include "nic/transport/entry.h"

// clang-format off
#define ATTR(...) SIM_ATTR_ROW(nic_adamap_config_t, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(COUNT, "nic.adamap.bits", bits, "16", "1", "256", "number of packets of a map that a bitmap covers; beyond them, a map only records a run of losses"),
    ATTR(COUNT, "nic.adamap.cached", cached, "3", "1", "64", "number of maps at the head of a queue pair's list that are kept on the NIC (n)"),
    ATTR(COUNT, "nic.adamap.watermark", watermark, "2", "0", "63", "number of maps on the NIC at or below which the next maps are read from the host"),
    ATTR(COUNT, "nic.adamap.table-cache", table_cache, "2", "0", "16", "number of entries of a queue pair's look-up table that are kept on the NIC"),
    ATTR(COUNT, "nic.adamap.resend-entries", resend_entries, "32", "1", "1000000", "number of ranges of packets that a sending queue pair keeps on the NIC to be sent again; further requests are dropped, and the receiver repeats them"),
    ATTR(COUNT, "nic.adamap.late-requests", late_requests, "8", "1", "1000000", "number of requests of a receiving queue pair that wait on the NIC until their map is stored; further requests are left out until their map expires"),
    ATTR(TIME, "nic.adamap.scan-interval", scan_interval_ps, "100us", "1us", "1s", "time between two searches of list and table for maps without progress"),
    ATTR(TIME, "nic.adamap.expire-after", expire_after_ps, "500us", "0s", "10s", "a map without progress for the path's round trip plus this time is requested again"),
    ATTR(TIME, "nic.adamap.close-after", close_after_ps, "10us", "100ns", "1s", "time without new packets after which the newest map is closed"),
    ATTR(TIME, "nic.adamap.timeout", timeout_ps, "auto", "1us", "100s", "time without an answer after which a sender repeats its oldest and newest packets; auto: 3 round trips of the path plus 200 us", .auto_ok = true),
    ATTR(ENUM, "nic.adamap.chain", chain, "linked", "linked|known", "linked: the NIC learns a block's address when it has read the block before; known: it knows all addresses, links maps itself, and no packet waits for its map, as in the OmniDMA authors' simulator"),
    ATTR(COUNT, "nic.adamap.run-blocks", run_blocks, "1", "1", "64", "number of adjacent blocks that a chain gets where possible, and that one read fetches"),
    ATTR(COUNT, "nic.adamap.wait-packets", wait_packets, "32", "0", "65536", "number of packets of a NIC that can wait for maps beside its receive pipeline; if more wait, the pipeline stands still"),
    ATTR(RATE, "nic.adamap.drain-rate", drain_bps, "auto", "1Mbps", "10Tbps", "rate at which the receive pipeline takes what came while it stood still; auto: 5/4 of the link's rate", .auto_ok = true),
    ATTR(BYTES, "nic.adamap.stall-buffer", stall_bytes, "128KiB", "0", "1GiB", "bytes that wait for the receive pipeline before the NIC pauses its link"),
    ATTR(TIME, "nic.adamap.read-latency", read_latency_ps, "1us", "0s", "1ms", "latency of a read or write of the knitting buffer by the NIC; auto: that of PCIe (nic.model)", .auto_ok = true),
    ATTR(RATE, "nic.adamap.dma-rate", dma_rate_bps, "128Gbps", "1Mbps", "10Tbps", "rate of the NIC's reads, and of its writes, of the knitting buffer, if read-latency is not auto"),
    ATTR(TIME, "nic.adamap.insert-time", insert_ps, "50ns", "0s", "1ms", "time of a host's core to take a block and insert a map at the tail; 0: the NIC takes, links and returns blocks itself"),
    ATTR(TIME, "nic.adamap.return-time", return_ps, "20ns", "0s", "1ms", "time of a host's core to return a block to the free list"),
    ATTR(ENUM, "nic.adamap.location", location, "near", "near|far", "memory that holds the knitting buffer: near, that of the NIC's own socket; far, that of the next socket"),
    ATTR(COUNT, "nic.adamap.blocks", blocks_max, "1048576", "1", "16777216", "largest number of blocks of the knitting buffer, for all queue pairs of a NIC"),
    ATTR(BYTES, "nic.adamap.block-align", block_align_bytes, "32", "8", "4096", "alignment of a block of the knitting buffer"),
    ATTR(COUNT, "nic.adamap.chunk-blocks", chunk_blocks, "64", "1", "65536", "number of blocks by which the knitting buffer grows and shrinks"),
    ATTR(TIME, "nic.adamap.sample-interval", sample_ps, "10us", "1ns", "1s", "time between two samples of the number of maps held"),
};
// clang-format on

const sim_attr_table_t nic__adamap_attrs = {
    .prefix = "nic.adamap",
    .scope = "node",
    .config_bytes = sizeof(nic_adamap_config_t),
    .attrs = attrs,
    .count = SIM_COUNT_OF(attrs),
};

#define RESEND_BYTES 12u // of a stretch to be sent again: PSN, count, index, round
#define LATE_BYTES 8u    // of a request that waits, besides its map: index, time

// Returns the bytes of the NIC's memory. The receiving side has n maps of the list, the open map,
// the table's entries with their indices, the address of the next block, the latest index, the
// times of list and table, and the requests that wait; the sending side has its queue.
uint32_t nic__adamap_nic_bytes(const nic_adamap_config_t *config)
{
    const uint32_t map = nic__adamap_bytes((uint32_t)config->bits);
    return (uint32_t)(config->cached + 1) * map + (uint32_t)config->table_cache * (map + 4) + 8 +
           4 + 8 + (uint32_t)config->late_requests * (map + LATE_BYTES) +
           (uint32_t)config->resend_entries * RESEND_BYTES;
}

static uint64_t nic_bytes(const void *config)
{
    return nic__adamap_nic_bytes(config);
}

// -- the NIC

// Places the buffer in the host, if the host has limits.
static void place_buffer(nic_t *nic, const nic_adamap_config_t *config, uint64_t address)
{
    if (!nic->bound) {
        return;
    }
    const uint32_t sockets = (uint32_t)nic->host->config->host.sockets;
    nic_location_t location = {0};
    while (nic_distance(nic, location) != NIC_SAME_SOCKET) {
        location.index++;
    }
    if (config->location == NIC_ADAMAP_FAR) {
        location.index = (location.index + 1) % sockets;
    }
    nic_memory_place(&nic->host->node, address, NIC_KNITTING_STRIDE, location);
}

static void nic_create(nic_t *nic, void *nic_state, const void *config)
{
    nic_adamap_shared_t *const shared = nic_state;
    const nic_adamap_config_t *const mine = config;
    uint32_t align_bytes = 8;
    while (align_bytes < mine->block_align_bytes) {
        align_bytes *= 2;
    }
    const uint32_t run_blocks = (uint32_t)mine->run_blocks;
    const uint32_t runs = ((uint32_t)mine->chunk_blocks + run_blocks - 1) / run_blocks;
    const nic_knitting_config_t knitting = {
        .bits = (uint32_t)mine->bits,
        .align_bytes = align_bytes,
        .chunk_blocks = runs * run_blocks,
        .run_blocks = run_blocks,
        .blocks_max = (uint32_t)mine->blocks_max,
        .memory = &nic->host->memory,
        .address = NIC_KNITTING_ADDRESS + nic->port->index * NIC_KNITTING_STRIDE,
    };
    nic__knitting_init(&shared->knitting, &knitting);
    place_buffer(nic, mine, knitting.address);
    nic__adamap_core_init(shared, nic);
    const uint64_t drain_bps =
        mine->drain_bps != SIM_AUTO ? mine->drain_bps : nic_rate_bps(nic) / 4 * 5;
    nic__gate_init(&shared->gate, nic, drain_bps, mine->stall_bytes);
    shared->sample_ps = mine->sample_ps;
    shared->counters.nic_bytes_per_qp = nic__adamap_nic_bytes(mine);
}

static void nic_destroy(nic_t *nic, void *nic_state)
{
    (void)nic;
    nic_adamap_shared_t *const shared = nic_state;
    nic__adamap_core_fini(shared);
    nic__gate_fini(&shared->gate);
    SIM_CHECK(shared->knitting.used_count == 0 && shared->nodes_now == 0);
    nic__knitting_fini(&shared->knitting);
    sim_free(shared->samples);
    nic__adamap_flight_free(&shared->flight);
}

// -- the sending side

static void open(nic_qp_t *qp)
{
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    state->base_rtt_ps = nic__idle_rtt_ps(qp);
    state->timeout_ps = config->timeout_ps != SIM_AUTO
                            ? config->timeout_ps
                            : 3 * state->base_rtt_ps + 200 * SIM_PS_PER_US;
    nic__resend_init(&state->resend);
    state->resend.item_limit = (uint32_t)config->resend_entries;
    nic__rto_open(&state->resend.fetch.rto, state->base_rtt_ps, state->timeout_ps);
    nic__adamap_open_receiver(state);
}

// Samples were taken at whole multiples of the interval, 0 included, up to the end of the run:
// those with this number of maps, `since` of them after the last change.
typedef struct samples {
    const nic_adamap_shared_t *shared;
    uint64_t since;
    uint64_t all;
} samples_t;

static samples_t samples_until(const nic_adamap_shared_t *shared, sim_time_t end_ps)
{
    const uint64_t due = end_ps / shared->sample_ps;
    const uint64_t since = due > shared->sampled ? due - shared->sampled : 0;
    return (samples_t){shared, since, 1 + shared->sampled + since};
}

static uint64_t samples_of(const samples_t *samples, uint64_t nodes)
{
    const nic_adamap_shared_t *const shared = samples->shared;
    return (nodes == 0) + (nodes < shared->samples_capacity ? shared->samples[nodes] : 0) +
           (nodes == shared->nodes_now ? samples->since : 0);
}

// Returns the sample at this place, in order of size.
static uint64_t sample_at(const samples_t *samples, uint64_t place)
{
    uint64_t nodes = 0;
    for (uint64_t seen = samples_of(samples, 0); seen <= place;
         seen += samples_of(samples, nodes)) {
        nodes++;
    }
    return nodes;
}

static double percentile(const samples_t *samples, double share)
{
    const double place = (double)(samples->all - 1) * share;
    const uint64_t low = (uint64_t)place;
    const uint64_t high = low + 1 < samples->all ? low + 1 : low;
    const double below = (double)sample_at(samples, low);
    return below + ((double)sample_at(samples, high) - below) * (place - (double)low);
}

static void add_nodes(const nic_adamap_shared_t *shared, sim_time_t end_ps,
                      nic_transport_totals_t *totals)
{
    const samples_t samples = samples_until(shared, end_ps);
    if (shared->nodes_peak < totals->nodes_peak) {
        return;
    }
    uint64_t sum = 0;
    uint64_t most = 0;
    for (uint64_t i = 0; i <= shared->nodes_peak; i++) {
        const uint64_t count = samples_of(&samples, i);
        sum += i * count;
        most = count != 0 ? i : most;
    }
    // The maximum over NICs.
    totals->nodes_peak = shared->nodes_peak;
    totals->nodes_max = most;
    totals->nodes_mean = (double)sum / (double)samples.all;
    totals->nodes_steady = nic__adamap_flight_steady(&shared->flight);
    totals->nodes_p50 = percentile(&samples, 0.50);
    totals->nodes_p95 = percentile(&samples, 0.95);
    totals->nodes_p99 = percentile(&samples, 0.99);
}

static void add_totals(const nic_t *nic, const void *nic_state, nic_transport_totals_t *totals)
{
    const nic_adamap_shared_t *const shared = nic_state;
    const struct nic_adamap_counters *const counters = &shared->counters;
    for (uint32_t i = 0; i < NIC_RESEND_ROUNDS; i++) {
        totals->by_round[i] += counters->by_round[i];
    }
    add_nodes(shared, sim_last_progress_ps(nic__node(nic)->sim), totals);
#define TAKE_MAX(field, value) totals->field = (value) > totals->field ? (value) : totals->field
    TAKE_MAX(rounds_max, counters->rounds_max);
    TAKE_MAX(blocks_max, shared->knitting.used_max);
    TAKE_MAX(host_bytes_max, shared->knitting.bytes_max);
    TAKE_MAX(nic_bytes_per_qp, counters->nic_bytes_per_qp);
    TAKE_MAX(nic_bytes_per_qp_max, counters->nic_bytes_per_qp);
    TAKE_MAX(repair_ps_max, counters->repair_ps_max);
#undef TAKE_MAX
    totals->host_grown += shared->knitting.grown;
    totals->host_shrunk += shared->knitting.shrunk;
    totals->host_refused += shared->knitting.refused;
    totals->pipeline_ps += shared->gate.held_ps;
    totals->prefetch_hits += counters->prefetch_hits;
    totals->prefetch_stalls += counters->prefetch_stalls;
    totals->stalled_ps += counters->stalled_ps;
    totals->core_ps += shared->core == NULL ? 0 : nic_core_busy_ps(shared->core);
    totals->dma_reads += counters->dma_reads;
    totals->dma_writes += counters->dma_writes;
    totals->table_access += counters->table_access;
    totals->table_hits += counters->table_hits;
    totals->duplicates += counters->duplicates;
    totals->dropped += counters->late_dropped + counters->no_block_dropped;
    totals->repaired += counters->repaired;
    totals->repair_ps += counters->repair_ps;
    totals->work += counters->work;
}

static void take_numbers(nic_adamap_state_t *state)
{
    struct nic_adamap_counters *const counters = &nic__adamap_shared(state)->counters;
    for (uint32_t i = 0; i < NIC_RESEND_ROUNDS; i++) {
        counters->by_round[i] += state->resend.by_round[i];
        counters->retransmitted += state->resend.by_round[i];
        state->resend.by_round[i] = 0;
    }
    counters->left_out += state->resend.left_out;
    counters->resend_refused += state->resend.refused;
    if (state->resend.items_max > counters->resend_entries_max) {
        counters->resend_entries_max = state->resend.items_max;
    }
    state->resend.left_out = state->resend.refused = 0;
    if (state->resend.rounds_max > counters->rounds_max) {
        counters->rounds_max = state->resend.rounds_max;
    }
}

static void close(nic_qp_t *qp)
{
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    take_numbers(state);
    nic_transport_timer_cancel(qp);
    nic__adamap_close_receiver(state);
    nic__resend_fini(&state->resend);
}

static bool ready(const nic_qp_t *qp)
{
    const nic_adamap_state_t *const state =
        (const nic_adamap_state_t *)(const void *)nic_transport_of_const(qp);
    if (SIM_UNLIKELY(nic__repeated_waits(&state->kept.again))) {
        return (qp->flags & NIC_QP_CLOSED) == 0;
    }
    if (SIM_UNLIKELY(nic__resend_waits(&state->resend))) {
        return (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) == 0;
    }
    return nic_transport_new_ready(qp);
}

static inline sim_time_t timeout_of(const nic_adamap_state_t *state)
{
    return nic__rto_ps(&state->resend.fetch.rto, state->base.qp);
}

static inline void note_active(nic_adamap_state_t *state)
{
    nic_qp_t *const qp = state->base.qp;
    state->active_ps = nic__adamap_now(state);
    if (SIM_UNLIKELY(!sim_timer_armed(&qp->retry_timer)) && qp->timeout != 0 &&
        qp->una_psn != qp->next_psn) {
        nic_transport_timer_arm(qp, state->active_ps + timeout_of(state));
    }
}

static net_packet_t *next_packet(nic_t *nic, nic_qp_t *qp)
{
    (void)nic;
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    if (SIM_UNLIKELY(nic__repeated_waits(&state->kept.again))) {
        return nic__repeated_next(&state->kept.again, qp);
    }
    if (SIM_UNLIKELY(nic__resend_waits(&state->resend) && (qp->flags & NIC_QP_RNR_WAIT) == 0)) {
        nic_resend_item_t item;
        net_packet_t *const packet = nic__resend_next(&state->resend, qp, &item);
        if (packet != NULL) {
            net_packet_aside(packet)->selective.round = item.round;
            net_packet_aside(packet)->selective.index = item.index;
            note_active(state);
            return packet;
        }
    }
    if (!nic_transport_new_ready(qp)) {
        return NULL;
    }
    const uint64_t psn = qp->next_psn;
    const bool idle = psn == qp->una_psn;
    const uint32_t reads = qp->reads_outstanding;
    net_packet_t *const packet = nic_transport_new_packet(qp, NIC_PACKET_ADDRESSED);
    if (SIM_LIKELY(packet != NULL)) {
        net_packet_aside(packet)->selective.round = 0;
        net_packet_aside(packet)->selective.index = 0;
        nic__resend_note_new(&state->resend, qp, psn, qp->next_psn);
        if (SIM_UNLIKELY(qp->reads_outstanding != reads)) {
            nic__fetch_sent(&state->resend.fetch, psn, nic__adamap_now(state));
        }
        if (idle) {
            nic_transport_timer_cancel(qp); // the first packet armed it with the standard's time
        }
        note_active(state);
    }
    return packet;
}

static void timed_out(nic_qp_t *qp)
{
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    const sim_time_t now_ps = nic__adamap_now(state);
    if (qp->una_psn == qp->next_psn) {
        return;
    }
    if (now_ps < state->active_ps + timeout_of(state)) {
        nic_transport_timer_arm(qp, state->active_ps + timeout_of(state));
        return;
    }
    qp->nic->counters.local_ack_timeout_err++;
    nic__trace(qp->nic, qp, NIC_TRACE_TIMEOUT, state->silent, 0);
    if (state->silent == 0) {
        state->quiet_ps = state->active_ps;
    }
    nic__rto_passed(&state->resend.fetch.rto, ++state->silent);
    if (nic__is_gone(qp, state->silent, state->quiet_ps)) {
        nic_transport_fail(qp, NIC_WC_RETRY_EXC_ERR);
        return;
    }
    nic__adamap_shared(state)->counters.probes++;
    nic__fetch_all(&state->resend, qp, state->silent);
    nic__resend_oldest(&state->resend, qp, state->silent, 0);
    nic__resend_probe(&state->resend, qp, qp->next_psn - 1, 0);
    nic_transport_schedule(qp);
    state->active_ps = now_ps;
    nic_transport_timer_arm(qp, now_ps + timeout_of(state));
    nic_cc_t *const cc = nic__cc(qp);
    nic__repath_timeout(qp);
    if (cc->ops->timeout != NULL) {
        cc->ops->timeout(cc);
        nic__cc_sync(qp);
    }
}

// Queues the packets that a map says are missing, in the order of their PSNs.
static void take_map(nic_adamap_state_t *state, const net_packet_t *packet)
{
    nic_qp_t *const qp = state->base.qp;
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    nic_adamap_t map = {
        .first_psn = nic_transport_psn(aside->map.first_psn, qp->una_psn),
        .length = aside->map.length,
    };
    for (uint32_t w = 0; w < NIC_ADAMAP_WORDS; w++) {
        map.bits[w] = aside->map.bits[w];
    }
    uint32_t first = 0;
    uint32_t count = 0;
    for (uint32_t at = 0; nic__adamap_gap(&map, at, &first, &count); at = first + count) {
        nic__resend_add(&state->resend, qp, map.first_psn + first, count, aside->selective.round,
                        aside->selective.index);
    }
}

// Queues the packet that a receiver without a receive has refused; it is sent when that is allowed.
static void take_refusal(nic_adamap_state_t *state)
{
    nic_qp_t *const qp = state->base.qp;
    if (!nic_transport_look(qp).failed && qp->una_psn != qp->next_psn) {
        nic__resend_add(&state->resend, qp, qp->una_psn, 1, 0, 0);
    }
}

static void note_heard(nic_adamap_state_t *state)
{
    const sim_time_t since_ps = nic__adamap_now(state) - state->active_ps;
    nic__rto_heard(&state->resend.fetch.rto, state->silent, since_ps);
    state->silent = 0;
}

static void acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    const bool positive = packet->aeth >> 29 == 0;
    const uint64_t end_psn = nic_transport_psn(packet->psn, qp->una_psn) + positive;
    if ((qp->flags & NIC_QP_CLOSED) != 0 || end_psn > qp->next_psn ||
        (end_psn < qp->una_psn && positive)) {
        nic_transport_consume(qp, packet);
        return;
    }
    note_heard(state);
    nic__rto_echoed(&state->resend.fetch.rto, nic__adamap_now(state), packet->sent_ps);
    const bool map = packet->aeth >> 24 == ((uint32_t)ROCE_SYNDROME_NAK | ROCE_NAK_PSN_SEQUENCE);
    nic_transport_advance(qp, end_psn, packet, map);
    nic__fetch_acknowledged(&state->resend, qp, end_psn, positive);
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        if (map) {
            qp->nic->counters.packet_seq_err++;
            nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, packet->aeth >> 24, 0);
            take_map(state, packet);
        } else if (!positive) {
            (void)nic_transport_refused(qp, packet);
            take_refusal(state);
        }
    }
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        nic__resend_trim(&state->resend, qp);
        if ((qp->flags & NIC_QP_RNR_WAIT) == 0) {
            note_active(state);
        }
        nic_transport_schedule(qp);
    }
    nic_transport_consume(qp, packet);
}

static void responded(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    (void)nic;
    nic_adamap_state_t *const state = nic__adamap_of(qp);
    note_heard(state);
    nic__fetch_responded(&state->resend, qp, packet);
    if ((qp->flags & NIC_QP_CLOSED) == 0) {
        nic__resend_trim(&state->resend, qp);
        note_active(state);
        nic_transport_schedule(qp);
    }
}

static void gauges(const nic_qp_t *qp, nic_transport_gauges_t *sums)
{
    const nic_adamap_state_t *const state =
        (const nic_adamap_state_t *)(const void *)nic_transport_of_const(qp);
    nic__early_gauges(&state->kept, sums);
    sums->resend_packets += state->resend.waiting;
    sums->list_maps += nic__adamap_list_count(state);
    sums->chain_maps += nic__adamap_beyond(state);
}

static void nic_gauges(const void *nic_state, nic_transport_gauges_t *sums)
{
    const nic_adamap_shared_t *const shared = nic_state;
    const nic_knitting_t *const knitting = &shared->knitting;
    sums->table_maps += shared->table_now;
    sums->used_blocks += knitting->used_count;
    sums->free_blocks += knitting->free_count;
    sums->host_bytes += knitting->block_count * knitting->block_bytes;
}

static bool explain(const nic_qp_t *qp, sim_message_t *why)
{
    const nic_adamap_state_t *const state =
        (const nic_adamap_state_t *)(const void *)nic_transport_of_const(qp);
    if (qp->una_psn == qp->next_psn) {
        return false;
    }
    (void)sim_fail(why, SIM_OK,
                   "%" PRIu64
                   " packet%s not acknowledged, %s to be sent again, %u time-out%s in a row",
                   qp->next_psn - qp->una_psn, sim_plural(qp->next_psn - qp->una_psn),
                   nic__resend_waits(&state->resend) ? "some" : "none", state->silent,
                   sim_plural(state->silent));
    return true;
}

const nic_transport_ops_t nic_transport_adamap = {
    .name = "adamap",
    .state_bytes = sizeof(nic_adamap_state_t),
    .nic_state_bytes = sizeof(nic_adamap_shared_t),
    .attrs = &nic__adamap_attrs,
    .own_timeouts = true,
    .counters = nic__adamap_counter_infos,
    .nic_create = nic_create,
    .nic_destroy = nic_destroy,
    .open = open,
    .close = close,
    .ready = ready,
    .next_packet = next_packet,
    .acknowledged = acknowledged,
    .responded = responded,
    .timeout = timed_out,
    .request = nic__adamap_request,
    .nic_bytes = nic_bytes,
    .totals = add_totals,
    .gauges = gauges,
    .nic_gauges = nic_gauges,
    .explain = explain,
    .check = nic__adamap_check,
};
