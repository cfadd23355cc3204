// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/msccl.h - algorithms of collectives in MSCCL's XML, and execution
// plans of MSCCL++.
//
// read.c reads an XML file as a program of blocks and steps; verify.c executes the program on
// symbols and refuses one that does not do its collective. docs/models/msccl.md
#ifndef APPS_WORKLOAD_COLLECTIVE_MSCCL_MSCCL_H
#define APPS_WORKLOAD_COLLECTIVE_MSCCL_MSCCL_H

#include "apps/workload/collective/algorithms/program_file.h"
#include "apps/workload/formats/format.h"

#define APP__MSCCL_BUFFERS 3u // input, output, scratch: app__buffer_t

typedef struct app__msccl {
    const char *file_name;
    app__program_file_t *program;
    uint32_t *chunks;    // per rank and buffer: how many the buffer has
    uint64_t *step_line; // per step of the program
    uint64_t *gpu_line;  // per rank: where it begins in the file
    size_t line_count;
    size_t line_capacity;
    // Counts of steps by type, in the order of MSCCL's names (read.c), and of chunks sent.
    uint64_t types[9];
    uint64_t chunks_sent;
    uint64_t depends;     // steps that wait for another block
    uint64_t passed_over; // elements without a meaning
} app__msccl_t;

// Returns the collective that MSCCL and MSCCL++ call so; APP__COLL_COUNT: none.
app__coll_kind_t app__msccl_kind(const char *name);
// Reads and verifies an algorithm. Call app__msccl_fini afterwards, also after an error.
SIM_MUST_CHECK sim_err_t app__msccl_read(const app__workload_file_t *file, app__msccl_t *msccl,
                                         sim_message_t *message);
void app__msccl_fini(app__msccl_t *msccl);

// Executes the program on symbols. SIM_ERR_INVALID: it does not end, it reduces what it must not,
// or a rank has not the result; the message names the rank and the chunk.
SIM_MUST_CHECK sim_err_t app__msccl_verify(const app__msccl_t *msccl, sim_message_t *message);

#endif // APPS_WORKLOAD_COLLECTIVE_MSCCL_MSCCL_H
