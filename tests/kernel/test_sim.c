// SPDX-License-Identifier: Apache-2.0
// labels: threads clang long
// tests/kernel/test_sim.c - the engine executes what a naive global event list would.
//
// Goal: whatever the delays, the window, the units and the threads, every node executes its events
// in the documented order (time, class, order), or that of kernel/order/fifo.h, and nothing is
// lost. Method: a random network of nodes whose behaviour is a hash of what they have seen is run
// twice: by the engine, and by a reference that keeps all events in one unsorted list and takes the
// least. Each node's history is hashed by the node itself, so any difference in order shows.
// The long form has more seeds, and samples ten times as often.
// Not pinned: speed, the width of windows, the value of any digest; most stalls (test_run_end.c).
#include "tests/check_main.h"

#include "kernel/engine_internal.h"
#include "kernel/event.h"
#include "kernel/order/order_internal.h"
#include "kernel/random.h"
#include "kernel/record.h"

#define NODES_MAX 64u
#define PORTS_MAX 4u

typedef struct toy toy_t;
typedef struct toy_port {
    toy_t *to;
    uint32_t to_port;
    sim_time_t delay_ps;
    sim_time_t last_ps;
    sim_channel_t *channel;
    bool keeps;    // a number for its next wake, with ties by insertion
    uint64_t kept; // the reference's; 0: none
} toy_port_t;

// One pending event of the reference list.
typedef struct pending {
    sim_time_t time_ps;
    toy_t *node;
    uint32_t class; // 0 arrival, 1 wake, 2 timer
    uint64_t order;
    uint64_t serial; // of insertion
    uint32_t port;
    uint64_t message;
} pending_t;

typedef struct world {
    sim_t *sim;
    toy_t *toys[NODES_MAX];
    uint32_t count;
    uint64_t seed;
    uint64_t tie_seed;
    uint64_t budget; // messages each node may still send
    bool fifo;
    uint64_t order; // of all events, where ties go by insertion: a hash of histories
    uint64_t turns; // the same, of sim_take_turn
    // the reference
    bool reference;
    uint64_t next_number;
    uint64_t current_number;
    uint64_t serial;
    pending_t *list;
    size_t list_count;
    size_t list_capacity;
} world_t;

typedef struct letter {
    uint64_t of_engine; // while it is on its way
    uint64_t message;
} letter_t;

struct toy {
    sim_node_t node; // first
    world_t *world;
    uint32_t port_count;
    toy_port_t ports[PORTS_MAX];
    sim_timer_t timers[3];
    uint64_t history;
    uint64_t sent;
    uint64_t received;
    sim_time_t last_ps;
    sim_stream_t *stream;
    letter_t *letters; // by how many were sent before
};

// -- what a toy does, written once for both engines

static void list_add(world_t *world, pending_t event)
{
    if (world->fifo) {
        const uint64_t kept = event.class == 1 ? event.node->ports[event.port].kept : 0;
        const bool now = event.class == 1 && event.time_ps == event.node->node.now_ps;
        if (kept == 0) {
            event.order = now ? world->current_number : ++world->next_number;
        } else {
            event.order = now && kept < world->current_number ? world->current_number : kept;
        }
    }
    event.serial = world->serial++;
    SIM_GROW(world->list, world->list_count, &world->list_capacity);
    world->list[world->list_count++] = event;
}

static void toy_send(toy_t *toy, uint32_t p, sim_time_t extra_ps, uint64_t message)
{
    toy_port_t *const port = &toy->ports[p];
    sim_time_t arrive_ps = toy->node.now_ps + port->delay_ps + extra_ps;
    // A message never arrives before an earlier one of its channel, but often at the same time;
    // then the earlier one comes first.
    arrive_ps = arrive_ps > port->last_ps ? arrive_ps : port->last_ps;
    port->last_ps = arrive_ps;
    world_t *const world = toy->world;
    letter_t *const letter = &toy->letters[toy->sent++];
    if (!world->reference) {
        letter->message = message;
        sim_send(&toy->node, port->channel, arrive_ps, letter);
        return;
    }
    if (port->keeps) {
        port->kept = ++world->next_number;
    }
    list_add(world,
             (pending_t){.time_ps = arrive_ps,
                         .node = port->to,
                         .order = sim__tie_rank(port->to->node.tie_key, arrive_ps, port->to_port),
                         .port = port->to_port,
                         .message = message});
}

