// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/rnic_send.c - the sending side of a detailed NIC: from the core's post to a WQE
// that may go.
//
// WQE-by-MMIO: the core writes the WQE in lines of 64 bytes; it arrives with the last one.
// Doorbell: the core writes 8 bytes, and the NIC reads all new WQEs, padded to lines, at once.
// Either way they enter the WQE cache, the queue of the processing unit, and, when that is through
// with them and the payload is there, what nic/transport/requester.c may send from.
#include "nic/device/rnic/rnic_payload.h"

#define COPY_BYTES 16u // a register, nic.detailed.cpu.copy

// A pointer in the WQE for each.
static inline uint64_t places(const nic_wqe_t *wqe)
{
    return SIM_LIKELY((wqe->flags & NIC_WQE_LIST) == 0) ? 1 : wqe->lkey;
}

static uint64_t wqe_bytes(const nic_detail_t *detail, const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint64_t header =
        qp->type == NIC_QPT_UD ? detail->datagram_header_bytes : detail->wqe_header_bytes;
    if (wqe->opcode == NIC_WR_RDMA_READ) {
        return header + places(wqe) * detail->pointer_bytes;
    }
    if (nic__wqe_fetches(wqe)) {
        return header + detail->pointer_bytes + detail->atomic_bytes;
    }
    if (wqe->length == 0) {
        return nic__min((uint32_t)header, NIC_PCIE_LINE_BYTES); // the address fits without payload
    }
    if ((wqe->flags & NIC_SEND_INLINE) == 0) {
        return header + places(wqe) * detail->pointer_bytes;
    }
    // A payload fills the line that the header ends in; each further one begins with a header.
    const uint64_t room =
        (NIC_PCIE_LINE_BYTES - header % NIC_PCIE_LINE_BYTES) % NIC_PCIE_LINE_BYTES;
    const uint64_t line = NIC_PCIE_LINE_BYTES - detail->block_header_bytes;
    const uint64_t blocks = wqe->length > room ? (wqe->length - room + line - 1) / line : 0;
    return header + wqe->length + blocks * detail->block_header_bytes;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + NIC_PCIE_LINE_BYTES - 1) / NIC_PCIE_LINE_BYTES * NIC_PCIE_LINE_BYTES;
}

sim_time_t nic__rnic_lines_ps(const nic_rnic_t *rnic, const nic_qp_t *qp, const nic_wqe_t *wqe)
{
    const uint64_t bytes =
        nic_pcie_mmio_bytes(&rnic->pcie.config, wqe_bytes(&rnic->detail, qp, wqe));
    return bytes * rnic->pcie.mmio_byte_time >> NIC_PCIE_FRACTION_BITS;
}

static void spend(nic_host_t *host, sim_time_t cost_ps)
{
    if (host->core != NULL) {
        nic__core_spend(host->core, cost_ps);
    }
}

// -- WQEs arriving

// What is under way to the NIC of a flushed queue pair has no effect any more.
void nic__rnic_flushed(nic_qp_t *qp)
{
    nic__rnic_qp(qp)->sq_here = nic__rnic_qp(qp)->sq_ready = qp->sq_posted;
    nic__rnic_qp(qp)->waiting = NULL;
    nic__rnic_qp(qp)->lap++;
    nic__rnic_gate(qp);
}

// Packets that are sent again pass the processing unit again, and their payload is read again: all
// work requests on the NIC from the one on that the queue pair goes back to.
void nic__rnic_rewound(nic_qp_t *qp)
{
    nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    nic__rnic_begin(qp->nic);
    state->lap++;
    state->sq_ready = qp->sq_send;
    state->waiting = NULL;
    const uint32_t count = state->sq_here - qp->sq_send;
    nic__rnic_gate(qp);
    if (count == 0) {
        return;
    }
    nic_item_t *const item = nic__item_new(qp->nic, NIC_ITEM_WQE, qp);
    item->first = qp->sq_send;
    item->count = count;
    item->fetched = true;
    nic__tx_unit_push(item, qp);
}

void nic__rnic_forget_early(nic_qp_t *qp)
{
    while (nic__rnic_qp(qp)->early != NULL) {
        nic_item_t *const item = nic__rnic_qp(qp)->early;
        nic__rnic_qp(qp)->early = item->next;
        nic__item_free(item);
    }
}

// -- WQEs on their way by MMIO: the link keeps their order

// Until a unit could be through with it: what it does before shows nowhere outside.
static void look_for_coming(nic_rnic_t *rnic)
{
    rnic->looks = true;
    nic__item_at(rnic->coming_look, rnic->coming_ps + rnic->detail.pu_send_ps);
}

