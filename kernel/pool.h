// SPDX-License-Identifier: Apache-2.0
// kernel/pool.h - objects of a fixed size, handed out and taken back without malloc.
//
// Each worker has a last-in first-out list of free objects, so the one just used is used next. A
// worker may return objects that another one took: a list that grows long gives its surplus to a
// shared list. Objects are a multiple of 64 bytes, on cache lines of their own. A pool may add a
// cold part to each, in other memory, so that the hot parts lie dense. Get and put cost O(1).
#ifndef KERNEL_POOL_H
#define KERNEL_POOL_H

#include "kernel/event.h"

SIM_C_BEGIN

#define SIM_POOL_CHUNK_BYTES ((size_t)1 << 16)

typedef struct sim_pool_free {
    struct sim_pool_free *next;
} sim_pool_free_t;

typedef struct sim_pool_cache {
    sim_pool_free_t *first;
    uint64_t count; // free objects in this list
    uint64_t taken;
    uint64_t returned;
    uint64_t spill_count; // a longer list gives its surplus to the shared one
    char pad[SIM_CACHE_LINE - 5 * sizeof(uint64_t)];
} sim_pool_cache_t;

// The header of each chunk, which is aligned to its size.
typedef struct sim_pool_chunk {
    char *cold;
    size_t cold_bytes;
} sim_pool_chunk_t;

typedef struct sim_pool {
    size_t hot_bytes;
    size_t cold_bytes;
    struct sim_pool_shared *shared;
    sim_pool_cache_t caches[SIM_THREADS_MAX];
} sim_pool_t;

// Creates an empty pool. hot_bytes is rounded up to a multiple of 64 and is at most 16384.
// cold_bytes must be 0 if hot_bytes exceeds 64. Free with sim_pool_destroy, which also frees
// objects that were not returned.
sim_pool_t *sim_pool_create(size_t hot_bytes, size_t cold_bytes);
void sim_pool_destroy(sim_pool_t *pool);
// Makes the cold part of every object larger. Call before the first object is taken.
void sim_pool_widen(sim_pool_t *pool, size_t cold_bytes);
// Returns how many objects are taken and not returned. Call while no worker runs.
uint64_t sim_pool_live(const sim_pool_t *pool);
// Returns the bytes of all chunks, cold parts included.
uint64_t sim_pool_memory_bytes(const sim_pool_t *pool);

// Adds free objects to an empty list: from the shared list, or else from a new chunk.
void sim__pool_refill(sim_pool_t *pool, sim_pool_cache_t *cache);
// Moves the surplus of a long list to the shared list, or lets the list of a worker that takes as
// many objects as it returns grow longer.
void sim__pool_spill(sim_pool_t *pool, sim_pool_cache_t *cache);
#define SIM_POOL_SPILL_COUNT 8192u

// In builds with SIM_DEAR_CHECKS: fills a free object and its cold part with 0xA5 and forbids, for
// the address sanitizer, every access but the pool's to the link; allow takes that back.
void sim__pool_forbid(const sim_pool_t *pool, void *object);
void sim__pool_allow(const sim_pool_t *pool, void *object);

// Takes an object for the worker that runs node; return it with sim_pool_put. The object is not
// zeroed: it holds what its former user left (0xA5 in builds with SIM_DEAR_CHECKS).
static inline void *sim_pool_get(sim_pool_t *pool, const sim_node_t *node)
{
    sim_pool_cache_t *const cache = &pool->caches[node->worker->index];
    if (SIM_UNLIKELY(cache->first == NULL)) {
        sim__pool_refill(pool, cache);
    }
    sim_pool_free_t *const object = cache->first;
    cache->first = object->next;
    cache->count--;
    cache->taken++;
#ifdef SIM_DEAR_CHECKS
    sim__pool_allow(pool, object);
#endif
    return object;
}

// Returns an object to the list of the worker that runs node.
static inline void sim_pool_put(sim_pool_t *pool, const sim_node_t *node, void *memory)
{
    sim_pool_cache_t *const cache = &pool->caches[node->worker->index];
    sim_pool_free_t *const object = (sim_pool_free_t *)memory;
#ifdef SIM_DEAR_CHECKS
    sim__pool_forbid(pool, memory);
#endif
    object->next = cache->first;
    cache->first = object;
    cache->returned++;
    if (SIM_UNLIKELY(++cache->count > cache->spill_count)) {
        sim__pool_spill(pool, cache);
    }
}

// -- lines

#define SIM_LINES_MAX 64u // of an object that has no memory of malloc's

// Returns zeroed memory of whole cache lines for an object of a node that the worker runs. Objects
// lie side by side, and in huge pages where there are many: malloc would leave gaps between aligned
// ones. Give it back with its size; the simulation frees what is left. O(1).
void *sim_lines_take(sim_worker_t *worker, size_t bytes);
// Returns the worker that builds a simulation, for objects that are nodes.
sim_worker_t *sim_builder(const sim_t *sim);
// Takes back an object, which any worker may have taken. NULL is allowed.
void sim_lines_give(sim_worker_t *worker, void *memory, size_t bytes);

// Returns the cold part of an object whose pool has cold parts.
static inline void *sim_pool_cold(const void *hot)
{
    const uintptr_t address = (uintptr_t)hot;
    const uintptr_t offset = address & (SIM_POOL_CHUNK_BYTES - 1);
    const sim_pool_chunk_t *const chunk = (const sim_pool_chunk_t *)(address - offset);
    return chunk->cold + offset / SIM_CACHE_LINE * chunk->cold_bytes;
}

SIM_C_END

#endif // KERNEL_POOL_H
