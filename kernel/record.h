// SPDX-License-Identifier: Apache-2.0
// kernel/record.h - streams of records that nodes write while they run apart, read in time order.
//
// Nodes run window by window, each on its own, so what they report comes in no common order.
// A stream gathers the records of a window and hands them on, after the window, sorted by
// (time, node, order written): the same sequence on any number of threads. Where ties go by
// insertion (kernel/order/fifo.h) they come in the order of events.
#ifndef KERNEL_RECORD_H
#define KERNEL_RECORD_H

#include "kernel/event.h"

SIM_C_BEGIN

typedef struct sim_stream sim_stream_t;

// Called between windows, by one thread, in order. record is valid during the call only.
typedef void (*sim_record_fn)(sim_time_t time_ps,
                              uint32_t node_index,
                              const void *record,
                              size_t record_bytes,
                              void *ctx);

// Owned by the simulation. Create before sim_run.
sim_stream_t *sim_stream_create(sim_t *sim, sim_record_fn fn, void *ctx);

// Room for a record of record_bytes at time_ps, to be filled at once: valid until the next put.
// time_ps lies in the window that runs, or is that of the sample being taken: now is always right,
// any other time that is not fails a check, as its record would come out of order.
void *sim_stream_put(sim_stream_t *stream,
                     const sim_node_t *node,
                     sim_time_t time_ps,
                     size_t record_bytes);

SIM_C_END

#endif // KERNEL_RECORD_H
