// SPDX-License-Identifier: Apache-2.0
// nic/store/tiered/policy/belady.c - the bound of all policies: the entry whose next use is
// farthest away gives way, or is not taken in (docs/models/tiered-cache.md).
//
// Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal
// 5(2), 1966. A heap holds what is in the cache, the farthest next use first. An entry that is used
// moves down: its new next use is always farther than its old one, so old ones are found out of
// date when they come up.
#include "nic/cache_policy.h"

typedef struct node {
    uint32_t next_use; // UINT32_MAX: never again
    uint32_t object;
} node_t;

typedef struct heap {
    node_t *nodes;
    size_t count;
    size_t capacity;
} heap_t;

static void push(heap_t *heap, node_t node)
{
    SIM_GROW(heap->nodes, heap->count, &heap->capacity);
    size_t place = heap->count++;
    while (place > 0 && heap->nodes[(place - 1) / 2].next_use < node.next_use) {
        heap->nodes[place] = heap->nodes[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->nodes[place] = node;
}

static void pop(heap_t *heap)
{
    const node_t last = heap->nodes[--heap->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count &&
            heap->nodes[child + 1].next_use > heap->nodes[child].next_use) {
            child++;
        }
        if (heap->nodes[child].next_use <= last.next_use) {
            break;
        }
        heap->nodes[place] = heap->nodes[child];
        place = child;
    }
    if (heap->count > 0) {
        heap->nodes[place] = last;
    }
}

uint64_t nic_belady_hits(const uint32_t *accesses, size_t count, size_t from, uint32_t objects,
                         uint32_t capacity)
{
    SIM_CHECK(count < UINT32_MAX);
    uint32_t *const next = sim_alloc_array(count + 1, sizeof(*next)); // use after this one
    uint32_t *const due = sim_alloc_array((size_t)objects + 1, sizeof(*due));
    for (size_t i = 0; i < objects; i++) {
        due[i] = UINT32_MAX;
    }
    for (size_t i = count; i-- > 0;) {
        SIM_CHECK(accesses[i] < objects);
        next[i] = due[accesses[i]];
        due[accesses[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < objects; i++) {
        due[i] = 0; // from here on: 1 + next use of what is held; 0: not held
    }
    heap_t heap = {NULL, 0, 0};
    uint64_t hits = 0;
    uint32_t held = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = accesses[i];
        const bool hit = due[object] != 0;
        hits += hit && i >= from;
        held += !hit;
        due[object] = next[i] == UINT32_MAX ? UINT32_MAX : next[i] + 1;
        push(&heap, (node_t){next[i], object});
        while (held > capacity) {
            const node_t farthest = heap.nodes[0];
            const uint32_t current =
                farthest.next_use == UINT32_MAX ? UINT32_MAX : farthest.next_use + 1;
            if (due[farthest.object] == current) {
                due[farthest.object] = 0;
                held--;
            }
            pop(&heap);
        }
    }
    SIM_FREE_ALL(heap.nodes, next, due);
    return hits;
}
