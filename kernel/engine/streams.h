// SPDX-License-Identifier: Apache-2.0
// kernel/engine/streams.h - records that wait for their turn.
#ifndef KERNEL_ENGINE_STREAMS_H
#define KERNEL_ENGINE_STREAMS_H

#include "kernel/record.h"

// Hands all records before end_ps to their streams, keeps the others, and returns how many it
// handed on.
size_t sim__streams_flush(sim_t *sim, sim_time_t end_ps);
// Returns how many records the streams hold.
uint64_t sim__streams_held(const sim_t *sim);
void sim__stream_destroy(struct sim_stream *stream);

#endif // KERNEL_ENGINE_STREAMS_H
