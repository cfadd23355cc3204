// SPDX-License-Identifier: Apache-2.0
// test_cache.c - the mechanisms of the tiered cache, one by one.
//
// Goal: each does what docs/models/tiered-cache.md says, and is missed where it is off: thresholds
// promote, idleness demotes, what is pinned stays, write-through loses nothing in a reset and
// write-back does, optimistic reads do not wait, a batch reads clusters and wakes who waits,
// expands wait for the unit or the queue pair, objects that fit no token are counted, compression
// saves, what is destroyed leaves.
// Method: operations over queue pairs (apps/rates/contexts.c) on two hosts, the cache's own report.
// Not pinned: hit rates (tests/nic/store/test_cache_zipf.sh).
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

static void end(void)
{
    ck_assert(cache("accesses") == cache("l1_hits") + cache("l2_hits") + cache("expands.urgent") +
                                       cache("expands.background"));
    world_fini(&world);
}

#define UC "transport=uc; warm-up=0; "
// One queue pair, 40 operations about a microsecond apart.
#define ONE UC "tokens=1; operations=40"

START_TEST(thresholds_promote)
{
    run("cache.policy=hybrid; cache.promote.l1=20; cache.promote.l2=8; cache.l1.staging=0", ONE);
    // 8 expands, the one at the threshold included; then moves; L2 until the 20th use, then L1.
    ck_assert(cache("expands.urgent") >= 8 && cache("expands.urgent") <= 10);
    ck_assert(cache("l2_hits") >= 8 && cache("l2_hits") <= 13);
    ck_assert(cache("l1_hits") >= 17);
    ck_assert(cache("migrations.to_l2") == 1 && cache("migrations.to_l1") == 1);
    end();
    run("cache.policy=hybrid; cache.promote.l1=1000; cache.promote.l2=1000; cache.l1.staging=0",
        ONE);
    ck_assert(cache("expands.urgent") == 40);
    end();
    // Without L2, from L3 straight into L1.
    run("cache.policy=hybrid; cache.promote.l1=8; cache.promote.l2=4; cache.l1.staging=0; "
        "cache.l2.bytes=0",
        ONE);
    ck_assert(cache("migrations.to_l2") == 0 && cache("migrations.to_l1") == 1);
    end();
}
END_TEST

START_TEST(staging_keeps_copies)
{
    run("cache.policy=hybrid; cache.l1.staging=4; cache.promote.l1=1000; cache.promote.l2=1000",
        ONE);
    ck_assert(cache("staging_hits") == 39 && cache("l1_hits") == 39);
    end();
}
END_TEST

// Every other queue pair is used again after 40 us, which is idle by this measure.
START_TEST(idleness_demotes)
{
    const char *const program = UC "tokens=4; pattern=scan; operations=400; interval=10us";
    run("cache.policy=hybrid; cache.promote.l1=2; cache.promote.l2=1; cache.demote.l1-idle=15us; "
        "cache.maintenance.interval=5us; cache.window=1ms; cache.l1.staging=0",
        program);
    ck_assert(cache("migrations.to_l2") > 50);
    ck_assert(cache("migrations.to_l3") == 0); // there is no pressure
    end();
    run("cache.policy=hybrid; cache.promote.l1=2; cache.promote.l2=1; cache.demote.l1-idle=100us; "
        "cache.maintenance.interval=5us; cache.window=1ms; cache.l1.staging=0",
        program);
    ck_assert(cache("migrations.to_l2") <= 8);
    end();
    run("cache.policy=hybrid; cache.promote.l1=2; cache.promote.l2=1; cache.demote.l1-idle=15us; "
        "cache.demote.l2-idle=20us; cache.l2.pressure=0; "
        "cache.maintenance.interval=5us; cache.window=1ms; cache.l1.staging=0",
        program);
    ck_assert(cache("migrations.to_l3") > 20);
    end();
}
END_TEST

