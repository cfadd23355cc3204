// SPDX-License-Identifier: Apache-2.0
// nic/transport/transports.c - the table of transports, and the steps that nic/transport.h offers.
#include "net/carry.h"
#include "nic/transport.h"

#include <string.h>

#include "net/loss.h"
#include "net/nodes.h"
#include "net/ports.h"
#include "nic/cc/control.h"
#include "nic/config/parts.h"
#include "nic/extra.h"
#include "nic/host/contents.h"
#include "nic/host/listen.h"
#include "nic/host/packet_contents.h"
#include "nic/host/packets.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/schedule/eligible.h"
#include "nic/transport/entry.h"
#include "nic/transport/finish.h"
#include "nic/transport/operation_internal.h"
#include "nic/transport/requester_internal.h"
#include "nic/transport/responder_internal.h"

const nic_transport_ops_t *const nic_transport_all[] = {
    &nic_transport_gbn,     &nic_transport_irn,     &nic_transport_adamap, &nic_transport_sdr,
    &nic_transport_uec_rud, &nic_transport_uec_rod, &nic_transport_mrc,    NULL,
};

// -- state

const nic_transport_ops_t *nic_transport_ops(const nic_qp_t *qp)
{
    return qp->ops;
}

nic_transport_t *nic_transport_of(nic_qp_t *qp)
{
    SIM_ASSERT(qp->ops->state_bytes != 0);
    return nic__state(qp);
}

const nic_transport_t *nic_transport_of_const(const nic_qp_t *qp)
{
    return nic__state_const(qp);
}

size_t nic__transport_qp_bytes(const nic_t *nic, const nic_transport_ops_t *ops)
{
    return nic->state_at + ops->state_bytes;
}

// Returns the transport's config on this host: of its own table, or the program's.
static const void *config_of(const nic_config_t *config, const nic_transport_ops_t *ops)
{
    if (config->custom_transport == ops) {
        return config->custom_transport_config;
    }
    return nic_config_part(config, ops->attrs);
}

// Returns the bytes of the state that the share lies behind.
static size_t state_bytes(const nic_transport_ops_t *ops)
{
    const size_t align = alignof(struct nic_transport_share);
    return (ops->nic_state_bytes + align - 1) / align * align;
}

// Returns a new share and its state, which lie in the same lines.
static struct nic_transport_share *make_share(const nic_t *nic, const nic_transport_ops_t *ops)
{
    const size_t before = state_bytes(ops);
    char *const state =
        sim_lines_take(nic__node(nic)->worker, before + sizeof(struct nic_transport_share));
    struct nic_transport_share *const made = (struct nic_transport_share *)(void *)(state + before);
    made->ops = ops;
    made->state = state;
    return made;
}

// Returns what the NIC's queue pairs of this transport share. The first of them creates it.
static void *shared_state(nic_t *nic, const nic_transport_ops_t *ops, const void *config)
{
    if (ops->nic_state_bytes == 0) {
        return NULL;
    }
    for (struct nic_transport_share *share = nic->shares; share != NULL; share = share->next) {
        if (share->ops == ops) {
            return share->state;
        }
    }
    struct nic_transport_share *const made = make_share(nic, ops);
    made->next = nic->shares;
    nic->shares = made;
    if (ops->nic_create != NULL) {
        ops->nic_create(nic, made->state, config);
    }
    return made->state;
}

void nic__transport_open(nic_qp_t *qp)
{
    const nic_transport_ops_t *const ops = qp->ops;
    if (ops->state_bytes != 0) {
        nic_transport_t *const transport = nic_transport_of(qp);
        const void *const config = config_of(qp->nic->host->config, ops);
        memset(transport, 0, ops->state_bytes);
        *transport = (nic_transport_t){
            .ops = ops,
            .config = config,
            .nic_state = shared_state(qp->nic, ops, config),
            .nic = qp->nic,
            .qp = qp,
        };
    }
    qp->transport_open = true;
    if (ops->open != NULL) {
        ops->open(qp);
    }
}

void nic__transports_free(nic_t *nic)
{
    while (nic->shares != NULL) {
        struct nic_transport_share *const share = nic->shares;
        nic->shares = share->next;
        if (share->ops->nic_destroy != NULL && share->carried == NULL) {
            share->ops->nic_destroy(nic, share->state);
        }
        sim_free(share->carried);
        sim_lines_give(nic__node(nic)->worker, share->state,
                       state_bytes(share->ops) + sizeof(*share));
    }
}

