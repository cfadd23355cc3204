// SPDX-License-Identifier: Apache-2.0
// apps/programs/segments.h - segments of System V: memory that programs of one host share by keys;
// and files that a program has mapped, which the NIC is to reach.
//
// The pages of a segment lie in a file without a name, so nothing stays behind on this machine.
#ifndef APPS_PROGRAMS_SEGMENTS_H
#define APPS_PROGRAMS_SEGMENTS_H

#include "nic/verbs.h"
#include "programs/protocol.h"

typedef struct app__program app__program_t;
typedef struct app__process app__process_t;
typedef struct app__segments app__segments_t; // of a host

// Returns the segments of a host, which it adds to the list if they are not there. Before the run.
app__segments_t *app__segments_of(app__segments_t **list, const net_node_t *host);
void app__segments_destroy(app__segments_t *list);

// Works on a call PROGRAM_SEGMENT_... Returns an errno value.
int app__segment_call(app__program_t *program, program_call_t *call, int *descriptor);
// Returns the file of a segment's pages; -1: there is none.
int app__segment_file(const app__segments_t *segments, uint32_t handle);
// Detaches all segments of a process that has ended, or has become another program.
void app__segments_leave(app__segments_t *segments, const app__process_t *process);
// Attaches the parent's segments to a process that was forked.
void app__segments_forked(app__segments_t *segments, const app__process_t *parent,
                          const app__process_t *child);
// Returns the first of the programs that may see what this one writes into its memory: itself,
// unless it shares memory with others. The others follow it as `next_sharer`.
app__program_t *app__segments_sharers(app__program_t *program);
// Adds a program to those that share memory with others of the host.
void app__segments_share(app__program_t *program);

#endif // APPS_PROGRAMS_SEGMENTS_H
