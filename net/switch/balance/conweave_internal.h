// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/conweave_internal.h - state and header of ConWeave, which its two sides share.
#ifndef NET_SWITCH_BALANCE_CONWEAVE_INTERNAL_H
#define NET_SWITCH_BALANCE_CONWEAVE_INTERNAL_H

#include "net/balance_gauges.h"
#include "net/switch/balance/balance_internal.h"

typedef enum net_conweave_kind {
    NET_CONWEAVE_PLAIN,   // an ACK, a CNP: forwarded by hash
    NET_CONWEAVE_DATA,    //
    NET_CONWEAVE_REQUEST, // data that asks for a reply
    NET_CONWEAVE_REPLY,   // the rest are control packets of the destination's leaf
    NET_CONWEAVE_CLEAR,
    NET_CONWEAVE_NOTIFY,
} net_conweave_kind_t;

// The header's fields. Times are in units of 2^NET_CONWEAVE_TIME_SHIFT ps, modulo 2^16.
typedef struct net_conweave_header {
    net_conweave_kind_t kind;
    uint8_t epoch; // 2 bits
    bool rerouted;
    bool tail;
    uint8_t path;    // number of the path, reported by NOTIFY
    uint8_t onward;  // number of the path among those of the next switch
    uint16_t sent;   // when the packet left the source's leaf
    uint16_t tailed; // rerouted: when the TAIL left
} net_conweave_header_t;
#define NET_CONWEAVE_TIME_SHIFT 15u // 32.768 ns

static inline uint16_t net__conweave_stamp(sim_time_t time_ps)
{
    return (uint16_t)(time_ps >> NET_CONWEAVE_TIME_SHIFT);
}

static inline void net__conweave_put(const net_packet_t *packet,
                                     const net_conweave_header_t *header)
{
    net_packet_aside(packet)->overlay =
        (uint64_t)header->path << 56 | (uint64_t)header->kind << 53 |
        (uint64_t)header->epoch << 51 | (uint64_t)header->rerouted << 50 |
        (uint64_t)header->tail << 49 | (uint64_t)header->sent << 33 |
        (uint64_t)header->tailed << 17 | (uint64_t)header->onward << 9;
}

static inline net_conweave_header_t net__conweave_get(const net_packet_t *packet)
{
    const uint64_t word = net_packet_aside(packet)->overlay;
    return (net_conweave_header_t){
        .path = (uint8_t)(word >> 56),
        .kind = (net_conweave_kind_t)(word >> 53 & 7),
        .epoch = (uint8_t)(word >> 51 & 3),
        .rerouted = (word >> 50 & 1) != 0,
        .tail = (word >> 49 & 1) != 0,
        .sent = (uint16_t)(word >> 33),
        .tailed = (uint16_t)(word >> 17),
        .onward = (uint8_t)(word >> 9),
    };
}

// Single fields, for switches that need no more.
static inline net_conweave_kind_t net__conweave_kind(const net_packet_t *packet)
{
    return (net_conweave_kind_t)(net_packet_aside(packet)->overlay >> 53 & 7);
}

static inline uint8_t net__conweave_onward(const net_packet_t *packet)
{
    return (uint8_t)(net_packet_aside(packet)->overlay >> 9);
}

static inline void net__conweave_set_onward(const net_packet_t *packet, uint8_t onward)
{
    uint64_t *const word = &net_packet_aside(packet)->overlay;
    *word = (*word & ~(UINT64_C(0xff) << 9)) | (uint64_t)onward << 9;
}

struct net_conweave_hold;

typedef struct net_conweave {
    sim_random_t random;
    net_flows_t sent;     // flows whose source is here
    net_flows_t received; // flows whose destination is here
    uint32_t **paths;     // by leaf: number of paths by port of the entry; NULL: not counted yet
    sim_time_t **busy;    // by leaf, then path: until when it is avoided
    const void *routes;   // net_switch_t.hop_pages for which `paths` holds
    struct net_conweave_hold *holds;
    net_conweave_header_t plan; // of the packet being routed at its source
    bool planned;
    uint64_t reroutes; // so far
} net_conweave_t;

// conweave_order.c: takes a data packet at its destination's leaf. Returns false if it was kept.
bool net__conweave_arrives(net_switch_t *sw, const net_port_t *ingress, net_packet_t *packet);
void net__conweave_gauges(const net_switch_t *sw, net_balance_gauges_t *gauges);
void net__conweave_holds_free(net_conweave_t *state);

#endif // NET_SWITCH_BALANCE_CONWEAVE_INTERNAL_H
