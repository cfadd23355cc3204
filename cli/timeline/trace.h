// SPDX-License-Identifier: Apache-2.0
// cli/timeline/trace.h - writes events of a Chrome trace, and places slices on threads.
//
// Format: "Trace Event Format", Google, 2016.
#ifndef CLI_TIMELINE_TRACE_H
#define CLI_TIMELINE_TRACE_H

#include "kernel/map.h"
#include "world/error.h"

#include <jansson.h>
#include <stdio.h>

typedef struct cli_trace {
    FILE *out;
    sim_time_t from_ps;
    sim_time_t to_ps;
    uint64_t events;     // written
    uint64_t events_max; // later events are counted in left_out
    uint64_t left_out;
} cli_trace_t;

// Writes an event of a process and frees it. Metadata (ph: M) is written beyond the limit, too.
void cli__trace_put(cli_trace_t *trace, uint64_t pid, json_t *event);
// Names a process or a thread: `what` is process_name or thread_name.
void cli__trace_name(cli_trace_t *trace, uint64_t pid, const char *what, json_int_t tid,
                     const char *name);
// Returns text as a JSON string, whatever bytes it has.
json_t *cli__trace_text(const char *text);
// Returns a time in the format's unit, us.
double cli__trace_us(sim_time_t time_ps);

// An arrow that leaves a slice somewhere.
typedef struct cli_leaving {
    uint64_t arrow;
    sim_time_t at_ps;
} cli_leaving_t;

// A flow, whose slices have no name and args of their own.
typedef struct cli_flow {
    const char *source; // texts of the slices
    const char *destination;
    const char *app;
    json_int_t id;
    json_int_t bytes;
    json_int_t source_port;
    json_int_t retransmitted;
} cli_flow_t;

// A slice of time on a track of a process. Slices of one track that overlap get threads of their
// own.
typedef struct cli_slice {
    uint64_t pid;
    const char *track; // a text of the slices
    sim_time_t start_ps;
    sim_time_t end_ps;
    char *name;  // NULL: a slice of a flow
    size_t flow; // its number
    const char *category;
    json_t *args;          // NULL: none
    uint64_t arrow;        // 0: none; both ends of an arrow have its number
    bool arrow_arrives;    // at the end of this slice; else the arrow leaves at its start
    uint64_t caused_by;    // arrow that arrives at the start of this slice; 0: none
    cli_leaving_t *causes; // arrows to slices that this one caused
    size_t cause_count;
    size_t cause_capacity;
    bool is_instant; // a moment, at start_ps
    bool unfinished;
} cli_slice_t;

typedef struct cli_slices {
    cli_slice_t *items;
    size_t count;
    size_t capacity;
    cli_flow_t *flows;
    size_t flow_count;
    size_t flow_capacity;
    char **texts; // a copy of each
    size_t text_count;
    size_t text_capacity;
    sim_map_t text_numbers; // by hash
} cli_slices_t;

// Returns a copy of the text, one for all that are equal. The copy lives until the slices are
// written.
const char *cli__slices_text(cli_slices_t *slices, const char *text);

// Adds a slice, whose texts and args it takes, if it overlaps the trace's range; else frees them.
void cli__slices_add(cli_slices_t *slices, const cli_trace_t *trace, cli_slice_t slice);
// Writes all slices with the names of their threads, and frees them.
void cli__slices_write(cli_slices_t *slices, cli_trace_t *trace);

// Writes what the files of the run in `folder` hold besides operations.csv: flows, pauses, drops,
// faults, caches, series. *any becomes true if there was something.
SIM_MUST_CHECK sim_err_t cli__timeline_run(cli_trace_t *trace, const char *folder, bool *any,
                                           world_error_t *error);

#endif // CLI_TIMELINE_TRACE_H