// Transports by which shares go between ranks: the library's, then those that stand for one of them
// by a setting.
static const nic_transport_ops_t *numbered(uint32_t number)
{
    return number < SIM_COUNT_OF(nic_transport_all) - 1    ? nic_transport_all[number]
           : number == SIM_COUNT_OF(nic_transport_all) - 1 ? &nic__transport_gbn_place
                                                           : NULL;
}

bool nic__transports_can_carry(const nic_t *nic)
{
    uint32_t number = 0;
    while (numbered(number) != NULL && numbered(number) != nic->transport) {
        number++;
    }
    return numbered(number) != NULL || nic->transport->nic_state_bytes == 0;
}

// Appends the shares as they stand in the list, the latest first.
static void leave(const nic_t *nic, sim_buffer_t *bytes)
{
    for (const struct nic_transport_share *share = nic->shares; share != NULL;
         share = share->next) {
        uint32_t number = 0;
        while (numbered(number) != share->ops) {
            SIM_CHECKF(numbered(number) != NULL, "%s is none of ours", share->ops->name);
            number++;
        }
        sim_buffer_put_u32(bytes, number);
        sim_buffer_put(bytes, share->state, share->ops->nic_state_bytes);
        nic_transport_totals_t totals = {0};
        if (share->ops->totals != NULL) {
            share->ops->totals(nic, share->state, &totals);
        }
        sim_buffer_put(bytes, &totals, sizeof(totals));
    }
    sim_buffer_put_u32(bytes, UINT32_MAX);
}

static void take(nic_t *nic, sim_reader_t *bytes)
{
    struct nic_transport_share **last = &nic->shares;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    for (uint32_t number = sim_reader_u32(bytes); number != UINT32_MAX;
         number = sim_reader_u32(bytes)) {
        const nic_transport_ops_t *const ops = numbered(number);
        SIM_CHECKF(ops != NULL, "transport %u", number);
        struct nic_transport_share *const made = make_share(nic, ops);
        made->carried = sim_alloc(sizeof(*made->carried));
        sim_reader_get(bytes, made->state, ops->nic_state_bytes);
        sim_reader_get(bytes, made->carried, sizeof(*made->carried));
        *last = made;
        last = &made->next;
    }
}

void nic__transports_carry(nic_t *nic, sim_carry_t *carry)
{
    if (sim_carry_leaves(carry)) {
        leave(nic, carry->to);
    } else {
        take(nic, carry->from);
    }
}

// Returns whether a share has what happened: where another rank ran the NIC, only its shares do.
static bool counts(const nic_t *nic, const struct nic_transport_share *share)
{
    return nic->carried == NULL || share->carried != NULL;
}

// Adds totals of one transport on one NIC as the transport itself does: largest values are those of
// all, and distributions of records are those of the NIC with most of them.
static void add_carried(const nic_transport_totals_t *from, nic_transport_totals_t *to)
{
#define ADD(field) to->field += from->field
#define LARGEST(field) to->field = from->field > to->field ? from->field : to->field
    ADD(retransmitted);
    for (size_t i = 0; i < SIM_COUNT_OF(to->by_round); i++) {
        ADD(by_round[i]);
    }
    LARGEST(rounds_max);
    if (from->nodes_peak >= to->nodes_peak) {
        to->nodes_max = from->nodes_max;
        to->nodes_peak = from->nodes_peak;
        to->nodes_p50 = from->nodes_p50;
        to->nodes_p95 = from->nodes_p95;
        to->nodes_p99 = from->nodes_p99;
        to->nodes_mean = from->nodes_mean;
        to->nodes_steady = from->nodes_steady;
    }
    ADD(core_ps);
    LARGEST(blocks_max);
    LARGEST(host_bytes_max);
    ADD(host_grown);
    ADD(host_shrunk);
    ADD(host_refused);
    ADD(pipeline_ps);
    LARGEST(nic_bytes_per_qp);
    LARGEST(nic_bytes_per_qp_max);
    ADD(prefetch_hits);
    ADD(prefetch_stalls);
    ADD(stalled_ps);
    ADD(dma_reads);
    ADD(dma_writes);
    ADD(table_access);
    ADD(table_hits);
    ADD(duplicates);
    ADD(dropped);
    ADD(timeouts);
    ADD(went_back);
    ADD(parity);
    ADD(decoded);
    ADD(fallbacks);
    ADD(repaired);
    ADD(repair_ps);
    LARGEST(repair_ps_max);
    ADD(work);
#undef ADD
#undef LARGEST
}

