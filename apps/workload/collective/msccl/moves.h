// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/moves.h - makes steps of operations that move data.
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_MOVES_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_MOVES_H

#include "apps/workload/collective/msccl/lowering.h"

// Reads the sources or the destinations of the present operation.
void app__lower_ends(app__lowering_t *to, const char *name, app__lower_end_t *ends,
                     uint32_t *count);
// Waits until the packets that the operation reads are there.
void app__lower_await_packets(app__lowering_t *to);
void app__lower_reduce(app__lowering_t *to);
// Copies, puts and gets: each destination has a source of its own, or all have one.
void app__lower_move(app__lowering_t *to);

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_MOVES_H
