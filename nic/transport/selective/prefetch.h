// SPDX-License-Identifier: Apache-2.0
// nic/transport/selective/prefetch.h - prefetches the cold parts of the packets that arrive next,
// for transports each of whose packets reads its own. Results do not depend on it.
#ifndef NIC_TRANSPORT_SELECTIVE_PREFETCH_H
#define NIC_TRANSPORT_SELECTIVE_PREFETCH_H

#include "kernel/event.h"
#include "net/packet.h"

#define NIC_EXPECTED 8 // arrivals that are prefetched ahead

// The arrivals of one node in the present window that have been prefetched. Begins with zeros.
typedef struct nic_prefetch {
    const sim_mail_t *next;
    sim_time_t window_ps; // start of that window
} nic_prefetch_t;

// Prefetches for the arrivals that follow the one that `node` handles now.
static inline void nic__prefetch(nic_prefetch_t *expect, const sim_node_t *node)
{
    if (expect->window_ps != node->window_start_ps || expect->next < node->mail) {
        expect->window_ps = node->window_start_ps;
        expect->next = node->mail;
    }
    while (expect->next < node->mail + NIC_EXPECTED && expect->next->key != UINT64_MAX) {
        __builtin_prefetch(net_packet_aside(expect->next->message));
        expect->next++;
    }
}

#endif // NIC_TRANSPORT_SELECTIVE_PREFETCH_H
