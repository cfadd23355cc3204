// SPDX-License-Identifier: Apache-2.0
// net/loss/state.h - the state of one direction of a link that loses, reorders or doubles.
#ifndef NET_LOSS_STATE_H
#define NET_LOSS_STATE_H

#include "net/loss.h"
#include "net/port.h"

// Of mixes, in percent.
typedef struct net_loss_mix {
    uint32_t burst;
    uint32_t dense;
    uint32_t single;
} net_loss_mix_t;

typedef struct net_loss_held {
    net_packet_t *packet;
    sim_time_t due_ps;
} net_loss_held_t;

struct net_loss {
    sim_random_t random; // when, what, how long
    sim_random_t reorder;
    sim_random_t duplicate;
    sim_ratio_t start;  // of an event, per frame; Gilbert-Elliott: of the bad state
    sim_ratio_t leave;  // the bad state
    sim_ratio_t behave; // lost in the bad state
    uint32_t model;
    uint32_t burst;
    bool bad;           // Gilbert-Elliott: the state
    uint32_t left;      // frames of the event still to come
    uint32_t lose_left; // of them, so many are lost
    uint64_t position;  // data packets that passed
    const net_loss_trace_t *trace;
    struct net_loss_replay *replay; // of a trace by packets
    size_t next;                    // in the trace
    net_loss_counters_t counters;
    net_port_t *port;
    sim_timer_t timer; // the first of held is due
    net_loss_held_t *held;
    size_t held_first;
    size_t held_end;
    size_t held_capacity;
};

struct net_loss_trace {
    uint64_t *positions; // ascending
    uint32_t *times;     // parallel; NULL: positions are those of arrivals
    size_t count;
    size_t capacity;
    uint64_t complete; // the list knows of packets up to this one; 0: it does not say
};

// models.c, for port.c
bool net__loss_decides(struct net_loss *loss, const net_packet_t *packet);
// A frame that is not lost goes on its way, to arrive at arrive_ps.
void net__loss_send(struct net_loss *loss, net_packet_t *packet, sim_time_t arrive_ps);

// trace.c
bool net__loss_traced(struct net_loss *loss, const net_packet_t *packet);
void net__loss_replay_free(struct net_loss_replay *replay);

#endif // NET_LOSS_STATE_H