static void toy_wake(toy_t *toy, sim_time_t after_ps, uint32_t p)
{
    const sim_time_t time_ps = toy->node.now_ps + after_ps;
    world_t *const world = toy->world;
    if (!world->reference) {
        sim_wake(&toy->node, time_ps, p);
        return;
    }
    const uint64_t rank = sim__tie_rank(toy->node.tie_key, time_ps, p);
    list_add(world,
             (pending_t){.time_ps = time_ps, .node = toy, .class = 1, .order = rank, .port = p});
}

static void toy_cancel(toy_t *toy, uint32_t t)
{
    world_t *const world = toy->world;
    if (!world->reference) {
        sim_timer_cancel(&toy->node, &toy->timers[t]);
        return;
    }
    for (size_t i = 0; i < world->list_count; i++) {
        if (world->list[i].node == toy && world->list[i].class == 2 && world->list[i].port == t) {
            world->list[i] = world->list[--world->list_count];
            return;
        }
    }
}

static void toy_arm(toy_t *toy, uint32_t t, sim_time_t after_ps)
{
    const sim_time_t time_ps = toy->node.now_ps + after_ps;
    world_t *const world = toy->world;
    if (!world->reference) {
        sim_timer_arm(&toy->node, &toy->timers[t], time_ps);
        return;
    }
    toy_cancel(toy, t);
    list_add(world, (pending_t){.time_ps = time_ps,
                                .node = toy,
                                .class = 2,
                                .order = toy->node.timer_sequence++,
                                .port = t});
}

static bool toy_passed(const toy_t *toy, uint32_t p)
{
    const world_t *const world = toy->world;
    return world->reference ? world->fifo && toy->ports[p].kept <= world->current_number
                            : sim_fifo_passed(&toy->node, p);
}

static void take_turn(sim_node_t *node, void *world_of_it, uint64_t history)
{
    world_t *const world = world_of_it;
    world->turns = sim_mix64(world->turns ^ history) + node->now_ps;
}

// Acts on one event; what the toy does depends on its own history alone.
static void toy_act(toy_t *toy, uint32_t class, uint32_t port, uint64_t message)
{
    toy->history = sim_mix64(toy->history ^ toy->node.now_ps) + class * 31 + port;
    toy->history = sim_mix64(toy->history ^ message);
    for (uint32_t p = 0; p < toy->port_count; p++) {
        toy->history += (uint64_t)toy_passed(toy, p) << p;
    }
    toy->last_ps = toy->node.now_ps;
    if (toy->world->reference) {
        toy->world->order = sim_mix64(toy->world->order ^ toy->history);
        take_turn(&toy->node, toy->world, toy->history);
    } else if (toy->world->fifo) {
        sim_take_turn(&toy->node, take_turn, toy->world, toy->history);
    }
    if (toy->stream != NULL) {
        uint64_t *const record =
            sim_stream_put(toy->stream, &toy->node, toy->node.now_ps, sizeof(*record));
        *record = toy->history;
    }
    uint64_t dice = toy->history;
    if (toy->sent < toy->world->budget && (dice & 7) != 0) {
        // Times are round on purpose, because ties are what the order is about. A message delayed
        // for long meets messages sent windows later; see toy_send.
        const sim_time_t step_ps = (toy->world->seed & 1) == 0 ? 1000 : 700000;
        const sim_time_t extra_ps = (dice >> 3 & 3) == 0 ? (dice >> 5 & 3) * step_ps : 0;
        toy_send(toy, (uint32_t)(dice >> 8) % toy->port_count, extra_ps, dice >> 20 | 1);
        if ((dice >> 12 & 7) == 0) {
            toy_send(toy, (uint32_t)(dice >> 16) % toy->port_count, 0, dice >> 24 | 1);
        }
    }
    dice = sim_mix64(dice);
    if (toy->sent < toy->world->budget && (dice & 3) == 0) {
        toy_wake(toy, (dice >> 2 & 7) * 500, (uint32_t)(dice >> 8) % toy->port_count);
    }
    if (toy->sent < toy->world->budget && (dice >> 12 & 7) == 0) {
        toy_arm(toy, (uint32_t)(dice >> 16) % 3, (dice >> 20 & 0xff) * 777);
    }
    if ((dice >> 40 & 15) == 0) {
        toy_cancel(toy, (uint32_t)(dice >> 44) % 3);
    }
}

