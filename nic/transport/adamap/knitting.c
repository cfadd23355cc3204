// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/knitting.c - blocks and their contents, runs, chunks, the free list.
#include "nic/transport/adamap/knitting.h"

#include <string.h>

#define MAP_AT NIC_KNITTING_NEXT_BYTES
#define BITMAP_AT 12u // in the map
#define MAP_BYTES_MAX (BITMAP_AT + NIC_ADAMAP_BITS_MAX / 8)
#define STAMP_SHIFT 16

uint32_t nic__knitting_block_bytes(uint32_t bits, uint32_t align_bytes)
{
    const uint32_t bytes = NIC_KNITTING_NEXT_BYTES + nic__adamap_bytes(bits);
    return (bytes + align_bytes - 1) / align_bytes * align_bytes;
}

void nic__knitting_init(nic_knitting_t *knitting, const nic_knitting_config_t *config)
{
    SIM_CHECK(config->run_blocks > 0 && config->run_blocks <= NIC_KNITTING_RUN_MAX);
    SIM_CHECK(config->chunk_blocks > 0 && config->chunk_blocks % config->run_blocks == 0);
    SIM_CHECK(config->align_bytes >= 8 && config->address % config->align_bytes == 0);
    *knitting = (nic_knitting_t){
        .config = *config,
        .block_bytes = nic__knitting_block_bytes(config->bits, config->align_bytes),
    };
}

static uint64_t chunk_bytes(const nic_knitting_t *knitting)
{
    return (uint64_t)knitting->config.chunk_blocks * knitting->block_bytes;
}

void nic__knitting_fini(nic_knitting_t *knitting)
{
    sim_free_each(knitting->chunks, knitting->chunk_count);
    sim_free(knitting->chunks);
    sim_free(knitting->chunk_used);
    memset(knitting, 0, sizeof(*knitting));
}

// -- runs: numbered from 1, like blocks

static inline uint32_t chunk_of(const nic_knitting_t *knitting, uint32_t block)
{
    return (block - 1) / knitting->config.chunk_blocks;
}

static inline uint32_t run_of(const nic_knitting_t *knitting, uint32_t block)
{
    return (block - 1) / knitting->config.run_blocks + 1;
}

static inline uint32_t place_of(const nic_knitting_t *knitting, uint32_t block)
{
    return (block - 1) % knitting->config.run_blocks;
}

static nic_knitting_run_t *run_at(const nic_knitting_t *knitting, uint32_t run)
{
    SIM_ASSERT(run != NIC_KNITTING_NONE);
    const uint32_t in_chunk = knitting->config.chunk_blocks / knitting->config.run_blocks;
    return &knitting->chunks[(run - 1) / in_chunk][(run - 1) % in_chunk];
}

static inline uint64_t mask_of(uint32_t blocks)
{
    return blocks >= 64 ? UINT64_MAX : (UINT64_C(1) << blocks) - 1;
}

static inline bool is_whole(const nic_knitting_t *knitting, const nic_knitting_run_t *run)
{
    return run->free == mask_of(knitting->config.run_blocks);
}

static uint32_t *list_of(nic_knitting_t *knitting, const nic_knitting_run_t *run)
{
    return is_whole(knitting, run) ? &knitting->whole_first : &knitting->part_first;
}

static void put_run(nic_knitting_t *knitting, uint32_t number)
{
    nic_knitting_run_t *const run = run_at(knitting, number);
    uint32_t *const first = list_of(knitting, run);
    run->before = NIC_KNITTING_NONE;
    run->after = *first;
    if (*first != NIC_KNITTING_NONE) {
        run_at(knitting, *first)->before = number;
    }
    *first = number;
}

static void cut_run(nic_knitting_t *knitting, uint32_t number)
{
    const nic_knitting_run_t *const run = run_at(knitting, number);
    if (run->before != NIC_KNITTING_NONE) {
        run_at(knitting, run->before)->after = run->after;
    } else {
        *list_of(knitting, run) = run->after;
    }
    if (run->after != NIC_KNITTING_NONE) {
        run_at(knitting, run->after)->before = run->before;
    }
}

