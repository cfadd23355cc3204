// SPDX-License-Identifier: Apache-2.0
// test_adamap_handover.c - the chain that a core lengthens while the NIC shortens it, in
// every order there is.
//
// Goal: whichever step comes when: the NIC gets every map once and in order; no block is free while
// it is linked or read; blocks add up; nobody waits for ever, also when blocks run out and are used
// again at once.
// Method: the functions of nic/transport/adamap/handover.h are the steps; a search goes through all
// interleavings of giving, inserting (three steps), reading, advancing and returning (states that
// were met before are not searched again). Free blocks are overwritten with rubbish.
// The same search with a mistake planted must find it: a NIC that trusts "no next", one that frees
// blocks itself, a core that links before it writes.
#include "nic/transport/adamap/handover.h"
#include "tests/check_main.h"

#define MAPS 5u
#define BLOCKS_MAX 4u
#define QUEUE (2 * MAPS)
#define RUBBISH 99u
#define STATES_MAX (1u << 20)

typedef enum mistake { NO_MISTAKE, TRUSTS_NONE, FREES_ITSELF, LINKS_FIRST } mistake_t;

typedef struct block {
    uint32_t map;
    uint32_t next;
    uint32_t free;
} block_t;

// Maps are numbered from 1. An entry is a map, or 0x100 | block for one that is returned.
typedef struct world {
    nic_knitting_chain_t chain;
    block_t blocks[BLOCKS_MAX + 1];
    uint32_t queue[QUEUE];
    uint32_t queue_first;
    uint32_t queue_end;
    uint32_t core_step; // of the insertion under way; 0: none
    uint32_t core_block;
    uint32_t read_map; // by the NIC, of the head
    uint32_t read_next;
    uint32_t reading; // a head was read and not yet left
    uint32_t got;     // the last map that the NIC has used
} world_t;

typedef struct search {
    mistake_t mistake;
    uint32_t blocks;
    uint64_t states;
    uint64_t ends;
    const char *wrong;
    world_t *met;
    bool *used;
} search_t;

static bool met_before(search_t *search, const world_t *world)
{
    uint64_t hash = 0;
    const unsigned char *const bytes = (const unsigned char *)world;
    for (size_t i = 0; i < sizeof(*world); i++) {
        hash = hash * UINT64_C(0x100000001b3) + bytes[i];
    }
    size_t place = (size_t)sim_mix64(hash) & (STATES_MAX - 1);
    while (search->used[place]) {
        if (memcmp(&search->met[place], world, sizeof(*world)) == 0) {
            return true;
        }
        place = (place + 1) & (STATES_MAX - 1);
    }
    ck_assert_uint_lt(search->states, STATES_MAX / 2);
    search->used[place] = true;
    memcpy(&search->met[place], world, sizeof(*world));
    search->states++;
    return false;
}

static void check(search_t *search, bool right, const char *what)
{
    if (!right && search->wrong == NULL) {
        search->wrong = what;
    }
}

static void set_free(search_t *search, world_t *world, uint32_t number)
{
    block_t *const block = &world->blocks[number];
    check(search, block->free == 0, "a block was freed twice");
    *block = (block_t){.map = RUBBISH, .next = RUBBISH, .free = 1};
}

static uint32_t take_free(world_t *world, uint32_t blocks)
{
    for (uint32_t b = 1; b <= blocks; b++) {
        if (world->blocks[b].free != 0) {
            world->blocks[b].free = 0;
            return b;
        }
    }
    return NIC_KNITTING_NONE;
}

// -- the NIC

static bool give(search_t *search, world_t *world)
{
    // The NIC knows the buffer's size, so it gives only as many maps as there are blocks.
    uint32_t returning = 0;
    for (uint32_t i = world->queue_first; i < world->queue_end; i++) {
        returning += (world->queue[i] & 0x100) != 0;
    }
    if (world->chain.given == MAPS ||
        nic__chain_count(&world->chain) + returning >= search->blocks) {
        return false;
    }
    nic__chain_give(&world->chain);
    world->queue[world->queue_end++] = world->chain.given;
    return true;
}

static bool read_head(search_t *search, world_t *world)
{
    if (world->chain.head == NIC_KNITTING_NONE || world->reading != 0) {
        return false;
    }
    const block_t *const head = &world->blocks[world->chain.head];
    check(search, head->free == 0, "the NIC read a free block");
    check(search, head->map == world->got + 1, "the NIC read a map that is not its turn's");
    world->read_map = head->map;
    world->read_next = head->next;
    world->reading = 1;
    return true;
}

