// SPDX-License-Identifier: Apache-2.0
// labels: threads
// tests/kernel/test_pool.c - fixed-size objects: apart from each other, aligned, reused, counted.
//
// Goal: no two live objects overlap, hot or cold; each is on cache lines of its own; what is
// returned is used again, so memory grows with the most that lived at once and not with the number
// of gets; objects may come back through another thread than took them.
// Method: every byte of every live object is written with a pattern of its own and read back;
// objects travel between nodes of a simulation on 1 to 4 threads.
// Not pinned: which object comes next; chunk sizes.
#include "kernel/pool.h"

#include <string.h>

#include "kernel/random.h"
#include "tests/check_main.h"

#define LIVE_MAX 40000u

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static void run_nothing(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        SIM_CHECK(false);
    }
}

static const sim_node_ops_t idle_ops = {.kind = "idle", .run = run_nothing, .destroy = destroy};

// A node outside of any run, with the first worker.
typedef struct bench {
    sim_t *sim;
    sim_node_t *node;
    sim_worker_t worker;
} bench_t;

static void bench_create(bench_t *bench)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    *bench = (bench_t){.sim = sim_create(&options)};
    bench->node = sim_alloc_lines(sizeof(*bench->node));
    sim_node_register(bench->sim, bench->node, &idle_ops, "idle");
    bench->node->worker = &bench->worker;
}

static void fill(void *memory, size_t size, uint64_t mark)
{
    memset(memory, (int)(mark * 131 % 251), size);
    memcpy(memory, &mark, sizeof(mark));
}

static void check_fill(const void *memory, size_t size, uint64_t mark)
{
    uint64_t found = 0;
    memcpy(&found, memory, sizeof(found));
    SIM_CHECK(found == mark);
    for (size_t i = sizeof(mark); i < size; i++) {
        SIM_CHECK(((const unsigned char *)memory)[i] == mark * 131 % 251);
    }
}

START_TEST(objects_do_not_overlap)
{
    static const struct {
        size_t hot_bytes;
        size_t cold_bytes;
        size_t narrow_bytes; // before the pool is widened
    } cases[] = {
        {64, 0, 0},  {64, 24, 24}, {40, 100, 100}, {65, 0, 0},
        {128, 0, 0}, {1000, 0, 0}, {8192, 0, 0},   {64, 192, 40},
    };
    const size_t hot_bytes = cases[_i].hot_bytes;
    const size_t cold_bytes = cases[_i].cold_bytes;
    bench_t bench;
    bench_create(&bench);
    sim_pool_t *const pool = sim_pool_create(hot_bytes, cases[_i].narrow_bytes);
    if (cold_bytes > cases[_i].narrow_bytes) {
        sim_pool_widen(pool, cold_bytes);
    }
    const uint32_t live_max = hot_bytes > 1000 ? 2000 : LIVE_MAX;
    void **const live = sim_alloc_array(live_max, sizeof(*live));
    uint64_t *const marks = sim_alloc_array(live_max, sizeof(*marks));
    sim_random_t random;
    sim_random_init(&random, 1, 0, "pool-test");
    uint32_t count = 0;
    uint64_t next_mark = 1;
    // The count of live objects rises to the maximum, falls to none, and then stays around the
    // middle.
    for (uint32_t step = 0; step < 5 * live_max; step++) {
        const uint32_t phase = step / live_max;
        const bool take = phase == 0   ? true
                          : phase == 1 ? false
                                       : sim_random_below(&random, 2) == 0;
        if (take && count < live_max) {
            void *const object = sim_pool_get(pool, bench.node);
            SIM_CHECK((uintptr_t)object % SIM_CACHE_LINE == 0);
            fill(object, hot_bytes, next_mark);
            if (cold_bytes > 0) {
                fill(sim_pool_cold(object), cold_bytes, next_mark);
            }
            live[count] = object;
            marks[count++] = next_mark++;
        } else if (!take && count > 0) {
            const uint32_t i = (uint32_t)sim_random_below(&random, count);
            check_fill(live[i], hot_bytes, marks[i]);
            if (cold_bytes > 0) {
                check_fill(sim_pool_cold(live[i]), cold_bytes, marks[i]);
            }
            sim_pool_put(pool, bench.node, live[i]);
            live[i] = live[--count];
            marks[i] = marks[count];
        }
        SIM_CHECK(sim_pool_live(pool) == count);
        if (step + 1 == live_max) {
            // The memory is that of the objects live now, plus the head and the unused rest of each
            // chunk.
            const uint64_t lines = (hot_bytes + 63) / 64;
            const uint64_t least = live_max * (lines * 64 + cold_bytes);
            ck_assert_uint_ge(sim_pool_memory_bytes(pool), least);
            ck_assert_uint_le(sim_pool_memory_bytes(pool),
                              least + least / 6 + 2 * SIM_POOL_CHUNK_BYTES * (1 + cold_bytes / 64));
        }
    }
    const uint64_t memory_bytes = sim_pool_memory_bytes(pool);
    for (int i = 0; i < 100000; i++) {
        sim_pool_put(pool, bench.node, sim_pool_get(pool, bench.node));
    }
    ck_assert_uint_eq(sim_pool_memory_bytes(pool), memory_bytes);
    ck_assert_uint_eq(sim_pool_live(pool), count);
    sim_pool_destroy(pool);
    sim_free(live);
    sim_free(marks);
    sim_destroy(bench.sim);
}
END_TEST

