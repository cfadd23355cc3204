// SPDX-License-Identifier: Apache-2.0
// test_cache_clusters.c - tokens of the tiered cache that move together.
//
// Goal: a cluster of host memory moves to L2 as one, its size being the attribute's; tokens of a
// page of L2 go to L1 in one transfer, and idle ones down; the driver stages hot clusters by
// itself; each move takes the work that it is given, and accesses that meet one are told apart.
// Method: operations over queue pairs one after another; the cache's report; each mechanism on and
// off.
#include "tests/cache_world.h"
#include "tests/check_main.h"

static world_t world;

static void run(const char *nic, const char *program)
{
    world_init(&world);
    cache_world_run(&world, nic, program);
}

static double cache(const char *path)
{
    return cache_number(nic_of_interface(world.net, 0), path);
}

#define SCAN "transport=uc; pattern=scan; shuffle=off; warm-up=0; "
#define HYBRID "cache.policy=hybrid; cache.l1.staging=0; cache.window=100ms; "

// A cluster of 64 KiB has the contexts of 282 queue pairs, one of 2 KiB those of 8.
START_TEST(clusters_move_as_a_whole)
{
    static const struct {
        const char *nic;
        double least;
        double most;
    } rows[] = {
        {HYBRID "cache.promote.l2=1; cache.promote.l1=1000", 3, 5},
        {HYBRID "cache.promote.l2=1; cache.promote.l1=1000; cache.cluster=2KiB", 75, 76},
        {HYBRID "cache.promote.l2=1; cache.promote.l1=1000; cache.neighbours=0", 600, 600},
        {HYBRID "cache.promote.l2=1; cache.promote.l1=1000; cache.cluster=0", 600, 600},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        run(rows[i].nic, SCAN "tokens=600; operations=1200; interval=20us");
        ck_assert(cache("migrations.to_l2") == 600);
        ck_assert_msg(cache("fills") >= rows[i].least && cache("fills") <= rows[i].most, "%s: %g",
                      rows[i].nic, cache("fills"));
        ck_assert(cache("prefetches") == 600 - cache("fills"));
        ck_assert(cache("prefetches_used") == cache("prefetches"));
        ck_assert(cache("migration_rate") > 0);
        world_fini(&world);
    }
}
END_TEST

// L2 has room for three pages; the cluster stops there, and pushes nothing out.
START_TEST(clusters_end_where_l2_is_full)
{
    run(HYBRID "cache.promote.l2=1; cache.promote.l1=1000; cache.l2.bytes=1200; "
               "cache.l2.pressure=1",
        SCAN "tokens=280; operations=1; interval=20us");
    ck_assert(cache("migrations.to_l2") <= 48 + 1 && cache("migrations.to_l3") == 0);
    world_fini(&world);
}
END_TEST

START_TEST(pages_move_in_one_transfer)
{
    double transfers[2];
    double bytes[2];
    for (uint32_t alone = 0; alone < 2; alone++) {
        run(alone != 0 ? HYBRID "cache.promote.l2=1; cache.promote.l1=8; cache.move.batch=1"
                       : HYBRID "cache.promote.l2=1; cache.promote.l1=8",
            SCAN "tokens=160; operations=3200; interval=2us");
        ck_assert(cache("migrations.to_l1") == 160);
        ck_assert(cache("moved_along") == 160 - cache("move_transfers"));
        transfers[alone] = cache("move_transfers");
        bytes[alone] = cache("l2_hits");
        world_fini(&world);
    }
    ck_assert(transfers[0] >= 10 && transfers[0] < 20 && transfers[1] == 160);
    ck_assert(bytes[0] < bytes[1]); // those that went along came earlier
    // Only what has reached the threshold goes along.
    run(HYBRID "cache.promote.l2=1; cache.promote.l1=8; cache.promote.along=1",
        SCAN "tokens=160; operations=3200; interval=2us");
    ck_assert(cache("move_transfers") > 2 * transfers[0]);
    world_fini(&world);
}
END_TEST

START_TEST(idle_tokens_leave_together)
{
    double transfers[2];
    double utilisation[2];
    for (uint32_t alone = 0; alone < 2; alone++) {
        char nic[512];
        snprintf(nic, sizeof(nic),
                 HYBRID "cache.promote.l2=1; cache.promote.l1=1; cache.demote.l1-idle=20us; "
                        "cache.maintenance.interval=10us; cache.move.batch=%s",
                 alone != 0 ? "1" : "16");
        run(nic, SCAN "tokens=64; operations=6400; interval=1us");
        ck_assert(cache("migrations.to_l2") > 1000);
        transfers[alone] = cache("move_transfers") / cache("migrations.to_l2");
        utilisation[alone] = cache("cxl_utilisation");
        world_fini(&world);
    }
    ck_assert(transfers[0] < 0.7 * transfers[1]);
    ck_assert(utilisation[0] < utilisation[1]); // lines that several tokens share
}
END_TEST

