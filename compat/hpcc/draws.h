// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/draws.h - the random numbers of the HPCC project's simulator, in its order.
//
// A run of that simulator that draws random numbers can be repeated only with the same numbers.
// Each mark's decision and each pause frame takes the first number of the next stream of L'Ecuyer's
// MRG32k3a, losses take one stream per kind of link, and PINT calls the C library's rand(). The
// whole network shares one sequence, so the numbers mean something only if the events of all nodes
// have one order: with ties by insertion (kernel/order/fifo.h).
//
// Sources: L'Ecuyer, Simard, Chen, Kelton, An Object-Oriented Random-Number Package with Many Long
// Streams and Substreams, Operations Research 50(6), 2002; ns-3.18's RngStream for how streams are
// numbered; the additive generator of glibc's random_r. Page: docs/models/hpcc-compat.md.
#ifndef COMPAT_HPCC_DRAWS_H
#define COMPAT_HPCC_DRAWS_H

#include "kernel/base.h"

typedef struct compat_draws compat_draws_t;

// Creates the sequence. run: that simulator's RngRun, at least 1; its seed is 1. first: the number
// of streams that its set-up uses up. The caller destroys it.
compat_draws_t *compat_draws_create(uint64_t run, uint64_t first);
void compat_draws_destroy(compat_draws_t *draws); // NULL is allowed

// Returns the first number of the next stream, in [0, 1); skip leaves one stream out.
double compat_draws_next(compat_draws_t *draws);
void compat_draws_skip(compat_draws_t *draws);

// A stream from which many numbers are drawn. The simulator numbers the streams of losses from
// 2^63 on.
typedef struct compat_draws_stream compat_draws_stream_t;
compat_draws_stream_t *compat_draws_stream_create(uint64_t run, uint64_t number);
void compat_draws_stream_destroy(compat_draws_stream_t *stream); // NULL is allowed
double compat_draws_stream_next(compat_draws_stream_t *stream);  // in [0, 1)

// Returns the next value of rand(), in [0, 2^31).
uint32_t compat_draws_rand(compat_draws_t *draws);

#endif // COMPAT_HPCC_DRAWS_H
