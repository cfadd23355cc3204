// SPDX-License-Identifier: Apache-2.0
// tests/test_knobs_host.c - every knob of a host matters.
//
// Goal: each attribute of "nic.host." changes a run: its events or a counter, which is what the
// digest is made of. An attribute that is added is tested by being in the table.
// Method: two hosts with several NICs each, all of which send to the other's; several kinds of
// inside for the hosts, since a knob may need another; and programs on cores, for their clock. An
// attribute is given other values until one changes some run.
// Not pinned: that what it changes is right (test_fabric.c and test_core.c in tests/nic/host).
#include <string.h>

#include "nic/config/layout.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define PREFIX "nic.host."

#define TRANSFERS "all-to-all"
#define TRANSFERS_OF "bytes=200KB"
#define CORES "verbs-rate"
#define CORES_OF                                                                           \
    "warm-up=1us; measure=12us; from=host0; to=host1; threads-per-machine=4; verb=write; " \
    "bytes=32; qps-per-thread=2; window=16"

#define SEVERAL "hosts=2; nics-per-host=4; rate=100Gbps; delay=300ns"
#define ONE "hosts=2; rate=100Gbps; delay=300ns"

typedef struct context {
    const char *network;
    uint32_t nics;
    const char *nic;
    const char *app;
    const char *program;
} context_t;

#define TIGHT "host.switch-uplink=150Gbps; host.socket-link=60Gbps; host.gpu-link=100Gbps"

static const context_t contexts[] = {
    {SEVERAL, 4, "host.sockets=2; " TIGHT, TRANSFERS, TRANSFERS_OF},
    {SEVERAL, 4, "host.sockets=2; host.gpus=2; host.nics-per-switch=2; " TIGHT, TRANSFERS,
     TRANSFERS_OF},
    {SEVERAL, 4,
     "host.sockets=2; host.gpus=2; host.nics-per-switch=2; host.location=cuda:1; " TIGHT, TRANSFERS,
     TRANSFERS_OF},
    {SEVERAL, 4, "model=detailed; host.sockets=2; host.nics-per-switch=2; " TIGHT, TRANSFERS,
     TRANSFERS_OF},
    {ONE, 1, "model=detailed", CORES, CORES_OF},
    {ONE, 1,
     "model=detailed; host.gpus=1; host.nics-per-switch=1; host.location=cuda:0; host.peer=root; "
     "host.peer-rate=50Gbps",
     "bulk", "from=host0; to=host1; bytes=200KB"},
    {ONE, 1, "model=detailed; host.iommu.use=all; host.iommu.ats=8", "bulk",
     "from=host0; to=host1; bytes=200KB"},
    {ONE, 1, "model=detailed; host.iommu.use=all; host.iommu.entries=8; host.iommu.walkers=2",
     "contexts",
     "host=host0; peer=host1; tokens=4; transport=uc; verb=write; bytes=64; outstanding=16; "
     "operations=200; warm-up=0; regions=4; region-bytes=64KiB"},
};

// One of them changes some run. Lists have no blanks here, which end a setting.
static const char *const values[] = {
    "1",
    "2",
    "4",
    "1000",
    "2600",
    "20Gbps",
    "500ns",
    "cpu:1",
    "cuda:0",
    "[cpu:1,cpu:0,cpu:1,cpu:0]",
    "[switch:0,switch:0,switch:0,switch:1]",
    "[cpu:1,cpu:1]",
    "[cpu:1,cpu:0]",
    "all",
    "switch",
    "2MiB",
    "0x100000000000+1TiB",
};

typedef struct change {
    const char *path; // NULL: none
    const char *value;
} change_t;

// Returns whether the places of a list are those of the NICs there are.
static bool fits(const context_t *context, const nic_config_t *config)
{
    nic_layout_t layout;
    sim_message_t message;
    if (nic__layout_create(&config->host, context->nics, &layout, &message) != SIM_OK) {
        return false;
    }
    nic__layout_destroy(&layout);
    return true;
}

// Computes the digest of a run. Returns false if the configuration is not allowed.
static bool digest_of(const context_t *context, const change_t *change, uint64_t *digest)
{
    world_t world;
    world_init(&world);
    sim_message_t message = {.text = ""};
    ck_assert_msg(world_set(&nic_config_attrs, &world.nic, context->nic, &message) == SIM_OK, "%s",
                  message.text);
    bool allowed = true;
    if (change->path != NULL) {
        const sim_attr_t *const attr = sim_attr_find(&nic_config_attrs, change->path);
        allowed = sim_attr_set(attr, &world.nic, change->value, &message) == SIM_OK &&
                  nic_config_check(&world.nic, &message) == SIM_OK && fits(context, &world.nic);
    }
    if (allowed) {
        world.switch_config.pfc_priorities = 0xff;
        world_build(&world, "star", context->network);
        (void)world_app(&world, context->app, context->program);
        world_run(&world);
        *digest = sim_digest(world.sim);
    }
    world_fini(&world);
    return allowed;
}

static uint64_t unchanged[SIM_COUNT_OF(contexts)];

static bool matters(const char *path)
{
    for (size_t v = 0; v < SIM_COUNT_OF(values); v++) {
        const change_t change = {path, values[v]};
        for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
            uint64_t digest = 0;
            if (digest_of(&contexts[i], &change, &digest) && digest != unchanged[i]) {
                return true;
            }
        }
    }
    return false;
}

START_TEST(every_knob_of_the_host_matters)
{
    const change_t nothing = {NULL, ""};
    for (size_t i = 0; i < SIM_COUNT_OF(contexts); i++) {
        ck_assert(digest_of(&contexts[i], &nothing, &unchanged[i]));
    }
    uint32_t tested = 0;
    for (size_t i = 0; i < nic_config_attrs.count; i++) {
        const sim_attr_t *const attr = &nic_config_attrs.attrs[i];
        if (strncmp(attr->path, PREFIX, strlen(PREFIX)) == 0) {
            ck_assert_msg(matters(attr->path), "%s changes nothing", attr->path);
            tested++;
        }
    }
    ck_assert_uint_ge(tested, 16);
}
END_TEST

CHECK_MAIN(CHECK_TEST(every_knob_of_the_host_matters))
