// SPDX-License-Identifier: Apache-2.0
// labels: clang
// test_cache_random.c - the tiered cache in configurations that nobody would choose.
//
// Goal: whatever its attributes and whatever the load, no write is lost on its way between tiers,
// directory and tiers agree, capacity is kept, and every access is counted once: the invariants
// that the store checks after every lookup in dear builds, and at the end of every run always.
// Method: attributes, patterns, churn, batches and resets drawn at random; tiers of a few entries,
// so that all of it happens in a thousand operations. CACHE_RANDOM_SEEDS=n tries n of them.
// Not pinned: what a mechanism does (tests/nic/store/test_cache.c).
#include "nic/reports.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#include <stdlib.h>

#define SEEDS 24u

typedef struct knob {
    const char *name;
    const char *values[7]; // ends with NULL; "": left as it is
} knob_t;

static const knob_t cache_knobs[] = {
    {"policy", {"hybrid", "hybrid", "lru", "lfu", "fifo", "sieve", "random"}},
    {"compression", {"true", "true", "true", "false", NULL}},
    {"write", {"back", "back", "through", NULL}},
    {"waiting", {"wait", "optimistic", NULL}},
    {"l1.entries", {"9", "12", "30", "100", NULL}},
    {"l1.other-entries", {"9", "12", "40", NULL}},
    {"other.policy", {"hybrid", "lru", "lfu", "fifo", "sieve", "random", NULL}},
    {"other.promote.l1", {"auto", "1", "9", NULL}},
    {"other.promote.l2", {"auto", "1", "3", NULL}},
    {"other.staging", {"0", "1", "5", NULL}},
    {"other.path", {"direct", "batch", NULL}},
    {"l1.cas", {"0ps", "2ns", "60ns", NULL}},
    {"l1.cas-retries", {"0", "3", NULL}},
    {"l1.staging", {"0", "1", "3", "16", NULL}},
    {"l1.doorbells", {"1", "3", "256", NULL}},
    {"directory", {"auto", "sram", "cxl", "host", NULL}},
    {"directory-load", {"0.1", "0.5", "1", NULL}},
    {"l2.bytes", {"0", "300", "1KiB", "4KiB", "1MiB", NULL}},
    {"l2.other-bytes", {"auto", "0", "300", "1KiB", NULL}},
    {"l2.slots", {"1", "3", "16", NULL}},
    {"l2.rate", {"200Mbps", "2Gbps", "208Gbps", NULL}},
    {"l2.access", {"load", "dma", NULL}},
    {"l2.path", {"direct", "batch", NULL}},
    {"l2.pressure", {"0", "0.5", "0.9", NULL}},
    {"expand.asynchronous", {"false", "true", NULL}},
    {"expand.answer", {"nic", "cxl", NULL}},
    {"promote.l1", {"1", "4", "24", NULL}},
    {"promote.l2", {"1", "2", "6", NULL}},
    {"demote.l1-idle", {"0ps", "2us", "20us", NULL}},
    {"demote.l2-idle", {"0ps", "5us", "50us", NULL}},
    {"window", {"10us", "400us", NULL}},
    {"sample-every", {"1", "3", NULL}},
    {"aging", {"1us", "20us", NULL}},
    {"cluster", {"0", "1KiB", "64KiB", NULL}},
    {"neighbours", {"0", "4", "auto", NULL}},
    {"move.batch", {"1", "3", "16", "200", NULL}},
    {"move.work", {"0ps", "0ps", "3us", NULL}},
    {"promote.along", {"0", "0.5", "1", NULL}},
    {"driver.prestage", {"0", "1", "4", NULL}},
    {"maintenance.interval", {"500ns", "5us", NULL}},
    {"maintenance.tokens", {"1", "64", NULL}},
    {"batch.threshold", {"1", "3", NULL}},
    {"batch.max", {"3", "4", "256", NULL}},
    {"batch.wait", {"0ps", "300ns", "2us", NULL}},
    {"batch.backlog", {"0ps", "100ns", "2us", NULL}},
    {"batch.saturated", {"delay", "drop", NULL}},
    {"adaptive.on", {"false", "true", NULL}},
    {"adaptive.rule", {"document", "shadow", NULL}},
    {"adaptive.interval", {"3us", "20us", NULL}},
    {"adaptive.saturation", {"0.01", "0.8", NULL}},
    {"adaptive.cpu", {"0", "0.5", NULL}},
    {"pinned", {"0", "0", "1", "5", NULL}},
    {"reset-at", {"never", "40us", "150us", NULL}},
    {"record", {"false", "true", NULL}},
    {"l1.cas-fallback", {"lock", "path", NULL}},
    {"l1.staged", {"copies", "copies", "tokens", NULL}},
    {"l1.wqes", {"apart", "apart", "entries", NULL}},
    {"handles", {"0", "0", "1", "64", NULL}},
    {"driver.core", {"own", "shared", NULL}},
    {"l2.shared", {"false", "false", "true", NULL}},
    {"l2.reserve", {"0", "0.5", NULL}},
};