static void toy_timer(sim_node_t *node, sim_timer_t *timer)
{
    toy_t *const toy = (toy_t *)(void *)node;
    toy_act(toy, 2, (uint32_t)(timer - toy->timers), 0);
}

static void toy_arrive(sim_node_t *node, uint32_t port, void *message)
{
    toy_t *const toy = (toy_t *)(void *)node;
    toy->received++;
    toy_act(toy, 0, port, ((const letter_t *)message)->message);
}

static void toy_take(sim_node_t *node, const sim_event_t *event)
{
    toy_t *const toy = (toy_t *)(void *)node;
    switch (event->kind) {
    case SIM_EVENT_ARRIVAL:
        toy_arrive(node, event->port, event->message);
        break;
    case SIM_EVENT_WAKE:
        toy_act(toy, 1, event->port, 0);
        break;
    case SIM_EVENT_TIMER:
        event->timer->fn(node, event->timer);
        break;
    }
}

static void toy_run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        toy_take(node, &event);
    }
}

static void toy_destroy(sim_node_t *node)
{
    sim_free(((toy_t *)(void *)node)->letters);
    sim_free(node);
}

static const sim_node_ops_t toy_ops = {.kind = "toy", .run = toy_run, .destroy = toy_destroy};
static const sim_node_ops_t taking_toy_ops = {.kind = "toy",
                                              .run = toy_run,
                                              .arrive = toy_arrive,
                                              .take = toy_take,
                                              .destroy = toy_destroy};

// Ties by hash, or how those by insertion are run: from one list, which shows or hands nodes their
// events; in windows, with numbers that are replaced rarely or all the time.
typedef enum way { BY_HASH, SHOWN, LISTED, WINDOWS, RENUMBERED, WAYS } way_t;

// -- worlds

// Draws the delay of a link by a style; every style is a different shape of windows and units.
static sim_time_t draw_delay(sim_random_t *random, int style)
{
    switch (style) {
    case 0: // one delay for all: the usual data centre
        return SIM_PS_PER_US;
    case 1: // within a factor of eight: direct slots
        return SIM_PS_PER_US * (1 + sim_random_below(random, 8));
    case 2: // 1 us to 100 ms: far messages
        return sim_random_below(random, 3) == 0
                   ? 100 * SIM_PS_PER_MS / (1 + sim_random_below(random, 50))
                   : SIM_PS_PER_US;
    case 3: // all short: one unit
        return 1 + sim_random_below(random, 3000);
    case 4: // short and long mixed: units of several nodes
        return sim_random_below(random, 2) == 0
                   ? 1 + sim_random_below(random, 5000)
                   : SIM_PS_PER_US + sim_random_below(random, 9) * 250000;
    case 5: // far messages that tie with all others
        return SIM_PS_PER_US * (sim_random_below(random, 2) == 0 ? 1 : 16);
    default: // everything
        return UINT64_C(1) << sim_random_below(random, 37);
    }
}

static void connect(world_t *world, uint32_t a, uint32_t b, sim_time_t delay_ps)
{
    toy_t *const x = world->toys[a];
    toy_t *const y = world->toys[b];
    const uint32_t x_port = x->port_count++;
    const uint32_t y_port = y->port_count++;
    const bool keeps = world->fifo && (a + b) % 3 != 0;
    x->ports[x_port] = (toy_port_t){y, y_port, delay_ps, 0, NULL, keeps, 0};
    y->ports[y_port] = (toy_port_t){x, x_port, delay_ps, 0, NULL, keeps, 0};
    x->ports[x_port].channel = sim_channel_create(world->sim, &x->node, &y->node, y_port, delay_ps);
    y->ports[y_port].channel = sim_channel_create(world->sim, &y->node, &x->node, x_port, delay_ps);
    if (keeps) {
        sim_channel_keeps_number(&x->node, x->ports[x_port].channel, x_port);
        sim_channel_keeps_number(&y->node, y->ports[y_port].channel, y_port);
    }
}

