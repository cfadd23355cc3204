// SPDX-License-Identifier: Apache-2.0
// labels: threads clang
// tests/kernel/test_record.c - records of any size reach their streams whole and in order.
//
// Goal: every record is handed on once, with its bytes as written, in the order (time, node,
// written), per stream, also with sizes from small to more than a stream has room for, several
// streams at once, all nodes writing at the same instants.
// Method: nodes write records that say what they are; the reader checks each against a generator
// and the order of all.
// Not pinned: the same sequence on all thread counts for a mixed network (test_sim.c).
#include "kernel/record.h"

#include <string.h>

#include "kernel/random.h"
#include "tests/check_main.h"

#define NODES 6u
#define STREAMS 2u
#define ROUNDS 400u
#define PERIOD_PS UINT64_C(100000)

typedef struct header {
    uint64_t number; // of the node's records in this stream, from 0
    uint64_t bytes;
} header_t;

typedef struct reader {
    sim_time_t last_ps;
    uint32_t last_node;
    uint64_t next[NODES];
    uint64_t count;
    uint64_t bytes;
    uint64_t hash;
} reader_t;

typedef struct writer {
    sim_node_t node; // first
    sim_stream_t *streams[STREAMS];
    uint64_t written[STREAMS];
    uint64_t rounds;
    sim_timer_t timer;
    sim_random_t random;
    sim_channel_t *channel; // so that nodes run apart
} writer_t;

static unsigned char pattern(uint32_t node, uint64_t number, size_t i)
{
    return (unsigned char)(node * 37 + number * 11 + i);
}

static void write_one(writer_t *writer, uint32_t stream, sim_time_t time_ps, size_t extra)
{
    const size_t bytes = sizeof(header_t) + extra;
    unsigned char *const record =
        sim_stream_put(writer->streams[stream], &writer->node, time_ps, bytes);
    SIM_CHECK((uintptr_t)record % 16 == 0);
    const header_t header = {writer->written[stream]++, bytes};
    memcpy(record, &header, sizeof(header));
    for (size_t i = 0; i < extra; i++) {
        record[sizeof(header) + i] = pattern(writer->node.index, header.number, i);
    }
}

static void due(sim_node_t *node, sim_timer_t *timer)
{
    writer_t *const writer = (writer_t *)(void *)node;
    for (uint64_t n = sim_random_below(&writer->random, 4); n > 0; n--) {
        const uint64_t dice = sim_random_below(&writer->random, 100);
        const size_t extra = dice == 0 ? 70000 : dice < 10 ? 0 : dice;
        write_one(writer, (uint32_t)(dice % STREAMS), node->now_ps, extra);
    }
    if (++writer->rounds < ROUNDS) {
        sim_timer_arm(node, timer, node->now_ps + PERIOD_PS); // all nodes at the same times
    }
}

static void run(sim_node_t *node)
{
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
        }
    }
}

static void destroy(sim_node_t *node)
{
    sim_free(node);
}

static void read_record(sim_time_t time_ps, uint32_t node_index, const void *record,
                        size_t record_bytes, void *ctx)
{
    reader_t *const reader = ctx;
    header_t header;
    SIM_CHECK(record_bytes >= sizeof(header));
    memcpy(&header, record, sizeof(header));
    SIM_CHECK(header.bytes == record_bytes);
    SIM_CHECK(header.number == reader->next[node_index]++);
    for (size_t i = 0; i < record_bytes - sizeof(header); i++) {
        SIM_CHECK(((const unsigned char *)record)[sizeof(header) + i] ==
                  pattern(node_index, header.number, i));
    }
    SIM_CHECK(time_ps > reader->last_ps ||
              (time_ps == reader->last_ps && node_index >= reader->last_node));
    reader->last_ps = time_ps;
    reader->last_node = node_index;
    reader->count++;
    reader->bytes += record_bytes;
    reader->hash = sim_mix64(reader->hash ^ time_ps) + node_index * UINT64_C(31) + header.number;
}

static const sim_node_ops_t ops = {.kind = "writer", .run = run, .destroy = destroy};