// The first uses of queue pairs are requests to the driver, until it has seen enough of a cluster.
START_TEST(the_driver_stages_hot_clusters)
{
    static const struct {
        const char *nic;
        double expands_least;
        double expands_most;
    } rows[] = {
        {"cache.policy=lru; cache.l1.entries=64", 560, 560},
        {"cache.policy=lru; cache.l1.entries=64; cache.driver.prestage=4", 8, 14},
        {"cache.policy=lru; cache.l1.entries=64; cache.driver.prestage=40", 80, 122},
        {"cache.policy=lru; cache.l1.entries=64; cache.driver.prestage=4; cache.cluster=2KiB", 276,
         290},
        {"cache.policy=lru; cache.l1.entries=64; cache.driver.prestage=4; cache.l2.bytes=0", 560,
         560},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        run(rows[i].nic, SCAN "tokens=560; operations=560; interval=20us");
        ck_assert_msg(cache("expands.urgent") >= rows[i].expands_least &&
                          cache("expands.urgent") <= rows[i].expands_most,
                      "%s: %g", rows[i].nic, cache("expands.urgent"));
        ck_assert((cache("prestages") > 0) == (i >= 1 && i <= 3));
        ck_assert(cache("prestaged_used") == cache("prestaged"));
        world_fini(&world);
    }
}
END_TEST

START_TEST(moves_take_their_work)
{
    double met_ns[3];
    double moves_ns[3];
    static const char *const work[] = {"0ps", "1us", "30us"};
    for (size_t i = 0; i < SIM_COUNT_OF(work); i++) {
        char nic[512];
        snprintf(nic, sizeof(nic),
                 HYBRID "cache.promote.l2=1; cache.promote.l1=2; cache.demote.l1-idle=5us; "
                        "cache.maintenance.interval=2us; cache.move.work=%s",
                 work[i]);
        run(nic, "transport=uc; warm-up=0; tokens=100; pattern=uniform; outstanding=16; "
                 "operations=10000");
        ck_assert(cache("met_ns.count") > 30);
        met_ns[i] = cache("met_ns.mean");
        moves_ns[i] = cache("migration_ns.mean");
        world_fini(&world);
    }
    ck_assert(moves_ns[1] > moves_ns[0] + 900 && moves_ns[2] > moves_ns[0] + 29000);
    ck_assert(met_ns[2] > met_ns[0] + 10000); // they waited for it
}
END_TEST

// Returns the 99th percentile of the time of an access that met a move.
static double met_p99(const char *tiers, const char *work, const char *waiting)
{
    char nic[512];
    snprintf(nic, sizeof(nic),
             HYBRID "profile=connect-ib; cache.promote.l2=1; cache.promote.l1=2; "
                    "cache.demote.l1-idle=20us; cache.maintenance.interval=5us; "
                    "cache.maintenance.tokens=256; %s; cache.move.work=%s; cache.waiting=%s",
             tiers, work, waiting);
    run(nic, "transport=uc; warm-up=1000; tokens=512; pattern=uniform; outstanding=32; "
             "operations=8000");
    ck_assert_msg(cache("met_ns.count") > 100, "%s: %g", nic, cache("met_ns.count"));
    const double p99 = cache("met_ns.p99");
    world_fini(&world);
    return p99;
}

// Old copies in L1 and L2 are near, so reading them never waits. Old copies with the host are read
// by the driver, which is slower than the end of a short move, and faster than that of a long one.
START_TEST(old_copies_pay_where_they_are_near)
{
    const char *const near = "cache.l1.entries=512; cache.l2.bytes=1MiB";
    const char *const far = "cache.l1.entries=128; cache.l2.bytes=8KiB";
    ck_assert(met_p99(near, "10us", "wait") > 10 * met_p99(near, "10us", "optimistic"));
    ck_assert(met_p99(near, "1us", "wait") > 1.5 * met_p99(near, "1us", "optimistic"));
    ck_assert(met_p99(far, "0ps", "wait") < 0.7 * met_p99(far, "0ps", "optimistic"));
    ck_assert(met_p99(far, "100us", "wait") > 5 * met_p99(far, "100us", "optimistic"));
}
END_TEST

CHECK_MAIN(CHECK_TEST(old_copies_pay_where_they_are_near), CHECK_TEST(clusters_move_as_a_whole),
           CHECK_TEST(clusters_end_where_l2_is_full), CHECK_TEST(pages_move_in_one_transfer),
           CHECK_TEST(idle_tokens_leave_together), CHECK_TEST(the_driver_stages_hot_clusters),
           CHECK_TEST(moves_take_their_work))