static void world_build(world_t *world, int style, uint64_t seed, unsigned threads,
                        sim_time_t until_ps, way_t way)
{
    const bool fifo = way != BY_HASH;
    *world = (world_t){.seed = seed, .budget = 120, .fifo = fifo};
    world->sim = sim_create(&(sim_options_t){.seed = seed,
                                             .threads = threads,
                                             .until_ps = until_ps,
                                             .fifo_ties = fifo,
                                             .tie_seed = seed & 3});
    if (way == LISTED) {
        sim_need_one_list(world->sim);
    }
    if (fifo) {
        world->sim->fifo->replace_always = way == RENUMBERED;
    }
    sim_random_t random;
    sim_random_init(&random, seed, 0, "world");
    world->count = 2 + (uint32_t)sim_random_below(&random, NODES_MAX - 2);
    for (uint32_t i = 0; i < world->count; i++) {
        toy_t *const toy = sim_alloc(sizeof(*toy));
        char name[16];
        (void)snprintf(name, sizeof(name), "toy%u", i);
        sim_node_register(world->sim, &toy->node, way >= LISTED ? &taking_toy_ops : &toy_ops, name);
        toy->world = world;
        toy->history = i;
        for (uint32_t t = 0; t < 3; t++) {
            sim_timer_init(&toy->timers[t], toy_timer);
        }
        world->toys[i] = toy;
    }
    for (uint32_t i = 0; i + 1 < world->count; i++) {
        connect(world, i, i + 1, draw_delay(&random, style));
    }
    for (uint32_t i = 0; i < world->count / 2; i++) {
        const uint32_t a = (uint32_t)sim_random_below(&random, world->count);
        const uint32_t b = (uint32_t)sim_random_below(&random, world->count);
        if (a != b && world->toys[a]->port_count < PORTS_MAX &&
            world->toys[b]->port_count < PORTS_MAX) {
            connect(world, a, b, draw_delay(&random, style));
        }
    }
}

static void world_start(world_t *world)
{
    for (uint32_t i = 0; i < world->count; i++) {
        // The last act of a toy may send two letters at once.
        world->toys[i]->letters = sim_alloc_array(world->budget + 1, sizeof(letter_t));
        toy_arm(world->toys[i], 0, i % 7 * 1000);
        if (i % 3 == 0) {
            toy_wake(world->toys[i], 2000, 0);
        }
    }
}

static void world_free(world_t *world)
{
    sim_destroy(world->sim);
    sim_free(world->list);
}

static bool is_before(const pending_t *a, const pending_t *b)
{
    if (a->time_ps != b->time_ps) {
        return a->time_ps < b->time_ps;
    }
    if (a->node->world->fifo) {
        return a->order != b->order ? a->order < b->order : a->serial < b->serial;
    }
    if (a->node != b->node) {
        return a->node->node.index < b->node->node.index;
    }
    if (a->class != b->class) {
        return a->class < b->class;
    }
    return a->order != b->order ? a->order < b->order : a->serial < b->serial;
}

static void reference_run(world_t *world, sim_time_t until_ps)
{
    world->reference = true;
    world_start(world);
    while (world->list_count > 0) {
        size_t least = 0;
        for (size_t i = 1; i < world->list_count; i++) {
            if (is_before(&world->list[i], &world->list[least])) {
                least = i;
            }
        }
        const pending_t event = world->list[least];
        if (event.time_ps >= until_ps) {
            return;
        }
        world->list[least] = world->list[--world->list_count];
        event.node->node.now_ps = event.time_ps;
        world->current_number = event.order;
        event.node->received += event.class == 0 ? 1 : 0;
        toy_act(event.node, event.class, event.port, event.message);
    }
}

// Takes in the events of a world whose ties go by insertion, in the order the engine says.
static void take_event(sim_time_t time_ps, uint32_t node_index, const void *record, size_t bytes,
                       void *ctx)
{
    (void)time_ps;
    (void)node_index;
    world_t *const world = ctx;
    uint64_t history;
    SIM_CHECK(bytes == sizeof(history));
    memcpy(&history, record, sizeof(history));
    world->order = sim_mix64(world->order ^ history);
}