// Changes which blocks of a run are free, and the list that the run is in.
static void set_free(nic_knitting_t *knitting, uint32_t number, uint64_t free)
{
    nic_knitting_run_t *const run = run_at(knitting, number);
    if (run->free != 0) {
        cut_run(knitting, number);
    }
    run->free = free;
    if (free != 0) {
        put_run(knitting, number);
    }
}

// -- chunks

// Returns a slot for a chunk: one that was given back, or a new one.
static uint32_t chunk_slot(nic_knitting_t *knitting)
{
    for (uint32_t i = 0; i < knitting->chunk_count && knitting->shrunk > 0; i++) {
        if (knitting->chunks[i] == NULL) {
            return i;
        }
    }
    if (knitting->chunk_count == knitting->chunk_capacity) {
        const uint32_t capacity = knitting->chunk_capacity == 0 ? 8 : knitting->chunk_capacity * 2;
        knitting->chunks = sim_realloc_array(knitting->chunks, capacity, sizeof(*knitting->chunks));
        knitting->chunk_used =
            sim_realloc_array(knitting->chunk_used, capacity, sizeof(*knitting->chunk_used));
        knitting->chunk_capacity = capacity;
    }
    return knitting->chunk_count++;
}

static bool grow(nic_knitting_t *knitting)
{
    const uint64_t room = knitting->config.blocks_max - knitting->block_count;
    if (room == 0) {
        return false;
    }
    const uint32_t size = knitting->config.chunk_blocks;
    const uint32_t run_blocks = knitting->config.run_blocks;
    const uint32_t usable = room < size ? (uint32_t)room : size;
    const uint32_t slot = chunk_slot(knitting);
    knitting->chunks[slot] = sim_alloc_array(size / run_blocks, sizeof(nic_knitting_run_t));
    knitting->chunk_used[slot] = 0;
    for (uint32_t run = (usable + run_blocks - 1) / run_blocks; run-- > 0;) {
        const uint32_t left = usable - run * run_blocks;
        set_free(knitting, slot * (size / run_blocks) + run + 1,
                 mask_of(SIM_MIN(left, run_blocks)));
    }
    knitting->block_count += usable;
    knitting->free_count += usable;
    knitting->grown++;
    const uint64_t bytes = knitting->block_count * knitting->block_bytes;
    knitting->bytes_max = SIM_MAX(bytes, knitting->bytes_max);
    return true;
}

// Takes a chunk out of the free list and gives it back. That happens at most once for as many
// returned blocks as a chunk has, since as many stay free.
static void shrink(nic_knitting_t *knitting, uint32_t slot)
{
    const uint32_t runs = knitting->config.chunk_blocks / knitting->config.run_blocks;
    uint32_t out = 0;
    for (uint32_t run = slot * runs + 1; run <= (slot + 1) * runs; run++) {
        out += (uint32_t)__builtin_popcountll(run_at(knitting, run)->free);
        set_free(knitting, run, 0);
    }
    nic_memory_forget(knitting->config.memory,
                      nic__knitting_address(knitting, slot * knitting->config.chunk_blocks + 1),
                      chunk_bytes(knitting));
    sim_free(knitting->chunks[slot]);
    knitting->chunks[slot] = NULL;
    knitting->free_count -= out;
    knitting->block_count -= out;
    knitting->shrunk++;
}

// -- taking and giving

bool nic__knitting_claim(nic_knitting_t *knitting, uint64_t blocks)
{
    if (!nic__knitting_has(knitting, blocks)) {
        knitting->refused++;
        return false;
    }
    knitting->claimed_count += blocks;
    return true;
}

void nic__knitting_unclaim(nic_knitting_t *knitting)
{
    SIM_CHECK(knitting->claimed_count > knitting->used_count);
    knitting->claimed_count--;
}

