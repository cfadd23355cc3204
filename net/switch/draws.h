// SPDX-License-Identifier: Apache-2.0
// net/switch/draws.h - the random numbers of the HPCC project's simulator, in its order.
//
// A run of that simulator that draws can be repeated only with its numbers: each mark's decision
// and each pause frame takes the first number of the next stream of L'Ecuyer's MRG32k3a, losses
// take one stream each kind of link, and PINT calls the C library's rand(). All are one sequence
// for the whole network, so they mean something only where events of all nodes have one order:
// where ties go by insertion (kernel/order/fifo.h).
//
// Sources: L'Ecuyer, Simard, Chen, Kelton, An Object-Oriented Random-Number Package with Many Long
// Streams and Substreams, Operations Research 50(6), 2002; ns-3.18's RngStream for how streams are
// numbered; the additive generator of glibc's random_r. Page: docs/models/hpcc-compat.md.
#ifndef NET_SWITCH_DRAWS_H
#define NET_SWITCH_DRAWS_H

#include "kernel/base.h"

typedef struct net_draws net_draws_t;
struct net;

// run: its RngRun, at least 1; its seed is 1. first: the number of streams its set-up uses up.
net_draws_t *net_draws_create(uint64_t run, uint64_t first);
void net_draws_destroy(net_draws_t *draws); // NULL is allowed

// The first number of the next stream, in [0, 1). And to leave one out.
double net_draws_next(net_draws_t *draws);
void net_draws_skip(net_draws_t *draws);

// A stream drawn from on and on: the simulator gives those of losses a number, after 2^63 others.
typedef struct net_draws_stream net_draws_stream_t;
net_draws_stream_t *net_draws_stream_create(uint64_t run, uint64_t number);
void net_draws_stream_destroy(net_draws_stream_t *stream); // NULL is allowed
double net_draws_stream_next(net_draws_stream_t *stream);  // in [0, 1)

// rand(): in [0, 2^31).
uint32_t net_draws_rand(net_draws_t *draws);

// The network's, for draws as they are needed, in a run whose events come one by one (ties: list);
// else NULL: every user of random numbers has a stream of its own (kernel/random.h). What can wait
// for the end of a window is in net/switch/decisions.c.
net_draws_t *net_draws_of(const struct net *net);

#endif // NET_SWITCH_DRAWS_H