static void run_writers(unsigned threads, reader_t *readers)
{
    const sim_options_t options = {.seed = 1, .threads = threads, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    writer_t *writers[NODES];
    sim_stream_t *streams[STREAMS];
    for (uint32_t s = 0; s < STREAMS; s++) {
        readers[s] = (reader_t){.last_ps = 0};
        streams[s] = sim_stream_create(sim, read_record, &readers[s]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        writers[i] = sim_alloc_lines(sizeof(writer_t));
        sim_node_register(sim, &writers[i]->node, &ops, "writer");
        memcpy(writers[i]->streams, streams, sizeof(streams));
        sim_random_init(&writers[i]->random, 1, i, "record-test");
        sim_timer_init(&writers[i]->timer, due);
        sim_timer_arm(&writers[i]->node, &writers[i]->timer, PERIOD_PS);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        writer_t *const to = writers[(i + 1) % NODES];
        writers[i]->channel =
            sim_channel_create(sim, &writers[i]->node, &to->node, 0, SIM_PS_PER_US);
    }
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    for (uint32_t s = 0; s < STREAMS; s++) {
        uint64_t written = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            ck_assert_uint_eq(readers[s].next[i], writers[i]->written[s]);
            written += writers[i]->written[s];
        }
        ck_assert_uint_eq(readers[s].count, written);
    }
    sim_destroy(sim);
}

START_TEST(records_arrive_whole_and_in_order)
{
    reader_t one[STREAMS];
    run_writers(1, one);
    ck_assert_uint_gt(one[0].count, 1000);
    ck_assert_uint_gt(one[0].bytes, 1000000);
    for (unsigned threads = 2; threads <= 4; threads++) {
        reader_t more[STREAMS];
        run_writers(threads, more);
        for (uint32_t s = 0; s < STREAMS; s++) {
            ck_assert_uint_eq(more[s].count, one[s].count);
            ck_assert_uint_eq(more[s].bytes, one[s].bytes);
            ck_assert_uint_eq(more[s].hash, one[s].hash);
        }
    }
}
END_TEST

static sim_time_t misplaced_ps;

static void write_misplaced(sim_node_t *node, sim_timer_t *timer)
{
    (void)timer;
    write_one((writer_t *)(void *)node, 0, misplaced_ps, 0);
}

// Records of another window would come out of order: the window here is 16 us, the time 100 us.
static void run_misplaced(sim_time_t time_ps)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    reader_t reader = {.last_ps = 0};
    writer_t *const writer = sim_alloc_lines(sizeof(writer_t));
    misplaced_ps = time_ps;
    sim_node_register(sim, &writer->node, &ops, "writer");
    writer->streams[0] = sim_stream_create(sim, read_record, &reader);
    sim_timer_init(&writer->timer, write_misplaced);
    sim_timer_arm(&writer->node, &writer->timer, 100 * SIM_PS_PER_US);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(reader.count, 1);
    sim_destroy(sim);
}

START_TEST(records_of_now_are_taken)
{
    run_misplaced(100 * SIM_PS_PER_US);
}
END_TEST

START_TEST(a_record_of_a_later_window_is_a_bug)
{
    run_misplaced(120 * SIM_PS_PER_US);
}
END_TEST

START_TEST(a_record_of_an_earlier_window_is_a_bug)
{
    run_misplaced(80 * SIM_PS_PER_US);
}
END_TEST

static void sample_and_write(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    uint64_t *const samples = ctx;
    // The first event, at 100 us, has happened in the later samples only.
    ck_assert_uint_eq(node->events, time_ps > 100 * SIM_PS_PER_US ? 1 : 0);
    ck_assert_uint_eq(time_ps, *samples * 30 * SIM_PS_PER_US);
    write_one((writer_t *)(uintptr_t)node, 0, time_ps, 0);
    ++*samples;
}

static void note_nothing(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    (void)timer;
}

