// SPDX-License-Identifier: Apache-2.0
// results/pause_roots.h - where PFC pauses began, and how far they spread.
//
// When a switch stops a peer, packets from that peer wait in some queue of the switch. If that
// queue is stopped itself, the pause is passed on and has the root of the pause that stopped it; if
// not, its port is the root: more comes in for it than its link carries (or its peer takes packets
// slowly without a pause). A host that stops its switch is a root itself: its NIC is a slow
// receiver. This is what an operator asks of a storm: who began, and whom did it reach.
//
// The queue is the one where most bytes of the peer wait, judged by the packets at the head of each
// queue. A pause counts until it is released or the run ends; one that is repeated counts once.
#ifndef RESULTS_PAUSE_ROOTS_H
#define RESULTS_PAUSE_ROOTS_H

#include "net/port.h"

SIM_C_BEGIN

typedef struct results_pause_roots results_pause_roots_t;

// What a port's node knew when it stopped its peer, or let it go: taken at NET_TRACE_XOFF and XON.
typedef struct results_pause_word {
    const net_port_t *port;  // that sends the word
    const net_port_t *queue; // where the peer's packets wait; NULL: in the node itself
    uint8_t priority;
    bool stop;
    bool queue_is_stopped;
} results_pause_word_t;

typedef struct results_pause_root {
    const net_port_t *port; // of a host: its port towards the switch it stops
    bool is_host;
    sim_time_t first_ps;
    uint64_t pauses;      // told, by this root and those it stopped
    sim_time_t paused_ps; // of them, summed over ports and classes
    uint32_t ports;       // that they stopped
    uint32_t hosts;       // of those ports, how many are hosts'
    uint32_t links_away;  // of the farthest: 1 is the root's neighbour
} results_pause_root_t;

results_pause_roots_t *results_pause_roots_create(const net_t *net);
void results_pause_roots_destroy(results_pause_roots_t *roots);

// In the node's own turn: reads the node that the trace comes from, and touches what is kept for
// its port, nothing else.
void results_pause_word_of(results_pause_roots_t *roots,
                           const net_trace_t *trace,
                           results_pause_word_t *word);
// In order of time.
void results_pause_roots_take(results_pause_roots_t *roots,
                              sim_time_t time_ps,
                              const results_pause_word_t *word);
// The root of the pause that stops a class of a port (whose peer told it so); NULL: unknown.
const results_pause_root_t *results_pause_root_of(const results_pause_roots_t *roots,
                                                  const net_port_t *stopped,
                                                  uint32_t priority);
// Ends what is open. Then the roots, those first whose pauses lasted longest in sum.
void results_pause_roots_end(results_pause_roots_t *roots, sim_time_t end_ps);
const results_pause_root_t *results_pause_roots_at(const results_pause_roots_t *roots,
                                                   size_t index);
size_t results_pause_roots_count(const results_pause_roots_t *roots);
// "leaf0->host3"; of a host its name.
const char *results_pause_root_name(const results_pause_root_t *root);

SIM_C_END

#endif // RESULTS_PAUSE_ROOTS_H