static const knob_t load_knobs[] = {
    {"tokens", {"1", "7", "60", "200", NULL}},
    {"pattern", {"uniform", "zipf", "scan", "bursty", NULL}},
    {"working-set", {"1", "5", NULL}},
    {"phase", {"50", "400", NULL}},
    {"shuffle", {"true", "false", NULL}},
    {"bytes", {"8", "200", "5000", NULL}},
    {"outstanding", {"1", "8", "64", NULL}},
    {"interval", {"0ps", "0ps", "1us", NULL}},
    {"regions", {"0", "5", "40", NULL}},
    {"region-bytes", {"8KiB", "2MiB", "1GiB", NULL}},
    {"warm-up", {"0", "100", NULL}},
};

static const char *draw(sim_random_t *random, const knob_t *knob)
{
    size_t count = 0;
    while (count < SIM_COUNT_OF(knob->values) && knob->values[count] != NULL) {
        count++;
    }
    return knob->values[sim_random_below(random, count)];
}

static void append(char *text, size_t size, const char *name, const char *value)
{
    const size_t used = strlen(text);
    const int more = snprintf(text + used, size - used, "%s=%s; ", name, value);
    ck_assert(more > 0 && (size_t)more < size - used);
}

static double number_of(const nic_report_t *report, const char *path)
{
    double number = -1;
    ck_assert_msg(sim_report_number(report->part.table, report->part.object, path, &number), "%s",
                  path);
    return number;
}

static void check_counts(world_t *world)
{
    for (uint32_t interface = 0; interface < 2; interface++) {
        size_t count = 0;
        const nic_report_t *const reports =
            nic_reports(nic_of_interface(world->net, interface), &count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(reports[i].name, "cache") == 0) {
                ck_assert(number_of(&reports[i], "accesses") ==
                          number_of(&reports[i], "l1_hits") + number_of(&reports[i], "l2_hits") +
                              number_of(&reports[i], "expands.urgent") +
                              number_of(&reports[i], "expands.background"));
            }
        }
    }
}

// Returns false if the configuration is refused.
static bool run_one(uint64_t seed)
{
    sim_random_t random;
    sim_random_init(&random, seed, 0, "cache");
    char nic[2048] = "";
    char load[1024] = "";
    for (size_t i = 0; i < SIM_COUNT_OF(cache_knobs); i++) {
        char name[64];
        snprintf(name, sizeof(name), "cache.%s", cache_knobs[i].name);
        append(nic, sizeof(nic), name, draw(&random, &cache_knobs[i]));
    }
    for (size_t i = 0; i < SIM_COUNT_OF(load_knobs); i++) {
        append(load, sizeof(load), load_knobs[i].name, draw(&random, &load_knobs[i]));
    }
    append(load, sizeof(load), "operations", "1200");
    const uint64_t way = sim_random_below(&random, 4);
    append(load, sizeof(load), "transport", way <= 1 ? "uc" : "rc");
    append(load, sizeof(load), "churn", way == 1 ? "9" : "0");
    append(load, sizeof(load), "verb", way == 3 ? "read" : "write");
    append(load, sizeof(load), "direction", way == 2 ? "both" : way == 3 ? "inbound" : "outbound");
    world_t world;
    world_init(&world);
    world.options.seed = seed;
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(world_set(&nic_config_attrs, &world.nic, "model=detailed", &message), SIM_OK);
    ck_assert_msg(world_set(&nic_config_attrs, &world.nic, nic, &message) == SIM_OK, "%s",
                  message.text);
    const bool allowed = nic_config_check(&world.nic, &message) == SIM_OK;
    if (allowed) {
        printf("seed %llu: %s| %s\n", (unsigned long long)seed, nic, load);
        fflush(stdout);
        world.switch_config.pfc_priorities = 0xff;
        world_build(&world, "star", "hosts=2; rate=100Gbps; delay=300ns");
        app_t *app = NULL;
        if (world_try_app(&world, "contexts", load, &app, &message) == SIM_OK) {
            world_run(&world);
            check_counts(&world);
        } else {
            printf("refused: %s\n", message.text);
        }
    }
    world_fini(&world);
    return allowed;
}

START_TEST(nothing_is_lost_whatever_is_asked_for)
{
    const char *const wanted = getenv("CACHE_RANDOM_SEEDS");
    const uint64_t seeds = wanted != NULL ? strtoull(wanted, NULL, 10) : SEEDS;
    const char *const first = getenv("CACHE_RANDOM_FIRST");
    const uint64_t from = first != NULL ? strtoull(first, NULL, 10) : 1;
    uint64_t tried = 0;
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        tried += run_one(seed);
    }
    ck_assert_uint_ge(2 * tried, seeds);
}
END_TEST

CHECK_MAIN(CHECK_TEST(nothing_is_lost_whatever_is_asked_for))