#define STYLES 7
#define SEEDS 12

static void compare_ties(int style, uint64_t seed, unsigned threads, sim_time_t until_ps, way_t way)
{
    const bool fifo = way != BY_HASH;
    world_t ours;
    world_t theirs;
    world_build(&ours, style, seed, threads, until_ps, way);
    world_build(&theirs, style, seed, 1, until_ps, way);
    sim_stream_t *const stream = fifo ? sim_stream_create(ours.sim, take_event, &ours) : NULL;
    for (uint32_t i = 0; i < ours.count; i++) {
        ours.toys[i]->stream = stream;
    }
    world_start(&ours);
    const sim_ended_t ended = sim_run(ours.sim);
    reference_run(&theirs, until_ps);
    uint64_t events = 0;
    for (uint32_t i = 0; i < ours.count; i++) {
        ck_assert_msg(ours.toys[i]->history == theirs.toys[i]->history,
                      "style %d seed %" PRIu64 " threads %u: toy%u differs", style, seed, threads,
                      i);
        ck_assert_uint_eq(ours.toys[i]->received, theirs.toys[i]->received);
        ck_assert_uint_eq(ours.toys[i]->last_ps, theirs.toys[i]->last_ps);
        events += ours.toys[i]->received;
    }
    ck_assert_uint_gt(events, 0);
    ck_assert_msg(!fifo || ours.order == theirs.order,
                  "style %d seed %" PRIu64 " threads %u: the order of events across nodes differs",
                  style, seed, threads);
    ck_assert_msg(!fifo || ours.turns == theirs.turns,
                  "style %d seed %" PRIu64 " threads %u: the order of turns differs", style, seed,
                  threads);
    ck_assert_int_eq(ended, theirs.list_count > 0 ? SIM_ENDED_UNTIL : SIM_ENDED_DONE);
    world_free(&ours);
    world_free(&theirs);
}

static void compare(int style, uint64_t seed, unsigned threads, sim_time_t until_ps)
{
    compare_ties(style, seed, threads, until_ps, BY_HASH);
}

START_TEST(engine_equals_reference)
{
    const uint64_t seeds = check_few(SEEDS, 2);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        compare(_i, seed, 1, SIM_TIME_NEVER);
    }
}
END_TEST

START_TEST(threads_equal_reference)
{
    const uint64_t seeds = check_few(SEEDS / 3, 1);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        compare(_i, seed, 2, SIM_TIME_NEVER);
        compare(_i, seed, 4, SIM_TIME_NEVER);
    }
}
END_TEST

START_TEST(limit_equals_reference)
{
    const uint64_t seeds = check_few(SEEDS, 2);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        compare(_i, seed, 1, 3 * SIM_PS_PER_US + seed * 12345);
        compare(_i, seed, 2, 3 * SIM_PS_PER_US + seed * 12345);
    }
}
END_TEST

START_TEST(fifo_ties_equal_reference)
{
    const uint64_t seeds = check_long() ? SEEDS : check_few(SEEDS / 4, 1);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        for (way_t way = SHOWN; way < WAYS; way++) {
            compare_ties(_i, seed, 1 + (unsigned)seed % 3, SIM_TIME_NEVER, way);
            compare_ties(_i, seed, 1 + (unsigned)seed % 2, 3 * SIM_PS_PER_US + seed * 12345, way);
        }
    }
}
END_TEST

typedef struct told {
    uint64_t order;
    uint64_t turns;
    uint64_t digest;
    bool replaced; // some numbers
} told_t;

// Makes WINDOWS runs that never replace their numbers, whatever memory that takes.
static void replace_never(sim_time_t window_end_ps, void *ctx)
{
    (void)window_end_ps;
    const sim_t *const sim = ctx;
    sim->fifo->replace_at = UINT64_MAX;
}