// Returns a free block: behind `after`, of a run that is free as a whole, or of any.
static uint32_t find_free(nic_knitting_t *knitting, uint32_t after)
{
    const uint32_t run_blocks = knitting->config.run_blocks;
    if (after != NIC_KNITTING_NONE && place_of(knitting, after) + 1 < run_blocks &&
        (run_at(knitting, run_of(knitting, after))->free >> (place_of(knitting, after) + 1) & 1) !=
            0) {
        return after + 1;
    }
    if (knitting->whole_first == NIC_KNITTING_NONE && !grow(knitting) &&
        knitting->part_first == NIC_KNITTING_NONE) {
        return NIC_KNITTING_NONE;
    }
    const uint32_t run =
        knitting->whole_first != NIC_KNITTING_NONE ? knitting->whole_first : knitting->part_first;
    return (run - 1) * run_blocks + 1 + (uint32_t)__builtin_ctzll(run_at(knitting, run)->free);
}

uint32_t nic__knitting_take(nic_knitting_t *knitting, uint32_t after)
{
    SIM_CHECK(knitting->used_count < knitting->claimed_count);
    const uint32_t block = find_free(knitting, after);
    SIM_CHECK(block != NIC_KNITTING_NONE);
    const uint32_t run = run_of(knitting, block);
    set_free(knitting, run,
             run_at(knitting, run)->free & ~(UINT64_C(1) << place_of(knitting, block)));
    knitting->chunk_used[chunk_of(knitting, block)]++;
    knitting->free_count--;
    knitting->used_count++;
    if (knitting->used_count > knitting->used_max) {
        knitting->used_max = knitting->used_count;
    }
    return block;
}

bool nic__knitting_is_used(const nic_knitting_t *knitting, uint32_t block)
{
    const uint32_t slot = chunk_of(knitting, block);
    return slot < knitting->chunk_count && knitting->chunks[slot] != NULL &&
           (run_at(knitting, run_of(knitting, block))->free >> place_of(knitting, block) & 1) == 0;
}

void nic__knitting_give(nic_knitting_t *knitting, uint32_t block)
{
    SIM_CHECK(nic__knitting_is_used(knitting, block));
    const uint32_t run = run_of(knitting, block);
    set_free(knitting, run, run_at(knitting, run)->free | UINT64_C(1) << place_of(knitting, block));
    knitting->free_count++;
    knitting->used_count--;
    knitting->claimed_count--;
    const uint32_t slot = chunk_of(knitting, block);
    if (--knitting->chunk_used[slot] == 0 &&
        knitting->free_count >= 4 * (uint64_t)knitting->config.chunk_blocks &&
        knitting->free_count >= 2 * knitting->used_count) {
        shrink(knitting, slot);
    }
}

void nic__knitting_check(const nic_knitting_t *knitting)
{
    const uint32_t runs = knitting->config.chunk_blocks / knitting->config.run_blocks;
    SIM_CHECK(runs > 0);
    uint64_t free_count = 0;
    uint64_t used_count = 0;
    for (uint32_t c = 0; c < knitting->chunk_count; c++) {
        for (uint32_t r = 0; knitting->chunks[c] != NULL && r < runs; r++) {
            free_count += (uint64_t)__builtin_popcountll(knitting->chunks[c][r].free);
        }
        used_count += knitting->chunks[c] != NULL ? knitting->chunk_used[c] : 0;
    }
    uint64_t listed_count = 0;
    for (uint32_t list = 0; list < 2; list++) {
        uint32_t run = list == 0 ? knitting->whole_first : knitting->part_first;
        for (; run != NIC_KNITTING_NONE; run = run_at(knitting, run)->after) {
            SIM_CHECK(is_whole(knitting, run_at(knitting, run)) == (list == 0));
            listed_count += (uint64_t)__builtin_popcountll(run_at(knitting, run)->free);
            SIM_CHECK(listed_count <= free_count);
        }
    }
    SIM_CHECK(listed_count == free_count);
    SIM_CHECK(free_count == knitting->free_count);
    SIM_CHECK(used_count == knitting->used_count);
    SIM_CHECK(free_count + used_count == knitting->block_count);
    SIM_CHECK(knitting->used_count <= knitting->claimed_count);
    SIM_CHECK(knitting->claimed_count <= knitting->config.blocks_max);
    SIM_CHECK(knitting->block_count <= knitting->config.blocks_max);
}

// -- contents

