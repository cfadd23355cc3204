// SPDX-License-Identifier: Apache-2.0
// nic/transport/responder_internal.h - steps of the responder that reliable transports are made of.
#ifndef NIC_TRANSPORT_RESPONDER_INTERNAL_H
#define NIC_TRANSPORT_RESPONDER_INTERNAL_H

#include "nic/objects/objects.h"
#include "nic/objects/qp.h"
#include "nic/schedule/eligible.h"

static inline uint32_t nic__ack_aeth(uint32_t msn)
{
    return (uint32_t)(ROCE_SYNDROME_ACK | ROCE_CREDITS_NOT_USED) << 24 | (msn & ROCE_PSN_MASK);
}

typedef struct nic_answer {
    uint32_t psn;
    uint32_t aeth;
    sim_time_t sent_ps;        // when the answered packet was sent; NEVER: unknown
    const net_packet_t *cause; // the answered packet, if it wants feedback
} nic_answer_t;

// answer.c
// Builds an ACK or NAK with extra_bytes behind its AETH.
net_packet_t *nic__build_answer(nic_qp_t *qp, const nic_answer_t *answer, uint32_t extra_bytes);
// Sends an ACK or NAK, as soon as the device lets it.
static inline void nic__send_answer(nic_qp_t *qp, net_packet_t *packet)
{
    nic_t *const nic = qp->nic;
    if (SIM_LIKELY(nic->device->answer == NULL)) {
        nic__send(nic, packet);
    } else {
        nic->device->answer(qp, packet);
    }
}
// Acknowledges everything before expected_psn. cause: the packet it answers, if that wants
// feedback; else NULL.
void nic__acknowledge(nic_qp_t *qp, sim_time_t sent_ps, const net_packet_t *cause);
// Sends a NAK of expected_psn.
void nic__refuse(nic_qp_t *qp, uint32_t syndrome, sim_time_t sent_ps, const net_packet_t *cause);
// Sends a NAK after which nothing is accepted. The QP fails when the NAK has left (9.9.3).
void nic__refuse_for_good(nic_qp_t *qp, uint32_t code, sim_time_t sent_ps);
void nic__fail_when_answered(nic_qp_t *qp);

typedef enum nic_verdict {
    NIC_VERDICT_OK,
    NIC_VERDICT_NOT_READY,  // no receive posted
    NIC_VERDICT_INVALID,    // NAK invalid request
    NIC_VERDICT_ACCESS,     // NAK remote access error
    NIC_VERDICT_MEMORY,     // NAK remote operational error: a page that the NIC may not touch
    NIC_VERDICT_OPERATION,  // NAK remote operational error: a receive's own memory
    NIC_VERDICT_LOCAL_SIZE, // the message is longer than its receive
} nic_verdict_t;
// Refuses the request whose turn it is, for the reason that the verdict says.
void nic__reject(nic_t *nic, nic_qp_t *qp, nic_verdict_t verdict, sim_time_t sent_ps);

// execute.c
// Executes a request with the expected PSN that is no READ, and acknowledges it if it asks for
// that. Takes the packet.
void nic__execute_other(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Executes a request without acknowledging it. placed: its payload is in memory already.
void nic__execute_silently(nic_t *nic, nic_qp_t *qp, net_packet_t *packet, bool placed);
// Does so for the next request in order. Returns false if it is refused.
static inline bool nic__execute_next(nic_qp_t *qp, net_packet_t *packet, bool placed)
{
    const uint64_t expected_psn = qp->expected_psn;
    SIM_CHECK((packet->psn ^ (uint32_t)expected_psn) << 8 == 0);
    if ((qp->rx_flags & NIC_RX_STOPPED) != 0) {
        nic_transport_consume(qp, packet);
        return false;
    }
    nic__execute_silently(qp->nic, qp, packet, placed);
    return qp->expected_psn != expected_psn;
}

// responses.c
void nic__receive_read(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Executes any request with the expected PSN. Takes the packet.
static inline void nic__execute(nic_t *nic, nic_qp_t *qp, net_packet_t *packet)
{
    if (SIM_UNLIKELY((packet->opcode & ROCE_OPERATION_MASK) == ROCE_READ_REQUEST)) {
        nic__receive_read(nic, qp, packet);
    } else {
        nic__execute_other(nic, qp, packet);
    }
}
void nic__add_read(nic_qp_t *qp, const nic_read_t *read);
nic_read_t *nic__read_at(const nic_qp_t *qp, uint32_t index); // the index-th READ to be answered
// Returns the PSN behind the last one of its answer.
static inline uint64_t nic__read_end_psn(const nic_qp_t *qp, const nic_read_t *read)
{
    return read->next_psn + (read->atomic ? 1 : nic__packet_count(qp, read->left_bytes));
}
// Fills in the answer to a repeated READ request of an executed PSN. Returns false if it is not
// allowed, or repeats nothing.
bool nic__read_again(const nic_qp_t *qp, const net_packet_t *packet, uint64_t psn,
                     nic_read_t *read);
// Builds the next packet that answers a READ or an atomic. *last: nothing of it is left.
net_packet_t *nic__build_part(nic_qp_t *qp, nic_read_t *read, bool *last);
// Answers an executed READ again from psn on, and forgets all answers after it. Returns false, and
// does nothing, if it is not allowed or repeats nothing.
bool nic__repeat_read(nic_qp_t *qp, const net_packet_t *packet, uint64_t psn);
// Forgets the answers from psn on: the requester went back and will ask for them again.
void nic__forget_answers(nic_qp_t *qp, uint64_t psn);

// atomic.c
void nic__receive_atomic(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
// Answers an executed atomic again. Returns false also if its result is not remembered any more.
bool nic__repeat_atomic(nic_qp_t *qp, const net_packet_t *packet, uint64_t psn);
// Fills in the answer to a repeated atomic. Returns false if its result is not remembered any more.
bool nic__atomic_again(const nic_qp_t *qp, const net_packet_t *packet, uint64_t psn,
                       nic_read_t *read);

#endif // NIC_TRANSPORT_RESPONDER_INTERNAL_H
