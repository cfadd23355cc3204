// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward_notes.h - what a moment of a simulation has besides its structs with rows:
// notes.
//
// Programs that act within a period have lists, rings and timers whose places differ from one
// period to the next. Each part walks over what it has, in an order that repeats, and notes values
// that must be equal at both moments, numbers that grow in each period by as much as in the one
// between them, and rings whose contents move. Timers are found at their nodes: each must have
// moved along with the period, or stay armed as it was until the jump is over.
#ifndef KERNEL_FAST_FORWARD_NOTES_H
#define KERNEL_FAST_FORWARD_NOTES_H

#include "kernel/event.h"
#include "kernel/map.h"

SIM_C_BEGIN

typedef struct sim_noted_step {
    void *at;
    uint64_t mask; // bits of the field that grow
    uint64_t value;
    uint16_t bytes; // 4 or 8
} sim_noted_step_t;

typedef struct sim_noted_ring {
    char *base;
    size_t bytes;          // of an entry
    uint32_t capacity;     // a power of two
    uint32_t count;        // of entries in use
    const uint32_t *first; // number of the first one, a field that has grown when they are put back
    char *taken;
} sim_noted_ring_t;

typedef struct sim_noted_timer {
    sim_node_t *node;
    sim_timer_t *timer;
    uint64_t name; // its address, or an odd number by sim_note_timer
    sim_time_t time_ps;
    uint64_t sequence;
    bool stays; // armed alike at both moments
} sim_noted_timer_t;

// The ties of a node (kernel/order/rotor.c).
typedef struct sim_noted_ties {
    sim_node_t *node;
    uint64_t ties;
    bool matter; // their number must repeat
    bool anew;   // their number stays: it begins at 0 in each period
} sim_noted_ties_t;

typedef struct sim_notes {
    sim_t *sim;
    sim_time_t now_ps;
    uint64_t *values;
    size_t value_count;
    size_t value_capacity;
    sim_noted_step_t *steps;
    size_t step_count;
    size_t step_capacity;
    sim_noted_ring_t *rings;
    size_t ring_count;
    size_t ring_capacity;
    sim_noted_timer_t *timers; // by node, time and order
    size_t timer_count;
    size_t timer_capacity;
    uint64_t named;
    sim_map_t places; // of timers, by address
    sim_noted_ties_t *ties;
    size_t tie_count;
    size_t tie_capacity;
} sim_notes_t;

// Begins the notes of a moment between windows: notes all timers. Free with sim_notes_fini.
void sim_notes_init(sim_notes_t *notes, sim_t *sim, sim_time_t now_ps);
void sim_notes_fini(sim_notes_t *notes);

// Notes a value that must be equal.
void sim_note(sim_notes_t *notes, uint64_t value);
// Notes a field of 4 or 8 bytes whose bits of a mask grow.
void sim_note_step(sim_notes_t *notes, void *at, uint16_t bytes, uint64_t mask);
// Notes a time that moves along.
void sim_note_time(sim_notes_t *notes, sim_time_t *at);
// Notes the entries of a ring, whose contents the caller notes. Its `taken` is NULL.
void sim_note_ring(sim_notes_t *notes, sim_noted_ring_t ring);
// Notes whether a timer is armed. It is then the same one at both moments by its place in the walk,
// not by its address.
void sim_note_timer(sim_notes_t *notes, const sim_timer_t *timer);
// Notes the number of ties of a node. `matter`: it must repeat. Else it must repeat only if there
// was a tie whose order may matter since sim_watch_ties.
void sim_note_ties(sim_notes_t *notes, sim_node_t *node, bool matter);
// Begins or ends to look at ties, at all nodes.
void sim_watch_ties(sim_t *sim, bool watch);

// Return the turn of the latest tie of a node with ties by rotor, and the rank that an arrival at a
// port has in such a turn: higher ones come later.
uint64_t sim_last_turn(const sim_node_t *node);
uint64_t sim_turn_rank(const sim_node_t *node, uint64_t turn, uint32_t port);

// Returns whether all values are equal and all timers have moved along or stay. If not, *why says
// which are not. Marks the timers that stay.
bool sim_notes_repeat(const sim_notes_t *first, const sim_notes_t *second, const char **why);
// Returns when the first timer that stays is due.
sim_time_t sim_notes_until_ps(const sim_notes_t *second);
// Adds `count` periods to what grows, and takes out the contents of rings, before structs with rows
// change.
void sim_notes_take(const sim_notes_t *first, const sim_notes_t *second, uint64_t count);
// Puts the contents of rings back, and moves the timers.
void sim_notes_put(const sim_notes_t *first, const sim_notes_t *second, uint64_t count);

SIM_C_END

#endif // KERNEL_FAST_FORWARD_NOTES_H
