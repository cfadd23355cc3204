// SPDX-License-Identifier: Apache-2.0
// tests/apps/workload/test_programs.c - the programs of all algorithms do their collectives.
//
// Goal: after the steps of every rank, each chunk holds what the collective promises: every rank's
// contribution once, at every rank that gets the chunk; each pair's data of an all-to-all arrive.
// Method: the steps run on sets of ranks instead of numbers. A connection is a queue; a reduction
// unites two sets, which must have no rank in common.
#include "tests/check_main.h"

#include "apps/workload/collective/algorithms/program.h"

#include <string.h>

// A set of ranks: whose contributions a chunk holds.
typedef struct set {
    uint64_t bits[2];
} set_t;

static set_t set_of(uint32_t rank)
{
    set_t set = {{0, 0}};
    set.bits[rank / 64] = UINT64_C(1) << rank % 64;
    return set;
}

static set_t unite(set_t one, set_t two)
{
    ck_assert_msg((one.bits[0] & two.bits[0]) == 0 && (one.bits[1] & two.bits[1]) == 0,
                  "a contribution is added twice");
    return (set_t){{one.bits[0] | two.bits[0], one.bits[1] | two.bits[1]}};
}

static set_t all_of(uint32_t ranks)
{
    set_t set = {{0, 0}};
    for (uint32_t r = 0; r < ranks; r++) {
        set = unite(set, set_of(r));
    }
    return set;
}

// -- layouts

static void make_layout(app__layout_t *layout, uint32_t ranks, uint32_t per_node, bool unequal)
{
    *layout = (app__layout_t){
        .ranks = ranks,
        .node = sim_alloc_array(ranks + 1, sizeof(uint32_t)),
        .local = sim_alloc_array(ranks + 1, sizeof(uint32_t)),
        .rail = sim_alloc_array(ranks + 1, sizeof(uint32_t)),
        .order = sim_alloc_array(ranks + 1, sizeof(uint32_t)),
        .node_first = sim_alloc_array(ranks + 1, sizeof(uint32_t)),
    };
    for (uint32_t r = 0; r < ranks; r++) { // with unequal nodes the first one has one rank more
        const uint32_t node = unequal ? (r == 0 ? 0 : (r - 1) / per_node) : r / per_node;
        if (r == 0 || node != layout->node[r - 1]) {
            layout->node_first[layout->nodes++] = r;
        }
        layout->node[r] = node;
        layout->local[r] = r - layout->node_first[node];
        layout->rail[r] = layout->local[r];
        layout->order[r] = r;
    }
    layout->node_first[layout->nodes] = ranks;
    layout->per_node = ranks / layout->nodes;
    for (uint32_t i = 0; i < layout->nodes; i++) {
        if (layout->node_first[i + 1] - layout->node_first[i] != layout->per_node) {
            layout->per_node = 0;
            break;
        }
    }
}

static void free_layout(app__layout_t *layout)
{
    sim_free(layout->node);
    sim_free(layout->local);
    sim_free(layout->rail);
    sim_free(layout->order);
    sim_free(layout->node_first);
}

// -- running a program

typedef struct message {
    uint32_t from;
    uint32_t to;
    uint32_t lane;
    uint32_t count; // chunks, or the number of the pair's chunk
    uint32_t pair[2];
    set_t *values;
    struct message *next;
} message_t;

typedef struct machine {
    app__program_t *program;
    set_t *chunks;       // by rank, then by chunk
    uint8_t *pairs;      // by source, destination and chunk: arrived
    message_t *messages; // in order of sending
    message_t **last;
    uint32_t **at; // per rank and block: next step
    uint64_t sent;
} machine_t;

static uint32_t chunk_at(const machine_t *machine, const app__step_t *step, uint32_t first,
                         uint32_t i)
{
    const uint32_t n = machine->program->ranks;
    return step->stride == 0 ? first + i : first - first % n + (first % n + i * step->stride) % n;
}

static message_t *take(machine_t *machine, uint32_t from, uint32_t to, uint32_t lane)
{
    for (message_t **at = &machine->messages; *at != NULL; at = &(*at)->next) {
        message_t *const message = *at;
        if (message->from == from && message->to == to && message->lane == lane) {
            *at = message->next;
            if (machine->last == &message->next) {
                machine->last = at;
            }
            return message;
        }
    }
    return NULL;
}

static void put(machine_t *machine, message_t *message)
{
    message->next = NULL;
    *machine->last = message;
    machine->last = &message->next;
    machine->sent++;
}

