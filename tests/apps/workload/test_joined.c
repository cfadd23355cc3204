// SPDX-License-Identifier: Apache-2.0
// Goal: channels of a collective that do the same at the same time are computed once (joined), to
// the results and the number of events of channels that are computed one by one.
// Method: each case runs with all messages in flows.csv, which keeps channels apart, with none, and
// with some: then channels join between two calls. Digests, events, bytes and times of all
// operations are equal; a case says whether its channels may join.
// Does not pin: times (test_collectives.sh), nor what it saves.
#include "apps/workload/collective/collectives.h"
#include "apps/workload/op_queue.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#include "tests/app_fixture.h"
#include "tests/check_main.h"

#include <string.h>

typedef struct outcome {
    uint64_t digest;
    uint64_t events;
    uint64_t messages;
    uint64_t bytes;
    uint64_t times; // of all operations, mixed
    bool joined;
} outcome_t;

// Returns what came out of an application beside a ring of two hosts. (The ring comes first: the
// numbers of its flows would follow those of the other.)
static outcome_t run(const char *kind, const char *settings, const char *flows_max)
{
    world_t world;
    outcome_t outcome = {0};
    sim_digest_t times = {0};
    char *const all = sim_format("%s; flows-max=%s", settings, flows_max);
    world_init(&world);
    world_build(&world, "star", "hosts=2; nics-per-host=8; rate=400Gbps");
    (void)world_app(&world, "collective", "kind=all-reduce; ranks=16; bytes=1MB; start=3us");
    const app__workload_t *const workload = (const app__workload_t *)world_app(&world, kind, all);
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

// Compares runs with and without rows of flows.csv, and with rows of the first call only.
static void compare(const char *kind, const char *settings, bool joins, bool joins_late)
{
    const outcome_t apart = run(kind, settings, "1000000");
    const outcome_t joined = run(kind, settings, "0");
    const outcome_t late = run(kind, settings, "150");
    const outcome_t *const others[] = {&joined, &late};
    ck_assert_msg(!apart.joined, "%s: joined", settings);
    ck_assert_msg(joined.joined == joins, "%s: joined from the start", settings);
    ck_assert_msg(late.joined == joins_late, "%s: joined between calls", settings);
    for (size_t i = 0; i < SIM_COUNT_OF(others); i++) {
        ck_assert_msg(others[i]->times == apart.times, "%s: times", settings);
        ck_assert_msg(others[i]->digest == apart.digest, "%s: digest", settings);
        ck_assert_msg(others[i]->messages == apart.messages, "%s: messages", settings);
        ck_assert_msg(others[i]->bytes == apart.bytes, "%s: bytes", settings);
        ck_assert_msg(others[i]->events == apart.events,
                      "%s: %" PRIu64 " events, expected %" PRIu64, settings, others[i]->events,
                      apart.events);
    }
}

START_TEST(joined_channels_change_nothing)
{
    static const struct {
        const char *settings;
        bool joins;
        bool joins_late; // between two calls
    } rows[] = {
        {"kind=all-gather; ranks=8; bytes=32MiB", true, true},
        {"kind=reduce-scatter; ranks=8; bytes=6MiB", true, true},
        {"kind=all-reduce; ranks=8; bytes=16MiB; algorithm=ring", true, true},
        {"kind=all-reduce; ranks=5; bytes=16000000; algorithm=ring", true, true},
        {"kind=all-reduce; ranks=8; bytes=64MiB; algorithm=nvls", true, true},
        {"kind=all-gather; ranks=8; bytes=64MiB; algorithm=nvls", true, true},
        {"kind=reduce-scatter; ranks=4; bytes=1MiB; algorithm=nvls", true, true},
        {"kind=all-gather; ranks=8; bytes=16KiB", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; protocol=ll128", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; protocol=plain", true, true},
        {"kind=barrier; ranks=8; algorithm=ring", true, true},
        {"kind=all-gather; ranks=8; bytes=6MiB; tuning-latency=on", true, true},
        {"kind=all-reduce; ranks=8; bytes=6MiB; algorithm=ring; tuning-latency=on", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; send-latency=1us", true, true},
        {"kind=all-reduce; ranks=8; bytes=4MiB; algorithm=ring; reduce-rate=200Gbps", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; block-rate=200Gbps", true, true},
        {"kind=all-gather; ranks=8; bytes=4MiB; compute=0s", true, false}, // no rest between calls
        {"kind=all-gather; ranks=8; bytes=4194305", false, false},
        {"kind=all-reduce; ranks=8; bytes=4MiB; algorithm=tree", false, false},
        {"kind=all-to-all; ranks=8; bytes=4MiB", false, false},
        {"kind=all-gather; ranks=16; bytes=4MiB", false, false},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i += check_few(1, 3)) {
        char *const settings = sim_format("repeat=5; compute=1ms; %s", rows[i].settings);
        compare("collective", settings, rows[i].joins, rows[i].joins_late);
        sim_free(settings);
    }
}
END_TEST

// Groups share links with one another and with messages between stages.
START_TEST(training_is_the_same_job)
{
    static const char *const rows[] = {
        "tp=4; pp=2",
        "tp=4; pp=4",
        "tp=8; pp=2; jitter=0.1",
        "tp=4; dp=4; tensor-overlap=2; overlap=all; bucket=1",
        "tp=4; pp=2; cp=2; map=round-robin",
        "tp=4; dp=4; zero=3; sequence-parallel=false; algorithm=ring",
        "tp=2; dp=8; experts=8; top-k=2; ep=2",
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i += check_few(1, 3)) {
        char *const settings = sim_format("model=gpt-13b; layers=4; hidden=512; heads=8; ffn=2048; "
                                          "vocab=1024; sequence=256; microbatches=4; mfu=0.01; %s",
                                          rows[i]);
        const bool joins = strstr(rows[i], "round-robin") == NULL;
        compare("training", settings, joins, joins);
        sim_free(settings);
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(joined_channels_change_nothing), CHECK_TEST(training_is_the_same_job))
