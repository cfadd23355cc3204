// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/hpcc_internal.h - state and functions that the rules share for one network.
#ifndef COMPAT_HPCC_HPCC_INTERNAL_H
#define COMPAT_HPCC_HPCC_INTERNAL_H

#include "compat/hpcc/draws.h"
#include "compat/hpcc/rules.h"
#include "net/extensions.h"
#include "net/switch.h"
#include "net/switch_model.h"
#include "nic/congestion.h"

struct compat_pint_hpcc;

typedef struct compat_hpcc {
    net_t *net;
    compat_hpcc_config_t config;
    compat_draws_t *draws; // NULL: each user of random numbers has a stream (kernel/random.h)
    struct compat_losses *losses;  // NULL: no link loses frames
    struct compat_pint_hpcc *pint; // NULL: PINT is not used
    uint32_t *address_words;       // used by balance.c, by interface; NULL: not made yet
} compat_hpcc_t;

#define COMPAT_HPCC_EXTENSION "hpcc"
static inline compat_hpcc_t *compat__hpcc_of(const net_t *net)
{
    return (compat_hpcc_t *)net_extension_state(net, COMPAT_HPCC_EXTENSION);
}

// The fields of a receiving port that each packet needs, four ports to a cache line.
typedef struct compat_switch_row {
    net_received_t (*received)[NET_RECEIVED_PORTS]; // net_port_t.received
    uint64_t alpha;                                 // in units of 2^-NET_ALPHA_BITS
} compat_switch_row_t;

// State of a switch with the buffer "hpcc" (net_switch_t.buffer_state).
typedef struct compat_switch_state {
    compat_hpcc_t *rules;
    compat_switch_row_t *rows; // by port
    uint64_t reserved_bytes;
    uint64_t free_min;     // free shared buffer above which no threshold is 0; UINT64_MAX: not red
    bool red;              // net_switch_marks_red
    bool losses;           // some links lose arriving frames
    bool lossy;            // without PFC: egress queues have thresholds, too
    uint64_t egress_limit; // bytes that all egress queues share
    uint64_t egress_bytes; // of packets in egress queues above their reserves; only if lossy
} compat_switch_state_t;

static inline compat_switch_state_t *compat__switch_state(const net_switch_t *sw)
{
    return sw->buffer_state;
}

extern const net_buffer_ops_t compat__hpcc_buffer;   // switch.c
extern const net_balance_ops_t compat__hpcc_balance; // balance.c
extern const net_routes_ops_t compat__hpcc_routes;   // routes.c
extern const net_timing_ops_t compat__hpcc_timing;   // timing.c
extern const net_framing_t compat__hpcc_framing;
extern const nic_path_rtt_ops_t compat__hpcc_path_rtt;

// Returns whether a packet travels against its flow: the HPCC simulator swaps its ports then.
static inline bool compat__is_answer(const net_packet_t *packet)
{
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    return packet->opcode == ROCE_CNP || operation == ROCE_ACKNOWLEDGE ||
           (operation >= ROCE_READ_RESPONSE_FIRST && operation <= ROCE_READ_RESPONSE_ONLY);
}

// balance.c: returns the hash that the load balancer uses for a packet.
uint32_t compat__hpcc_hash(const net_switch_t *sw, const net_packet_t *packet);

// decisions.c: creates rules->draws if they are wanted.
void compat__decisions_prepare(compat_hpcc_t *rules);
void compat__decisions_free(compat_hpcc_t *rules);
// Marks a packet by RED with the numbers of draws.
void compat__mark_drawn(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// Takes the number that a pause frame uses for its IP header.
void compat__identify_pause(net_switch_t *sw);

#endif // COMPAT_HPCC_HPCC_INTERNAL_H
