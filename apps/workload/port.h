// SPDX-License-Identifier: Apache-2.0
// apps/workload/port.h - a NIC of a rank: the order and the gaps of its messages.
//
// Without a gap and with send-order: in-turn, messages pass at once. Only events of the rank's host
// touch a NIC after planning.
#ifndef APPS_WORKLOAD_PORT_H
#define APPS_WORKLOAD_PORT_H

#include "apps/channel/channel.h"
#include "apps/channel/local.h"
#include "apps/workload/run_options.h"
#include "kernel/ring.h"

typedef struct app__rank app__rank_t;

// A message that waits for its turn at a NIC.
typedef struct app__port_send {
    uint32_t channel; // in workload->channels
    uint32_t word;
} app__port_send_t;

// A message that waits for the gap of a receiver.
typedef struct app__port_arrival {
    sim_time_t time_ps; // when its rank takes it
    uint32_t source;    // rank
    uint32_t word;
} app__port_arrival_t;

// A NIC of a rank.
typedef struct app__port {
    app__rank_t *rank;
    app__endpoint_t *endpoint;
    uint64_t position;  // of its first QP number
    uint32_t out_first; // in workload->channels
    uint32_t out_count;
    uint32_t in_first; // in workload->incoming
    uint32_t in_count;
    app__nvlink_t nvlink;        // to other ranks of the host
    app__nvlink_t nvlink_in;     // from the host's NVSwitch, which spreads what other ranks send
    app__passers_t nvlink_sends; // messages that are of no collective
    // -- with a gap between messages, or in the order of their sends (port.c)
    sim_timer_t send_timer;
    SIM_RING(app__port_send_t) sends;
    app__message_t *message;    // the first of them, once it has begun in order
    uint64_t outstanding_bytes; // posted and not completed
    sim_time_t send_ps;         // when the next message may begin
    sim_timer_t receive_timer;
    SIM_RING(app__port_arrival_t) arrivals;
    sim_time_t receive_ps; // when the next one may be received
} app__port_t;

// Sends a message of a NIC when it is its turn and the gap after the previous one has passed.
void app__port_send(app__port_t *port, uint32_t channel, uint32_t word);
// Returns the largest piece of a message.
uint64_t app__port_piece_bytes(const app__workload_options_t *options);
void app__port_completed(app__port_t *port, uint64_t bytes);
// Hands a message that has arrived to its rank when the gap after the previous one has passed.
void app__port_arrived(app__port_t *port, uint32_t source, uint32_t word);
void app__port_fini(app__port_t *port);

#endif // APPS_WORKLOAD_PORT_H