static bool advance(search_t *search, world_t *world)
{
    if (world->reading == 0) {
        return false;
    }
    const uint32_t left = world->chain.head;
    if (search->mistake == TRUSTS_NONE) {
        world->chain.head = world->read_next;
        world->chain.taken++;
    } else if (!nic__chain_advance(&world->chain, world->read_next)) {
        const uint32_t now = world->blocks[left].next;
        if (now == world->read_next) {
            return false; // the same again: no step
        }
        world->read_next = now;
        return true;
    }
    world->got = world->read_map;
    world->reading = 0;
    if (search->mistake == FREES_ITSELF) {
        set_free(search, world, left);
    } else {
        world->queue[world->queue_end++] = 0x100 | left;
    }
    return true;
}

// -- the core

static bool core(search_t *search, world_t *world)
{
    if (world->core_step == 0) {
        if (world->queue_first == world->queue_end) {
            return false;
        }
        const uint32_t entry = world->queue[world->queue_first];
        if ((entry & 0x100) != 0) {
            nic__chain_returned(&world->chain, entry & 0xff);
            set_free(search, world, entry & 0xff);
            world->queue_first++;
            return true;
        }
        world->core_block = take_free(world, search->blocks);
        check(search, world->core_block != NIC_KNITTING_NONE, "no block for what was given");
        world->blocks[world->core_block].next = NIC_KNITTING_NONE;
        world->core_step = 1;
        return world->core_block != NIC_KNITTING_NONE;
    }
    const bool writes = (world->core_step == 1) == (search->mistake != LINKS_FIRST);
    block_t *const block = &world->blocks[world->core_block];
    if (writes) {
        block->map = world->queue[world->queue_first];
    } else {
        const uint32_t tail = world->chain.tail;
        check(search, tail == NIC_KNITTING_NONE || world->blocks[tail].free == 0,
              "the core wrote into a free block");
        nic__chain_link(&world->chain, &world->blocks[tail].next, world->core_block);
    }
    if (world->core_step == 2) {
        world->queue_first++;
        world->core_step = 0;
        world->core_block = 0;
    } else {
        world->core_step = 2;
    }
    return true;
}

static void go(search_t *search, const world_t *from)
{
    static bool (*const steps[])(search_t *, world_t *) = {give, read_head, advance, core};
    bool any_moved = false;
    for (uint32_t i = 0; i < SIM_COUNT_OF(steps) && search->wrong == NULL; i++) {
        world_t world;
        memcpy(&world, from, sizeof(world));
        if (!steps[i](search, &world) || search->wrong != NULL) {
            continue;
        }
        any_moved = true;
        if (!met_before(search, &world)) {
            go(search, &world);
        }
    }
    if (!any_moved && search->wrong == NULL) {
        search->ends++;
        check(search, from->got == MAPS, "nobody can go on, and maps are left");
        check(search, from->chain.head == NIC_KNITTING_NONE, "a block is left at the head");
        check(search, from->chain.tail == NIC_KNITTING_NONE, "a block is left at the tail");
        for (uint32_t b = 1; b <= search->blocks; b++) {
            check(search, from->blocks[b].free != 0, "a block was lost");
        }
    }
}

static search_t explore(uint32_t blocks, mistake_t mistake)
{
    search_t search = {.blocks = blocks, .mistake = mistake};
    search.met = sim_alloc_array(STATES_MAX, sizeof(*search.met));
    search.used = sim_alloc_array(STATES_MAX, sizeof(*search.used));
    world_t world;
    memset(&world, 0, sizeof(world));
    for (uint32_t b = 1; b <= blocks; b++) {
        set_free(&search, &world, b);
    }
    go(&search, &world);
    sim_free(search.met);
    sim_free(search.used);
    return search;
}

START_TEST(every_order_is_right)
{
    for (uint32_t blocks = 1; blocks <= BLOCKS_MAX; blocks++) {
        const search_t search = explore(blocks, NO_MISTAKE);
        ck_assert_msg(search.wrong == NULL, "%u blocks: %s", blocks, search.wrong);
        ck_assert_uint_gt(search.states, blocks == 1 ? 20 : 100);
        ck_assert_uint_gt(search.ends, 0);
    }
}
END_TEST

START_TEST(mistakes_are_found)
{
    for (mistake_t mistake = TRUSTS_NONE; mistake <= LINKS_FIRST; mistake++) {
        const search_t search = explore(BLOCKS_MAX, mistake);
        ck_assert_msg(search.wrong != NULL, "mistake %d was not found", (int)mistake);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_order_is_right), CHECK_TEST(mistakes_are_found))