START_TEST(pinned_stays)
{
    run("cache.policy=lru; cache.l1.entries=4; cache.pinned=2; cache.l2.bytes=0",
        UC "tokens=20; pattern=scan; operations=400");
    ck_assert(cache("l1_hits") == 2 * 20); // of each round of 20 the two; LRU keeps no other
    end();
}
END_TEST

START_TEST(resets_lose_what_is_dirty)
{
    const char *const program = UC "tokens=10; operations=300";
    run("cache.policy=lru; cache.reset-at=100us", program);
    ck_assert(cache("resets") == 1 && cache("lost_writes") > 20 && cache("dirty_lost") > 2);
    end();
    run("cache.policy=lru; cache.reset-at=100us; cache.write=through", program);
    ck_assert(cache("resets") == 1 && cache("lost_writes") == 0 && cache("dirty_lost") == 0);
    ck_assert(cache("write_throughs") >= 300);
    end();
}
END_TEST

START_TEST(optimistic_reads_do_not_wait)
{
    const char *const program = UC "tokens=20; outstanding=16; operations=3000";
    for (uint32_t optimistic = 0; optimistic < 2; optimistic++) {
        run(optimistic != 0
                ? "cache.policy=hybrid; cache.promote.l1=8; cache.promote.l2=2; "
                  "cache.l1.entries=6; "
                  "cache.l1.staging=0; cache.aging=5us; cache.demote.l1-idle=5us; "
                  "cache.maintenance.interval=2us; cache.window=100us; cache.waiting=optimistic"
                : "cache.policy=hybrid; cache.promote.l1=8; cache.promote.l2=2; "
                  "cache.l1.entries=6; "
                  "cache.l1.staging=0; cache.aging=5us; cache.demote.l1-idle=5us; "
                  "cache.maintenance.interval=2us; cache.window=100us",
            program);
        ck_assert((cache("waits") > 0) == (optimistic == 0));
        ck_assert((cache("reconciled") > 0) == (optimistic != 0));
        ck_assert(optimistic != 0 || cache("version_retries") == 0);
        end();
    }
}
END_TEST

START_TEST(batches_read_clusters)
{
    const char *const program =
        UC "tokens=512; pattern=scan; outstanding=256; operations=4096; shuffle=off";
    run("cache.policy=lru; cache.l1.entries=64; cache.l2.path=batch; cache.batch.threshold=16; "
        "cache.batch.max=64; detailed.pu.count=64",
        program);
    ck_assert(cache("batches") > 0 && cache("batch_tokens") == cache("l2_hits"));
    ck_assert(cache("batch_clusters") < cache("batch_tokens") / 2);
    end();
    run("cache.policy=lru; cache.l1.entries=64; cache.l2.path=batch; cache.batch.threshold=16; "
        "cache.batch.max=64; detailed.pu.count=64; cache.cluster=0",
        program);
    ck_assert(cache("batch_clusters") == cache("batch_tokens"));
    end();
    run("cache.policy=lru; cache.l1.entries=64; detailed.pu.count=64", program);
    ck_assert(cache("batches") == 0);
    end();
}
END_TEST

// One slow link: the queue waits for it.
START_TEST(batches_hold_back)
{
    run("cache.policy=lru; cache.l1.entries=64; cache.l2.path=batch; cache.batch.threshold=8; "
        "cache.batch.max=8; detailed.pu.count=64; cache.l2.rate=200Mbps; cache.cluster=0; "
        "cache.batch.backlog=1us",
        UC "tokens=512; pattern=uniform; outstanding=256; operations=2000");
    ck_assert(cache("batch_delays") > 10);
    end();
}
END_TEST

