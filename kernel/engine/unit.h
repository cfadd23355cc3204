// SPDX-License-Identifier: Apache-2.0
// kernel/engine/unit.h - units of nodes that run together, their seats and appointments.
#ifndef KERNEL_ENGINE_UNIT_H
#define KERNEL_ENGINE_UNIT_H

#include "kernel/event.h"

// Nodes that run together. Most units hold one node; several share one when the links between them
// are shorter than a window, and then run interleaved by time.
struct sim_unit {
    sim_node_t **members;
    uint32_t count;
    uint32_t index;          // bit in the activity maps
    uint64_t far_window;     // earliest window beyond the slots with an appointment of this unit
    sim_time_t lookahead_ps; // least delay between members; units of several only
    sim_node_t **heap;       // members with something to do in this window, by time
    uint32_t heap_count;
    uint8_t colour; // 0 or 1 where sim->coloured
    bool watched;   // a member is
};

// The facts about a unit that the loop over a window reads before it touches the unit.
typedef struct sim_seat {
    sim_unit_t *unit; // NULL in the padding
    sim_node_t *node; // its first member
    uint32_t node_index;
    bool alone; // its only member
} sim_seat_t;

// A unit with a watched member, in the window being run.
typedef struct sim_watched {
    sim_time_t next_ps; // of its next event
    const sim_seat_t *seat;
} sim_watched_t;

// A window beyond the slots in which a unit has something to do.
typedef struct sim_appointment {
    uint64_t window;
    sim_unit_t *unit;
} sim_appointment_t;

typedef struct sim_appointments {
    sim_appointment_t *items;
    size_t count;
    size_t capacity;
} sim_appointments_t;

// Makes sim->units, threads and window_ps from nodes and channels. Called once.
void sim__partition(sim_t *sim);

// Deals units, and the samplers of their nodes, to the threads. Called once.
void sim__deal(sim_t *sim);
// Returns the size of a thread's mailboxes, which begin at worker.boxes[0]. In ranks they are from
// sim_alloc_sparse.
size_t sim__mailboxes_bytes(const sim_t *sim);

#endif // KERNEL_ENGINE_UNIT_H