static void add_coming(nic_t *nic, nic_item_t *item)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    if (rnic->coming == NULL) {
        rnic->coming = item;
        rnic->coming_ps = item->arrives_ps;
        if (!rnic->looks) {
            look_for_coming(rnic);
        }
    } else {
        SIM_ASSERT(rnic->coming_last->arrives_ps <= item->arrives_ps);
        rnic->coming_last->next = item;
    }
    rnic->coming_last = item;
}

// -- posting

// What copying inline payloads into WQEs costs a core.
static sim_time_t copy_ps(const nic_detail_t *detail,
                          const nic_qp_t *qp,
                          uint32_t first,
                          uint32_t count)
{
    uint64_t chunks = 0;
    for (uint32_t i = 0; i < count; i++) {
        const nic_wqe_t *const wqe = nic__wqe(qp, first + i);
        const bool inlined = !nic__wqe_fetches(wqe) && (wqe->flags & NIC_SEND_INLINE) != 0;
        chunks += inlined ? ((uint64_t)wqe->length + COPY_BYTES - 1) / COPY_BYTES : 0;
    }
    return chunks * detail->cpu_copy_ps;
}

void nic__rnic_post(nic_qp_t *qp, uint32_t count, bool doorbell)
{
    nic_t *const nic = qp->nic;
    nic_rnic_t *const rnic = nic__rnic(nic);
    nic_host_t *const host = nic->host;
    const nic_detail_t *const detail = &rnic->detail;
    const uint32_t first = qp->sq_posted - count;
    nic__rnic_begin(nic);
    rnic->counters.wqes_posted += count;
    nic_item_t *const item = nic__item_new(nic, doorbell ? NIC_ITEM_DOORBELL : NIC_ITEM_WQE, qp);
    item->first = first;
    item->count = count;
    item->fetched = doorbell;
    spend(host, count * detail->cpu_post_ps);
    if (host->core != NULL && detail->cpu_copy_ps != 0) {
        nic__core_spend(host->core, copy_ps(detail, qp, first, count));
    }
    if (doorbell) {
        spend(host, detail->cpu_doorbell_ps);
        nic__item_at(item, nic_pcie_doorbell(&rnic->pcie, nic__posting_ps(host)));
        return;
    }
    const uint64_t bytes = wqe_bytes(detail, qp, nic__wqe(qp, first));
    spend(host, padded(bytes) / NIC_PCIE_LINE_BYTES * detail->cpu_line_ps);
    item->arrives_ps = nic_pcie_mmio(&rnic->pcie, nic__posting_ps(host), bytes);
    add_coming(nic, item);
}

void nic__rnic_post_receive(nic_t *nic, uint32_t count)
{
    nic_host_t *const host = nic->host;
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    // The count of receives is a word in host memory that the NIC reads with them, so that its
    // line is in no core's cache.
    spend(host, count * detail->cpu_receive_ps);
    if (host->core != NULL) {
        nic_core_wait(host->core, detail->cpu_line_wait_ps);
    }
}

static void doorbell_arrives(nic_item_t *item, const nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(item->nic);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < item->count; i++) {
        bytes += padded(wqe_bytes(&rnic->detail, qp, nic__wqe(qp, item->first + i)));
    }
    item->kind = NIC_ITEM_WQE;
    const sim_time_t now_ps = nic__node(item->nic)->now_ps;
    sim_time_t here_ps = nic_pcie_read(&rnic->pcie, now_ps, bytes, NIC_PCIE_WQE_READ);
    nic_store_t *const store = rnic->store;
    if (SIM_UNLIKELY(store->ops->hold_doorbell != NULL)) {
        here_ps += store->ops->hold_doorbell(store, now_ps, here_ps);
    }
    nic__item_at(item, here_ps);
}

void nic__rnic_wqe_done(nic_qp_t *qp)
{
    nic_rnic_t *const rnic = nic__rnic(qp->nic);
    rnic->counters.wqes_completed++;
    nic_cache_t *const cache = rnic->held[NIC_STORE_WQE];
    const uint32_t index = qp->sq_done - 1;
    const uint64_t key = nic__cache_key(NIC_STORE_WQE, nic__wqe_key(qp, index));
    const uint32_t slot = nic__rnic_wqe_slot(rnic, nic__wqe(qp, index), key);
    if (SIM_LIKELY(cache->slots[slot].key == key)) {
        nic__cache_remove_at(cache, slot);
    } else {
        nic_cache_remove(cache, key);
    }
}

