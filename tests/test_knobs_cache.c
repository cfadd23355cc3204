// SPDX-License-Identifier: Apache-2.0
// tests/test_knobs_cache.c - every knob of the tiered cache matters.
//
// Goal: each attribute of "nic.cache.", each of its choices and each policy changes a run: its
// events, or a number that the cache tells. An attribute that is added is tested by being in the
// table.
// Method: operations over queue pairs and regions in several patterns, with tiers so small that
// everything happens; an attribute is given other values until one changes some run.
// Not pinned: that what it changes is right (tests/nic/store/test_cache.c and the closed forms).
#include <inttypes.h>
#include <string.h>

#include "nic/reports.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define PREFIX "nic.cache."
#define TRIES_MAX 14u

#define SMALL                                                                                     \
    "cache.l1.entries=32; cache.l2.bytes=4KiB; cache.promote.l1=24; cache.promote.l2=6; "         \
    "cache.window=400us; cache.demote.l1-idle=8us; cache.demote.l2-idle=20us; cache.aging=20us; " \
    "cache.maintenance.interval=5us; cache.l1.staging=8; cache.l2.pressure=0.5; "
#define ZIPF "tokens=200; transport=uc; warm-up=200; operations=4000; "

typedef struct context {
    const char *nic;
    const char *program;
} context_t;

static const context_t contexts[] = {
    {SMALL "cache.policy=hybrid", ZIPF "outstanding=8"},
    {SMALL "cache.policy=lru", ZIPF "outstanding=8; shuffle=off; skew=0.5"},
    {SMALL "cache.policy=hybrid; cache.l2.path=batch; cache.batch.threshold=3; cache.batch.max=4; "
           "cache.l2.rate=1Gbps; cache.batch.backlog=100ns; cache.batch.wait=300ns",
     ZIPF "outstanding=48; shuffle=off"},
    {SMALL "cache.policy=hybrid; cache.adaptive.on=true; cache.adaptive.interval=20us; "
           "cache.adaptive.cpu=0.2; cache.adaptive.saturation=0.05; cache.l2.rate=2Gbps; "
           "cache.expand.answer=cxl; cache.batch.saturated=drop; cache.batch.backlog=20ns",
     ZIPF "outstanding=16; shuffle=off"},
    {"cache.policy=lru; cache.l1.cas=20ns; cache.l1.cas-retries=1; cache.l1.other-entries=3; "
     "cache.l2.bytes=1KiB; "
     "cache.l2.other-bytes=1KiB",
     "tokens=2; direction=both; verb=write; outstanding=32; warm-up=0; operations=2000; "
     "regions=40; bytes=64"},
    {"cache.policy=lru; detailed.translation.page=4KiB; detailed.translation.entries=8",
     "tokens=2; direction=both; verb=write; outstanding=32; warm-up=0; operations=2000; "
     "regions=40; region-bytes=64KiB; bytes=64"},
    {"cache.policy=lru; cache.l1.other-entries=12; cache.other.policy=hybrid; cache.l2.rate=2Gbps; "
     "cache.other.promote.l1=9; cache.other.promote.l2=3; cache.window=400us; "
     "cache.other.staging=2",
     "tokens=8; direction=both; verb=write; outstanding=32; warm-up=0; operations=2000; "
     "regions=40; bytes=64"},
    {"cache.policy=lru; cache.l1.cas=50ns; cache.l1.cas-retries=0",
     "tokens=1; direction=both; outstanding=64; operations=3000; warm-up=0"},
    {SMALL "cache.policy=hybrid; cache.reset-at=300us", ZIPF "outstanding=4"},
    {SMALL "cache.policy=hybrid; cache.write=through", ZIPF "outstanding=4"},
    {SMALL "cache.policy=lru; cache.directory=host; cache.l2.access=dma", ZIPF "outstanding=4"},
};

// Doorbells need lists of work requests: tests/nic/store/test_cache_told.c. A shared core needs a
// program: test_cache_core.c. A shared L2 needs two NICs: test_cache_sharing.sh.
static const char *const exceptions[] = {PREFIX "l1.doorbells", PREFIX "driver.core",
                                         PREFIX "l2.shared", PREFIX "l2.reserve"};

