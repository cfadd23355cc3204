// SPDX-License-Identifier: Apache-2.0
// nic/fast_forward/noted.c - notes of NICs for periods of whole calls, in which messages begin and
// end.
//
// Immediate values and numbers of messages grow in each period; a program compares them with
// numbers of its own, which grow likewise.
#include "nic/fast_forward/noted.h"

#include "nic/objects/wqe.h"

#define MSN_MASK UINT64_C(0xffffff) // in an AETH

static void note_request(sim_notes_t *notes, const nic_qp_t *qp, uint32_t number)
{
    nic_wqe_t *const wqe = nic__wqe(qp, number);
    const bool begun = number != qp->sq_send || qp->send_offset > 0;
    sim_note(notes, wqe->wr_id);
    sim_note(notes, wqe->local_address);
    sim_note(notes, wqe->remote_address);
    sim_note(notes, (uint64_t)wqe->length << 32 | wqe->lkey);
    sim_note(notes, (uint64_t)wqe->rkey << 32 | (uint32_t)wqe->opcode << 8 | wqe->flags);
    sim_note_step(notes, &wqe->immediate, sizeof(wqe->immediate), UINT32_MAX);
    if (begun && (int32_t)(qp->sq_send - number) >= 0) {
        sim_note(notes, wqe->end_psn - (uint32_t)qp->next_psn);
        sim_note_step(notes, &wqe->end_psn, sizeof(wqe->end_psn), UINT32_MAX);
    }
}

const char *nic__note_qp(sim_notes_t *notes, const nic_qp_t *qp)
{
    if (qp->sq_more != NULL) {
        return "inline data";
    }
    sim_note(notes, qp->sq_send - qp->sq_done);
    for (uint32_t number = qp->sq_done; number != qp->sq_posted; number++) {
        note_request(notes, qp, number);
    }
    sim_note_ring(notes, (sim_noted_ring_t){.base = (char *)qp->sq,
                                            .bytes = sizeof(*qp->sq),
                                            .capacity = nic__sq_capacity(qp),
                                            .count = qp->sq_posted - qp->sq_done,
                                            .first = &qp->sq_done});
    for (uint32_t number = qp->rq_done; number != qp->rq_posted; number++) {
        const nic_recv_wqe_t *const receive = &qp->rq[number & (qp->rq_capacity - 1)];
        if (receive->list != NULL) {
            return "receives in several places";
        }
        sim_note(notes, receive->wr_id);
        sim_note(notes, receive->address);
        sim_note(notes, (uint64_t)receive->length << 32 | receive->lkey);
    }
    sim_note_ring(notes, (sim_noted_ring_t){.base = (char *)qp->rq,
                                            .bytes = sizeof(*qp->rq),
                                            .capacity = qp->rq_capacity,
                                            .count = qp->rq_posted - qp->rq_done,
                                            .first = &qp->rq_done});
    return NULL;
}

bool nic__may_note(const net_packet_t *packet)
{
    return packet->opcode <= ROCE_WRITE_ONLY_IMM ||
           (packet->opcode == ROCE_ACKNOWLEDGE && packet->aeth >> 29 == 0);
}

void nic__note_packet(sim_notes_t *notes, net_packet_t *packet, net_packet_t *copy)
{
    net_packet_aside_t *const aside = net_packet_aside(packet);
    if (packet->opcode == ROCE_ACKNOWLEDGE) {
        copy->aeth &= ~(uint32_t)MSN_MASK;
        sim_note_step(notes, &packet->aeth, sizeof(packet->aeth), MSN_MASK);
        return;
    }
    copy->aeth = 0; // it has none
    const bool has_reth = packet->opcode == ROCE_WRITE_FIRST || packet->opcode == ROCE_WRITE_ONLY ||
                          packet->opcode == ROCE_WRITE_ONLY_IMM;
    if (has_reth) {
        sim_note(notes, aside->reth.address);
        sim_note(notes, (uint64_t)aside->reth.rkey << 32 | aside->reth.length);
    }
    if (packet->opcode == ROCE_SEND_LAST_IMM || packet->opcode == ROCE_SEND_ONLY_IMM ||
        packet->opcode == ROCE_WRITE_LAST_IMM || packet->opcode == ROCE_WRITE_ONLY_IMM) {
        sim_note_step(notes, &aside->immediate, sizeof(aside->immediate), UINT32_MAX);
    }
}