// -- what the protocol's part may send

void nic__rnic_gate(nic_qp_t *qp)
{
    // An ACK that comes late may move sq_send past what is on its way again.
    if ((int32_t)(nic__rnic_qp(qp)->sq_ready - qp->sq_send) <= 0) {
        qp->flags |= NIC_QP_FETCHING;
    } else {
        qp->flags &= (uint16_t)~NIC_QP_FETCHING;
    }
}

// The payload of the next packet was asked for ahead of its turn: it comes as fast as PCIe is.
static sim_time_t next_segment_ps(nic_t *nic, sim_time_t cost_ps, sim_time_t here_ps)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    rnic->tx_free_ps = nic__later(rnic->tx_free_ps, nic__node(nic)->now_ps) + cost_ps;
    return nic__later(rnic->tx_free_ps, here_ps);
}

static __attribute__((noinline)) void response_sent(nic_t *nic, nic_qp_t *qp)
{
    const nic_read_t *const read = &qp->reads[qp->read_first];
    if (!read->started) {
        return;
    }
    const uint32_t bytes = nic__min(read->left_bytes, qp->mtu_bytes);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t here_ps =
        nic__later(nic_pcie_prefetched(&rnic->pcie, nic__node(nic)->now_ps, read->address, bytes),
                   nic__from_memory_ps(nic, read->address, bytes));
    const sim_time_t cost_ps =
        rnic->detail.tx_response_ps + nic__payload_ps(&rnic->detail, read->address, bytes);
    const sim_time_t ready_ps = next_segment_ps(nic, cost_ps, here_ps);
    if (ready_ps > nic->port->busy_until_ps) {
        qp->flags &= (uint16_t)~NIC_QP_READS;
        // None where the requester went back meanwhile: what it asks for again is not here yet.
        qp->reads_ready = (uint16_t)(qp->reads_ready - (qp->reads_ready != 0));
        nic__item_at(nic__item_new(nic, NIC_ITEM_RESPONSE, qp), ready_ps);
    }
}

// A part of a work request, and not its last.
static __attribute__((noinline)) void segment_sent(nic_t *nic, nic_qp_t *qp)
{
    const nic_wqe_t *const wqe = nic__wqe(qp, qp->sq_send);
    if (!nic__wqe_carries(wqe)) {
        return;
    }
    const uint32_t bytes = nic__min(wqe->length - qp->send_offset, qp->mtu_bytes);
    const sim_time_t here_ps = nic__read_payload_ps(nic, wqe, qp->send_offset, bytes, true);
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    const sim_time_t cost_ps =
        detail->tx_send_ps + nic__part_ps(detail, wqe, qp->send_offset, bytes);
    const sim_time_t ready_ps = next_segment_ps(nic, cost_ps, here_ps);
    if (ready_ps > nic->port->busy_until_ps) {
        qp->flags |= NIC_QP_FETCHING;
        nic__item_at(nic__item_new(nic, NIC_ITEM_SEGMENT, qp), ready_ps);
    }
}

// Most packets are whole messages: calls at the end, so that they need no frame.
void nic__rnic_sent(nic_t *nic, nic_qp_t *qp, bool response)
{
    nic__rnic_begin(nic);
    if (response) {
        if ((qp->flags & NIC_QP_READS) != 0) {
            response_sent(nic, qp);
        }
    } else if (qp->send_offset == 0) {
        nic__rnic_gate(qp);
    } else {
        segment_sent(nic, qp);
    }
}

void nic__rnic_respond(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic)
{
    nic_t *const nic = qp->nic;
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    nic_cost_t cost = {
        rnic->detail.tx_response_ps + (atomic ? 0 : nic__payload_ps(&rnic->detail, address, bytes)),
        now_ps,
    };
    cost = nic__rnic_context(rnic, qp, qp->number, NIC_SIDE_SEND, cost);
    sim_time_t data_ps = cost.ready_ps;
    if (atomic) {
        data_ps = nic__later(data_ps, rnic->granted_ps);
    } else if (bytes != 0) {
        cost = nic__rnic_translate(rnic, 0, address, cost);
        data_ps = nic__later(
            cost.ready_ps,
            nic_pcie_read_at(&rnic->pcie, now_ps, address, bytes, NIC_PCIE_PAYLOAD_READ));
        data_ps = nic__later(data_ps, nic__from_memory_ps(nic, address, bytes));
    }
    rnic->tx_free_ps = nic__later(rnic->tx_free_ps, now_ps) + cost.stall_ps;
    data_ps = nic__later(data_ps + rnic->detail.rx_latency_ps, rnic->tx_free_ps) +
              rnic->detail.tx_answer_latency_ps;
    nic__rnic_qp(qp)->response_ps = nic__later(nic__rnic_qp(qp)->response_ps, data_ps);
    nic__item_at(nic__item_new(nic, NIC_ITEM_RESPONSE, qp), nic__rnic_qp(qp)->response_ps);
}

