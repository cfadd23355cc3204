// SPDX-License-Identifier: Apache-2.0
// nic/transport/entry.h - the protocol's steps as the rest of the NIC calls them.
//
// Packet sequence numbers are 64 bits inside and their low 24 bits on the wire. Ranges are half
// open: una_psn is the first PSN not acknowledged, next_psn the next one to be sent.
#ifndef NIC_TRANSPORT_ENTRY_H
#define NIC_TRANSPORT_ENTRY_H

#include "kernel/buffer.h"
#include "nic/objects/objects.h"
#include "nic/objects/qp.h"

// Returns how far a wire PSN is from a 64-bit one, within half of the 24-bit space.
static inline int64_t nic__psn_distance(uint32_t wire_psn, uint64_t psn)
{
    return (int32_t)((wire_psn - (uint32_t)psn) << 8) >> 8;
}

// Returns the 64-bit PSN nearest to `near_psn` that a packet's 24 bits stand for.
static inline uint64_t nic__psn(uint32_t wire_psn, uint64_t near_psn)
{
    return near_psn + (uint64_t)nic__psn_distance(wire_psn, near_psn);
}

// Returns how far behind a queue pair's begin its transport's state lies, behind the algorithm's.
static inline size_t nic__state_offset(const nic_t *nic)
{
    const size_t line = alignof(max_align_t);
    return (NIC_QP_BYTES + nic->cc_ops->state_bytes + line - 1) / line * line;
}

// Each returns the transport's state of a queue pair.
static inline void *nic__state(nic_qp_t *qp)
{
    return (char *)qp + qp->nic->state_at;
}
static inline const void *nic__state_const(const nic_qp_t *qp)
{
    return (const char *)qp + qp->nic->state_at;
}

// Returns the next packet of the QP's requests; NULL: its work request failed.
static inline net_packet_t *nic__build_request(nic_t *nic, nic_qp_t *qp)
{
    return qp->ops->next_packet(nic, qp);
}

// -- transports.c

size_t nic__transport_qp_bytes(const nic_t *nic, const nic_transport_ops_t *ops);
void nic__transport_open(nic_qp_t *qp);
// Lets the transport end its work for a queue pair that does nothing any more.
static inline void nic__transport_close(nic_qp_t *qp)
{
    if (qp->transport_open && qp->ops->close != NULL) {
        qp->ops->close(qp);
    }
    qp->transport_open = false;
}
void nic__transports_free(nic_t *nic);
// Carry the counters of a NIC's transports to rank 0 (nic/carry.h).
bool nic__transports_can_carry(const nic_t *nic);
void nic__transports_carry(nic_t *nic, sim_carry_t *carry);
void nic__carried_free(nic_t *nic); // carry.c: what another rank reported
// Returns the round trip of the idle path: propagation, a full frame there and an ACK back on each
// link.
sim_time_t nic__idle_rtt_ps(const nic_qp_t *qp);

// -- unreliable.c

extern const nic_transport_ops_t nic__transport_uc;
extern const nic_transport_ops_t nic__transport_ud;
// Takes a datagram of UD or UUD: completes a receive, or drops it.
void nic__receive_datagram(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

// -- uec/uud.c

extern const nic_transport_ops_t nic__transport_uud;

// -- acknowledge.c

void nic__retry_fired(sim_node_t *node, sim_timer_t *timer); // a sim_timer_fn
// Stops the timers if nothing is left to do once programs were informed.
void nic__rest(nic_qp_t *qp);
// Stops them now if nothing is left to do.
void nic__rest_now(nic_qp_t *qp);

// Stops the send queue at the WQE that is being sent. Its error waits until the requests before it
// are answered, since completions keep the order of the queue.
void nic__stop_send_queue(nic_qp_t *qp, nic_wc_status_t status);

// -- revoke.c

// Lets the messages fail that use the region of a key, which is about to be deregistered.
void nic__revoke(nic_t *nic, uint32_t key);

// -- transmit.c

// Sends what is next, on a port that is free.
void nic__transmit(nic_t *nic);
// Starts packets on all free ports of a NIC that has one in each of several planes. The frame of
// port `woken` ends now; NULL: none does.
void nic__transmit_planes(nic_t *nic, const net_port_t *woken);
// Sends one packet of a queue pair through the loopback, which is free since free_ps.
void nic__transmit_looped(nic_t *nic, nic_qp_t *qp, sim_time_t free_ps);

// -- receive.c: both take the packet

void nic__receive(nic_t *nic, net_packet_t *packet);
// Turns the address by which a request's sender names a byte of a region into the host's own.
void nic__shift_address(const nic_t *nic, net_packet_t *packet);
// Receives a packet whose QP is known.
void nic__receive_for(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

// -- responses.c, answer.c

// Returns the next response to a READ or atomic.
net_packet_t *nic__build_response(nic_t *nic, nic_qp_t *qp);
// Continues after the last response of all has left.
void nic__responses_sent(nic_qp_t *qp);
// Returns true while an ACK of the QP waits for the port.
bool nic__ack_still_queued(const nic_qp_t *qp);

extern const nic_transport_ops_t nic__transport_gbn_place; // go-back-n with nic.ooo: place

#endif // NIC_TRANSPORT_ENTRY_H
