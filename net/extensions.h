// SPDX-License-Identifier: Apache-2.0
// net/extensions.h - further hooks for other simulators' rules.
#ifndef NET_EXTENSIONS_H
#define NET_EXTENSIONS_H

#include "net/models.h"
#include "net/telemetry.h"

SIM_C_BEGIN

// An object that lives as long as the network, unique by name. Added before net_build.
typedef struct net_extension {
    const char *name;
    void *state;
    void (*before_build)(net_t *net, void *state); // nodes and links exist; NULL: not called
    void (*with_ports)(net_t *net, void *state);   // ports exist, routes do not; NULL: not called
    void (*destroy)(void *state);                  // NULL: not called
} net_extension_t;
void net_extend(net_t *net, const net_extension_t *extension);
void *net_extension_state(const net_t *net, const char *name); // NULL: no such extension

// Deviations of links from the standard.
typedef struct net_link_rules {
    bool pauses_last; // a pause lasts until a resume, whatever its quanta
    bool down_first;  // a link goes down before a packet that arrives at the same instant
} net_link_rules_t;
void net_set_link_rules(net_t *net, const net_link_rules_t *rules); // before net_build

// Replaces the computation of PINT. Called by the node that sends.
typedef struct net_pint_ops {
    // Called after net_pint_init. May change the values, number and size of digests.
    void (*init)(void *ctx, struct net_pint *pint, sim_ratio_t base, sim_time_t rtt_ps);
    double (*per_byte)(uint64_t rate_bps); // returns net_meter_t.per_byte
    // Called when a frame starts. asks: it is a data packet that wants a digest.
    void (*frame)(void *ctx, net_meter_t *meter, sim_time_t now_ps, net_packet_t *packet,
                  uint64_t queue_bytes, bool asks);
    void *ctx;
} net_pint_ops_t;
void net_set_pint(net_t *net, const net_pint_ops_t *ops); // in before_build

// A common source of random numbers for all decisions of the network and of algorithms, in a run
// whose events come one by one. NULL: each user of random numbers has a stream of its own.
typedef struct net_dice {
    uint32_t (*roll)(void *ctx); // returns a number in [0, 2^31)
    void *ctx;
} net_dice_t;
void net_set_dice(net_t *net, const net_dice_t *dice); // in before_build; copied
const net_dice_t *net_dice_of(const net_t *net);

SIM_C_END

#endif // NET_EXTENSIONS_H