static void free_message(message_t *message)
{
    if (message != NULL) {
        sim_free(message->values);
        sim_free(message);
    }
}

// Does the values of a step: what was received, reduced, stored and sent.
static void do_chunks(machine_t *machine, uint32_t rank, const app__step_t *step,
                      message_t *received, message_t *sent)
{
    set_t *const own = &machine->chunks[(size_t)rank * machine->program->chunks];
    for (uint32_t i = 0; i < step->count; i++) {
        const uint32_t from = chunk_at(machine, step, step->from_chunk, i);
        const uint32_t to = chunk_at(machine, step, step->to_chunk, i);
        ck_assert_uint_lt(from, machine->program->chunks);
        ck_assert_uint_lt(to, machine->program->chunks);
        set_t value = received != NULL ? received->values[i] : own[from];
        if (received != NULL && (step->what & APP__STEP_REDUCE) != 0) {
            value = unite(value, own[from]);
        }
        if ((step->what & APP__STEP_STORE) != 0) {
            own[to] = value;
        }
        if (sent != NULL) {
            sent->values[i] = value;
        }
    }
}

// Checks that PXN keeps messages between nodes on their rail, where the sender's node has it.
static void check_rails(const app__program_t *program, uint32_t from, uint32_t to)
{
    const app__layout_t *const layout = program->layout;
    const bool changes = program->algorithm == &app__ring || program->algorithm == &app__chain ||
                         program->algorithm == &app__pairwise;
    if (program->pxn && changes && layout->node[from] != layout->node[to] &&
        app__layout_on_rail(layout, layout->node[from], layout->rail[to]) != APP__NO_RANK) {
        ck_assert_msg(layout->rail[from] == layout->rail[to],
                      "%s of %u ranks, kind %u: rank %u sends to rank %u on another rail",
                      program->algorithm->name, program->ranks, program->kind, from, to);
    }
}

// Takes the next step of a block; returns false if it has to wait.
static bool take_step(machine_t *machine, uint32_t rank, uint32_t block, const app__block_t *about)
{
    const app__program_t *const program = machine->program;
    const app__step_t step = app__program_step(program, rank, block, machine->at[rank][block]);
    const bool pair = (step.what & APP__STEP_PAIR) != 0;
    message_t *received = NULL;
    if (step.wait_block != APP__NO_BLOCK && machine->at[rank][step.wait_block] <= step.wait_step) {
        return false;
    }
    if ((step.what & APP__STEP_RECV) != 0) {
        received = take(machine, step.recv_peer, rank, about->channel + step.recv_lane);
        if (received == NULL) {
            return false;
        }
        ck_assert_uint_eq(received->count, step.count);
        ck_assert_uint_lt(about->channel + step.recv_lane, program->lanes);
    }
    message_t *sent = NULL;
    if ((step.what & APP__STEP_SEND) != 0) {
        check_rails(program, rank, step.send_peer);
        ck_assert_uint_lt(about->channel + step.send_lane, program->lanes);
        ck_assert_uint_ne(step.send_peer, rank);
        sent = sim_alloc(sizeof(*sent));
        *sent = (message_t){
            .from = rank,
            .to = step.send_peer,
            .lane = about->channel + step.send_lane,
            .count = step.count,
            .pair = {step.from_chunk, step.to_chunk},
            .values = sim_alloc_array(step.count + 1, sizeof(set_t)),
        };
    }
    if (!pair) {
        ck_assert_uint_le(step.count, program->step_chunks);
        do_chunks(machine, rank, &step, received, sent);
    } else if (received != NULL) {
        ck_assert_uint_eq(received->pair[0], step.from_chunk);
        ck_assert_uint_eq(received->pair[1], step.to_chunk);
        if ((step.what & APP__STEP_STORE) != 0) {
            ck_assert_uint_eq(step.to_chunk, rank);
            machine->pairs[((size_t)step.from_chunk * program->ranks + rank) * program->chunks +
                           step.count]++;
        }
    }
    if (sent != NULL) {
        put(machine, sent);
    }
    free_message(received);
    machine->at[rank][block]++;
    return true;
}

