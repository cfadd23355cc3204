// SPDX-License-Identifier: Apache-2.0
// kernel/pool.c - where a pool's memory comes from, and how workers even out their free lists.
#include "kernel/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sim_pool_shared {
    pthread_mutex_t lock;
    sim_pool_chunk_t *chunks;
    uint64_t chunk_count;
    sim_pool_free_t *spare; // spilled by one worker, for any other
    uint64_t spare_count;
};

sim_pool_t *sim_pool_create(size_t hot_bytes, size_t cold_bytes)
{
    const size_t lines = (hot_bytes + SIM_CACHE_LINE - 1) / SIM_CACHE_LINE;
    SIM_CHECK(lines >= 1 && lines * SIM_CACHE_LINE <= 8192);
    SIM_CHECK(cold_bytes == 0 || lines == 1);
    sim_pool_t *const pool = sim_alloc_lines(sizeof(*pool));
    pool->hot_bytes = lines * SIM_CACHE_LINE;
    pool->cold_bytes = cold_bytes;
    pool->shared = sim_alloc(sizeof(*pool->shared));
    SIM_CHECK(pthread_mutex_init(&pool->shared->lock, NULL) == 0);
    return pool;
}

void sim_pool_destroy(sim_pool_t *pool)
{
    if (pool == NULL) {
        return;
    }
    for (sim_pool_chunk_t *chunk = pool->shared->chunks; chunk != NULL;) {
        sim_pool_chunk_t *const next = chunk->next;
        sim_free(chunk->cold);
        free(chunk);
        chunk = next;
    }
    pthread_mutex_destroy(&pool->shared->lock);
    sim_free(pool->shared);
    sim_free(pool);
}

uint64_t sim_pool_live(const sim_pool_t *pool)
{
    uint64_t taken = 0;
    uint64_t returned = 0;
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        taken += pool->caches[i].taken;
        returned += pool->caches[i].returned;
    }
    return taken - returned;
}

uint64_t sim_pool_memory_bytes(const sim_pool_t *pool)
{
    const uint64_t lines = SIM_POOL_CHUNK_BYTES / SIM_CACHE_LINE;
    return pool->shared->chunk_count * (SIM_POOL_CHUNK_BYTES + lines * pool->cold_bytes);
}

// Called with the lock held.
static void add_chunk(sim_pool_t *pool, sim_pool_cache_t *cache)
{
    sim_pool_chunk_t *const chunk = aligned_alloc(SIM_POOL_CHUNK_BYTES, SIM_POOL_CHUNK_BYTES);
    SIM_CHECKF(chunk != NULL, "no memory for another %zu bytes", SIM_POOL_CHUNK_BYTES);
    memset(chunk, 0, SIM_POOL_CHUNK_BYTES);
    chunk->next = pool->shared->chunks;
    pool->shared->chunks = chunk;
    pool->shared->chunk_count++;
    if (pool->cold_bytes > 0) {
        chunk->cold_bytes = pool->cold_bytes;
        chunk->cold = sim_alloc_lines(SIM_POOL_CHUNK_BYTES / SIM_CACHE_LINE * pool->cold_bytes);
    }
    // The first lines of a chunk hold its header; the list is linked so that memory is handed out
    // in address order.
    static_assert(sizeof(sim_pool_chunk_t) <= SIM_CACHE_LINE, "the header takes one line");
    char *const base = (char *)chunk + SIM_CACHE_LINE;
    const size_t count = (SIM_POOL_CHUNK_BYTES - SIM_CACHE_LINE) / pool->hot_bytes;
    for (size_t i = count; i-- > 0;) {
        sim_pool_free_t *const object = (sim_pool_free_t *)(void *)(base + i * pool->hot_bytes);
        object->next = cache->first;
        cache->first = object;
    }
    cache->count += count;
}

void sim__pool_refill(sim_pool_t *pool, sim_pool_cache_t *cache)
{
    pthread_mutex_lock(&pool->shared->lock);
    if (pool->shared->spare != NULL) {
        for (uint32_t i = 0; i < SIM_POOL_SPILL_COUNT / 2 && pool->shared->spare != NULL; i++) {
            sim_pool_free_t *const object = pool->shared->spare;
            pool->shared->spare = object->next;
            pool->shared->spare_count--;
            object->next = cache->first;
            cache->first = object;
            cache->count++;
        }
    } else {
        add_chunk(pool, cache);
    }
    pthread_mutex_unlock(&pool->shared->lock);
}

void sim__pool_spill(sim_pool_t *pool, sim_pool_cache_t *cache)
{
    pthread_mutex_lock(&pool->shared->lock);
    while (cache->count > SIM_POOL_SPILL_COUNT / 2) {
        sim_pool_free_t *const object = cache->first;
        cache->first = object->next;
        cache->count--;
        object->next = pool->shared->spare;
        pool->shared->spare = object;
        pool->shared->spare_count++;
    }
    pthread_mutex_unlock(&pool->shared->lock);
}