static void put32(uint8_t *bytes, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

void nic__knitting_write(const nic_knitting_t *knitting, uint32_t block, const nic_adamap_t *map)
{
    uint8_t bytes[MAP_AT + MAP_BYTES_MAX] = {0}; // the next address is 0
    put32(bytes + MAP_AT, (uint32_t)map->first_psn);
    put32(bytes + MAP_AT + 4, map->length);
    put32(bytes + MAP_AT + 8, (uint32_t)(map->touched_ps >> STAMP_SHIFT));
    const uint32_t bitmap_bytes = (knitting->config.bits + 7) / 8;
    for (uint32_t i = 0; i < bitmap_bytes; i++) {
        bytes[MAP_AT + BITMAP_AT + i] = (uint8_t)(map->bits[i / 8] >> (8 * (i % 8)));
    }
    nic_memory_write(knitting->config.memory, nic__knitting_address(knitting, block), bytes,
                     MAP_AT + BITMAP_AT + bitmap_bytes);
}

void nic__knitting_link(const nic_knitting_t *knitting, uint32_t block, uint32_t next)
{
    nic_memory_write64(knitting->config.memory, nic__knitting_address(knitting, block),
                       nic__knitting_address(knitting, next));
}

nic_adamap_t nic__knitting_read(const nic_knitting_t *knitting, uint32_t block, uint64_t near_psn,
                                uint64_t now_ps)
{
    uint8_t bytes[MAP_BYTES_MAX];
    const uint32_t bitmap_bytes = (knitting->config.bits + 7) / 8;
    nic_memory_read(knitting->config.memory, nic__knitting_address(knitting, block) + MAP_AT, bytes,
                    BITMAP_AT + bitmap_bytes);
    const int32_t ahead = (int32_t)(get32(bytes) - (uint32_t)near_psn);
    const uint64_t now_stamp = now_ps >> STAMP_SHIFT;
    const uint32_t age = (uint32_t)now_stamp - get32(bytes + 8);
    nic_adamap_t map = {
        .first_psn = near_psn + (uint64_t)(int64_t)ahead,
        .length = get32(bytes + 4),
        .touched_ps = (now_stamp - age) << STAMP_SHIFT,
    };
    for (uint32_t i = 0; i < bitmap_bytes; i++) {
        map.bits[i / 8] |= (uint64_t)bytes[BITMAP_AT + i] << (8 * (i % 8));
    }
    return map;
}

uint32_t nic__knitting_next(const nic_knitting_t *knitting, uint32_t block)
{
    const uint64_t address = nic__knitting_address(knitting, block);
    const uint64_t next = nic_memory_read64(knitting->config.memory, address);
    if (next == 0) {
        return NIC_KNITTING_NONE;
    }
    const uint64_t offset = next - knitting->config.address;
    const uint64_t number = offset / knitting->block_bytes + 1;
    SIM_CHECKF(offset % knitting->block_bytes == 0 && number <= UINT32_MAX &&
                   nic__knitting_is_used(knitting, (uint32_t)number),
               "the knitting buffer's block at 0x%" PRIx64 " names 0x%" PRIx64
               " as the next one, which is no block in use: something wrote to it",
               address, next);
    return (uint32_t)number;
}

// -- chains

void nic__knitting_append(nic_knitting_t *knitting, nic_knitting_chain_t *chain,
                          const nic_adamap_t *map)
{
    const uint32_t tail = chain->tail;
    const uint32_t block = nic__knitting_take(knitting, tail);
    nic__knitting_write(knitting, block, map);
    uint32_t next = NIC_KNITTING_NONE;
    nic__chain_link(chain, &next, block);
    if (tail != NIC_KNITTING_NONE) {
        nic__knitting_link(knitting, tail, next);
    }
}

nic_adamap_t nic__knitting_pop(nic_knitting_t *knitting, nic_knitting_chain_t *chain,
                               uint64_t near_psn, uint64_t now_ps)
{
    SIM_CHECK(nic__chain_count(chain) > 0);
    const uint32_t block = chain->head;
    const nic_adamap_t map = nic__knitting_read(knitting, block, near_psn, now_ps);
    SIM_CHECK(nic__chain_advance(chain, nic__knitting_next(knitting, block)));
    nic__chain_returned(chain, block);
    nic__knitting_give(knitting, block);
    return map;
}