static told_t told_of(int style, uint64_t seed, uint64_t budget, unsigned threads, way_t way,
                      bool never)
{
    world_t world;
    world_build(&world, style, seed, threads, SIM_TIME_NEVER, way);
    world.budget = budget;
    sim_stream_t *const stream = sim_stream_create(world.sim, take_event, &world);
    for (uint32_t i = 0; i < world.count; i++) {
        world.toys[i]->stream = stream;
    }
    if (never) {
        sim_on_window(world.sim, replace_never, world.sim);
    }
    world_start(&world);
    ck_assert_int_eq(sim_run(world.sim), SIM_ENDED_DONE);
    const told_t told = {
        .order = world.order,
        .turns = world.turns,
        .digest = sim_digest(world.sim),
        .replaced = world.sim->fifo->live != NULL,
    };
    const bool anew = way == RENUMBERED && !sim_had_one_list(world.sim);
    for (unsigned t = 0; anew && t < world.sim->thread_count; t++) {
        // A thread begins anew after each window, and no window needs a second block.
        ck_assert_ptr_null(world.sim->threads[t]->line.blocks[1]);
    }
    world_free(&world);
    return told;
}

// These runs are too long for the reference list: numbers are replaced several times, or take more
// memory than is allocated at once.
START_TEST(long_fifo_runs_equal_one_list)
{
    uint32_t replaced = 0;
    for (uint64_t seed = 1; seed <= (check_long() ? 4 : 1); seed++) {
        const told_t listed = told_of(_i, seed, 3000, 1, LISTED, false);
        for (uint32_t i = 0; i < 4; i++) {
            const way_t way = i == 3 ? RENUMBERED : WINDOWS;
            const told_t told = told_of(_i, seed, 3000, 1 + (i + (unsigned)seed) % 3, way, i > 1);
            ck_assert_msg(told.order == listed.order && told.turns == listed.turns,
                          "style %d seed %" PRIu64 ": run %u differs", _i, seed, i);
            ck_assert_uint_eq(told.digest, listed.digest);
            replaced += told.replaced && i < 2;
        }
    }
    ck_assert(replaced > 0 || _i >= 3); // short links need one list
}
END_TEST

static uint64_t digest_of(uint64_t seed, unsigned threads)
{
    world_t world;
    world_build(&world, 4, seed, threads, SIM_TIME_NEVER, BY_HASH);
    world_start(&world);
    (void)sim_run(world.sim);
    const uint64_t digest = sim_digest(world.sim);
    world_free(&world);
    return digest;
}

START_TEST(digest_depends_on_seed_only)
{
    const uint64_t once = digest_of(5, 1);
    ck_assert_uint_eq(once, digest_of(5, 1));
    ck_assert_uint_eq(once, digest_of(5, 2));
    ck_assert_uint_eq(once, digest_of(5, 3));
    ck_assert_uint_ne(once, digest_of(6, 1));
}
END_TEST

// -- streams and samples

typedef struct heard {
    sim_time_t time_ps;
    uint32_t node_index;
    uint64_t count;
    uint64_t hash;
} heard_t;

static void hear(sim_time_t time_ps, uint32_t node_index, const void *record, size_t bytes,
                 void *ctx)
{
    heard_t *const heard = ctx;
    ck_assert_uint_eq(bytes, sizeof(uint64_t));
    ck_assert(time_ps > heard->time_ps ||
              (time_ps == heard->time_ps && node_index >= heard->node_index));
    uint64_t value;
    memcpy(&value, record, sizeof(value));
    *heard =
        (heard_t){time_ps, node_index, heard->count + 1, sim_mix64(heard->hash ^ value ^ time_ps)};
}

static heard_t stream_of(unsigned threads)
{
    world_t world;
    heard_t heard = {0};
    world_build(&world, 4, 9, threads, SIM_TIME_NEVER, BY_HASH);
    sim_stream_t *const stream = sim_stream_create(world.sim, hear, &heard);
    for (uint32_t i = 0; i < world.count; i++) {
        world.toys[i]->stream = stream;
    }
    world_start(&world);
    (void)sim_run(world.sim);
    ck_assert_uint_eq(heard.count, sim_events(world.sim));
    world_free(&world);
    return heard;
}

START_TEST(streams_come_in_order)
{
    const heard_t one = stream_of(1);
    const heard_t three = stream_of(3);
    ck_assert_uint_eq(one.hash, three.hash);
    ck_assert_uint_eq(one.count, three.count);
}
END_TEST

