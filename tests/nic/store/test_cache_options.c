// SPDX-License-Identifier: Apache-2.0
// test_cache_options.c - behaviours of the design document that are options of the tiered cache.
//
// Goal: tokens of the staging area are in L1 for the directory, and go back where they came from;
// handles are found in the NIC's index, or in one line; an access that lost too many swaps takes
// its token out of L1; WQEs take entries of L1 and are read again after an eviction.
// Method: operations over queue pairs (apps/rates/contexts.c) on two hosts, the cache's own report;
// the table of handles alone.
// Not pinned: how fast the options are (scenarios/cache/documented.sweep.yaml).
#include "nic/store/tiered/directory/handles.h"
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
#define STAGED                                                                                 \
    "cache.policy=hybrid; cache.l1.staged=tokens; cache.l1.staging=4; cache.promote.l1=1000; " \
    "cache.promote.l2=1000; "

START_TEST(staged_tokens_are_in_l1)
{
    run(STAGED, UC "tokens=1; operations=40");
    ck_assert(cache("staging_hits") == 39 && cache("l1_hits") == 39);
    ck_assert(cache("migrations.to_l1") == 1 && cache("types[3].l1_tokens") == 1);
    end();
    // Six tokens in turn: each takes the seat of another one, which goes back to the host.
    run(STAGED, UC "tokens=6; pattern=scan; operations=60");
    ck_assert(cache("l1_hits") == 0);
    ck_assert(cache("migrations.to_l1") == 60 && cache("migrations.to_l3") == 56);
    ck_assert(cache("migrations.to_l2") == 0 && cache("types[3].l1_tokens") == 4);
    end();
    // From the second use on their home is L2.
    run("cache.policy=hybrid; cache.l1.staged=tokens; cache.l1.staging=4; cache.promote.l1=1000; "
        "cache.promote.l2=2; cache.neighbours=0",
        UC "tokens=6; pattern=scan; operations=60");
    ck_assert(cache("migrations.to_l3") > 0 && cache("migrations.to_l2") > 30);
    ck_assert(cache("l2_hits") > 30);
    end();
    // A token that is used often enough gets an entry, and leaves its seat.
    run("cache.policy=hybrid; cache.l1.staged=tokens; cache.l1.staging=1; cache.promote.l1=3; "
        "cache.promote.l2=3",
        UC "tokens=1; operations=40");
    ck_assert(cache("staging_hits") == 2 && cache("l1_entries_peak") == 1);
    end();
}
END_TEST

START_TEST(handles_are_found_in_one_line)
{
    nic_handle_table_t table = {.capacity = {0}};
    for (uint32_t index = 0; index < 200; index++) {
        (void)nic_handles_put(&table, nic_handle(NIC_TOKEN_QP, index), index + 7);
        (void)nic_handles_put(&table, nic_handle(NIC_TOKEN_CQ, index), index);
    }
    for (uint32_t index = 0; index < 200; index++) {
        ck_assert_uint_eq(nic_handles_find(&table, nic_handle(NIC_TOKEN_QP, index)), index + 7);
        ck_assert_uint_eq(nic_handles_find(&table, nic_handle(NIC_TOKEN_CQ, index)), index);
    }
    ck_assert_uint_eq(nic_handles_find(&table, nic_handle(NIC_TOKEN_QP, 500)), NIC_HANDLE_NONE);
    ck_assert_uint_eq(nic_handles_line(nic_handle(NIC_TOKEN_QP, 4)),
                      nic_handles_line(nic_handle(NIC_TOKEN_QP, 0)));
    ck_assert_uint_ne(nic_handles_line(nic_handle(NIC_TOKEN_QP, 5)),
                      nic_handles_line(nic_handle(NIC_TOKEN_QP, 4)));
    ck_assert_uint_ne(nic_handles_line(nic_handle(NIC_TOKEN_QP, 0)),
                      nic_handles_line(nic_handle(NIC_TOKEN_CQ, 0)));
    ck_assert_uint_eq(nic_handles_bytes(&table, NIC_TOKEN_QP), 320 / 5 * 64);
    const uint32_t handle = nic_handle(NIC_TOKEN_QP, 9);
    nic_handles_remove(&table, handle);
    ck_assert_uint_eq(nic_handles_find(&table, handle), NIC_HANDLE_NONE);
    nic_handles_fini(&table);
}
END_TEST

