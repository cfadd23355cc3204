// SPDX-License-Identifier: Apache-2.0
// Goal: channels of a collective that do the same at the same time are computed once (joined), to
// the results and the number of events of channels that are computed one by one.
// Method: each case runs with all messages in flows.csv, which no channels share, with none, and
// with some: then channels join between two calls. Digests, events, bytes and times of all
// operations are equal; a case says whether its channels may join.
// Does not pin: times (test_collectives.sh), nor what it saves.
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#include "apps/workload/collective/engine.h"

typedef struct outcome {
    uint64_t digest;
    uint64_t events;
    uint64_t messages;
    uint64_t bytes;
    uint64_t times; // of all operations, mixed
    bool joined;
} outcome_t;

// Returns what came out of 5 calls among the GPUs of a host, beside a ring of two hosts.
static outcome_t run(const char *settings, const char *flows_max)
{
    world_t world;
    outcome_t outcome = {0};
    sim_digest_t times = {0};
    char *const all = sim_format("repeat=5; %s; flows-max=%s", settings, flows_max);
    world_init(&world);
    world_build(&world, "star", "hosts=2; nics-per-host=8; rate=400Gbps");
    (void)world_app(&world, "collective", "kind=all-reduce; ranks=16; bytes=1MB; start=3us");
    const app__workload_t *const workload =
        (const app__workload_t *)world_app(&world, "collective", all);
    world_run(&world);
    outcome.digest = sim_digest(world.sim);
    outcome.events = sim_events(world.sim);
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const app__rank_t *const rank = &workload->ranks[r];
        ck_assert_uint_eq(rank->left, 0);
        for (uint32_t i = 0; i < rank->ops->count; i++) {
            sim_digest_add(&times, rank->states[i].start_ps);
            sim_digest_add(&times, rank->states[i].end_ps);
        }
        outcome.messages += workload->collectives->ranks[r].messages;
        outcome.bytes += workload->collectives->ranks[r].bytes;
    }
    outcome.times = times.value;
    outcome.joined = workload->collectives->groups[0].joined;
    world_fini(&world);
    sim_free(all);
    return outcome;
}

START_TEST(joined_channels_change_nothing)
{
    static const struct {
        const char *settings;
        bool joins;
        bool joins_late; // between two calls
    } rows[] = {
        {"kind=all-gather; ranks=8; bytes=32MiB; compute=1ms", true, true},
        {"kind=reduce-scatter; ranks=8; bytes=6MiB; compute=1ms", true, true},
        {"kind=all-reduce; ranks=8; bytes=16MiB; algorithm=ring; compute=1ms", true, true},
        {"kind=all-reduce; ranks=5; bytes=16000000; algorithm=ring; compute=1ms", true, true},
        {"kind=all-reduce; ranks=8; bytes=64MiB; algorithm=nvls; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=64MiB; algorithm=nvls; compute=1ms", true, true},
        {"kind=reduce-scatter; ranks=4; bytes=1MiB; algorithm=nvls; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=16KiB; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; protocol=ll128; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; protocol=plain; compute=1ms", true, true},
        {"kind=barrier; ranks=8; algorithm=ring; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; tuning-latency=on; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; send-latency=1us; compute=1ms", true, true},
        {"kind=all-reduce; ranks=8; bytes=4MiB; algorithm=ring; reduce-rate=200Gbps; compute=1ms",
         true,
         true},
        {"kind=all-gather; ranks=8; bytes=4MiB; block-rate=200Gbps; compute=1ms", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB", true, false}, // no rest between calls
        {"kind=all-gather; ranks=8; bytes=4194305; compute=1ms", false, false},
        {"kind=all-reduce; ranks=8; bytes=4MiB; algorithm=tree; compute=1ms", false, false},
        {"kind=all-to-all; ranks=8; bytes=4MiB; compute=1ms", false, false},
        {"kind=all-gather; ranks=16; bytes=4MiB; compute=1ms", false, false},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        const outcome_t apart = run(rows[i].settings, "1000000");
        const outcome_t joined = run(rows[i].settings, "0");
        const outcome_t late = run(rows[i].settings, "150");
        ck_assert_msg(!apart.joined, "%s", rows[i].settings);
        ck_assert_msg(joined.joined == rows[i].joins, "%s: joined", rows[i].settings);
        ck_assert_msg(late.joined == rows[i].joins_late, "%s: joined late", rows[i].settings);
        const outcome_t *const others[] = {&joined, &late};
        for (size_t k = 0; k < SIM_COUNT_OF(others); k++) {
            ck_assert_msg(others[k]->times == apart.times, "%s: times", rows[i].settings);
            ck_assert_msg(others[k]->digest == apart.digest, "%s: digest", rows[i].settings);
            ck_assert_msg(others[k]->events == apart.events,
                          "%s: %" PRIu64 " events, expected %" PRIu64,
                          rows[i].settings,
                          others[k]->events,
                          apart.events);
            ck_assert_msg(others[k]->messages == apart.messages, "%s: messages", rows[i].settings);
            ck_assert_msg(others[k]->bytes == apart.bytes, "%s: bytes", rows[i].settings);
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(joined_channels_change_nothing))
