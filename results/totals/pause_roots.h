// SPDX-License-Identifier: Apache-2.0
// results/totals/pause_roots.h - where PFC pauses began, and how far they spread.
//
// When a switch stops a peer, packets from that peer wait in some queue of the switch. If that
// queue is stopped itself, the pause is passed on and has the root of the pause that stopped it; if
// not, its port is the root: more comes in for it than its link carries (or its peer takes packets
// slowly without a pause). A host that stops its switch is a root itself: its NIC is a slow
// receiver. So an operator sees who began a storm and whom it reached.
//
// The queue is the one where most bytes of the peer wait, judged by the packets at the head of each
// queue. A pause counts at the port that it stops: from the moment it takes effect until that port
// goes on or the run ends, so roots add up to the counters of ports.
#ifndef RESULTS_TOTALS_PAUSE_ROOTS_H
#define RESULTS_TOTALS_PAUSE_ROOTS_H

#include "net/trace.h"

SIM_C_BEGIN

typedef struct results_pause_roots results_pause_roots_t;

// A pause or release that a port sends to its peer, as its node knows it (NET_TRACE_XOFF,
// NET_TRACE_XON).
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
    sim_time_t first_ps;  // when the first of these pauses took effect
    uint64_t pauses;      // number of pauses of this root and of those ports that it stopped
    sim_time_t paused_ps; // time of these pauses, summed over ports and classes
    uint32_t ports;       // number of ports that they stopped
    uint32_t hosts;       // number of these ports that belong to hosts
    uint32_t links_away;  // of the farthest: 1 is the root's neighbour
} results_pause_root_t;

results_pause_roots_t *results_pause_roots_create(const net_t *net);
void results_pause_roots_destroy(results_pause_roots_t *roots);

// Fills word from a trace. Call it in the node's own turn: it reads that node, and writes only what
// is kept for the trace's port.
void results_pause_word_of(results_pause_roots_t *roots, const net_trace_t *trace,
                           results_pause_word_t *word);
// Records a word. Call it in order of time.
void results_pause_roots_take(results_pause_roots_t *roots, const results_pause_word_t *word);
// Records that a class of a port was stopped by its peer, or goes on. Call it in order of time.
void results_pause_roots_stopped(results_pause_roots_t *roots, sim_time_t time_ps,
                                 const net_port_t *port, uint32_t priority, bool stopped);
// Returns the root of the pause that stops a class of a port (whose peer sent it); NULL: unknown.
const results_pause_root_t *results_pause_root_of(const results_pause_roots_t *roots,
                                                  const net_port_t *stopped, uint32_t priority);
// Ends all open pauses. The roots can be read afterwards, those first whose pauses lasted longest
// in sum.
void results_pause_roots_end(results_pause_roots_t *roots, sim_time_t end_ps);
const results_pause_root_t *results_pause_roots_at(const results_pause_roots_t *roots,
                                                   size_t index);
size_t results_pause_roots_count(const results_pause_roots_t *roots);
// Returns the name of the root's port ("leaf0->host3"), or of a host.
const char *results_pause_root_name(const results_pause_root_t *root);

SIM_C_END

#endif // RESULTS_TOTALS_PAUSE_ROOTS_H