START_TEST(samples_before_the_first_event_see_the_beginning)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    reader_t reader = {.last_ps = 0};
    uint64_t samples = 0;
    sim_timer_t later;
    writer_t *const writer = sim_alloc_lines(sizeof(writer_t));
    sim_node_register(sim, &writer->node, &ops, "writer");
    writer->streams[0] = sim_stream_create(sim, read_record, &reader);
    sim_sample(sim, &writer->node, 0, 30 * SIM_PS_PER_US, sample_and_write, &samples);
    sim_timer_init(&writer->timer, note_nothing);
    sim_timer_arm(&writer->node, &writer->timer, 100 * SIM_PS_PER_US);
    sim_timer_init(&later, note_nothing);
    sim_timer_arm(&writer->node, &later, 200 * SIM_PS_PER_US);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(samples, 7); // 0 to 180 us
    ck_assert_uint_eq(reader.count, samples);
    sim_destroy(sim);
}
END_TEST

// Counts of samples that samplers over idle time put into a stream and that the stream handed on.
typedef struct flow {
    writer_t *writer;
    uint64_t put;
    uint64_t read;
    uint64_t held_max;
    uint64_t counted;
    bool counts; // asked to count samples, it does
} flow_t;

static void read_flow(sim_time_t time_ps, uint32_t node_index, const void *record,
                      size_t record_bytes, void *ctx)
{
    (void)time_ps;
    (void)node_index;
    (void)record;
    (void)record_bytes;
    ((flow_t *)ctx)->read++;
}

static void sample_flow(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    flow_t *const flow = ctx;
    memset(sim_stream_put(flow->writer->streams[0], node, time_ps, 8), 0, 8);
    flow->put++;
    const uint64_t held = flow->put - flow->read;
    flow->held_max = held > flow->held_max ? held : flow->held_max;
}

static bool count_flow(const sim_node_t *node, sim_time_t time_ps, uint64_t count, void *ctx)
{
    (void)node;
    (void)time_ps;
    flow_t *const flow = ctx;
    flow->counted += flow->counts ? count : 0;
    return flow->counts;
}

// Samples 1 s without events every 1 us, and then nothing more.
static void sample_idle_time(flow_t *flow)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    sim_t *const sim = sim_create(&options);
    writer_t *const writer = sim_alloc_lines(sizeof(writer_t));
    flow->writer = writer;
    sim_node_register(sim, &writer->node, &ops, "writer");
    writer->streams[0] = sim_stream_create(sim, read_flow, flow);
    sim_sample_idle(sim, &writer->node, 0, SIM_PS_PER_US, sample_flow, count_flow, flow);
    sim_timer_init(&writer->timer, note_nothing);
    sim_timer_arm(&writer->node, &writer->timer, SIM_PS_PER_S);
    ck_assert_int_eq(sim_run(sim), SIM_ENDED_DONE);
    sim_destroy(sim);
}

START_TEST(idle_time_is_sampled_in_portions)
{
    flow_t flow = {.counts = false};
    sample_idle_time(&flow);
    ck_assert_uint_eq(flow.put, 1000001); // the last at the event
    ck_assert_uint_eq(flow.read, flow.put);
    ck_assert_uint_le(flow.held_max, 1 << 18);
    ck_assert_uint_ge(flow.held_max, 1 << 10); // portions are not that small either
}
END_TEST

START_TEST(samples_over_idle_time_are_counted_where_asked_for)
{
    flow_t flow = {.counts = true};
    sample_idle_time(&flow);
    ck_assert_uint_eq(flow.put + flow.counted, 1000001);
    ck_assert_uint_le(flow.put, 100);
}
END_TEST

CHECK_MAIN(CHECK_TEST(records_arrive_whole_and_in_order),
           CHECK_TEST(idle_time_is_sampled_in_portions),
           CHECK_TEST(samples_over_idle_time_are_counted_where_asked_for),
           CHECK_TEST(records_of_now_are_taken),
           CHECK_TEST(samples_before_the_first_event_see_the_beginning),
           CHECK_SIGNAL(a_record_of_a_later_window_is_a_bug, SIGABRT),
           CHECK_SIGNAL(a_record_of_an_earlier_window_is_a_bug, SIGABRT))