START_TEST(last_in_is_first_out)
{
    bench_t bench;
    bench_create(&bench);
    sim_pool_t *const pool = sim_pool_create(64, 0);
    void *const a = sim_pool_get(pool, bench.node);
    void *const b = sim_pool_get(pool, bench.node);
    ck_assert_ptr_ne(a, b);
    sim_pool_put(pool, bench.node, a);
    sim_pool_put(pool, bench.node, b);
    ck_assert_ptr_eq(sim_pool_get(pool, bench.node), b);
    ck_assert_ptr_eq(sim_pool_get(pool, bench.node), a);
    sim_pool_destroy(pool);
    sim_destroy(bench.sim);
}
END_TEST

// -- objects that travel

#define STREAM_PERIOD_PS 1000u
#define STREAM_COUNT 60000u

// Two nodes: one takes objects and sends them, the other checks and returns them. All memory ends
// up at one thread unless the free lists are levelled.
typedef struct traveller {
    sim_node_t node; // first
    sim_pool_t *pool;
    sim_channel_t *channel; // NULL: a receiver
    sim_timer_t timer;
    uint64_t done;
} traveller_t;

static void traveller_due(sim_node_t *node, sim_timer_t *timer)
{
    traveller_t *const traveller = (traveller_t *)(void *)node;
    void *const object = sim_pool_get(traveller->pool, node);
    fill(object, 64, ++traveller->done);
    fill(sim_pool_cold(object), 40, traveller->done);
    sim_send(node, traveller->channel, node->now_ps + SIM_PS_PER_US, object);
    if (traveller->done < STREAM_COUNT) {
        sim_timer_arm(node, timer, node->now_ps + STREAM_PERIOD_PS);
    }
}

static void traveller_run(sim_node_t *node)
{
    traveller_t *const traveller = (traveller_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
        } else if (event.kind == SIM_EVENT_ARRIVAL) {
            check_fill(event.message, 64, ++traveller->done);
            check_fill(sim_pool_cold(event.message), 40, traveller->done);
            sim_pool_put(traveller->pool, node, event.message);
        }
    }
}

static const sim_node_ops_t traveller_ops = {
    .kind = "traveller",
    .run = traveller_run,
    .destroy = destroy,
};

