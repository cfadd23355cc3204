// SPDX-License-Identifier: Apache-2.0
// nic/transport/gbn_internal.h - what go-back-N's two sides agree on.
#ifndef NIC_TRANSPORT_GBN_INTERNAL_H
#define NIC_TRANSPORT_GBN_INTERNAL_H

#include "nic/nic_internal.h"

// How many of the packets at the start of a message stay done when a loss interrupts it there.
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

// gbn_receive.c
void nic__gbn_request(nic_t *nic, nic_qp_t *qp, net_packet_t *packet);

#endif // NIC_TRANSPORT_GBN_INTERNAL_H