// A look-up takes 5 ns in the index, or a line of L2 more. Without handles it is a line for each
// bucket.
START_TEST(handles_cost_an_access)
{
    static const char *const indices[] = {
        "cache.policy=lru; cache.l1.entries=4; cache.handles=512",
        "cache.policy=lru; cache.l1.entries=4; cache.handles=8",
        "cache.policy=lru; cache.l1.entries=4; cache.handles=8; cache.directory=host",
    };
    double l2_ns[3];
    for (uint32_t i = 0; i < SIM_COUNT_OF(indices); i++) {
        run(indices[i], UC "tokens=64; pattern=scan; operations=640; shuffle=off");
        l2_ns[i] = cache("l2_ns.p50");
        ck_assert(cache("directory_reads") == cache("directory_lines") + cache("handle_hits"));
        ck_assert_msg((cache("handle_hits") > 500) == (i == 0), "%g", cache("handle_hits"));
        ck_assert(cache("types[3].directory_bytes") == 16 * 64); // for 80 queue pairs
        end();
    }
    ck_assert_msg(l2_ns[0] > 260 && l2_ns[0] < 275, "%g", l2_ns[0]);
    ck_assert_msg(l2_ns[1] > 510 && l2_ns[1] < 525, "%g", l2_ns[1]);
    ck_assert_msg(l2_ns[2] > 680 && l2_ns[2] < 710, "%g", l2_ns[2]);
}
END_TEST

START_TEST(losers_of_swaps_leave_l1)
{
    static const char *const both =
        "tokens=1; direction=both; outstanding=64; operations=3000; warm-up=0";
    run("cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0", both);
    ck_assert(cache("cas_fallbacks") > 0 && cache("migrations.to_l2") == 0);
    end();
    run("cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0; cache.l1.cas-fallback=path",
        both);
    const double fallbacks = cache("cas_fallbacks");
    ck_assert(fallbacks > 0 && cache("migrations.to_l2") == fallbacks);
    ck_assert(cache("types[3].l2_hits") >= fallbacks);
    end();
    run("cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0; cache.l1.cas-fallback=path; "
        "cache.l2.path=batch; cache.batch.threshold=1",
        both);
    ck_assert(cache("cas_fallbacks") > 0 && cache("batch_tokens") > 0);
    end();
    run("cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0; cache.l1.cas-fallback=path; "
        "cache.l2.bytes=0",
        both);
    ck_assert(cache("cas_fallbacks") > 0);
    ck_assert(cache("types[3].expands") == 1 + cache("cas_fallbacks"));
    end();
    // The staged copy leaves, and its changes with it.
    run("cache.policy=hybrid; cache.promote.l1=1000000; cache.promote.l2=4; cache.l1.cas=50ns; "
        "cache.l1.cas-retries=0; cache.l1.cas-fallback=path",
        both);
    ck_assert(cache("cas_fallbacks") > 0 && cache("types[3].l2_hits") >= cache("cas_fallbacks"));
    end();
}
END_TEST

START_TEST(wqes_take_entries_of_l1)
{
    static const char *const many =
        UC "tokens=8; outstanding=32; operations=2000; pattern=uniform; shuffle=off";
    run("cache.policy=lru; cache.l1.entries=8; cache.l1.wqes=apart", many);
    ck_assert(cache("l1_hits") == 2000 - 8);
    end();
    // Room for all: 8 tokens, and 32 WQEs of 3 entries each.
    run("cache.policy=lru; cache.l1.entries=104; cache.l1.wqes=entries", many);
    ck_assert(cache("l1_hits") == 2000 - 8);
    ck_assert(cache("wqe_evictions") == 0 && cache("wqe_reads") == 0);
    ck_assert(cache("wqe_hits") >= 2000);
    ck_assert(cache("wqes_peak") > 8 && cache("wqes_peak") <= 32);
    ck_assert(cache("l1_bytes_peak") <= 104 * 28 && cache("l1_bytes") == 8 * 28);
    end();
    // 40 entries do not hold them all: tokens and WQEs push each other out.
    run("cache.policy=lru; cache.l1.entries=40; cache.l1.wqes=entries", many);
    ck_assert(cache("wqe_evictions") > 0 && cache("wqe_reads") > 0);
    ck_assert(cache("l1_hits") < 2000 - 8);
    ck_assert(cache("wqes_peak") <= 13 && cache("l1_bytes_peak") <= 40 * 28);
    end();
    // Every policy evicts them.
    static const char *const others[] = {"lfu", "fifo", "sieve", "random", "hybrid"};
    for (uint32_t i = 0; i < SIM_COUNT_OF(others); i++) {
        char nic[128];
        (void)snprintf(nic, sizeof(nic),
                       "cache.policy=%s; cache.l1.entries=16; cache.l1.wqes=entries; "
                       "cache.l2.bytes=%s",
                       others[i], i % 2 == 0 ? "0" : "16MiB");
        run(nic, many);
        ck_assert(cache("wqe_evictions") > 0 && cache("wqe_reads") > 0);
        end();
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(staged_tokens_are_in_l1), CHECK_TEST(handles_are_found_in_one_line),
           CHECK_TEST(handles_cost_an_access), CHECK_TEST(losers_of_swaps_leave_l1),
           CHECK_TEST(wqes_take_entries_of_l1))
