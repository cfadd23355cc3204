// SPDX-License-Identifier: Apache-2.0
// net/loss/state.h - the state of one direction of a link that loses, reorders or duplicates.
#ifndef NET_LOSS_STATE_H
#define NET_LOSS_STATE_H

#include "net/loss.h"

// Shares of the three kinds of loss events in a mix, in percent.
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
    sim_random_t random; // decides when an event starts, its kind and its length
    sim_random_t reorder;
    sim_random_t duplicate;
    sim_ratio_t start;  // chance per frame of an event; Gilbert-Elliott: of entering the bad state
    sim_ratio_t leave;  // chance per frame of leaving the bad state
    sim_ratio_t behave; // chance of a frame in the bad state to be lost
    uint32_t model;
    uint32_t burst;
    bool bad;           // Gilbert-Elliott: the state is bad
    uint32_t left;      // frames that the current event still covers
    uint32_t lose_left; // frames that it still loses
    uint64_t position;  // data packets that passed so far
    const net_loss_trace_t *trace;
    struct net_loss_replay *replay; // for a trace of packets; NULL: not used yet
    size_t next;                    // next row of the trace
    net_loss_counters_t counters;
    net_port_t *port;
    sim_timer_t timer; // fires when the first held packet is due
    net_loss_held_t *held;
    size_t held_first;
    size_t held_end;
    size_t held_capacity;
};

struct net_loss_trace {
    uint64_t *positions; // ascending
    uint32_t *times;     // parallel to positions; NULL: positions count arrivals
    size_t count;
    size_t capacity;
    uint64_t complete; // the list covers packets up to this one; 0: not known
};

// net/loss/models.c: returns whether a frame is lost, and counts it.
bool net__loss_decides(struct net_loss *loss, const net_packet_t *packet);
// net/loss/models.c: sends a frame that is not lost, to arrive at arrive_ps, or later, or twice.
void net__loss_send(struct net_loss *loss, net_packet_t *packet, sim_time_t arrive_ps);

// net/loss/trace.c: returns whether the list loses a data packet, which counts as passed.
bool net__loss_traced(struct net_loss *loss, const net_packet_t *packet);
void net__loss_replay_free(struct net_loss_replay *replay);

#endif // NET_LOSS_STATE_H
