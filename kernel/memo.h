// SPDX-License-Identifier: Apache-2.0
// kernel/memo.h - a state as a list of structs, and how a span of time changed it.
//
// A struct has a row for each field that a span may change, and each row says how the change is
// repeated later. A byte without a row must not change: then the span cannot be repeated. So a
// field that nobody thought of costs a repetition, and never a wrong result.
// docs/models/fast-forward.md
#ifndef KERNEL_MEMO_H
#define KERNEL_MEMO_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct sim sim_t;
typedef struct sim_node sim_node_t;
typedef struct sim_timer sim_timer_t;

typedef enum sim_memo_kind {
    SIM_MEMO_FIXED,  // no row: equal at the start, and unchanged by the span
    SIM_MEMO_STATE,  // equal at the start; becomes what the span left
    SIM_MEMO_LAST,   // any value at the start, which nobody reads; becomes what the span left
    SIM_MEMO_NUMBER, // likewise; within a period (kernel/period.h) it grows by as much
    SIM_MEMO_COUNT,  // any value at the start; grows by as much. Of 4 or 8 bytes; may wrap
    SIM_MEMO_BREAK,  // likewise; ends a period (kernel/period.h)
    SIM_MEMO_MOST,   // a largest value so far, of 8 bytes
    SIM_MEMO_MOST_AND_FLAG, // likewise, in the lower 63 bits; the upper bit stays set once it is
    SIM_MEMO_UNTIL,         // a time that matters only while it is in the future
    SIM_MEMO_SINCE,         // a time whose distance matters; 0 and NEVER are no times
    SIM_MEMO_IGNORE,        // not part of the state: a place in memory, or a hint
} sim_memo_kind_t;

typedef struct sim_memo_field {
    uint16_t offset;
    uint16_t bytes;
    sim_memo_kind_t kind;
} sim_memo_field_t;
#define SIM_MEMO_FIELD(type_, member_, kind_)                                        \
    {                                                                                \
        offsetof(type_, member_), sizeof(((type_ *)NULL)->member_), SIM_MEMO_##kind_ \
    }

// A kind of struct, or the part of one from its begin on.
typedef struct sim_memo_type {
    const char *name;
    size_t bytes;
    const sim_memo_field_t *fields; // in any order, apart from each other
    size_t field_count;
} sim_memo_type_t;
#define SIM_MEMO_TYPE(name_, bytes_, fields_)         \
    {                                                 \
        name_, bytes_, fields_, SIM_COUNT_OF(fields_) \
    }

// The structs of a simulation, in an order that does not change.
typedef struct sim_memo_part {
    const sim_memo_type_t *type;
    void *at;
} sim_memo_part_t;
typedef struct sim_memo_list {
    sim_memo_part_t *parts;
    size_t count;
    size_t capacity;
    size_t bytes;
    const char *refused; // why the state cannot be listed; NULL: it is
} sim_memo_list_t;

void sim_memo_add(sim_memo_list_t *list, const sim_memo_type_t *type, void *at);
void sim_memo_list_fini(sim_memo_list_t *list);
// Returns whether two lists are of the same structs.
bool sim_memo_list_same(const sim_memo_list_t *a, const sim_memo_list_t *b);

// Returns a copy of all structs. The caller frees it with sim_free.
char *sim_memo_copy(const sim_memo_list_t *list);
// Returns whether the structs are, at now_ps, what a copy of them was at then_ps.
bool sim_memo_equal(const sim_memo_list_t *list, const char *copy, sim_time_t then_ps,
                    sim_time_t now_ps);
// Returns the type of a struct of which a byte without a row differs between two copies, and the
// byte's offset; NULL: there is none.
const char *sim_memo_changed(const sim_memo_list_t *list, const char *start, const char *end,
                             size_t *offset);
// Does to the structs what happened between two copies of them, shift_ps later.
void sim_memo_apply(const sim_memo_list_t *list, const char *start, const char *end,
                    sim_time_t shift_ps);
// Returns whether two spans, each between two copies, did the same, the second one shift_ps later.
// If not, *name is the type of a struct that differs.
bool sim_memo_same_change(const sim_memo_list_t *list, const char *const a[2],
                          const char *const b[2], sim_time_t shift_ps, const char **name);

// Returns whether no message is under way and no node will wake: only timers are to come. Valid
// between windows.
bool sim_memo_only_timers(const sim_t *sim);
// Returns the number of an armed timer. Of timers of a node that are due at one instant, that with
// the lower number fires first.
uint64_t sim_memo_timer_number(const sim_node_t *node, const sim_timer_t *timer);
// Returns how many timers of a node are armed.
uint32_t sim_memo_timers(const sim_node_t *node);
// Returns whether something samples nodes.
bool sim_memo_sampled(const sim_t *sim);

SIM_C_END

#endif // KERNEL_MEMO_H
