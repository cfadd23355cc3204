// SPDX-License-Identifier: Apache-2.0
// test_cache_rules.c - how the tiered cache adapts to its load.
//
// Goal: a miniature has the hit rate of the whole cache; the way that costs least is the one that
// the load asks for; the document's rule raises thresholds where the link is full, and lowers them
// where the driver is busy; L1 that follows the miniatures is as fast as the best plain policy of
// each load, and faster than the document's rule; where the link of L2 is full and the driver
// idle, tokens bypass L2.
// Method: draws by Zipf's law, from working sets, and uniform ones, shown to miniatures, and as
// operations over queue pairs.
#include "apps/zipf.h"
#include "nic/store/tiered/rules/shadow.h"
#include "tests/cache_world.h"
#include "tests/check_main.h"

#define OBJECTS 8192u
#define CAPACITY 1024u

typedef enum load { ZIPF, SETS, UNIFORM } load_t;

// Shows accesses to miniatures of a cache of CAPACITY entries, and runs a whole one with the policy
// of `way` beside them. Returns the share of its misses.
static double show(nic_shadows_t *shadows, load_t load, nic_shadow_way_t way, uint32_t accesses)
{
    sim_random_t random;
    sim_random_init(&random, 5, 0, "rules");
    app_zipf_t zipf;
    app_zipf_init(&zipf, OBJECTS, (sim_ratio_t){99, 100});
    const nic_policy_ops_t *const policy = nic_shadow_policy(way);
    const nic_policy_place_t place = {CAPACITY, 1, {1, 1}, policy};
    void *const ranks = policy->create(&place);
    uint32_t *const slots = sim_alloc_array(OBJECTS, sizeof(*slots));
    uint32_t *const held = sim_alloc_array(CAPACITY, sizeof(*held));
    uint64_t *const uses = sim_alloc_array(OBJECTS, sizeof(*uses));
    uint32_t filled = 0;
    uint64_t misses = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < accesses; i++) {
        if (i % 10000 == 0) {
            first = (uint32_t)sim_random_below(&random, OBJECTS);
        }
        const uint32_t object = load == ZIPF ? app_zipf_draw(&zipf, &random)
                                : load == SETS
                                    ? (first + (uint32_t)sim_random_below(&random, 500)) % OBJECTS
                                    : (uint32_t)sim_random_below(&random, OBJECTS);
        uses[object]++;
        nic_shadows_use(shadows, object, uses[object]);
        if (slots[object] != 0) {
            policy->use(ranks, slots[object] - 1, uses[object]);
            continue;
        }
        misses++;
        uint32_t slot = filled;
        if (filled < CAPACITY) {
            filled++;
        } else {
            slot = policy->victim(ranks);
            policy->remove(ranks, slot);
            slots[held[slot]] = 0;
        }
        held[slot] = object;
        slots[object] = slot + 1;
        policy->insert(ranks, slot, object, uses[object]);
    }
    policy->destroy(ranks);
    sim_free(slots);
    sim_free(held);
    sim_free(uses);
    app_zipf_fini(&zipf);
    return (double)misses / accesses;
}

START_TEST(miniatures_miss_as_the_whole_does)
{
    static const nic_shadow_way_t ways[] = {NIC_SHADOW_RECENCY, NIC_SHADOW_SIEVE};
    for (size_t i = 0; i < SIM_COUNT_OF(ways); i++) {
        nic_shadows_t shadows;
        nic_shadows_init(&shadows, CAPACITY, 1);
        ck_assert_uint_eq(shadows.sample, 16);
        const uint32_t accesses = 400000;
        const double whole = show(&shadows, UNIFORM, ways[i], accesses);
        const double mini = (double)shadows.ways[ways[i]].misses / accesses * shadows.sample;
        ck_assert_msg(mini > 0.9 * whole && mini < 1.1 * whole, "%g, %g", mini, whole);
        nic_shadows_fini(&shadows);
    }
}
END_TEST

