// SPDX-License-Identifier: Apache-2.0
// test_cache_protocol.c - a token that moves while others read and write it, in every
// order there is.
//
// Goal: with a reader, two writers and one move, whichever step comes when: a reader never gets
// contents older than the last write that was over before it began, nor any that were never
// written; no write is lost; the version only rises; one tier owns the token; nobody is stuck.
// Method: the functions of nic/store/tiered/protocol.h are the steps; a search goes through
// all interleavings (states that were met before are not searched again), waiting and optimistic,
// each pair of tiers. Copies of a tier that does not own the token are overwritten with rubbish, as
// its slot may be used again at once.
// The same search with a mistake planted must find it: a commit that does not look whether the old
// copy changed, a reader that does not look at the version again, a writer that does not.
#include "kernel/bytes.h"
#include "nic/store/tiered/protocol.h"
#include "tests/check_main.h"

#define RUBBISH UINT64_C(0xbad)
#define ACTORS 4u // reader, writer, writer, move
#define STATES_MAX (1u << 20)

typedef enum mistake {
    NO_MISTAKE,
    BLIND_COMMIT,
    TRUSTING_READER,
    TRUSTING_WRITER,
    BLIND_SWAP,
} mistake_t;

typedef struct actor {
    uint8_t step;
    uint8_t done;
    nic_cell_view_t view;
    uint64_t seen;
    uint64_t not_older_than; // contents when it began
} actor_t;

typedef struct world {
    nic_cell_t cell;
    uint8_t words[NIC_LAYER_END][8]; // the copies
    uint64_t written;                // the last write that is over
    actor_t actors[ACTORS];
} world_t;

