// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn/gbn_internal.h - state and rules that both sides of go-back-N share.
#ifndef NIC_TRANSPORT_GBN_GBN_INTERNAL_H
#define NIC_TRANSPORT_GBN_GBN_INTERNAL_H

#include "nic/objects/objects.h"
#include "nic/transport/selective/early_packets.h"

#define NIC_GBN_NO_PSN UINT64_MAX

// Go-back-N state of one QP. recovering_psn counts only while una_psn equals it, and nak_psn only
// while expected_psn does: progress invalidates both without a write.
typedef struct nic_gbn {
    nic_transport_t transport; // first
    // The PSN that the sender went back to. Further signs of this loss come from packets that were
    // in flight then. NO_PSN: it did not go back, or a time-out has passed since.
    uint64_t recovering_psn;
    // The PSN that the receiver sent a NAK for: the sender knows of the gap. NO_PSN: none.
    uint64_t nak_psn;
    sim_time_t nak_ps; // when it last did
} nic_gbn_t;

// The state with nic.ooo: place. first_psn of `kept` is the expected PSN while it is not empty.
typedef struct nic_gbn_place {
    nic_gbn_t gbn; // first
    nic_early_t kept;
    // The requester's side: READ responses that came ahead, by PSN; NULL before the first one.
    net_packet_t **responses;
    uint32_t response_mask; // places - 1, at least nic.ooo-window places
    uint32_t response_count;
    uint64_t acked_psn; // all before it is acknowledged, except READs without their responses
} nic_gbn_place_t;

// The state that all queue pairs of one NIC share.
typedef struct nic_gbn_shared {
    uint64_t went_back; // sequence NAKs after which a sender went back
} nic_gbn_shared_t;

static inline nic_gbn_t *nic__gbn(nic_qp_t *qp)
{
    return (nic_gbn_t *)(void *)nic_transport_of(qp);
}

static inline const nic_gbn_t *nic__gbn_const(const nic_qp_t *qp)
{
    return (const nic_gbn_t *)(const void *)nic_transport_of_const(qp);
}

// Returns how many packets from the start of a message stay acknowledged when a loss interrupts it.
static inline uint32_t nic__packets_kept(const nic_t *nic, uint32_t mtu_bytes, uint32_t packets)
{
    const nic_config_t *const config = nic->host->config;
    if (config->retransmission == NIC_GO_BACK_N) {
        return packets;
    }
    const uint32_t chunk = (uint32_t)(config->chunk_bytes / mtu_bytes);
    if (chunk == 0) {
        return config->chunk_bytes == 0 ? 0 : packets; // a chunk within a packet is the packet
    }
    return packets / chunk * chunk;
}

static inline nic_gbn_place_t *nic__gbn_place(nic_qp_t *qp)
{
    return (nic_gbn_place_t *)(void *)nic_transport_of(qp);
}

void nic__gbn_acknowledged(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

void nic__gbn_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);
void nic__gbn_not_ready(nic_qp_t *qp);

#endif // NIC_TRANSPORT_GBN_GBN_INTERNAL_H