START_TEST(objects_travel_between_threads)
{
    enum { PAIRS = 4 };
    const sim_options_t options = {
        .seed = 1,
        .threads = (unsigned)_i,
        .until_ps = SIM_TIME_NEVER,
    };
    sim_t *const sim = sim_create(&options);
    sim_pool_t *const pool = sim_pool_create(64, 40);
    traveller_t *travellers[2 * PAIRS];
    for (int i = 0; i < 2 * PAIRS; i++) {
        travellers[i] = sim_alloc_lines(sizeof(traveller_t));
        travellers[i]->pool = pool;
        sim_node_register(sim, &travellers[i]->node, &traveller_ops, i < PAIRS ? "from" : "to");
    }
    for (int i = 0; i < PAIRS; i++) {
        travellers[i]->channel = sim_channel_create(sim, &travellers[i]->node,
                                                    &travellers[PAIRS + i]->node, 0, SIM_PS_PER_US);
        sim_timer_init(&travellers[i]->timer, traveller_due);
        sim_timer_arm(&travellers[i]->node, &travellers[i]->timer, 1 + (sim_time_t)i);
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    for (int i = 0; i < 2 * PAIRS; i++) {
        ck_assert_uint_eq(travellers[i]->done, STREAM_COUNT);
    }
    ck_assert_uint_eq(sim_pool_live(pool), 0);
    // 4 x 1000 are on their way at a time; a thread keeps up to SIM_POOL_SPILL_COUNT, and half of
    // that may be spare for each.
    const uint64_t objects = 4 * 2000 + (uint64_t)_i * SIM_POOL_SPILL_COUNT * 3 / 2 + 4096;
    ck_assert_uint_le(sim_pool_memory_bytes(pool), objects * (64 + 40) * 17 / 16);
    sim_destroy(sim);
    sim_pool_destroy(pool);
}
END_TEST

// Builds with SIM_DEAR_CHECKS fill free objects with 0xA5; AddressSanitizer forbids access to them.
START_TEST(free_objects_are_poisoned_hot_and_cold)
{
    bench_t bench;
    bench_create(&bench);
    sim_pool_t *const pool = sim_pool_create(64, 40);
    unsigned char *const object = sim_pool_get(pool, bench.node);
    unsigned char *const cold = sim_pool_cold(object);
    fill(object, 64, 1);
    fill(cold, 40, 2);
    sim_pool_put(pool, bench.node, object);
#ifdef SIM_DEAR_CHECKS
    ck_assert_ptr_eq(sim_pool_get(pool, bench.node), object); // who may look at it
    for (size_t i = sizeof(void *); i < 64; i++) {
        ck_assert_uint_eq(object[i], 0xA5);
    }
    for (size_t i = 0; i < 40; i++) {
        ck_assert_uint_eq(cold[i], 0xA5);
    }
#endif
    sim_destroy(bench.sim);
    sim_pool_destroy(pool);
}
END_TEST

START_TEST(pools_in_use_are_not_widened)
{
    bench_t bench;
    bench_create(&bench);
    sim_pool_t *const pool = sim_pool_create(64, 8);
    (void)sim_pool_get(pool, bench.node);
    sim_pool_widen(pool, 16);
}
END_TEST

START_TEST(cold_parts_need_one_line)
{
    (void)sim_pool_create(65, 8);
}
END_TEST

#define LINES_COUNT 600u

// Objects of 1 byte to more than SIM_LINES_MAX lines are zeroed, aligned and apart; what was given
// back is taken again, zeroed once more.
START_TEST(lines_are_zeroed_and_apart)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    sim_node_t *const node = sim_alloc_lines(sizeof(*node));
    sim_node_register(sim, node, &idle_ops, "idle");
    static const char zeros[(SIM_LINES_MAX + 2) * SIM_CACHE_LINE];
    static char *taken[LINES_COUNT];
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < LINES_COUNT; i++) {
            const size_t bytes = 8 + i * 37 % (sizeof(zeros) - 8);
            taken[i] = sim_lines_take(node->worker, bytes);
            ck_assert_uint_eq((uintptr_t)taken[i] % SIM_CACHE_LINE, 0);
            ck_assert_mem_eq(taken[i], zeros, bytes);
            fill(taken[i], bytes, i + 1);
        }
        for (uint64_t i = 0; i < LINES_COUNT; i++) {
            check_fill(taken[i], 8 + i * 37 % (sizeof(zeros) - 8), i + 1);
        }
        for (uint64_t i = 0; i < LINES_COUNT; i++) {
            sim_lines_give(node->worker, taken[i], 8 + i * 37 % (sizeof(zeros) - 8));
        }
    }
    sim_lines_give(node->worker, NULL, 100);
    sim_destroy(sim);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(objects_do_not_overlap, 0, 8), CHECK_TEST(last_in_is_first_out),
           CHECK_LOOP(objects_travel_between_threads, 1, 5),
           CHECK_TEST(free_objects_are_poisoned_hot_and_cold),
           CHECK_TEST(lines_are_zeroed_and_apart),
           CHECK_SIGNAL(pools_in_use_are_not_widened, SIGABRT),
           CHECK_SIGNAL(cold_parts_need_one_line, SIGABRT))
