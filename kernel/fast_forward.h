// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward.h - the state of a simulation as a list of structs, and how a span of time
// changed it.
//
// Each struct has a table (kernel/fields.h) that says how fast-forward repeats a change of its
// fields. docs/models/fast-forward.md
#ifndef KERNEL_FAST_FORWARD_H
#define KERNEL_FAST_FORWARD_H

#include "kernel/fields.h"

SIM_C_BEGIN

typedef struct sim_timer sim_timer_t;

// A kind of struct: its table, and those of its fields that a span may change.
typedef struct sim_state_type {
    const char *name;
    size_t bytes;
    const sim_fields_t *table;
    sim_flat_fields_t flat;
} sim_state_type_t;

typedef struct sim_state_part {
    const sim_state_type_t *type;
    void *at;
} sim_state_part_t;

// The structs of a simulation, in an order that does not change.
typedef struct sim_state {
    sim_state_part_t *parts;
    size_t count;
    size_t capacity;
    size_t bytes;
    sim_state_type_t **types;
    size_t type_count;
    size_t type_capacity;
    const char *refused; // why the state cannot be listed; NULL: it is
} sim_state_t;

// Appends a struct. The table is borrowed.
void sim_state_add(sim_state_t *state, const sim_fields_t *table, void *at);
void sim_state_fini(sim_state_t *state);
// Returns whether two lists are of the same structs.
bool sim_state_same_structs(const sim_state_t *a, const sim_state_t *b);

// Returns a copy of all structs. The caller frees it with sim_free.
char *sim_state_copy(const sim_state_t *state);
// Returns whether the structs are, at now_ps, what a copy of them was at then_ps.
bool sim_state_equal(const sim_state_t *state, const char *copy, sim_time_t then_ps,
                     sim_time_t now_ps);
// Returns the type of a struct with a byte that has no row and differs between two copies, and the
// byte's offset; NULL: there is none.
const char *sim_state_changed(const sim_state_t *state, const char *start, const char *end,
                              size_t *offset);
// Does to the structs what happened between two copies of them, shift_ps later.
void sim_state_repeat_span(const sim_state_t *state, const char *start, const char *end,
                           sim_time_t shift_ps);
// Copies counts and largest values to structs of the same types, in the same order.
void sim_state_copy_counts(const sim_state_t *from, const sim_state_t *to);
// Returns whether two spans, each between two copies, did the same, the second one shift_ps later.
// If not, *name is the type of a struct that differs.
bool sim_state_same_span(const sim_state_t *state, const char *const a[2], const char *const b[2],
                         sim_time_t shift_ps, const char **name);

// Returns whether no message is under way and no node will wake: only timers are to come. Valid
// between windows.
bool sim_only_timers_left(const sim_t *sim);
// Returns the number of an armed timer. Of timers of a node that are due at one instant, that with
// the lower number fires first.
uint64_t sim_timer_number(const sim_node_t *node, const sim_timer_t *timer);
// Returns how many timers of a node are armed.
uint32_t sim_timers_armed(const sim_node_t *node);
// Returns whether something samples nodes.
bool sim_has_samplers(const sim_t *sim);

SIM_C_END

#endif // KERNEL_FAST_FORWARD_H