static void run(machine_t *machine)
{
    const app__program_t *const program = machine->program;
    const app__algorithm_t *const algorithm = program->algorithm;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t r = 0; r < program->ranks; r++) {
            for (uint32_t b = 0; b < algorithm->blocks(program, r); b++) {
                const app__block_t block = algorithm->block(program, r, b);
                while (machine->at[r][b] < block.steps && take_step(machine, r, b, &block)) {
                    moved = true;
                }
            }
        }
    }
    for (uint32_t r = 0; r < program->ranks; r++) {
        for (uint32_t b = 0; b < algorithm->blocks(program, r); b++) {
            ck_assert_msg(machine->at[r][b] == algorithm->block(program, r, b).steps,
                          "%s of %u ranks, kind %u: block %u of rank %u stops at step %u",
                          algorithm->name, program->ranks, program->kind, b, r, machine->at[r][b]);
        }
    }
    ck_assert_ptr_null(machine->messages);
}

// Returns the rank that a chunk of a reduce-scatter or an all-gather belongs to.
static uint32_t owner_of(const app__program_t *program, uint32_t chunk)
{
    return chunk % program->ranks;
}

static void fill_chunks(machine_t *machine)
{
    const app__program_t *const program = machine->program;
    for (uint32_t r = 0; r < program->ranks; r++) {
        for (uint32_t c = 0; c < program->chunks; c++) {
            const bool has = program->kind == APP__COLL_ALL_GATHER  ? owner_of(program, c) == r
                             : program->kind == APP__COLL_BROADCAST ? r == program->root
                                                                    : true;
            machine->chunks[(size_t)r * program->chunks + c] = has ? set_of(r) : (set_t){{0, 0}};
        }
    }
}

static void check_chunks(const machine_t *machine)
{
    const app__program_t *const program = machine->program;
    const set_t all = all_of(program->ranks);
    for (uint32_t r = 0; r < program->ranks; r++) {
        for (uint32_t c = 0; c < program->chunks; c++) {
            const set_t *const found = &machine->chunks[(size_t)r * program->chunks + c];
            set_t wanted = all;
            if (program->kind == APP__COLL_ALL_GATHER) {
                wanted = set_of(owner_of(program, c));
            } else if (program->kind == APP__COLL_BROADCAST) {
                wanted = set_of(program->root);
            } else if ((program->kind == APP__COLL_REDUCE && r != program->root) ||
                       (program->kind == APP__COLL_REDUCE_SCATTER && owner_of(program, c) != r)) {
                continue;
            }
            ck_assert_msg(memcmp(found, &wanted, sizeof(wanted)) == 0,
                          "%s of %u ranks, kind %u: chunk %u of rank %u is not what it should be",
                          program->algorithm->name, program->ranks, program->kind, c, r);
        }
    }
}

static void check_pairs(const machine_t *machine)
{
    const app__program_t *const program = machine->program;
    for (uint32_t i = 0; i < program->ranks; i++) {
        for (uint32_t j = 0; j < program->ranks; j++) {
            for (uint32_t c = 0; c < program->chunks; c++) {
                ck_assert_uint_eq(
                    machine->pairs[((size_t)i * program->ranks + j) * program->chunks + c], i != j);
            }
        }
    }
}

static void check_program(app__program_t *program)
{
    const app__algorithm_t *const algorithm = program->algorithm;
    program->step_chunks = 1;
    algorithm->plan(program);
    const size_t chunks = (size_t)program->ranks * program->chunks;
    machine_t machine = {
        .program = program,
        .chunks = sim_alloc_array(chunks + 1, sizeof(set_t)),
        .pairs = sim_alloc_array(chunks * program->ranks + 1, 1),
        .at = sim_alloc_array(program->ranks, sizeof(uint32_t *)),
    };
    machine.last = &machine.messages;
    for (uint32_t r = 0; r < program->ranks; r++) {
        machine.at[r] = sim_alloc_array(algorithm->blocks(program, r) + 1, sizeof(uint32_t));
    }
    fill_chunks(&machine);
    run(&machine);
    if (program->kind == APP__COLL_ALL_TO_ALL) {
        check_pairs(&machine);
    } else {
        check_chunks(&machine);
    }
    for (uint32_t r = 0; r < program->ranks; r++) {
        sim_free(machine.at[r]);
    }
    sim_free(machine.at);
    sim_free(machine.pairs);
    sim_free(machine.chunks);
}

static const app__algorithm_t *const algorithms[] = {
    &app__ring,     &app__tree,   &app__halving_doubling, &app__hierarchical,
    &app__pat,      &app__nvls,   &app__nvls_tree,        &app__chain,
    &app__pairwise, &app__direct, &app__all_pairs,
};