bool nic_transport_each_counter(const nic_t *nic, nic_transport_counter_fn fn, void *ctx)
{
    bool any = false;
    for (const struct nic_transport_share *share = nic->shares; share != NULL;
         share = share->next) {
        for (const nic_counter_info_t *info = counts(nic, share) ? share->ops->counters : NULL;
             info != NULL && info->name != NULL; info++) {
            uint64_t value = 0;
            memcpy(&value, (const char *)share->state + info->field.offset, sizeof(value));
            fn(share->ops, info, value, ctx);
            any = true;
        }
    }
    return any;
}

sim_time_t nic__idle_rtt_ps(const nic_qp_t *qp)
{
    net_path_t path;
    const net_t *const net = qp->nic->host->node.net;
    if (!net_path_of(net, qp->nic->interface, qp->path.destination, qp->path.flow_hash, &path)) {
        return 0;
    }
    const uint32_t frame = qp->mtu_bytes + qp->nic->header_bytes;
    return 2 * path.delay_ps + net_path_time_ps(&path, 1, frame, 0) - path.delay_ps +
           net_path_time_ps(&path, 1, qp->nic->frame_bytes_min, 0) - path.delay_ps;
}

void nic_link_losses(const net_t *net, uint64_t *lost, uint64_t *events)
{
    *lost = 0;
    *events = net_carried_loss_events(net);
    for (size_t i = 0; i < net_node_count(net); i++) {
        const net_node_t *const node = net_node_look(net, i);
        for (uint32_t p = 0; node != NULL && p < node->port_count; p++) {
            if (!net_port_exists(node, p)) {
                continue;
            }
            net_loss_counters_t counters;
            const net_port_t *const port = &node->ports[p];
            const uint64_t here = port->rare->drops[NET_DROP_LINK_LOSS];
            *lost += here;
            *events += sim_node_is_here(&node->sim) && net_loss_get_counters(port, &counters)
                           ? counters.events
                           : here;
        }
    }
}

const nic_transport_ops_t *nic_transport_usual(const nic_t *nic, uint64_t *nic_bytes)
{
    const nic_transport_ops_t *const ops = nic->transport;
    *nic_bytes = ops->nic_bytes == NULL ? 0 : ops->nic_bytes(config_of(nic->host->config, ops));
    return ops;
}

const char *nic_transport_refuses(const nic_config_t *config, uint8_t opcode)
{
    const nic_transport_ops_t *const ops = nic__config_transport(config);
    return ops->allows == NULL || ops->allows(config_of(config, ops), opcode) ? NULL : ops->name;
}

void nic_transport_add_totals(const nic_t *nic, nic_transport_totals_t *totals)
{
    const nic_counters_t *const counters = nic_get_counters(nic);
    totals->retransmitted += counters->retransmitted_packets;
    totals->timeouts += counters->local_ack_timeout_err;
    for (const struct nic_transport_share *share = nic->shares; share != NULL;
         share = share->next) {
        if (share->carried != NULL) {
            add_carried(share->carried, totals);
        } else if (share->ops->totals != NULL && counts(nic, share)) {
            share->ops->totals(nic, share->state, totals);
        }
    }
}

// -- looking

nic_transport_view_t nic_transport_look(const nic_qp_t *qp)
{
    return (nic_transport_view_t){
        .una_psn = qp->una_psn,
        .next_psn = qp->next_psn,
        .expected_psn = qp->expected_psn,
        .in_flight_bytes = qp->in_flight_bytes,
        .window_bytes = qp->window_bytes,
        .mtu_bytes = qp->mtu_bytes,
        .retry_count = qp->retry_count,
        .timeout_ps = qp->timeout == 0 ? SIM_TIME_NEVER : nic__timeout_ps(qp),
        .since_ps = qp->retry_base_ps,
        .rtt_ps = nic__cc_const(qp)->base_rtt_ps,
        .blocked = (qp->flags & (NIC_QP_RNR_WAIT | NIC_QP_CLOSED)) != 0,
        .failed = (qp->flags & NIC_QP_CLOSED) != 0,
        .refused = (qp->rx_flags & NIC_RX_STOPPED) != 0,
    };
}

sim_node_t *nic_transport_node(const nic_qp_t *qp)
{
    return nic__node(qp->nic);
}

uint64_t nic_transport_psn(uint32_t wire_psn, uint64_t near_psn)
{
    return nic__psn(wire_psn, near_psn);
}

// -- sending

