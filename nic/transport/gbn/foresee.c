// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/foresee.c - what packets already on their way will do to programs.
//
// Two kinds of arrivals are known, at ideal NICs and with go-back-N: a SEND of one packet to a
// receive of one place, and a WRITE of one packet. Any other arrival and any timer end the list.
#include "nic/foresee.h"

#include "net/packets.h"
#include "nic/objects/numbers.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/objects/queues.h"
#include "nic/objects/region.h"
#include "nic/objects/wqe.h"
#include "nic/transport.h"
#include "nic/transport/entry.h"
#include "nic/transport/operation_internal.h"

// Returns true if the NIC gives packets to the protocol as they arrive.
static bool is_simple(const nic_t *nic)
{
    return nic->loop == NULL && !nic->detailed && !nic->draws && !nic->shifts && !nic->gated &&
           !nic->refuses && nic->planes == NULL && nic->ethernet == NULL;
}

// Returns true if the queue pair executes the packet as the request `ahead` from the next one on.
static bool takes(const nic_qp_t *qp, const net_packet_t *packet, uint32_t ahead)
{
    return qp->transport == ROCE_RC && (packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_RC &&
           qp->ops == &nic_transport_gbn &&
           (qp->state == NIC_QPS_RTS || qp->state == NIC_QPS_RTR) &&
           (qp->flags & NIC_QP_DEAD) == 0 && (qp->rx_flags & NIC_RX_STOPPED) == 0 &&
           qp->rx_kind == NIC_RX_NONE && !packet->sprayed &&
           packet->source == qp->path.destination &&
           nic__psn_distance(packet->psn, qp->expected_psn + ahead) == 0 &&
           packet->payload_bytes <= qp->rx_mtu_bytes &&
           (packet->payload_bytes == 0 || packet->contents);
}

// Foresees the completion of the receive that is `ahead` behind the next one.
static bool foresee_send(const nic_qp_t *qp, const net_packet_t *packet, uint32_t operation,
                         uint32_t ahead, nic_foreseen_t *foreseen)
{
    if (qp->srq != NULL || qp->rq_posted - qp->rq_done <= ahead) {
        return false;
    }
    const nic_recv_wqe_t *const receive = &qp->rq[(qp->rq_done + ahead) & (qp->rq_capacity - 1)];
    const nic_place_t place = nic__receive_place(receive);
    foreseen->cq = qp->recv_cq;
    foreseen->address = place.address;
    foreseen->wc.wr_id = receive->wr_id;
    foreseen->wc.opcode = NIC_WC_RECV;
    foreseen->wc.imm_data = (operation & HAS_IMM) != 0 ? net_packet_aside(packet)->immediate : 0;
    foreseen->wc.wc_flags = nic__wc_flags(operation | (packet->solicited ? SOLICITED : 0u));
    return place.list == NULL && packet->payload_bytes <= receive->length &&
           nic__place_ok(nic__receive_pd(qp), &place, receive->length, NIC_ACCESS_LOCAL_WRITE);
}

static bool foresee_write(const nic_qp_t *qp, const net_packet_t *packet, nic_foreseen_t *foreseen)
{
    const net_packet_aside_t *const aside = net_packet_aside(packet);
    const nic_mr_t *const mr = qp->nic->shifts ? nic__region(qp->nic, aside->reth.rkey) : NULL;
    foreseen->address = aside->reth.address + (mr == NULL ? 0 : mr->shift);
    return aside->reth.length == packet->payload_bytes &&
           (qp->access & NIC_ACCESS_REMOTE_WRITE) != 0 &&
           nic__access_ok(qp->pd, aside->reth.rkey, foreseen->address, aside->reth.length,
                          NIC_ACCESS_REMOTE_WRITE);
}

// The queue pair of the latest arrival, and how many of those before are its requests.
typedef struct latest {
    const nic_t *nic;
    const nic_qp_t *qp;
    uint32_t ahead;
    uint32_t sends; // of them
} latest_t;

// Finds the queue pair of a packet behind those that are known. Most packets are for the same one.
static void find(latest_t *latest, const nic_t *nic, uint32_t qp_num, const nic_foreseen_t *before,
                 uint32_t count)
{
    if (latest->qp != NULL && latest->nic == nic && latest->qp->number == qp_num) {
        latest->ahead++;
        latest->sends += before[count - 1].cq != NULL;
        return;
    }
    *latest = (latest_t){.nic = nic, .qp = nic__find_qp(nic, qp_num)};
    for (uint32_t i = 0; i < count; i++) {
        const bool same = before[i].wc.qp_num == qp_num;
        latest->ahead += same;
        latest->sends += same && before[i].cq != NULL;
    }
}

// Foresees what an arrival does, after those before it. Returns false if that is not known.
static bool foresee(latest_t *latest, const nic_t *nic, const net_packet_t *packet,
                    const nic_foreseen_t *before, uint32_t count, nic_foreseen_t *foreseen)
{
    if (!is_simple(nic) || packet->kind != NET_PACKET_ROCE) {
        return false;
    }
    find(latest, nic, packet->destination_qp, before, count);
    const nic_qp_t *const qp = latest->qp;
    if (qp == NULL || !takes(qp, packet, latest->ahead)) {
        return false;
    }
    const uint32_t operation = nic__operations[packet->opcode & ROCE_OPERATION_MASK];
    *foreseen = (nic_foreseen_t){
        .wc = {.byte_len = packet->payload_bytes, .qp_num = qp->number, .status = NIC_WC_SUCCESS},
        .payload = net_packet_contents(packet),
    };
    if ((operation & ~(uint32_t)HAS_IMM) == (IS_SEND | IS_FIRST | IS_LAST)) {
        const nic_cq_t *const cq = qp->recv_cq;
        return !cq->overflowed && cq->capacity - cq->count > count &&
               foresee_send(qp, packet, operation, latest->sends, foreseen);
    }
    return operation == (IS_WRITE | IS_FIRST | IS_LAST) && foresee_write(qp, packet, foreseen);
}

bool nic_qp_sends_nothing(const nic_qp_t *qp)
{
    return qp->sq_done == qp->sq_posted && qp->read_count == 0;
}

uint32_t nic_foresee(net_node_t *node, nic_foreseen_t *foreseen, uint32_t count,
                     sim_time_t *until_ps)
{
    const nic_host_t *const host = nic__host_of(node);
    const sim_node_t *const sim = &node->sim;
    const sim_mail_t *mail = sim->mail;
    latest_t latest = {0};
    uint32_t found = 0;
    *until_ps = SIM_MIN(sim->run_end_ps, sim->timer_ps);
    if (!sim->alone || sim->watched || host->steps != NULL) {
        return 0;
    }
    for (;; mail++) {
        const sim_time_t time_ps = sim->window_start_ps + (mail->key >> SIM_PORT_BITS);
        const uint32_t port = sim_mail_port(mail);
        if (time_ps >= *until_ps) {
            return found;
        }
        if (found == count || port >= host->nic_count ||
            !foresee(&latest, &host->nics[port], mail->message, foreseen, found,
                     &foreseen[found])) {
            *until_ps = time_ps;
            return found;
        }
        foreseen[found++].time_ps = time_ps;
    }
}