// An ACK or NAK takes its turn of the sending side. It goes when that comes up, so that one which
// finds the side idle is not late; what is sent next is.
void nic__rnic_answer(nic_qp_t *qp, net_packet_t *packet)
{
    nic_t *const nic = qp->nic;
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__node(nic)->now_ps;
    const sim_time_t turn_ps = nic__later(rnic->tx_free_ps, now_ps);
    const sim_time_t sent_ps = turn_ps + rnic->detail.tx_answer_latency_ps;
    rnic->tx_free_ps = turn_ps + rnic->detail.tx_ack_ps;
    if (sent_ps == now_ps) {
        nic_device_answer(nic, packet);
        return;
    }
    nic_item_t *const item = nic__item_new(nic, NIC_ITEM_ANSWER, qp);
    item->packet = packet;
    nic__item_at(item, sent_ps);
}

// -- steps

static void qp_step(nic_item_t *item, nic_qp_t *qp)
{
    const bool open = (qp->flags & NIC_QP_CLOSED) == 0;
    switch ((nic_item_kind_t)item->kind) {
    case NIC_ITEM_READY:
        if (open && item->lap == nic__rnic_qp(qp)->lap) {
            nic__rnic_make_ready(qp);
        }
        break;
    case NIC_ITEM_SEGMENT:
        if (open && item->lap == nic__rnic_qp(qp)->lap) {
            nic__rnic_gate(qp);
            nic__schedule(qp);
        }
        break;
    case NIC_ITEM_RESPONSE:
        nic_device_respond(qp);
        break;
    case NIC_ITEM_CQE:
        nic_device_complete(qp, item->cq, &item->wc, nic__node(item->nic)->now_ps);
        break;
    case NIC_ITEM_WRITE:
        nic_device_wrote(qp, item->address, item->count);
        break;
    case NIC_ITEM_DOORBELL:
    case NIC_ITEM_WQE:
    case NIC_ITEM_ANSWER:
    case NIC_ITEM_COMING:
        break;
    }
}

// Data to be sent are there.
void nic__rnic_data_step(nic_step_t *step)
{
    nic_item_t *const item = SIM_CONTAINER_OF(step, nic_item_t, step);
    nic__rnic_begin(item->nic);
    nic_qp_t *const qp = nic__item_qp(item);
    if (SIM_LIKELY(qp != NULL)) {
        if (SIM_LIKELY(item->kind == NIC_ITEM_RESPONSE)) {
            nic_device_respond(qp);
        } else {
            qp_step(item, qp);
        }
    }
    nic__item_free(item);
}

static void item_step(nic_item_t *item)
{
    nic__rnic_begin(item->nic);
    if (SIM_UNLIKELY(item->kind == NIC_ITEM_COMING)) { // those that are here were taken just now
        nic_rnic_t *const rnic = nic__rnic(item->nic);
        rnic->looks = false;
        if (rnic->coming != NULL) {
            look_for_coming(rnic);
        }
        return;
    }
    if (item->kind == NIC_ITEM_ANSWER) {
        nic_device_answer(item->nic, item->packet); // on its way, whatever became of its queue pair
        nic__item_free(item);
        return;
    }
    nic_qp_t *const qp = nic__item_qp(item);
    const bool sending = item->kind == NIC_ITEM_DOORBELL || item->kind == NIC_ITEM_WQE;
    if (qp == NULL || (sending && (qp->flags & NIC_QP_CLOSED) != 0)) {
        nic__item_free(item);
    } else if (item->kind == NIC_ITEM_DOORBELL) {
        doorbell_arrives(item, qp);
    } else if (item->kind == NIC_ITEM_WQE) {
        nic__rnic_wqes_arrive(item, qp);
    } else {
        qp_step(item, qp);
        nic__item_free(item);
    }
}

void nic__rnic_item_step(nic_step_t *step)
{
    item_step(SIM_CONTAINER_OF(step, nic_item_t, step));
}

void nic__rnic_item_fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    item_step(SIM_CONTAINER_OF(timer, nic_item_t, timer));
}
