// SPDX-License-Identifier: Apache-2.0
// apps/workload/schedule.h - schedules of messages and computations, such as collectives have.
//
// Each rank has operations: sends, receives, computations and its parts of collectives. An
// operation starts when those that it requires have finished, and those that it "irequires" have
// started. Readers of files (formats/) and generators make schedules; hosts execute them.
#ifndef APPS_WORKLOAD_SCHEDULE_H
#define APPS_WORKLOAD_SCHEDULE_H

#include "apps/workload/call.h"
#include "apps/workload/op.h"

// Counts of a schedule.
typedef struct app__schedule_counts {
    uint64_t sends;
    uint64_t recvs;
    uint64_t calcs;
    uint64_t colls; // parts of collectives
    uint64_t bytes; // of sends
    uint64_t calc_ns;
    uint64_t requires;
    uint64_t irequires;
    uint64_t unmatched_sends; // sends for which no receive names the rank and the tag
    uint64_t unmatched_recvs;
    uint64_t size_mismatches; // messages and the receives that take them, of different sizes
    uint64_t stuck;           // operations that can never start, since they wait for each other
    uint32_t depth;           // computations and messages on the longest chain through all ranks
    uint8_t cpu_max;
    uint8_t nic_max;
} app__schedule_counts_t;

// A count of a file that its format's reader made, for programs: "layers_present", 92.
typedef struct app__fact {
    const char *name; // static
    uint64_t number;
    char *text; // NULL: the number counts
} app__fact_t;

typedef struct app__schedule {
    app__rank_ops_t *ranks;
    uint32_t rank_count;
    app__group_t *groups;
    size_t group_count;
    size_t group_capacity;
    app__call_t *calls;
    size_t call_count;
    size_t call_capacity;
    void **kept; // memory that calls point to
    size_t kept_count;
    size_t kept_capacity;
    char **notes; // lines for a person who checks the file; "warning: " first in some
    size_t note_count;
    size_t note_capacity;
    app__fact_t *facts;
    size_t fact_count;
    size_t fact_capacity;
    // A schedule with one rank for each kind of ranks that do the same: all counts and paths follow
    // from it. NULL: all ranks are looked at.
    struct app__schedule *typical;
    uint32_t *typical_of; // per call: the call of `typical` that stands for it
    uint32_t alike;       // ranks for which each of the typical ones stands
    char *refusal; // why no run can hold the schedule, which then has counts only; NULL: one can
    char *flaw;    // why also `algorithm-file` refuses this file of an algorithm; NULL: it does not
    app__schedule_counts_t counts;
    // Message about the first place where the file names a rank that it does not have; NULL: none.
    // Such a schedule can be counted and converted, but not run.
    char *absent_rank;
} app__schedule_t;

app__schedule_t *app__schedule_create(uint32_t rank_count);
void app__schedule_destroy(app__schedule_t *schedule); // NULL is allowed
// Appends an operation to a rank and returns its index.
uint32_t app__schedule_add(app__schedule_t *schedule, uint32_t rank, const app__op_t *op);
// Appends a group of ranks, each at most once, and returns its index. Copies the list.
uint32_t app__schedule_group(app__schedule_t *schedule, const uint32_t *ranks, uint32_t count);
// Appends a call and returns its index: the peer of the operations of its group's ranks.
uint32_t app__schedule_call(app__schedule_t *schedule, const app__call_t *call);
// Makes the schedule own a block of memory of sim_alloc, such as a matrix or a name; returns it.
void *app__schedule_keep(app__schedule_t *schedule, void *block);
// Appends a line about the file that the schedule comes from. Takes a text of sim_format.
void app__schedule_note(app__schedule_t *schedule, char *text);
// Appends a fact: a number, or a text of sim_format, which it takes. `name` is static.
void app__schedule_fact(app__schedule_t *schedule, const char *name, uint64_t number);
void app__schedule_fact_text(app__schedule_t *schedule, const char *name, char *text);
// Says why no run can hold the schedule. Takes a text of sim_format. Its reader fills the counts.
void app__schedule_refuse(app__schedule_t *schedule, char *text);
// Gives a rank the operations and the order of another one, and other peers: of sim_alloc, owned by
// the schedule from now on.
void app__schedule_share(app__schedule_t *schedule, uint32_t rank, uint32_t owner, uint32_t *peers);
// Sets the order of a rank's operations, in the order of the list. Called once for each rank.
void app__schedule_order(app__schedule_t *schedule, uint32_t rank, const app__dependency_t *list,
                         size_t count);
// Fills the counts, after all ranks have their operations and orders.
void app__schedule_finish(app__schedule_t *schedule);

// Calls tell for the first `most` operations without a counterpart, or that wait for what never
// comes: of those that wait, the first of each rank.
void app__schedule_print_problems(const app__schedule_t *schedule, uint32_t most,
                                  void (*tell)(const char *text, void *ctx), void *ctx);

#endif // APPS_WORKLOAD_SCHEDULE_H