START_TEST(expands_keep_unit_or_queue_pair_waiting)
{
    double mops[2];
    for (uint32_t late = 0; late < 2; late++) {
        run(late != 0 ? "cache.policy=lru; cache.l1.entries=16; cache.l2.bytes=0; "
                        "detailed.pu.count=2; cache.expand.asynchronous=true"
                      : "cache.policy=lru; cache.l1.entries=16; cache.l2.bytes=0; "
                        "detailed.pu.count=2",
            UC "tokens=512; pattern=scan; outstanding=128; operations=2000");
        ck_assert(cache("expands.urgent") == (late != 0 ? 0 : 2000));
        ck_assert(cache("expands.background") == (late != 0 ? 2000 : 0));
        mops[late] = cache("accesses_mops");
        end();
    }
    ck_assert(mops[1] > 1.3 * mops[0]); // two units did not wait for each expand
}
END_TEST

START_TEST(what_fits_no_token_is_counted)
{
    run("cache.policy=lru; cache.l1.entries=64; detailed.translation.page=4096",
        UC "tokens=100; operations=500; regions=1; region-bytes=1GB");
    ck_assert(cache("uncompressed") == 1); // that region has too many pages
    ck_assert(cache("l1_bytes_peak") == 64 * 28);
    const double saved = cache("saved_bytes");
    ck_assert(saved > 64 * (252 - 28));
    end();
    run("cache.policy=lru; cache.l1.entries=64; cache.compression=off",
        UC "tokens=100; operations=500");
    ck_assert(cache("uncompressed") == 100 + 3 + 1 + 1);
    ck_assert(cache("l1_entries_peak") == 7 && cache("l1_bytes_peak") == 7 * 252);
    ck_assert(cache("saved_bytes") == 0);
    end();
}
END_TEST

START_TEST(neighbours_come_along)
{
    const char *const program = UC "tokens=64; pattern=scan; operations=640; shuffle=off";
    run("cache.policy=hybrid; cache.promote.l2=2; cache.l1.staging=0; cache.neighbours=8", program);
    ck_assert(cache("prefetches") > 40 && cache("prefetches_used") > 40);
    const double with = cache("fills");
    end();
    run("cache.policy=hybrid; cache.promote.l2=2; cache.l1.staging=0; cache.neighbours=0", program);
    ck_assert(cache("prefetches") == 0 && cache("fills") > 4 * with);
    end();
}
END_TEST

// Lookups of regions by type, 1, in a partition of 40 entries for 120 regions.
#define REGIONS \
    "transport=rc; tokens=4; regions=120; bytes=64; outstanding=16; warm-up=0; operations=6000"

START_TEST(policies_hold_regions)
{
    double hits[3];
    static const char *const policies[] = {"lru", "random", "lfu"};
    for (uint32_t i = 0; i < SIM_COUNT_OF(policies); i++) {
        char nic[256];
        snprintf(nic, sizeof(nic),
                 "cache.policy=lru; cache.l1.other-entries=40; cache.other.policy=%s", policies[i]);
        run(nic, REGIONS);
        hits[i] = cache("types[1].l1_hits");
        end();
    }
    ck_assert(hits[0] != hits[1] && hits[1] != hits[2] && hits[0] != hits[2]);
}
END_TEST

START_TEST(thresholds_promote_regions)
{
    double l1[3];
    double expands[3];
    static const char *const thresholds[] = {
        "cache.other.promote.l1=2; cache.other.promote.l2=1",
        "cache.other.promote.l1=100000; cache.other.promote.l2=4",
        "cache.other.promote.l1=100000; cache.other.promote.l2=100000",
    };
    for (uint32_t i = 0; i < SIM_COUNT_OF(thresholds); i++) {
        char nic[256];
        snprintf(nic, sizeof(nic),
                 "cache.policy=lru; cache.l1.other-entries=200; cache.other.policy=hybrid; "
                 "cache.other.staging=0; cache.neighbours=0; cache.window=100ms; %s",
                 thresholds[i]);
        run(nic, REGIONS);
        l1[i] = cache("types[1].l1_hits");
        expands[i] = cache("types[1].expands");
        ck_assert(cache("types[1].lookups") == l1[i] + cache("types[1].l2_hits") + expands[i]);
        end();
    }
    ck_assert(l1[0] > 5000 && l1[1] == 0 && l1[2] == 0);
    // Each of the 120 regions is with the host until its 4th use.
    ck_assert(expands[1] >= 4 * 120 && expands[1] < 8 * 120);
    ck_assert(expands[2] >= 6000);
    run("cache.policy=lru; cache.other.policy=hybrid; cache.other.staging=200; "
        "cache.other.promote.l1=100000; cache.other.promote.l2=100000",
        REGIONS);
    ck_assert(cache("types[1].l1_hits") > 5000); // copies beside L1
    end();
}
END_TEST