typedef struct search {
    bool waits;
    mistake_t mistake;
    uint32_t to;
    uint64_t states;
    uint64_t ends;
    const char *wrong; // the first thing found
    world_t *met;      // open addressing
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
        // Worlds begin as zeros and are copied whole: padding is equal too.
        // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c)
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

static nic_copies_t copies_of(world_t *world)
{
    return (nic_copies_t){{NULL, world->words[1], world->words[2], world->words[3]}};
}

static void check(search_t *search, bool right, const char *what)
{
    if (!right && search->wrong == NULL) {
        search->wrong = what;
    }
}

// Overwrites the copies in tiers that do not own the token: they may hold anything.
static void spoil(world_t *world)
{
    const nic_cell_t *const cell = &world->cell;
    for (uint32_t layer = 1; layer <= 3; layer++) {
        const bool target = nic_cell_moving(cell) && nic_move_target(cell) == layer;
        if (layer != cell->entry.layer && !target) {
            sim_put_le64(world->words[layer], RUBBISH);
        }
    }
}

// Does a reader's next step: enter, read, look again. Returns false if it can do nothing now.
static bool step_reader(search_t *search, world_t *world, actor_t *actor)
{
    if (actor->step == 0) {
        if (!nic_cell_enter(&world->cell, search->waits, &actor->view)) {
            return false;
        }
        actor->not_older_than = world->written;
        actor->step = 1;
    } else if (actor->step == 1) {
        const nic_copies_t copies = copies_of(world);
        actor->seen = nic_cell_read(&actor->view, &copies);
        actor->step = 2;
    } else if (!nic_cell_leave(&world->cell, &actor->view) && search->mistake != TRUSTING_READER) {
        actor->step = 0;
    } else {
        check(search, actor->seen >= actor->not_older_than && actor->seen <= world->written,
              "a reader got contents that it must not get");
        actor->done = 1;
    }
    return true;
}

// A write: enter, read, and swap for one more. Returns false if it can do nothing now.
static bool step_writer(search_t *search, world_t *world, actor_t *actor)
{
    const nic_copies_t copies = copies_of(world);
    if (actor->step == 0) {
        if (!nic_cell_enter(&world->cell, search->waits, &actor->view)) {
            return false;
        }
        actor->step = 1;
        return true;
    }
    if (actor->step == 1) {
        actor->seen = nic_cell_read(&actor->view, &copies);
        actor->step = 2;
        return true;
    }
    uint8_t *const word = world->words[actor->view.layer];
    const uint64_t expected = search->mistake == BLIND_SWAP ? sim_get_le64(word) : actor->seen;
    bool written = nic_cell_swap(&world->cell, &actor->view, &copies, expected, actor->seen + 1);
    if (!written && search->mistake == TRUSTING_WRITER) {
        sim_put_le64(word, actor->seen + 1);
        written = true;
    }
    if (!written) {
        actor->step = 0;
        return true;
    }
    world->written++;
    actor->done = 1;
    return true;
}

static bool step_move(const search_t *search, world_t *world, actor_t *actor)
{
    nic_cell_t *const cell = &world->cell;
    const nic_copies_t copies = copies_of(world);
    switch (actor->step) {
    case 0:
        if (!nic_move_begin(cell, search->to)) {
            return false;
        }
        break;
    case 1:
        nic_move_take(cell, &copies);
        break;
    case 2:
        nic_move_put(cell, &copies);
        break;
    default:
        if (search->mistake == BLIND_COMMIT) {
            cell->snapshot = sim_get_le64(world->words[cell->entry.layer]);
        }
        if (!nic_move_commit(cell, &copies)) {
            actor->step = 1;
            return true;
        }
        actor->done = 1;
        return true;
    }
    actor->step++;
    return true;
}

static bool step(search_t *search, world_t *world, uint32_t index)
{
    actor_t *const actor = &world->actors[index];
    if (index == 0) {
        return step_reader(search, world, actor);
    }
    return index < 3 ? step_writer(search, world, actor) : step_move(search, world, actor);
}

static void go(search_t *search, const world_t *from)
{
    bool all_done = true;
    bool any_moved = false;
    for (uint32_t i = 0; i < ACTORS && search->wrong == NULL; i++) {
        if (from->actors[i].done != 0) {
            continue;
        }
        all_done = false;
        world_t world;
        memcpy(&world, from, sizeof(world));
        const uint32_t version = from->cell.entry.version;
        if (!step(search, &world, i)) {
            continue;
        }
        any_moved = true;
        spoil(&world);
        check(search, nic_cell_check(&world.cell), "state, layer and flags differ");
        check(search, world.cell.entry.version >= version, "the version went back");
        check(search, sim_get_le64(world.words[world.cell.entry.layer]) == world.written,
              "the owner does not have what was written");
        if (!met_before(search, &world)) {
            go(search, &world);
        }
    }
    if (all_done) {
        search->ends++;
        check(search, from->cell.entry.layer == search->to, "the move did not happen");
        check(search, from->cell.entry.version == 1, "the version did not rise by one");
    } else {
        check(search, any_moved || search->wrong != NULL, "nobody can go on");
    }
}

static search_t explore(uint32_t layer, uint32_t to, bool waits, mistake_t mistake)
{
    search_t search = {.waits = waits, .mistake = mistake, .to = to};
    search.met = sim_alloc_array(STATES_MAX, sizeof(*search.met));
    search.used = sim_alloc_array(STATES_MAX, sizeof(*search.used));
    world_t world;
    memset(&world, 0, sizeof(world));
    nic_cell_init(&world.cell, layer);
    spoil(&world);
    go(&search, &world);
    sim_free(search.met);
    sim_free(search.used);
    return search;
}

START_TEST(every_order_is_right)
{
    for (uint32_t layer = 1; layer <= 3; layer++) {
        for (uint32_t to = 1; to <= 3; to++) {
            if (to == layer) {
                continue;
            }
            for (uint32_t waits = 0; waits < 2; waits++) {
                const search_t search = explore(layer, to, waits != 0, NO_MISTAKE);
                ck_assert_msg(search.wrong == NULL, "%u to %u: %s", layer, to, search.wrong);
                ck_assert_uint_gt(search.states, 1000);
                ck_assert_uint_gt(search.ends, 0);
            }
        }
    }
}
END_TEST

START_TEST(mistakes_are_found)
{
    for (mistake_t mistake = BLIND_COMMIT; mistake <= BLIND_SWAP; mistake++) {
        const search_t search = explore(2, 1, false, mistake);
        ck_assert_msg(search.wrong != NULL, "mistake %d was not found", (int)mistake);
    }
}
END_TEST

// A pinned token does not move, and only one move goes on at a time.
START_TEST(moves_are_refused)
{
    nic_cell_t cell;
    nic_cell_init(&cell, 3);
    ck_assert(!nic_move_begin(&cell, 3));
    ck_assert(nic_move_begin(&cell, 2));
    ck_assert(!nic_move_begin(&cell, 1));
    nic_move_give_up(&cell);
    ck_assert(nic_cell_check(&cell));
    cell.entry.flags |= NIC_DIRECTORY_PINNED;
    ck_assert(!nic_move_begin(&cell, 2));
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_order_is_right), CHECK_TEST(mistakes_are_found),
           CHECK_TEST(moves_are_refused))