// Runs all algorithms that do a collective among ranks; returns how many did.
static uint32_t check_all(const app__layout_t *layout, uint32_t channels, bool pxn)
{
    uint32_t checked = 0;
    for (size_t a = 0; a < SIM_COUNT_OF(algorithms); a++) {
        for (uint32_t kind = 0; kind < APP__COLL_BARRIER; kind++) {
            app__program_t program = {
                .algorithm = algorithms[a],
                .layout = layout,
                .ranks = layout->ranks,
                .root = layout->ranks / 2,
                .channels = channels,
                .kind = (uint8_t)kind,
                .pxn = pxn,
                .alternates = !pxn,
                .by_node = layout->nodes > 1 && layout->per_node > 0 && channels > 1,
            };
            const bool large = kind == APP__COLL_ALL_TO_ALL && layout->ranks > 32;
            if (!large && algorithms[a]->refuses(&program) == NULL) {
                check_program(&program);
                checked++;
            }
        }
    }
    return checked;
}

START_TEST(every_algorithm_does_its_collectives)
{
    uint32_t checked = 0;
    for (uint32_t ranks = 2; ranks <= check_few(13, 8); ranks++) {
        for (uint32_t per_node = 1; per_node <= ranks; per_node++) {
            app__layout_t layout;
            make_layout(&layout, ranks, per_node, ranks % per_node != 0);
            checked += check_all(&layout, 1 + ranks % 3, per_node % 2 == 0);
            free_layout(&layout);
        }
    }
    ck_assert_uint_gt(checked, 200);
}
END_TEST

START_TEST(large_groups_do_too)
{
    static const uint32_t sizes[][2] = {{32, 8}, {72, 72}, {127, 1}, {128, 8}};
    for (size_t i = 0; i < check_few(SIM_COUNT_OF(sizes), 2); i++) {
        app__layout_t layout;
        make_layout(&layout, sizes[i][0], sizes[i][1], false);
        ck_assert_uint_gt(check_all(&layout, 1, false), 10);
        free_layout(&layout);
    }
}
END_TEST

// Goal: without PXN, rings of an even number of nodes leave and enter nodes on one rail, and use
// all rails equally. Not pinned: which rail.
START_TEST(rings_stay_on_rails)
{
    static const uint32_t sizes[][2] = {{8, 2}, {16, 8}, {12, 3}, {64, 4}};
    for (size_t i = 0; i < SIM_COUNT_OF(sizes); i++) {
        app__layout_t layout;
        const uint32_t per_node = sizes[i][1];
        uint32_t sent[8] = {0};
        make_layout(&layout, sizes[i][0], per_node, false);
        const app__program_t program = {
            .algorithm = &app__ring,
            .layout = &layout,
            .ranks = layout.ranks,
            .channels = 2 * per_node,
            .kind = APP__COLL_ALL_GATHER,
            .alternates = true,
        };
        for (uint32_t rank = 0; rank < layout.ranks; rank++) {
            for (uint32_t block = 0; block < program.channels; block++) {
                const app__step_t step = app__program_step(&program, rank, block, 0);
                if (layout.node[rank] != layout.node[step.send_peer]) {
                    ck_assert_uint_eq(layout.local[rank], layout.local[step.send_peer]);
                    sent[layout.local[rank]]++;
                }
            }
        }
        for (uint32_t rail = 0; rail < per_node; rail++) {
            ck_assert_uint_eq(sent[rail], 2 * layout.nodes);
        }
        free_layout(&layout);
    }
}
END_TEST

START_TEST(cuts_have_all_bytes_once)
{
    for (uint64_t bytes = 0; bytes < 300; bytes += 7) {
        for (uint32_t chunks = 1; chunks < 20; chunks += 3) {
            for (uint64_t most = 0; most < 12; most += 4) {
                const app__cut_t cut = app__cut(bytes, chunks, most, false);
                uint64_t sum = 0;
                for (uint32_t loop = 0; loop < cut.loops; loop++) {
                    for (uint32_t c = 0; c < chunks; c++) {
                        const uint64_t part = app__cut_bytes(&cut, bytes, loop, c, 1);
                        ck_assert(most == 0 || part <= most);
                        sum += part;
                    }
                }
                ck_assert_uint_eq(sum, bytes);
            }
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_algorithm_does_its_collectives), CHECK_TEST(large_groups_do_too),
           CHECK_TEST(rings_stay_on_rails), CHECK_TEST(cuts_have_all_bytes_once))