typedef struct watch {
    sim_time_t expected_ps;
    sim_time_t period_ps;
    uint64_t count;
} watch_t;

static void look(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    watch_t *const watch = ctx;
    const toy_t *const toy = (const toy_t *)(const void *)node;
    ck_assert_uint_eq(time_ps, watch->expected_ps);
    // All events before the instant have happened, and none at or after it.
    ck_assert(toy->last_ps < time_ps || time_ps == 0);
    ck_assert(sim__mail_time(node) >= time_ps);
    watch->expected_ps += watch->period_ps;
    watch->count++;
}

START_TEST(samples_are_on_time)
{
    const sim_time_t period_ps = check_long() ? 333333 : 3333333;
    for (unsigned threads = 1; threads <= 2; threads++) {
        world_t world;
        world_build(&world, _i, 3, threads, SIM_TIME_NEVER, BY_HASH);
        watch_t watches[NODES_MAX];
        for (uint32_t i = 0; i < world.count; i++) {
            watches[i] = (watch_t){i * 100, period_ps + i, 0};
            sim_sample(world.sim, &world.toys[i]->node, watches[i].expected_ps,
                       watches[i].period_ps, look, &watches[i]);
        }
        world_start(&world);
        (void)sim_run(world.sim);
        const sim_time_t end_ps = sim_end_time_ps(world.sim);
        for (uint32_t i = 0; i < world.count; i++) {
            ck_assert_uint_ge(watches[i].expected_ps, end_ps);
            ck_assert_uint_lt(watches[i].expected_ps, end_ps + watches[i].period_ps + i * 100 + 1);
            ck_assert_uint_eq(watches[i].count,
                              (watches[i].expected_ps - i * 100) / watches[i].period_ps);
        }
        const uint64_t sampled = sim_digest(world.sim);
        world_free(&world);
        world_build(&world, _i, 3, 1, SIM_TIME_NEVER, BY_HASH);
        world_start(&world);
        (void)sim_run(world.sim);
        ck_assert_uint_eq(sampled, sim_digest(world.sim));
        world_free(&world);
    }
}
END_TEST

// -- how runs end

START_TEST(nothing_to_do_is_done)
{
    world_t world;
    world_build(&world, 0, 1, 1, SIM_TIME_NEVER, BY_HASH);
    ck_assert_int_eq(sim_run(world.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(sim_end_time_ps(world.sim), 0);
    world_free(&world);
}
END_TEST

START_TEST(unfinished_work_is_a_stall)
{
    world_t world;
    world_build(&world, 0, 1, 1, SIM_TIME_NEVER, BY_HASH);
    world_start(&world);
    sim_work_begin(&world.toys[0]->node, 1);
    ck_assert_int_eq(sim_run(world.sim), SIM_ENDED_STALLED);
    world_free(&world);
}
END_TEST

static void stop_it(sim_time_t window_end_ps, void *ctx)
{
    if (window_end_ps > 2 * SIM_PS_PER_US) {
        sim_interrupt(ctx);
    }
}

START_TEST(interruption_ends_between_windows)
{
    world_t world;
    world_build(&world, 0, 2, 2, SIM_TIME_NEVER, BY_HASH);
    sim_on_window(world.sim, stop_it, world.sim);
    world_start(&world);
    ck_assert_int_eq(sim_run(world.sim), SIM_ENDED_INTERRUPTED);
    ck_assert_uint_lt(sim_end_time_ps(world.sim), 5 * SIM_PS_PER_US);
    world_free(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(engine_equals_reference, 0, STYLES),
           CHECK_LOOP(threads_equal_reference, 0, STYLES),
           CHECK_LOOP(limit_equals_reference, 0, STYLES),
           CHECK_LOOP(fifo_ties_equal_reference, 0, STYLES),
           CHECK_LOOP_FEW(long_fifo_runs_equal_one_list, 0, STYLES, 2),
           CHECK_TEST(digest_depends_on_seed_only), CHECK_TEST(streams_come_in_order),
           CHECK_LOOP_FEW(samples_are_on_time, 0, STYLES, 3), CHECK_TEST(nothing_to_do_is_done),
           CHECK_TEST(unfinished_work_is_a_stall), CHECK_TEST(interruption_ends_between_windows))
