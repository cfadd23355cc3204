// SPDX-License-Identifier: Apache-2.0
// tests/test_knobs_detailed.c - every knob of the detailed NIC matters.
//
// Goal: each attribute of "nic.detailed." changes a run: its events or a counter, which is what the
// digest is made of; and so does each choice of "nic.profile". An attribute that is added is tested
// by being in the table.
// Method: programs on cores that write, read, send and add, on three hosts, some with caches,
// buffers and tags so small that they matter. An attribute is given other values until one changes
// the digest of one of the runs.
// An attribute that matters elsewhere only needs a run here, or an exception that says where it is
// tested. Not pinned: that what it changes is right (tests/nic/device/test_rnic.c and the rates).
#include <inttypes.h>
#include <string.h>

#include "nic/detail.h"
#include "nic/host.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define PREFIX "nic.detailed."
#define TRIES_MAX 13u

#define SPAN "warm-up=1us; measure=12us; "
#define OUT SPAN "from=host0; to=host1|host2; threads-per-machine=4; "
#define IN SPAN "from=host1|host2; to=host0; threads-per-machine=3; "

#define RATE "verbs-rate"
#define BULK "from=host0; to=host1; qps=4; bytes=4000; messages=20; depth=8"

typedef struct context {
    const char *nic;
    const char *program;
    const char *app;
} context_t;

static const context_t contexts[] = {
    {"", OUT "verb=write; bytes=92; qps-per-thread=2; window=16", RATE},
    {"", OUT "verb=send; transport=ud; bytes=40; batch=8; window=32; receivers=2", RATE},
    {"detailed.context.entries=8; detailed.context.ways=2; detailed.context.near-entries=24; "
     "detailed.context.near-ways=2; detailed.context.near-stall=300ns; "
     "detailed.translation.entries=4; detailed.translation.ways=2; "
     "detailed.translation.page=4KiB; detailed.wqe.entries=8; detailed.wqe.ways=2; "
     "detailed.cq.entries=2; detailed.cq.ways=2; detailed.key.entries=1; detailed.pcie.tags=8",
     OUT "verb=read; bytes=3000; qps-per-thread=8; window=4", RATE},
    {"", IN "verb=fetch-add; counters=64; region=64MiB; qps-per-thread=2; window=8", RATE},
    {"detailed.rx.put=2us; detailed.receive-buffer.bytes=20KB; "
     "detailed.receive-buffer.pause=14KB; detailed.receive-buffer.resume=4KB",
     IN "verb=write; bytes=4000; inline=off; qps-per-thread=2; window=8", RATE},
    {"detailed.context.uc-entries=4; detailed.context.ways=2; detailed.context.put-stall=300ns",
     IN "verb=write; transport=uc; bytes=20; qps-per-thread=4; window=8", RATE},
    {"detailed.pcie.lanes=1", IN "verb=write; bytes=4000; inline=off; qps-per-thread=2; window=8",
     RATE},
    {"posting=gpu; detailed.gpu.channels=2; detailed.pcie.ordered-max=4096", BULK, "bulk"},
    {"posting=proxy", BULK, "bulk"},
};

static const char *const exceptions[] = {
    PREFIX "store",          // tests/test_knobs_cache.c
    PREFIX "key.ways",       // needs several regions: tests/nic/store/test_store.c
    PREFIX "wqe.inline-max", // refuses posts: inline_has_a_limit in tests/nic/device/test_rnic.c
};

typedef struct change {
    const char *path; // NULL: none
    char value[64];
} change_t;

// Computes the digest of a run. Returns false if the configuration is not allowed.
static bool digest_of(const context_t *context, const change_t *change, uint64_t *digest)
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
        world_build(&world, "star", "hosts=3; rate=100Gbps; delay=300ns");
        (void)world_app(&world, context->app, context->program);
        world_run(&world);
        *digest = sim_digest(world.sim);
    }
    world_fini(&world);
    return allowed;
}

static uint64_t unchanged[SIM_COUNT_OF(contexts)];

static void measure_unchanged(void)
{
    const change_t nothing = {NULL, ""};
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        ck_assert(digest_of(&contexts[i], &nothing, &unchanged[i]));
    }
}

static bool changes_a_run(const change_t *change)
{
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        uint64_t digest = 0;
        if (digest_of(&contexts[i], change, &digest) && digest != unchanged[i]) {
            return true;
        }
    }
    return false;
}

// Returns the value that a context's NICs have.
static uint64_t value_in(const context_t *context, const sim_attr_t *attr)
{
    nic_config_t config;
    nic_config_init(&config);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(world_set(&nic_config_attrs, &config, context->nic, &message), SIM_OK);
    nic_detail_t detail;
    nic_detail_resolve(&config, &detail);
    uint64_t value = 0;
    memcpy(&value, (const char *)&detail + (attr->offset - offsetof(nic_config_t, detail)),
           sizeof(value));
    nic_config_fini(&config);
    return value;
}

static bool number_matters(const sim_attr_t *attr)
{
    const char *const unit = attr->type == SIM_ATTR_TIME   ? "ps"
                             : attr->type == SIM_ATTR_RATE ? "bps"
                                                           : "";
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        const uint64_t value = value_in(&contexts[i], attr);
        const uint64_t others[TRIES_MAX] = {
            value * 2, value / 2, value + 20000, value * 4, value / 4, 0,       1,
            2,         64,        100,           256,       4096,      1u << 21};
        for (size_t k = 0; k < TRIES_MAX; k++) {
            change_t change = {.path = attr->path};
            snprintf(change.value, sizeof(change.value), "%" PRIu64 "%s", others[k], unit);
            if (others[k] != value && changes_a_run(&change)) {
                return true;
            }
        }
    }
    return false;
}

static bool each_choice_matters(const sim_attr_t *attr)
{
    char text[256];
    snprintf(text, sizeof(text), "%s", attr->choices);
    char *state = NULL;
    for (char *one = strtok_r(text, "|", &state); one != NULL; one = strtok_r(NULL, "|", &state)) {
        change_t change = {.path = attr->path};
        snprintf(change.value, sizeof(change.value), "%s", one);
        if (strcmp(one, attr->default_text) != 0 && !changes_a_run(&change)) {
            return false;
        }
    }
    return true;
}

static bool is_exception(const char *path)
{
    for (size_t i = 0; i < SIM_COUNT_OF(exceptions); i++) {
        if (strcmp(exceptions[i], path) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(every_knob_of_the_detailed_nic_matters)
{
    measure_unchanged();
    uint32_t tested = 0;
    for (size_t i = 0; i < nic_config_attrs.count; i += check_few(1, 4)) {
        const sim_attr_t *const attr = &nic_config_attrs.attrs[i];
        if (strncmp(attr->path, PREFIX, strlen(PREFIX)) != 0 || is_exception(attr->path)) {
            continue;
        }
        const change_t on = {.path = attr->path, .value = "true"};
        const bool matters = attr->type == SIM_ATTR_BOOL   ? changes_a_run(&on)
                             : attr->type == SIM_ATTR_ENUM ? each_choice_matters(attr)
                                                           : number_matters(attr);
        ck_assert_msg(matters, "%s changes nothing", attr->path);
        tested++;
    }
    ck_assert_uint_gt(tested, check_few(50, 10));
}
END_TEST

START_TEST(every_profile_matters)
{
    measure_unchanged();
    ck_assert(each_choice_matters(sim_attr_find(&nic_config_attrs, "nic.profile")));
    ck_assert(each_choice_matters(sim_attr_find(&nic_config_attrs, "nic.posting")));
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_knob_of_the_detailed_nic_matters), CHECK_TEST(every_profile_matters))
