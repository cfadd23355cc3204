// SPDX-License-Identifier: Apache-2.0
// kernel/record.h - streams of records that nodes write while they run apart, read in time order.
//
// Nodes run window by window, each on its own, so their records come in no common order. A stream
// gathers the records of a window and passes them on after it, sorted by (time, node, order
// written): an equal sequence on any number of threads. Where ties go by insertion
// (kernel/order/fifo.h), records of one time come in the order of events instead.
#ifndef KERNEL_RECORD_H
#define KERNEL_RECORD_H

#include "kernel/event.h"

SIM_C_BEGIN

typedef struct sim_stream sim_stream_t;

// Receives one record. Called between windows, by one thread, in order. record is valid during the
// call only; its first byte is aligned to 16 bytes.
typedef void (*sim_record_fn)(sim_time_t time_ps, uint32_t node_index, const void *record,
                              size_t record_bytes, void *ctx);

// Creates a stream, before sim_run. The simulation owns it.
sim_stream_t *sim_stream_create(sim_t *sim, sim_record_fn fn, void *ctx);

// Returns room for a record of record_bytes at time_ps. The caller fills it at once: it is valid
// until the next put. time_ps must lie in the window being run, or be the time of the sample being
// taken, so node->now_ps is always right. Any other time fails a check: it would be out of order.
void *sim_stream_put(sim_stream_t *stream, const sim_node_t *node, sim_time_t time_ps,
                     size_t record_bytes);

SIM_C_END

#endif // KERNEL_RECORD_H
