// SPDX-License-Identifier: Apache-2.0
// kernel/ring.h - a first-in-first-out queue in an array that grows and wraps around.
//
// Elements have consecutive numbers of 32 bits, which wrap: `first` is the number of the oldest
// element, `end` the number that the next one gets. Element n lies in items[n % capacity], and
// capacity is 0 or a power of two. Numbers stay valid when the array grows, pointers do not. All
// zeros is an empty ring. At most 2^31 elements. Push costs O(1) amortised, all else O(1).
//
//     SIM_RING(job_t) jobs;
//     SIM_RING_PUSH(&jobs, job);
//     job_t next = SIM_RING_POP(&jobs);
#ifndef KERNEL_RING_H
#define KERNEL_RING_H

#include "kernel/base.h"

SIM_C_BEGIN

// The type of a ring of elements of a type. Free with SIM_RING_FINI.
#define SIM_RING(type)     \
    struct {               \
        type *items;       \
        uint32_t first;    \
        uint32_t end;      \
        uint32_t capacity; \
    }

// Returns the number of elements.
#define SIM_RING_COUNT(ring) ((ring)->end - (ring)->first)
// Returns the element of a number, as an lvalue. The number must be in [first, end).
#define SIM_RING_AT(ring, number) ((ring)->items[(number) & ((ring)->capacity - 1)])
// Appends an element, whose expression must not use the ring. `ring` is evaluated several times.
#define SIM_RING_PUSH(ring, ...) \
    (SIM_RING_ROOM(ring, 8u), (void)(SIM_RING_AT(ring, (ring)->end++) = (__VA_ARGS__)))
// Removes the oldest element of a ring that is not empty, and returns it.
#define SIM_RING_POP(ring) (SIM_RING_AT(ring, (ring)->first++))
#define SIM_RING_FINI(ring) sim_free((ring)->items)

// Makes room for one more element. The first array has room for `least` elements, a power of two.
#define SIM_RING_ROOM(ring, least)                                                              \
    (SIM_UNLIKELY(SIM_RING_COUNT(ring) == (ring)->capacity)                                     \
         ? SIM_RING_GROW((ring)->items, (ring)->first, (ring)->end, &(ring)->capacity, (least)) \
         : (void)0)
// Doubles the array of a ring whose parts are fields of another struct. `capacity` points to an
// uint32_t. New places hold zeros.
#define SIM_RING_GROW(items, first, end, capacity, least)                                        \
    ((void)((items) = SIM_C_CAST(items, sim_ring_grow((items), sizeof(*(items)), (first), (end), \
                                                      (capacity), (least)))))

// Returns an array of twice the capacity, or of `least` elements if there is none yet, with the
// elements of the numbers [first, end) at their places. Frees the old one, `items`.
void *sim_ring_grow(void *items, size_t size_bytes, uint32_t first, uint32_t end,
                    uint32_t *capacity, uint32_t least);

SIM_C_END

#endif // KERNEL_RING_H