static bool is_exception(const char *path)
{
    for (size_t i = 0; i < SIM_COUNT_OF(exceptions); i++) {
        if (strcmp(path, exceptions[i]) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct change {
    const char *path; // NULL: none
    char value[64];
} change_t;

static void mix(uint64_t *hash, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    *hash = sim_mix64(*hash ^ bits) + UINT64_C(0x9e3779b97f4a7c15);
}

static void take(const sim_report_row_t *row, sim_report_kind_t kind,
                 const sim_report_value_t *value, void *ctx)
{
    (void)row;
    if (kind == SIM_REPORT_U64 || kind == SIM_REPORT_U32) {
        mix(ctx, (double)value->whole);
    } else if (kind == SIM_REPORT_REAL) {
        mix(ctx, value->real);
    }
}

static void ignore(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    (void)ctx;
}

static void ignore_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    (void)row;
    (void)count;
    (void)ctx;
}

// Computes a sum of a run and its report. Returns false if the configuration is not allowed.
static bool sum_of(const context_t *context, const change_t *change, uint64_t *sum)
{
    world_t world;
    world_init(&world);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(world_set(&nic_config_attrs, &world.nic, "model=detailed", &message), SIM_OK);
    const sim_err_t error = world_set(&nic_config_attrs, &world.nic, context->nic, &message);
    ck_assert_msg(error == SIM_OK, "%s", message.text);
    bool allowed = true;
    if (change->path != NULL) {
        const sim_attr_t *const attr = sim_attr_find(&nic_config_attrs, change->path);
        allowed = sim_attr_set(attr, &world.nic, change->value, &message) == SIM_OK &&
                  nic_config_check(&world.nic, &message) == SIM_OK;
    }
    if (allowed) {
        world.switch_config.pfc_priorities = 0xff;
        world_build(&world, "star", "hosts=2; rate=100Gbps; delay=300ns");
        (void)world_app(&world, "contexts", context->program);
        world_run(&world);
        *sum = sim_digest(world.sim);
        size_t count = 0;
        const nic_report_t *const reports = nic_reports(nic_of_interface(world.net, 0), &count);
        const sim_report_visitor_t visitor = {
            .value = take,
            .begin_object = ignore,
            .end_object = ignore,
            .begin_list = ignore_list,
            .end_list = ignore,
            .ctx = sum,
        };
        for (size_t i = 0; i < count; i++) {
            sim_report_visit(reports[i].part.table, reports[i].part.object, &visitor);
        }
    }
    world_fini(&world);
    return allowed;
}

static uint64_t unchanged[SIM_COUNT_OF(contexts)];

static void measure_unchanged(void)
{
    const change_t nothing = {NULL, ""};
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        ck_assert(sum_of(&contexts[i], &nothing, &unchanged[i]));
    }
}

static bool changes_a_run(const change_t *change)
{
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        uint64_t sum = 0;
        if (sum_of(&contexts[i], change, &sum) && sum != unchanged[i]) {
            return true;
        }
    }
    return false;
}

static bool one_matters(const sim_attr_t *attr, const char *const *values)
{
    for (size_t i = 0; values[i] != NULL; i++) {
        change_t change = {.path = attr->path};
        snprintf(change.value, sizeof(change.value), "%s", values[i]);
        if (changes_a_run(&change)) {
            return true;
        }
    }
    return false;
}

static bool each_matters(const char *path, const char *choices, const char *except)
{
    char text[256];
    snprintf(text, sizeof(text), "%s", choices);
    char *state = NULL;
    for (char *one = strtok_r(text, "|", &state); one != NULL; one = strtok_r(NULL, "|", &state)) {
        change_t change = {.path = path};
        snprintf(change.value, sizeof(change.value), "%s", one);
        if (strcmp(one, except) != 0 && !changes_a_run(&change)) {
            printf("%s: %s changes nothing\n", path, one);
            return false;
        }
    }
    return true;
}

static bool matters(const sim_attr_t *attr)
{
    static const char *const bools[] = {"true", "false", NULL};
    static const char *const counts[] = {"1", "3", "17", "100", "2", "0", NULL};
    static const char *const bytes[] = {"100", "2KiB", "600", "0", "1MiB", NULL};
    static const char *const times[] = {"3us", "200ns", "100us", "0ps", "1ns", NULL};
    static const char *const rates[] = {"500Mbps", "100Gbps", NULL};
    static const char *const ratios[] = {"0.01", "0.99", "20", "0", "1", NULL};
    switch (attr->type) {
    case SIM_ATTR_BOOL:
        return one_matters(attr, bools);
    case SIM_ATTR_COUNT:
        return one_matters(attr, counts);
    case SIM_ATTR_BYTES:
        return one_matters(attr, bytes);
    case SIM_ATTR_TIME:
        return one_matters(attr, times);
    case SIM_ATTR_RATE:
        return one_matters(attr, rates);
    case SIM_ATTR_RATIO:
        return one_matters(attr, ratios);
    case SIM_ATTR_ENUM:
        return each_matters(attr->path, attr->choices, attr->default_text);
    case SIM_ATTR_STRING:
        return each_matters(attr->path,
                            strcmp(attr->default_text, "flat") == 0
                                ? "flat|hybrid|lru|lfu|fifo|sieve|random"
                                : "hybrid|lfu|fifo|sieve|random",
                            "");
    case SIM_ATTR_NAME:
    case SIM_ATTR_PRIORITIES:
    case SIM_ATTR_WEIGHTS:
    case SIM_ATTR_PROFILES:
        break;
    }
    return false;
}

START_TEST(every_knob_of_the_cache_matters)
{
    measure_unchanged();
    uint32_t tested = 0;
    for (size_t i = 0; i < nic_config_attrs.count; i += check_few(1, 8)) {
        const sim_attr_t *const attr = &nic_config_attrs.attrs[i];
        if (strncmp(attr->path, PREFIX, strlen(PREFIX)) != 0 || is_exception(attr->path)) {
            continue;
        }
        const bool changes = matters(attr);
        if (getenv("KNOBS_ALL") != NULL && !changes) {
            printf("%s changes nothing\n", attr->path);
            continue;
        }
        ck_assert_msg(changes, "%s changes nothing", attr->path);
        tested++;
    }
    ck_assert_uint_gt(tested, check_few(45, 4));
    ck_assert(each_matters("nic.detailed.store", "flat", "auto"));
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_knob_of_the_cache_matters))