START_TEST(the_load_chooses_the_way)
{
    static const struct {
        load_t load;
        bool full;
        nic_shadow_way_t now;
        nic_shadow_way_t best;
    } rows[] = {
        {SETS, false, NIC_SHADOW_FREQUENCY, NIC_SHADOW_RECENCY},
        {ZIPF, false, NIC_SHADOW_RECENCY, NIC_SHADOW_FREQUENCY},
        {UNIFORM, true, NIC_SHADOW_RECENCY, NIC_SHADOW_STILL},
        {UNIFORM, false, NIC_SHADOW_RECENCY, NIC_SHADOW_RECENCY}, // nothing is 5 % cheaper
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        nic_shadows_t shadows;
        nic_shadows_init(&shadows, CAPACITY, 1);
        (void)show(&shadows, rows[i].load, NIC_SHADOW_RECENCY, 200000);
        const nic_shadow_way_t best = nic_shadows_best(&shadows, rows[i].now, rows[i].full, 2, 3);
        ck_assert_msg(best == rows[i].best, "%zu: %s", i, nic_shadow_name(best));
        nic_shadows_fini(&shadows);
    }
}
END_TEST

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

static double rate(const char *how, const char *nic, const char *program)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "profile=connect-ib; cache.l1.entries=512; cache.adaptive.interval=100us; %s; %s", how,
             nic);
    run(text, program);
    const double mops = cache("accesses_mops");
    world_fini(&world);
    return mops;
}

#define DOCUMENT "cache.policy=hybrid; cache.adaptive.on=true"
#define SHADOW "cache.policy=hybrid; cache.adaptive.on=true; cache.adaptive.rule=shadow"
#define LOAD "tokens=4096; transport=uc; outstanding=64; warm-up=10000; operations=20000; "

START_TEST(following_is_as_fast_as_the_best_policy)
{
    const char *const sets = LOAD "pattern=bursty; working-set=300; phase=5000";
    const double follows_sets = rate(SHADOW, "cache.l2.bytes=32KiB", sets);
    ck_assert(follows_sets > 0.95 * rate("cache.policy=lru", "cache.l2.bytes=32KiB", sets));
    ck_assert(follows_sets > 1.5 * rate(DOCUMENT, "cache.l2.bytes=32KiB", sets));
    const char *const slow = "cache.l2.rate=4Gbps; cache.l2.bytes=1MiB";
    const char *const zipf = LOAD "pattern=zipf";
    const double follows_zipf = rate(SHADOW, slow, zipf);
    ck_assert(follows_zipf > 0.95 * rate("cache.policy=lfu", slow, zipf));
    ck_assert(follows_zipf > 1.1 * rate("cache.policy=lru", slow, zipf));
    ck_assert(follows_zipf > 1.1 * rate(DOCUMENT, slow, zipf));
}
END_TEST

#define LINK                                                                                \
    "profile=connect-ib; cache.l1.entries=512; cache.l2.bytes=32KiB; cache.l2.rate=2Gbps; " \
    "cache.driver.work=20ns; cache.driver.iommu=10ns; cache.expand.decompress=1ns; "        \
    "cache.neighbours=16; "

START_TEST(full_links_raise_thresholds)
{
    const char *const uniform = LOAD "pattern=zipf; skew=0.6";
    run(LINK DOCUMENT "; cache.promote.l1=8; cache.promote.l2=2", uniform);
    ck_assert(cache("raised") > 10 && cache("promote_l1") > 64);
    const double document = cache("accesses_mops");
    world_fini(&world);
    run(LINK SHADOW, uniform);
    ck_assert(cache("raised") > 0 && cache("promote_l2") > 1000); // tokens bypass L2
    ck_assert(cache("accesses_mops") > 1.5 * document);
    world_fini(&world);
    // With a busy driver and a fast link, thresholds fall.
    run(DOCUMENT "; profile=connect-ib; cache.l1.entries=512; cache.l2.bytes=32KiB", uniform);
    ck_assert(cache("lowered") > 0 && cache("raised") == 0 && cache("promote_l2") < 16);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_TEST(miniatures_miss_as_the_whole_does), CHECK_TEST(the_load_chooses_the_way),
           CHECK_TEST(following_is_as_fast_as_the_best_policy),
           CHECK_TEST(full_links_raise_thresholds))
