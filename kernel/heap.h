// SPDX-License-Identifier: Apache-2.0
// kernel/heap.h - a binary heap in the caller's array, whose first item comes before all others.
//
// The caller owns the array and its count (SIM_GROW grows it), so any item can be looked at. An
// order describes the items and how they compare; as a static const struct it costs nothing,
// because these functions are inlined. Items of equal order leave as from the heap of the C++
// standard library (push_heap, pop_heap). For results that do not depend on it, an order must be
// total. Every operation costs O(log count) comparisons.
#ifndef KERNEL_HEAP_H
#define KERNEL_HEAP_H

#include <string.h>

#include "kernel/base.h"

SIM_C_BEGIN

#define SIM_HEAP_ITEM_BYTES_MAX 256

typedef struct sim_heap_order {
    size_t size_bytes; // of an item
    // Returns whether item a must leave before item b. Must not read other items of the array.
    bool (*before)(const void *a, const void *b, const void *ctx);
    // Is called whenever an item gets another place, `at`, in the array; NULL: nobody needs it.
    void (*placed)(const void *item, size_t at, const void *ctx);
} sim_heap_order_t;

static SIM_ALWAYS_INLINE void *sim__heap_at(const sim_heap_order_t *order, void *items, size_t at)
{
    return (char *)items + at * order->size_bytes;
}

static SIM_ALWAYS_INLINE void sim__heap_put(const sim_heap_order_t *order, const void *ctx,
                                            void *items, size_t at, const void *item)
{
    memcpy(sim__heap_at(order, items, at), item, order->size_bytes);
    if (order->placed != NULL) {
        order->placed(sim__heap_at(order, items, at), at, ctx);
    }
}

// Moves the hole at `at` towards the first place as far as `item` must go, and puts it there.
static SIM_ALWAYS_INLINE void sim__heap_rise(const sim_heap_order_t *order, const void *ctx,
                                             void *items, size_t at, const void *item)
{
    while (at > 0 && order->before(item, sim__heap_at(order, items, (at - 1) / 2), ctx)) {
        sim__heap_put(order, ctx, items, at, sim__heap_at(order, items, (at - 1) / 2));
        at = (at - 1) / 2;
    }
    sim__heap_put(order, ctx, items, at, item);
}

// Moves the hole at `at` down to the last level, then puts `item` where it belongs above it.
static SIM_ALWAYS_INLINE void sim__heap_fill(const sim_heap_order_t *order, const void *ctx,
                                             void *items, size_t count, size_t at, const void *item)
{
    while (2 * at + 1 < count) {
        size_t child = 2 * at + 1;
        child += child + 1 < count && !order->before(sim__heap_at(order, items, child),
                                                     sim__heap_at(order, items, child + 1), ctx);
        sim__heap_put(order, ctx, items, at, sim__heap_at(order, items, child));
        at = child;
    }
    sim__heap_rise(order, ctx, items, at, item);
}

// Takes items[count - 1], which the caller wrote last, into the heap of the items before it.
static SIM_ALWAYS_INLINE void sim_heap_push(const sim_heap_order_t *order, const void *ctx,
                                            void *items, size_t count)
{
    alignas(max_align_t) char item[SIM_HEAP_ITEM_BYTES_MAX];
    SIM_ASSERT(order->size_bytes <= sizeof(item));
    memcpy(item, sim__heap_at(order, items, count - 1), order->size_bytes);
    sim__heap_rise(order, ctx, items, count - 1, item);
}

// Takes the item at `at` out of a heap of count items and moves it to items[count - 1]. The others
// are a heap of count - 1 items afterwards. With `at` 0 it takes the first item.
static SIM_ALWAYS_INLINE void sim_heap_pop(const sim_heap_order_t *order, const void *ctx,
                                           void *items, size_t count, size_t at)
{
    alignas(max_align_t) char item[SIM_HEAP_ITEM_BYTES_MAX];
    alignas(max_align_t) char last[SIM_HEAP_ITEM_BYTES_MAX];
    SIM_ASSERT(order->size_bytes <= sizeof(item) && at < count);
    if (at == count - 1) {
        return;
    }
    memcpy(item, sim__heap_at(order, items, at), order->size_bytes);
    memcpy(last, sim__heap_at(order, items, count - 1), order->size_bytes);
    sim__heap_fill(order, ctx, items, count - 1, at, last);
    memcpy(sim__heap_at(order, items, count - 1), item, order->size_bytes);
}

// Restores the heap after the item at `at` has changed.
static SIM_ALWAYS_INLINE void sim_heap_update(const sim_heap_order_t *order, const void *ctx,
                                              void *items, size_t count, size_t at)
{
    alignas(max_align_t) char item[SIM_HEAP_ITEM_BYTES_MAX];
    SIM_ASSERT(order->size_bytes <= sizeof(item) && at < count);
    memcpy(item, sim__heap_at(order, items, at), order->size_bytes);
    sim__heap_fill(order, ctx, items, count, at, item);
}

SIM_C_END

#endif // KERNEL_HEAP_H
