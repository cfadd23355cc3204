// SPDX-License-Identifier: Apache-2.0
// nic/device/rnic/send.c - the sending side of a detailed NIC: which WQE may go, and when the
// next part of a message, a READ's response or an acknowledgement may.
#include "nic/device/rnic/send.h"
#include "nic/device/rnic/items.h"
#include "nic/device/rnic/lookup.h"
#include "nic/device/rnic/payload.h"
#include "nic/device/rnic/rnic.h"
#include "nic/device/rnic/store_kinds.h"
#include "nic/device/rnic/unit.h"

// -- what is taken back

// Cancels the WQEs of a flushed queue pair that are in flight to the NIC.
void nic__rnic_flushed(nic_qp_t *qp)
{
    nic__rnic_qp(qp)->sq_here = nic__rnic_qp(qp)->sq_ready = nic__device_posted(qp);
    nic__rnic_qp(qp)->waiting = NULL;
    nic__rnic_qp(qp)->lap++;
    nic__rnic_gate(qp);
}

// Packets that are sent again pass the processing unit again, and their payload is read again: all
// work requests on the NIC from the one on that the queue pair goes back to.
void nic__rnic_rewound(nic_qp_t *qp)
{
    nic_rnic_qp_t *const state = nic__rnic_qp(qp);
    nic__store_moved(nic__rnic(nic__device_nic(qp)), nic__device_number(qp), true);
    nic__rnic_begin(nic__device_nic(qp));
    state->lap++;
    state->sq_ready = nic__device_sending(qp);
    state->waiting = NULL;
    const uint32_t count = state->sq_here - nic__device_sending(qp);
    nic__rnic_gate(qp);
    if (count == 0) {
        return;
    }
    nic_item_t *const item = nic__item_new(nic__device_nic(qp), NIC_ITEM_WQE, qp);
    item->first = nic__device_sending(qp);
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

// -- what the protocol's part may send

// Returns when the next segment may be sent. Its payload was requested in advance, so it comes at
// the rate of PCIe.
static sim_time_t next_segment_ps(nic_t *nic, sim_time_t cost_ps, sim_time_t here_ps)
{
    nic_rnic_t *const rnic = nic__rnic(nic);
    rnic->tx_free_ps = nic__later(rnic->tx_free_ps, nic__device_now_ps(nic)) + cost_ps;
    return nic__later(rnic->tx_free_ps, here_ps);
}

// Returns when the data of a queue pair's next answer are there, which would be here_ps without the
// limit of what it has requested.
static sim_time_t in_window_ps(const nic_rnic_t *rnic, nic_qp_t *qp, sim_time_t here_ps,
                               uint64_t bytes)
{
    sim_time_t *const last_ps = &nic__rnic_qp(qp)->response_ps;
    *last_ps = nic__later(here_ps, *last_ps + nic_pcie_response_ps(&rnic->pcie, bytes));
    return *last_ps;
}

static SIM_NOINLINE void response_sent(nic_t *nic, nic_qp_t *qp)
{
    uint64_t address;
    uint32_t bytes;
    if (!nic__device_next_response(qp, &address, &bytes)) {
        return;
    }
    nic_rnic_t *const rnic = nic__rnic(nic);
    sim_time_t here_ps =
        nic__later(nic_pcie_prefetched(&rnic->pcie, nic__device_now_ps(nic), address, bytes),
                   nic__answer_from_memory_ps(nic, qp, address, bytes));
    if (rnic->pcie.response_byte_time != 0) {
        here_ps = in_window_ps(rnic, qp, here_ps, bytes);
    }
    const sim_time_t cost_ps =
        rnic->detail.tx_response_ps + nic__payload_ps(&rnic->detail, address, bytes);
    const sim_time_t ready_ps = next_segment_ps(nic, cost_ps, here_ps);
    if (ready_ps > nic__device_link_free_ps(nic)) {
        nic__device_hold_response(qp);
        nic__item_at(nic__item_new(nic, NIC_ITEM_RESPONSE, qp), ready_ps);
    }
}

// Continues after a segment that is not the last of its work request.
static SIM_NOINLINE void segment_sent(nic_t *nic, nic_qp_t *qp)
{
    const nic_wqe_t *const wqe = nic__device_wqe(qp, nic__device_sending(qp));
    if (!nic__wqe_carries(wqe)) {
        return;
    }
    const uint32_t bytes =
        nic__min(wqe->length - nic__device_sent_bytes(qp), nic__device_mtu_bytes(qp));
    const sim_time_t here_ps =
        nic__read_payload_ps(nic, wqe, nic__device_sent_bytes(qp), bytes, true);
    const nic_detail_t *const detail = &nic__rnic(nic)->detail;
    const sim_time_t cost_ps =
        detail->tx_send_ps + nic__part_ps(detail, wqe, nic__device_sent_bytes(qp), bytes);
    const sim_time_t ready_ps = next_segment_ps(nic, cost_ps, here_ps);
    if (ready_ps > nic__device_link_free_ps(nic)) {
        nic__device_gate(qp, false);
        nic__item_at(nic__item_new(nic, NIC_ITEM_SEGMENT, qp), ready_ps);
    }
}

static SIM_ALWAYS_INLINE void after_sent(nic_t *nic, nic_qp_t *qp, bool response)
{
    nic__rnic(nic)->at_ps = nic__device_now_ps(nic);
    if (response) {
        if (nic__device_responds(qp)) {
            response_sent(nic, qp);
        }
    } else if (nic__device_sent_bytes(qp) == 0) {
        nic__rnic_gate(qp);
    } else {
        segment_sent(nic, qp);
    }
}

// Like nic__rnic_sent, after WQEs that have arrived in the meantime, and with a store that keeps
// positions.
static SIM_NOINLINE void sent_when_come(nic_t *nic, nic_qp_t *qp, bool response)
{
    nic__store_moved(nic__rnic(nic), nic__device_number(qp), true);
    nic__rnic_take_coming(nic);
    after_sent(nic, qp, response);
}

// Handles a packet that was sent. Most packets are whole messages and no WQE has arrived, so this
// function ends in tail calls and needs no stack frame.
void nic__rnic_sent(nic_t *nic, nic_qp_t *qp, bool response)
{
    if (SIM_UNLIKELY(nic__rnic_has_coming(nic)) || SIM_UNLIKELY(nic__rnic(nic)->keeps_positions)) {
        sent_when_come(nic, qp, response);
        return;
    }
    after_sent(nic, qp, response);
}

// The protocol has moved its position without a packet.
void nic__rnic_moved(nic_qp_t *qp)
{
    nic__store_moved(nic__rnic(nic__device_nic(qp)), nic__device_number(qp), true);
    nic__rnic_gate(qp);
}

void nic__rnic_respond(nic_qp_t *qp, uint64_t address, uint32_t bytes, bool atomic)
{
    nic_t *const nic = nic__device_nic(qp);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
    nic_cost_t cost = {
        rnic->detail.tx_response_ps + (atomic ? 0 : nic__payload_ps(&rnic->detail, address, bytes)),
        now_ps,
    };
    cost = nic__rnic_context(rnic, qp, nic__device_number(qp), NIC_SIDE_SEND, false, cost);
    sim_time_t data_ps = cost.ready_ps;
    if (atomic) {
        data_ps = nic__later(data_ps, rnic->granted_ps);
    } else if (bytes != 0) {
        cost = nic__rnic_translate(rnic, 0, address, cost);
        data_ps = nic__later(cost.ready_ps, nic_pcie_read_at(&rnic->pcie, now_ps, address, bytes,
                                                             NIC_PCIE_PAYLOAD_READ));
        data_ps = nic__later(data_ps, nic__answer_from_memory_ps(nic, qp, address, bytes)) +
                  rnic->gpu_read_ps;
    }
    rnic->tx_free_ps = nic__later(rnic->tx_free_ps, now_ps) + cost.stall_ps;
    data_ps = nic__later(data_ps + rnic->detail.rx_latency_ps, rnic->tx_free_ps) +
              rnic->detail.tx_answer_latency_ps;
    nic__item_at(nic__item_new(nic, NIC_ITEM_RESPONSE, qp),
                 in_window_ps(rnic, qp, data_ps, atomic ? 0 : bytes));
}

// Sends an ACK or NAK, which occupies the sending side. It leaves at the begin of its turn, so it
// is not late if the side is idle; the packet behind it is.
void nic__rnic_answer(nic_qp_t *qp, net_packet_t *packet)
{
    nic_t *const nic = nic__device_nic(qp);
    nic_rnic_t *const rnic = nic__rnic(nic);
    const sim_time_t now_ps = nic__device_now_ps(nic);
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
