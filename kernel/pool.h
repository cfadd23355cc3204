// SPDX-License-Identifier: Apache-2.0
// kernel/pool.h - fixed-size objects handed out and taken back without malloc.
//
// Free objects wait in a last-in first-out list per worker, so the one just used is used next.
// Objects may be returned by another worker than the one that took them; lists that grow long
// are levelled through a shared one. Objects are 64 bytes or a multiple, each on its own cache
// lines; a pool may add a cold part to each, kept in other memory so that the hot parts lie dense.
// Memory grows by chunks and is given back when the pool is destroyed. Get and put: O(1).
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
    uint64_t count;
    uint64_t taken;
    uint64_t returned;
    uint64_t spill_count; // a longer list is levelled
    char pad[SIM_CACHE_LINE - 5 * sizeof(uint64_t)];
} sim_pool_cache_t;

// Stands at the start of each chunk, which is aligned to its size.
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

// hot_bytes is rounded up to a multiple of 64 and is at most 8192. cold_bytes is 0, or anything
// where hot_bytes is at most 64.
// Free with sim_pool_destroy; objects still out go with it.
sim_pool_t *sim_pool_create(size_t hot_bytes, size_t cold_bytes);
void sim_pool_destroy(sim_pool_t *pool);
// Makes the cold part of every object larger, before the first is taken.
void sim_pool_widen(sim_pool_t *pool, size_t cold_bytes);
// Objects taken and not returned. Valid while no worker runs.
uint64_t sim_pool_live(const sim_pool_t *pool);
uint64_t sim_pool_memory_bytes(const sim_pool_t *pool);

void sim__pool_refill(sim_pool_t *pool, sim_pool_cache_t *cache);
void sim__pool_spill(sim_pool_t *pool, sim_pool_cache_t *cache);
#define SIM_POOL_SPILL_COUNT 8192u

// In builds with dear checks an object that is free is full of 0xA5, its cold part too, and the
// address sanitizer knows that nobody may look at it: only the pool, at the link it begins with.
void sim__pool_forbid(const sim_pool_t *pool, void *object);
void sim__pool_allow(const sim_pool_t *pool, void *object);

// Not zeroed: what a former user left is still there (0xA5 in builds with dear checks).
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

// The cold part of an object of a pool that has one.
static inline void *sim_pool_cold(const void *hot)
{
    const uintptr_t address = (uintptr_t)hot;
    const uintptr_t offset = address & (SIM_POOL_CHUNK_BYTES - 1);
    const sim_pool_chunk_t *const chunk = (const sim_pool_chunk_t *)(address - offset);
    return chunk->cold + offset / SIM_CACHE_LINE * chunk->cold_bytes;
}

SIM_C_END

#endif // KERNEL_POOL_H