// Regions whose tokens share a page come together. A unit waits for its region,
// its protection domain and its context, whichever comes last.
START_TEST(batches_read_regions)
{
    const char *const program =
        "transport=rc; tokens=256; regions=256; bytes=64; outstanding=200; warm-up=0; "
        "operations=8000";
    run("cache.policy=lru; cache.l1.entries=2048; cache.l1.other-entries=20; "
        "cache.other.path=batch; cache.batch.threshold=16; cache.l2.rate=500Mbps; "
        "detailed.pu.count=64",
        program);
    ck_assert(cache("batches") > 0 && cache("batch_tokens") > 1000);
    ck_assert(cache("batch_clusters") < 0.6 * cache("batch_tokens"));
    end();
    run("cache.policy=lru; cache.l1.entries=2048; cache.l1.other-entries=20; "
        "cache.l2.rate=500Mbps; detailed.pu.count=64",
        program);
    ck_assert(cache("batches") == 0);
    end();
    // Both kinds at once.
    run("cache.policy=lru; cache.l1.entries=64; cache.l1.other-entries=20; cache.l2.path=batch; "
        "cache.other.path=batch; cache.batch.threshold=16; detailed.pu.count=64",
        program);
    ck_assert(cache("l2_hits") > 1000 && cache("types[1].l2_hits") > 1000);
    ck_assert(cache("batch_tokens") <= cache("types[0].l2_hits") + cache("types[1].l2_hits") +
                                           cache("types[2].l2_hits") + cache("types[3].l2_hits"));
    end();
}
END_TEST

START_TEST(what_is_destroyed_leaves)
{
    run("cache.policy=lru; cache.l1.entries=16; cache.l2.bytes=1KiB",
        UC "tokens=50; operations=2000; churn=10");
    ck_assert(cache("accesses") == 2000);
    ck_assert(cache("types[3].objects") == 50);
    ck_assert(cache("directory_bytes") == 32 * 64); // 128 slots, half of them used at most
    end();
}
END_TEST

START_TEST(swaps_fail_where_two_units_meet)
{
    run("cache.policy=lru; cache.l1.cas=50ns",
        "tokens=1; direction=both; outstanding=64; operations=3000; warm-up=0");
    ck_assert(cache("cas_failures") > 0 && cache("cas_retries") > 0);
    const double fallbacks = cache("cas_fallbacks");
    end();
    run("cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0",
        "tokens=1; direction=both; outstanding=64; operations=3000; warm-up=0");
    ck_assert(cache("cas_fallbacks") > fallbacks && cache("cas_retries") == 0);
    end();
}
END_TEST

START_TEST(thresholds_follow_the_load)
{
    const char *const program = UC "tokens=400; pattern=uniform; outstanding=16; operations=6000";
    run("cache.policy=hybrid; cache.adaptive.on=true; cache.adaptive.interval=20us; "
        "cache.adaptive.cpu=0.2; cache.l1.entries=64; cache.l2.bytes=2KiB",
        program);
    ck_assert(cache("lowered") > 0 && cache("promote_l1") < 128);
    end();
    run("cache.policy=hybrid; cache.adaptive.on=true; cache.adaptive.interval=20us; "
        "cache.adaptive.saturation=0.01; cache.l1.entries=64; cache.l2.bytes=2KiB",
        program);
    ck_assert(cache("raised") > 0 && cache("promote_l1") > 128);
    end();
}
END_TEST

