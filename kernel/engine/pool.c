// SPDX-License-Identifier: Apache-2.0
// kernel/engine/pool.c - allocates a pool's memory and levels the free lists of its workers.
//
// Chunks come in slabs: one by one at first, then as many as fill a huge page.
#include "kernel/pool.h"

#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define SMALL_CHUNKS 8u
#define SLAB_CHUNKS 32u
#define BLOCK_BYTES_MAX 16384u // hot bytes of one block

typedef struct slab {
    struct slab *next;
    char *hot;
    char *cold;
} slab_t;

struct sim_pool_shared {
    pthread_mutex_t lock;
    slab_t *slabs; // the newest first; chunks are cut from that
    uint64_t chunks_left;
    uint64_t chunk_count;
    sim_pool_free_t *spare; // surplus of any worker, for any other
    uint64_t spare_count;
};

sim_pool_t *sim_pool_create(size_t hot_bytes, size_t cold_bytes)
{
    const size_t lines = (hot_bytes + SIM_CACHE_LINE - 1) / SIM_CACHE_LINE;
    SIM_CHECK(lines >= 1 && lines * SIM_CACHE_LINE <= BLOCK_BYTES_MAX);
    SIM_CHECK(cold_bytes == 0 || lines == 1);
    sim_pool_t *const pool = sim_alloc_lines(sizeof(*pool));
    pool->hot_bytes = lines * SIM_CACHE_LINE;
    pool->cold_bytes = cold_bytes;
    pool->shared = sim_alloc(sizeof(*pool->shared));
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        pool->caches[i].spill_count = SIM_POOL_SPILL_COUNT;
    }
    SIM_CHECK(pthread_mutex_init(&pool->shared->lock, NULL) == 0);
    return pool;
}

void sim_pool_widen(sim_pool_t *pool, size_t cold_bytes)
{
    SIM_CHECK(pool->shared->chunk_count == 0 && pool->hot_bytes == SIM_CACHE_LINE);
    SIM_CHECK(cold_bytes >= pool->cold_bytes);
    pool->cold_bytes = cold_bytes;
}

void sim_pool_destroy(sim_pool_t *pool)
{
    if (pool == NULL) {
        return;
    }
    for (slab_t *slab = pool->shared->slabs; slab != NULL;) {
        slab_t *const next = slab->next;
        free(slab->hot);
        free(slab->cold);
        sim_free(slab);
        slab = next;
    }
    pthread_mutex_destroy(&pool->shared->lock);
    sim_free(pool->shared);
    sim_free(pool);
}

#define FREE_BYTE 0xA5

void sim__pool_forbid(const sim_pool_t *pool, void *object)
{
    memset(object, FREE_BYTE, pool->hot_bytes);
    ASAN_POISON_MEMORY_REGION((char *)object + sizeof(sim_pool_free_t),
                              pool->hot_bytes - sizeof(sim_pool_free_t));
    if (pool->cold_bytes > 0) {
        memset(sim_pool_cold(object), FREE_BYTE, pool->cold_bytes);
        ASAN_POISON_MEMORY_REGION(sim_pool_cold(object), pool->cold_bytes);
    }
}

void sim__pool_allow(const sim_pool_t *pool, void *object)
{
    ASAN_UNPOISON_MEMORY_REGION(object, pool->hot_bytes);
    if (pool->cold_bytes > 0) {
        ASAN_UNPOISON_MEMORY_REGION(sim_pool_cold(object), pool->cold_bytes);
    }
}

uint64_t sim_pool_live(const sim_pool_t *pool)
{
    uint64_t taken = 0;
    uint64_t returned = 0;
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        taken += pool->caches[i].taken;
        returned += pool->caches[i].returned;
    }
    SIM_CHECK(taken >= returned);
    return taken - returned;
}

uint64_t sim_pool_memory_bytes(const sim_pool_t *pool)
{
    const uint64_t lines = SIM_POOL_CHUNK_BYTES / SIM_CACHE_LINE;
    return pool->shared->chunk_count * (SIM_POOL_CHUNK_BYTES + lines * pool->cold_bytes);
}

