// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/knitting.c - blocks, chunks, the free list.
#include "nic/transport/adamap/knitting.h"

#include <string.h>

uint32_t nic__knitting_block_bytes(uint32_t bits, uint32_t align_bytes)
{
    const uint32_t bytes = nic__adamap_bytes(bits) + 8;
    return (bytes + align_bytes - 1) / align_bytes * align_bytes;
}

void nic__knitting_init(nic_knitting_t *knitting, const nic_knitting_config_t *config)
{
    SIM_CHECK(config->chunk_blocks > 0);
    *knitting = (nic_knitting_t){
        .config = *config,
        .block_bytes = nic__knitting_block_bytes(config->bits, config->align_bytes),
    };
}

void nic__knitting_fini(nic_knitting_t *knitting)
{
    for (uint32_t i = 0; i < knitting->chunk_count; i++) {
        sim_free(knitting->chunks[i]);
    }
    sim_free(knitting->chunks);
    sim_free(knitting->chunk_used);
    memset(knitting, 0, sizeof(*knitting));
}

static inline uint32_t chunk_of(const nic_knitting_t *knitting, uint32_t block)
{
    return (block - 1) / knitting->config.chunk_blocks;
}

nic_knitting_block_t *nic__knitting_at(const nic_knitting_t *knitting, uint32_t block)
{
    SIM_ASSERT(block != NIC_KNITTING_NONE);
    nic_knitting_block_t *const chunk = knitting->chunks[chunk_of(knitting, block)];
    return &chunk[(block - 1) % knitting->config.chunk_blocks];
}

static void note_bytes(nic_knitting_t *knitting)
{
    const uint64_t bytes = knitting->block_count * knitting->block_bytes;
    knitting->bytes_max = bytes > knitting->bytes_max ? bytes : knitting->bytes_max;
}

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
    const uint32_t usable = room < size ? (uint32_t)room : size;
    const uint32_t slot = chunk_slot(knitting);
    knitting->chunks[slot] = sim_alloc_array(size, sizeof(nic_knitting_block_t));
    knitting->chunk_used[slot] = 0;
    for (uint32_t i = usable; i > 0; i--) {
        knitting->chunks[slot][i - 1].next = knitting->free_first;
        knitting->free_first = slot * size + i;
    }
    knitting->block_count += usable;
    knitting->free_count += usable;
    knitting->grown++;
    note_bytes(knitting);
    return true;
}

uint32_t nic__knitting_take(nic_knitting_t *knitting)
{
    if (knitting->free_first == NIC_KNITTING_NONE && !grow(knitting)) {
        knitting->refused++;
        return NIC_KNITTING_NONE;
    }
    const uint32_t block = knitting->free_first;
    nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
    SIM_CHECK(!at->used);
    knitting->free_first = at->next;
    at->next = NIC_KNITTING_NONE;
    at->used = true;
    knitting->chunk_used[chunk_of(knitting, block)]++;
    knitting->free_count--;
    knitting->used_count++;
    if (knitting->used_count > knitting->used_max) {
        knitting->used_max = knitting->used_count;
    }
    return block;
}

// Takes the blocks of a chunk out of the free list and frees the chunk. That happens at most once
// for as many returned blocks as a chunk has, since as many stay free.
static void shrink(nic_knitting_t *knitting, uint32_t slot)
{
    uint32_t *link = &knitting->free_first;
    uint32_t out = 0;
    while (*link != NIC_KNITTING_NONE) {
        nic_knitting_block_t *const at = nic__knitting_at(knitting, *link);
        if (chunk_of(knitting, *link) == slot) {
            *link = at->next;
            out++;
        } else {
            link = &at->next;
        }
    }
    sim_free(knitting->chunks[slot]);
    knitting->chunks[slot] = NULL;
    knitting->free_count -= out;
    knitting->block_count -= out;
    knitting->shrunk++;
}

void nic__knitting_give(nic_knitting_t *knitting, uint32_t block)
{
    nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
    SIM_CHECK(at->used);
    at->used = false;
    at->next = knitting->free_first;
    knitting->free_first = block;
    knitting->free_count++;
    knitting->used_count--;
    const uint32_t slot = chunk_of(knitting, block);
    if (--knitting->chunk_used[slot] == 0 &&
        knitting->free_count >= 4 * (uint64_t)knitting->config.chunk_blocks &&
        knitting->free_count >= 2 * knitting->used_count) {
        shrink(knitting, slot);
    }
}

void nic__knitting_check(const nic_knitting_t *knitting)
{
    uint64_t free_count = 0;
    for (uint32_t block = knitting->free_first; block != NIC_KNITTING_NONE;) {
        const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
        SIM_CHECK(!at->used);
        free_count++;
        SIM_CHECK(free_count <= knitting->block_count);
        block = at->next;
    }
    uint64_t used_count = 0;
    for (uint32_t c = 0; c < knitting->chunk_count; c++) {
        uint32_t used = 0;
        for (uint32_t i = 0; knitting->chunks[c] != NULL && i < knitting->config.chunk_blocks;
             i++) {
            used += knitting->chunks[c][i].used;
        }
        SIM_CHECK(knitting->chunks[c] == NULL || used == knitting->chunk_used[c]);
        used_count += used;
    }
    SIM_CHECK(free_count == knitting->free_count);
    SIM_CHECK(used_count == knitting->used_count);
    SIM_CHECK(free_count + used_count == knitting->block_count);
    SIM_CHECK(knitting->block_count <= knitting->config.blocks_max);
}

bool nic__knitting_append(nic_knitting_t *knitting,
                          nic_knitting_chain_t *chain,
                          const nic_adamap_t *map,
                          uint64_t linked_ps)
{
    const uint32_t block = nic__knitting_take(knitting);
    if (block == NIC_KNITTING_NONE) {
        return false;
    }
    nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
    nic__chain_give(chain);
    at->map = *map;
    at->linked_ps = linked_ps;
    const bool first = chain->tail == NIC_KNITTING_NONE;
    nic__chain_link(chain, first ? NULL : &nic__knitting_at(knitting, chain->tail)->next, block);
    return true;
}

nic_adamap_t nic__knitting_pop(nic_knitting_t *knitting, nic_knitting_chain_t *chain)
{
    SIM_CHECK(nic__chain_count(chain) > 0);
    const uint32_t block = chain->head;
    const nic_knitting_block_t *const at = nic__knitting_at(knitting, block);
    const nic_adamap_t map = at->map;
    SIM_CHECK(nic__chain_advance(chain, at->next));
    nic__chain_returned(chain, block);
    nic__knitting_give(knitting, block);
    return map;
}

void nic__knitting_drop(nic_knitting_t *knitting, nic_knitting_chain_t *chain)
{
    while (nic__chain_count(chain) > 0) {
        (void)nic__knitting_pop(knitting, chain);
    }
    *chain = (nic_knitting_chain_t){0};
}