// The directory costs an access: of SRAM, of L2, of the host.
START_TEST(directory_costs_an_access)
{
    double l2_ns[3];
    static const char *const places[] = {
        "cache.policy=lru; cache.l1.entries=4; cache.directory=sram",
        "cache.policy=lru; cache.l1.entries=4; cache.directory=cxl",
        "cache.policy=lru; cache.l1.entries=4; cache.directory=host",
    };
    for (uint32_t i = 0; i < 3; i++) {
        run(places[i], UC "tokens=64; pattern=scan; operations=640");
        l2_ns[i] = cache("l2_ns.p50");
        end();
    }
    ck_assert(l2_ns[0] > 255 && l2_ns[0] < 270);
    ck_assert(l2_ns[1] > 505 && l2_ns[1] < 515);
    ck_assert_msg(l2_ns[2] > 675 && l2_ns[2] < 700, "%g", l2_ns[2]);
}
END_TEST

// 64 regions of 64 KiB, 1 GiB apart, are 1024 pages of 4 KiB, 128 lines of page tables.
START_TEST(page_tables_lie_in_l2)
{
    const char *const program = UC "tokens=2; outstanding=1; operations=4000; regions=64; "
                                   "region-bytes=64KiB; bytes=64";
#define SMALL_TLB "cache.policy=lru; detailed.translation.entries=4; detailed.translation.page="
    run(SMALL_TLB "4KiB; cache.l2.page-table=1MiB", program);
    ck_assert(cache("table_misses") == 128); // each line once
    ck_assert(cache("table_hits") > 3700 && cache("table_hits") < 4000 - 128);
    const double cxl_bytes = cache("cxl_bytes");
    end();
    // A quarter of the lines: of a uniform draw about as many are hits.
    run(SMALL_TLB "4KiB; cache.l2.page-table=2KiB", program);
    const double looked = cache("table_hits") + cache("table_misses");
    ck_assert(cache("table_hits") > 0.2 * looked && cache("table_hits") < 0.3 * looked);
    end();
    run(SMALL_TLB "2MiB; cache.l2.page-table=1MiB", program);
    ck_assert(cache("table_misses") == 64); // regions are 1 GiB apart: a line each
    end();
    run(SMALL_TLB "1GiB; cache.l2.page-table=1MiB", program);
    ck_assert(cache("table_misses") >= 8 && cache("table_misses") <= 9);
    end();
    run(SMALL_TLB "4KiB", program); // the host has them all
    ck_assert(cache("table_hits") == 0 && cache("table_misses") == 0);
    ck_assert(cache("cxl_bytes") < cxl_bytes - 64.0 * 3500);
    end();
}
END_TEST

CHECK_MAIN(CHECK_TEST(page_tables_lie_in_l2), CHECK_TEST(policies_hold_regions),
           CHECK_TEST(thresholds_promote_regions), CHECK_TEST(batches_read_regions),
           CHECK_TEST(thresholds_promote), CHECK_TEST(staging_keeps_copies),
           CHECK_TEST(idleness_demotes), CHECK_TEST(pinned_stays),
           CHECK_TEST(resets_lose_what_is_dirty), CHECK_TEST(optimistic_reads_do_not_wait),
           CHECK_TEST(batches_read_clusters), CHECK_TEST(batches_hold_back),
           CHECK_TEST(expands_keep_unit_or_queue_pair_waiting),
           CHECK_TEST(what_fits_no_token_is_counted), CHECK_TEST(neighbours_come_along),
           CHECK_TEST(what_is_destroyed_leaves), CHECK_TEST(swaps_fail_where_two_units_meet),
           CHECK_TEST(thresholds_follow_the_load), CHECK_TEST(directory_costs_an_access))
