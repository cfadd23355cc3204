// SPDX-License-Identifier: Apache-2.0
// nic/transport/atomic.c - compare-and-swap and fetch-and-add over reliable connections.
//
// An atomic is one request packet and one answer packet with the original value. It counts as a
// READ towards the limits of both ends, and is answered in order with READs. The responder
// remembers as many results as it accepts atomics at a time, and answers a repeated request from
// them (IBA vol. 1, 9.4.5, 9.7.5.1.3). Memory changes at once when the request is executed.
#include "nic/iommu.h"
#include "nic/transport/responder_internal.h"

#include "nic/host/packets.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/region.h"

// -- responder

static nic_verdict_t check_atomic(const nic_qp_t *qp, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    if (qp->rx_kind != NIC_RX_NONE || qp->read_count >= qp->reads_accepted_max ||
        (aside->atomic.address & 7) != 0) {
        return NIC_VERDICT_INVALID;
    }
    const bool allowed = (qp->access & NIC_ACCESS_REMOTE_ATOMIC) != 0 &&
                         nic__access_ok(qp->pd, aside->atomic.rkey, aside->atomic.address, 8,
                                        NIC_ACCESS_REMOTE_ATOMIC);
    if (SIM_UNLIKELY(qp->nic->refuses) && allowed &&
        nic_iommu_refuses(qp->nic, aside->atomic.address, 8)) {
        return NIC_VERDICT_MEMORY;
    }
    return allowed ? NIC_VERDICT_OK : NIC_VERDICT_ACCESS;
}

static uint64_t execute(nic_t *nic, const net_packet_t *packet)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    nic_memory_t *const memory = &nic->host->memory;
    const uint64_t address = aside->atomic.address;
    const uint64_t original = nic_memory_read64(memory, address);
    if (packet->opcode == ROCE_FETCH_ADD) {
        nic_memory_write64(memory, address, original + aside->atomic.swap_add);
    } else if (original == aside->atomic.compare) {
        nic_memory_write64(memory, address, aside->atomic.swap_add);
    }
    return original;
}

static void remember(nic_qp_t *qp, uint64_t psn, uint64_t original)
{
    if (qp->atomics == NULL) {
        qp->atomics = sim_alloc_array(qp->reads_accepted_max, sizeof(*qp->atomics));
        for (uint32_t i = 0; i < qp->reads_accepted_max; i++) {
            qp->atomics[i].psn = UINT64_MAX;
        }
    }
    SIM_ASSERT(qp->atomics_next < qp->reads_accepted_max);
    qp->atomics[qp->atomics_next] = (nic_atomic_done_t){psn, original};
    qp->atomics_next = (uint8_t)((qp->atomics_next + 1u) % qp->reads_accepted_max);
}

void nic__receive_atomic(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    const nic_verdict_t verdict = check_atomic(qp, packet);
    const sim_time_t sent_ps = packet->sent_ps;
    const uint64_t address = net_packet_aside(packet)->atomic.address;
    const uint32_t rkey = net_packet_aside(packet)->atomic.rkey;
    const uint64_t original = verdict == NIC_VERDICT_OK ? execute(nic, packet) : 0;
    nic__consume(nic, packet);
    if (verdict != NIC_VERDICT_OK) {
        nic__reject(nic, qp, verdict, sent_ps);
        return;
    }
    remember(qp, qp->expected_psn, original);
    const nic_read_t read = {
        .next_psn = qp->expected_psn,
        .address = address,
        .msn = ++qp->msn,
        .atomic = true,
        .original = original,
    };
    qp->expected_psn++;
    sim_progress(nic__node(nic));
    NIC_DEVICE(nic, atomic_done, nic, rkey);
    nic__add_read(qp, &read);
}

bool nic__atomic_again(const nic_qp_t *qp, const net_packet_t *packet, uint64_t psn,
                       nic_read_t *read)
{
    for (uint32_t i = 0; qp->atomics != NULL && i < qp->reads_accepted_max; i++) {
        if (qp->atomics[i].psn == psn) {
            *read = (nic_read_t){
                .next_psn = psn,
                .address = net_packet_aside(packet)->atomic.address,
                .msn = qp->msn,
                .atomic = true,
                .original = qp->atomics[i].original,
                .retransmission = true,
            };
            return true;
        }
    }
    return false;
}

bool nic__repeat_atomic(nic_qp_t *qp, const net_packet_t *packet, uint64_t psn)
{
    nic_read_t read;
    if (!nic__atomic_again(qp, packet, psn, &read)) {
        return false;
    }
    nic__forget_answers(qp, psn);
    if (qp->read_count < qp->reads_accepted_max) {
        nic__add_read(qp, &read);
    }
    return true;
}