static void add_slab(sim_pool_t *pool)
{
    struct sim_pool_shared *const shared = pool->shared;
    const size_t chunks = shared->chunk_count < SMALL_CHUNKS ? 1 : SLAB_CHUNKS;
    const size_t bytes = chunks * SIM_POOL_CHUNK_BYTES;
    slab_t *const slab = sim_alloc(sizeof(*slab));
    slab->hot = aligned_alloc(bytes, bytes);
    if (slab->hot == NULL) {
        sim_out_of_memory(1, bytes);
    }
    if (chunks > 1) {
        (void)madvise(slab->hot, bytes, MADV_HUGEPAGE); // small pages work as well
    }
    if (pool->cold_bytes > 0) {
        const size_t cold_bytes = bytes / SIM_CACHE_LINE * pool->cold_bytes; // whole lines
        slab->cold = aligned_alloc(SIM_CACHE_LINE, cold_bytes);
        if (slab->cold == NULL) {
            sim_out_of_memory(1, cold_bytes);
        }
    }
    slab->next = shared->slabs;
    shared->slabs = slab;
    shared->chunks_left = chunks;
}

// Adds the objects of a new chunk to the list. The caller holds the lock.
static void add_chunk(sim_pool_t *pool, sim_pool_cache_t *cache)
{
    struct sim_pool_shared *const shared = pool->shared;
    if (shared->chunks_left == 0) {
        add_slab(pool);
    }
    const size_t index = --shared->chunks_left;
    sim_pool_chunk_t *const chunk =
        (sim_pool_chunk_t *)(void *)(shared->slabs->hot + index * SIM_POOL_CHUNK_BYTES);
    chunk->cold = NULL;
    chunk->cold_bytes = 0;
    shared->chunk_count++;
    if (pool->cold_bytes > 0) {
        chunk->cold_bytes = pool->cold_bytes;
        chunk->cold = shared->slabs->cold +
                      index * (SIM_POOL_CHUNK_BYTES / SIM_CACHE_LINE) * pool->cold_bytes;
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
    if (cache->taken >= cache->returned) {
        // This worker takes as many objects as it returns, so it may keep a longer list.
        cache->spill_count *= 2;
        pthread_mutex_unlock(&pool->shared->lock);
        return;
    }
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

// -- lines

#define LINES_SMALL_BYTES ((size_t)1 << 16)
#define LINES_LARGE_BYTES ((size_t)1 << 21) // a huge page
#define LINES_SMALL_CHUNKS 16u

static size_t lines_of(size_t bytes)
{
    return (bytes + SIM_CACHE_LINE - 1) / SIM_CACHE_LINE;
}

// Builds with dear checks ask malloc each time, so that the address sanitizer finds uses of objects
// that are gone.
static bool has_own_memory(size_t lines)
{
#ifdef SIM_DEAR_CHECKS
    (void)lines;
    return true;
#else
    return lines > SIM_LINES_MAX;
#endif
}

static void *cut_lines(sim_lines_t *lines, size_t bytes)
{
    if (lines->left_bytes < bytes) {
        lines->left_bytes =
            lines->chunk_count < LINES_SMALL_CHUNKS ? LINES_SMALL_BYTES : LINES_LARGE_BYTES;
        lines->next = sim_alloc_lines(lines->left_bytes);
        SIM_APPEND(lines->chunks, lines->chunk_count, lines->chunk_capacity, (void *)lines->next);
    }
    void *const memory = lines->next;
    lines->next += bytes;
    lines->left_bytes -= bytes;
    return memory;
}

sim_worker_t *sim_builder(const sim_t *sim)
{
    return &sim->threads[0]->worker;
}

void *sim_lines_take(sim_worker_t *worker, size_t bytes)
{
    const size_t count = lines_of(bytes);
    if (has_own_memory(count)) {
        return sim_alloc_lines(bytes);
    }
    sim_lines_t *const lines = &((sim_thread_t *)(void *)worker)->lines;
    sim_pool_free_t *const free = lines->free[count];
    if (free == NULL) {
        return cut_lines(lines, count * SIM_CACHE_LINE);
    }
    lines->free[count] = free->next;
    return memset(free, 0, count * SIM_CACHE_LINE);
}

void sim_lines_give(sim_worker_t *worker, void *memory, size_t bytes)
{
    const size_t count = lines_of(bytes);
    if (has_own_memory(count)) {
        sim_free(memory);
    } else if (memory != NULL) {
        sim_lines_t *const lines = &((sim_thread_t *)(void *)worker)->lines;
        sim_pool_free_t *const free = memory;
        free->next = lines->free[count];
        lines->free[count] = free;
    }
}
