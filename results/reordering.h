// SPDX-License-Identifier: Apache-2.0
// results/reordering.h - packets that arrive behind later ones of their connection (RFC 4737).
//
// A packet is reordered if a packet with a higher PSN of its connection arrived before it (RFC
// 4737, 3). Its extent is the number of arrivals since the first such packet (4.2.2).
// Retransmissions and trimmed packets are left out: they are late because of a loss. A connection
// is a receiving queue pair, once for requests and once for the responses to its READs.
//
// Hosts' ports are observed only in networks where packets can overtake each other. Elsewhere a run
// costs nothing more, and all numbers are 0.
#ifndef RESULTS_REORDERING_H
#define RESULTS_REORDERING_H

#include "kernel/buffer.h"
#include "net/node.h"

SIM_C_BEGIN

typedef struct results_reordering results_reordering_t;

typedef struct results_reordered {
    uint64_t arrived;    // packets of requests and responses, without retransmissions
    uint64_t reordered;  // packets of them
    uint64_t extent_max; // arrivals
    uint64_t extent_sum; // over reordered packets; divided by `reordered` it is the mean
} results_reordered_t;

// Begins to observe the ports of all hosts, before the run. The caller frees the result.
results_reordering_t *results_reordering_create(const net_t *net);
void results_reordering_destroy(results_reordering_t *reordering);

// Returns the sums over all connections; of extent_max, the largest. NULL: all are 0.
results_reordered_t results_reordering_total(const results_reordering_t *reordering);
// The ends of a connection as its sender knows them. Interfaces are those of plane 0.
typedef struct results_reordering_ends {
    uint32_t source;
    uint32_t destination;
    uint32_t destination_qp; // 0: unknown
    uint16_t udp_source_port;
} results_reordering_ends_t;

// Returns the numbers of the requests that arrived at `node` on the connections with these ends and
// this UDP source port in their first packet; of MRC and Ultra Ethernet, whose packets have source
// ports of their own, with this destination_qp. All are 0 if nothing arrived, or reordering is
// NULL.
results_reordered_t results_reordering_of(const results_reordering_t *reordering,
                                          const net_node_t *node,
                                          const results_reordering_ends_t *ends);

// Append what this rank has counted (kernel/ranks.h); take what another rank left.
void results__reordering_leave(const results_reordering_t *reordering, const net_t *net,
                               sim_buffer_t *bytes);
void results__reordering_take(results_reordering_t *reordering, sim_reader_t *bytes);

SIM_C_END

#endif // RESULTS_REORDERING_H
