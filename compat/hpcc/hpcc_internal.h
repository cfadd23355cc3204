// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/hpcc_internal.h - what the rules share about one network.
#ifndef COMPAT_HPCC_HPCC_INTERNAL_H
#define COMPAT_HPCC_HPCC_INTERNAL_H

#include "compat/hpcc/draws.h"
#include "compat/hpcc/rules.h"
#include "net/switch_model.h"
#include "nic/congestion.h"

struct compat_pint_hpcc;

typedef struct compat_hpcc {
    net_t *net;
    compat_hpcc_config_t config;
    compat_draws_t *draws; // NULL: every user of random numbers has a stream (kernel/random.h)
    struct compat_losses *losses;  // NULL: no link loses any
    struct compat_pint_hpcc *pint; // NULL: nobody wants it
    uint32_t *address_words;       // of balance.c, by interface; NULL: not wanted yet
} compat_hpcc_t;

compat_hpcc_t *compat__hpcc_of(const net_t *net);

extern const net_buffer_ops_t compat__hpcc_buffer;   // switch.c
extern const net_balance_ops_t compat__hpcc_balance; // balance.c
extern const net_routes_ops_t compat__hpcc_routes;   // routes.c
extern const net_timing_ops_t compat__hpcc_timing;   // timing.c
extern const net_framing_t compat__hpcc_framing;
extern const nic_path_rtt_ops_t compat__hpcc_path_rtt;

// switch.c: the port's alpha, like net_switch_t.pfc_alpha.
uint64_t compat__hpcc_alpha(const net_switch_t *sw, uint32_t port);

// A packet that goes against its flow: that simulator hashes its ports the other way round.
static inline bool compat__is_answer(const net_packet_t *packet)
{
    const uint32_t operation = packet->opcode & ROCE_OPERATION_MASK;
    return packet->opcode == ROCE_CNP || operation == ROCE_ACKNOWLEDGE ||
           (operation >= ROCE_READ_RESPONSE_FIRST && operation <= ROCE_READ_RESPONSE_ONLY);
}

// balance.c
uint32_t compat__hpcc_hash(const net_switch_t *sw, const net_packet_t *packet);

// losses.c: of links, once there are ports.
void compat__losses_prepare(compat_hpcc_t *rules);
void compat__losses_free(compat_hpcc_t *rules);

// decisions.c: makes draws, if they are wanted.
void compat__decisions_prepare(compat_hpcc_t *rules);
void compat__decisions_free(compat_hpcc_t *rules);
// RED, by the numbers of draws.
void compat__mark_drawn(net_switch_t *sw, net_port_t *egress, net_packet_t *packet);
// A pause takes a number, for its IP header.
void compat__identify_pause(net_switch_t *sw);

// switch.c: of a switch with its buffer.
compat_hpcc_t *compat__switch_rules(const net_switch_t *sw);

#endif // COMPAT_HPCC_HPCC_INTERNAL_H