bool nic_transport_new_ready(const nic_qp_t *qp)
{
    return nic__new_ready(qp);
}

net_packet_t *nic_transport_new_packet(nic_qp_t *qp, uint32_t flags)
{
    return (flags & NIC_PACKET_ADDRESSED) != 0 ? nic__cursor_addressed(qp->nic, qp)
                                               : nic__cursor_packet(qp->nic, qp);
}

void nic_transport_schedule(nic_qp_t *qp)
{
    if ((qp->flags & (NIC_QP_READY | NIC_QP_PACING)) == 0) {
        nic__schedule(qp);
    } else if (!nic__can_send(qp)) {
        nic__unschedule(qp);
    }
}

void nic_transport_advance(nic_qp_t *qp, uint64_t end_psn, const net_packet_t *cause, bool nak)
{
    SIM_CHECK(end_psn <= qp->max_psn);
    nic_t *const nic = qp->nic;
    const uint64_t una_psn = qp->una_psn;
    const nic_progress_t progress = nic__advance(nic, qp, end_psn);
    if (progress.gone) {
        return;
    }
    if (qp->una_psn != una_psn) {
        nic__note_progress(nic, qp);
        nic__trace_ack(nic, qp, cause == NULL ? SIM_TIME_NEVER : cause->sent_ps);
    }
    if (cause != NULL) {
        nic__cc_ack(qp, cause, progress.bytes, nak);
    }
    nic__settle(qp);
}

void nic_transport_accept(nic_qp_t *qp, net_packet_t *packet, bool placed)
{
    SIM_CHECK(nic_transport_expects_response(qp));
    nic__accept_response(qp->nic, qp, packet, placed);
    nic__consume(qp->nic, packet);
    if (nic__still_alive(qp)) {
        nic__settle(qp);
    }
}

bool nic_transport_expects_response(const nic_qp_t *qp)
{
    return qp->sq_done != qp->sq_posted && qp->una_psn < qp->max_psn &&
           nic__is_fetch(nic__wqe(qp, qp->sq_done)->opcode);
}

bool nic_transport_refused(nic_qp_t *qp, const net_packet_t *packet)
{
    const uint32_t syndrome = packet->aeth >> 24;
    const uint32_t code = syndrome & 0x1f;
    if (syndrome >> 5 == 0) {
        return false;
    }
    nic__trace(qp->nic, qp, NIC_TRACE_NAK_RECEIVED, syndrome, 0);
    if ((syndrome & 0xe0) == ROCE_SYNDROME_RNR_NAK) {
        (void)nic__rnr_wait(qp, code);
        return true;
    }
    if (code == ROCE_NAK_PSN_SEQUENCE) {
        qp->nic->counters.packet_seq_err++;
        return false;
    }
    nic__fatal_nak(qp, code);
    return true;
}

bool nic_transport_retry(nic_qp_t *qp)
{
    if (qp->retries_used >= qp->retry_count) {
        nic__fail_request(qp, NIC_WC_RETRY_EXC_ERR);
        return false;
    }
    qp->retries_used++;
    return true;
}

void nic_transport_fail(nic_qp_t *qp, nic_wc_status_t status)
{
    if (qp->sq_done != qp->sq_posted) {
        nic__fail_request(qp, status);
    } else {
        nic__to_error(qp);
    }
}

void nic_transport_timer_arm(nic_qp_t *qp, sim_time_t time_ps)
{
    if ((qp->flags & NIC_QP_RNR_WAIT) == 0) {
        sim_timer_arm(nic__node(qp->nic), &qp->retry_timer, time_ps);
    }
}

void nic_transport_timer_cancel(nic_qp_t *qp)
{
    if ((qp->flags & NIC_QP_RNR_WAIT) == 0) {
        sim_timer_cancel(nic__node(qp->nic), &qp->retry_timer);
    }
}

// -- receiving

bool nic_transport_execute(nic_qp_t *qp, net_packet_t *packet, bool placed)
{
    return nic__execute_next(qp, packet, placed);
}

static void place_at(nic_t *nic, net_packet_t *packet, const nic_place_t *place, uint64_t offset)
{
    nic__write_payload(nic, packet->payload_bytes);
    if (nic__keeps(nic, packet)) {
        nic__keep(nic, packet, place, offset);
        if (packet->contents) {
            net_packet_drop_contents(&nic->host->node, packet);
        }
    }
}

// Places a response where its READ wants it. Errors in it are found when it has its turn.
static bool place_response(nic_qp_t *qp, net_packet_t *packet)
{
    const uint64_t psn = nic_transport_psn(packet->psn, qp->una_psn);
    if (psn < qp->una_psn || psn >= qp->next_psn) {
        return false;
    }
    uint64_t first_psn = 0;
    const nic_wqe_t *const wqe = nic__wqe(qp, nic__find_wqe(qp, psn, &first_psn));
    const uint64_t offset = (psn - first_psn) * qp->mtu_bytes;
    if (wqe->opcode != NIC_WR_RDMA_READ || packet->opcode == ROCE_ATOMIC_ACKNOWLEDGE ||
        offset + packet->payload_bytes > wqe->length) {
        return false;
    }
    const nic_place_t place = nic__wqe_place(wqe);
    place_at(qp->nic, packet, &place, offset);
    return true;
}

bool nic_transport_place(nic_qp_t *qp, net_packet_t *packet)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    if (operation == 0) {
        return place_response(qp, packet);
    }
    if ((operation & IS_WRITE) == 0 || ((operation & IS_FIRST) == 0 && !packet->addressed)) {
        return false;
    }
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    if ((qp->access & NIC_ACCESS_REMOTE_WRITE) == 0 || packet->payload_bytes > aside->reth.length ||
        !nic__access_ok(qp->pd, aside->reth.rkey, aside->reth.address, packet->payload_bytes,
                        NIC_ACCESS_REMOTE_WRITE)) {
        return false;
    }
    const nic_place_t place = {.address = aside->reth.address, .count = 1};
    place_at(qp->nic, packet, &place, 0);
    return true;
}

bool nic_transport_repeat_answer(nic_qp_t *qp, const net_packet_t *packet, bool others_too)
{
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    const uint64_t psn = nic_transport_psn(packet->psn, qp->expected_psn);
    if ((operation & (IS_READ | IS_ATOMIC)) == 0) {
        return false;
    }
    if (others_too) {
        nic__forget_answers(qp, psn);
    }
    if ((operation & IS_READ) != 0) {
        (void)nic__repeat_read(qp, packet, psn);
    } else {
        (void)nic__repeat_atomic(qp, packet, psn);
    }
    return true;
}

static sim_time_t sent_ps_of(const net_packet_t *cause)
{
    return cause == NULL ? SIM_TIME_NEVER : cause->sent_ps;
}

static const net_packet_t *feedback_of(const net_packet_t *cause)
{
    return cause != NULL && nic__wants_feedback(cause) ? cause : NULL;
}

void nic_transport_acknowledge(nic_qp_t *qp, const net_packet_t *cause)
{
    nic__acknowledge(qp, sent_ps_of(cause), feedback_of(cause));
}

net_packet_t *nic_transport_answer(nic_qp_t *qp, uint64_t psn, uint32_t syndrome,
                                   uint32_t extra_bytes, const net_packet_t *cause)
{
    const uint32_t aeth = syndrome << 24 | (qp->msn & ROCE_PSN_MASK);
    const nic_answer_t answer = {
        .psn = (uint32_t)psn & ROCE_PSN_MASK,
        .aeth = aeth,
        .sent_ps = sent_ps_of(cause),
        .cause = feedback_of(cause),
    };
    return nic__build_answer(qp, &answer, extra_bytes);
}

void nic_transport_send(nic_qp_t *qp, net_packet_t *answer)
{
    qp->queued_ack = NULL; // ACKs queued before it are not updated any more
    nic__send_answer(qp, answer);
}

void nic_transport_consume(nic_qp_t *qp, net_packet_t *packet)
{
    if (!qp->nic->host->ending) {
        nic__consume(qp->nic, packet);
    }
}

// -- costs

sim_time_t nic_transport_host_read_ps(nic_qp_t *qp, uint64_t address, uint32_t bytes)
{
    nic_t *const nic = qp->nic;
    if (nic->device->host_read_ps != NULL) {
        return nic->device->host_read_ps(nic, address, bytes);
    }
    return nic->bound ? nic_device_dma(nic, address, bytes, false) : nic__node(nic)->now_ps;
}

sim_time_t nic_transport_host_write_ps(nic_qp_t *qp, uint64_t address, uint32_t bytes)
{
    nic_t *const nic = qp->nic;
    if (nic->device->host_write_ps != NULL) {
        return nic->device->host_write_ps(nic, address, bytes);
    }
    return nic->bound ? nic_device_dma(nic, address, bytes, true) : nic__node(nic)->now_ps;
}
