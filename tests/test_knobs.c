// SPDX-License-Identifier: Apache-2.0
// tests/test_knobs.c - every knob of NICs, algorithms and switches matters.
//
// Goal: each attribute of "nic.", of every algorithm in tests/algorithms.h and of "switch." changes
// a run: its events or a counter, which is what the digest is made of. Of an enumeration and of a
// switch each choice does. An attribute that is added is tested by being in its table. Method: a
// small network with writers, a reader, a sender without receives at first, two classes, two paths,
// marks, pauses and losses; several contexts of it, since a knob may need another. An attribute is
// given other values until one changes the digest of one of the contexts. An attribute that matters
// elsewhere only needs a context here, a quickening, or an exception that says where it is tested.
// Not pinned: that what it changes is right.
#include <check.h>
#include <inttypes.h>
#include <string.h>

#include "compat/hpcc/rules.h"
#include "net/switch.h"
#include "nic/host.h"
#include "nic/objects/qp.h"
#include "tests/algorithms.h"
#include "tests/check_main.h"

#define US SIM_PS_PER_US
#define MEMORY UINT64_C(0x10000)
#define MEMORY_BYTES UINT64_C(0x100000)
#define FLOWS 7
#define TRIES 16

typedef struct context {
    const char *nic; // settings, "attribute=value;..." without the prefix
    const char *sw;
    const char *algorithm; // for knobs of NICs and switches; NULL: dcqcn
    bool lossy;
    bool dead;       // one host's packets are all lost from some time on
    bool no_receive; // none is ever posted
    bool tagged;
} context_t;

static const context_t contexts[] = {
    {.nic = "timeout=5", .sw = ""},
    {.nic = "timeout=5; retransmission=go-back-0; ack-interval=3; nak-interval=20us",
     .sw = "",
     .lossy = true},
    {.nic = "timeout=2; retry-count=2; rnr-retry=2; min-rnr-timer=1",
     .sw = "",
     .lossy = true,
     .dead = true,
     .no_receive = true},
    {.nic = "timeout=5; scheduler=scan", .sw = "buffer=300KB; pfc.threshold=5KB", .lossy = true},
    {.nic = "timeout=5; cnp-scope=port; cnp-interval=50us; window=60KB",
     .sw = "buffer=150KB; pfc.threshold=10KB"},
    {.nic = "timeout=5; window=20KB; dscp=8",
     .sw = "pfc.enabled=false; ecn.enabled=false; buffer=60KB",
     .tagged = true},
    {.nic = "timeout=5; bdp-window=scaled", .sw = ""},
    {.nic = "timeout=5; ack-from=20KB", .sw = "", .algorithm = "hpcc"},
    {.nic = "timeout=5", .sw = "load-balancing=adaptive; adaptive.by=grades; adaptive.full=40KB"},
    {.nic = "timeout=5", .sw = "load-balancing=adaptive; adaptive.gap=2us"},
    {.nic = "timeout=5", .sw = "load-balancing=drill"},
    {.nic = "timeout=5; transport=uec-rud; priority=1; ack-priority=6",
     .sw = "mmu=trimming; trim.queue=10KB; trim.headers-queue=4KB"},
    {.nic = "timeout=5; transport=mrc; priority=1; ack-priority=6",
     .sw = "mmu=trimming; trim.queue=10KB; trim.headers-queue=4KB"},
    {.nic = "timeout=5; repath=plb; plb.rounds=2",
     .sw = "ecn.kmin=5KB; ecn.kmax=50KB",
     .algorithm = "dctcp"},
    {.nic = "timeout=5; repath=flowbender; flowbender.marks=0.5",
     .sw = "ecn.kmin=5KB; ecn.kmax=50KB",
     .algorithm = "dctcp"},
    {.nic = "timeout=2; repath=reps; reps.freeze=20us; ooo=place",
     .sw = "ecn.kmin=5KB; ecn.kmax=50KB",
     .lossy = true},
    {.nic = "timeout=5; ooo=place; ooo-window=3", .sw = "load-balancing=random"},
    {.nic = "timeout=5", .sw = "load-balancing=letflow; letflow.gap=2us"},
    {.nic = "timeout=5", .sw = "load-balancing=conga; conga.gap=1us; conga.ageing=20us"},
    {.nic = "timeout=5",
     .sw = "load-balancing=conweave; conweave.reply=4us; conweave.wait-extra=1us; "
           "conweave.wait-default=3us; conweave.inactive=20us; ecn.kmin=5KB; ecn.kmax=50KB"},
};

// The settings under which an algorithm's parameters have an effect in such a short run.
static const struct {
    const char *algorithm;
    const char *settings;
} quickened[] = {
    {"dcqcn", "rpg-time-reset=3us; rpg-byte-reset=30KB; rate-reduce-monitor-period=1us"},
    {"dcqcn-hpcc", "clamp-target=true; increase-period=30us; cut-period=100us"},
    {"hpcc", "law=rate"},
    {"hpcc-pint", "law=rate"},
    {"table", "mark-cut=1/2"},
    {"timely-hpcc", "t-low=1ns; t-high=30us; min-rtt=1us"},
    {"timely", "t-low=1ns; t-high=30us; hai-threshold=1; segment=2KB; min-rtt=1us"},
};

typedef struct flow {
    sim_node_t *node;
    nic_qp_t *qp[2];
    nic_send_wr_t wr;
    sim_timer_t timer;
    uint32_t left;
} flow_t;

typedef struct world {
    nic_config_t nic;
    net_switch_config_t sw;
    const context_t *context;
    sim_t *sim;
    net_t *net;
    net_node_t *hosts[3];
    flow_t flows[FLOWS];
    sim_timer_t receives;
    sim_timer_t death;
} world_t;

// -- settings

static bool set(const sim_attr_table_t *table, void *config, const char *path, const char *value)
{
    sim_message_t message;
    const sim_attr_t *const attr = sim_attr_find(table, path);
    ck_assert_msg(attr != NULL, "no attribute %s", path);
    return sim_attr_set(attr, config, value, &message) == SIM_OK;
}

static void set_all(const sim_attr_table_t *table, void *config, const char *settings)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", settings);
    char *state = NULL;
    for (char *one = strtok_r(text, "; ", &state); one != NULL;
         one = strtok_r(NULL, "; ", &state)) {
        char *const equals = strchr(one, '=');
        *equals = '\0';
        char path[128];
        snprintf(path, sizeof(path), "%s.%s", table->prefix, one);
        ck_assert_msg(set(table, config, path, equals + 1), "%s=%s", path, equals + 1);
    }
}

// -- the network

static void post(flow_t *flow)
{
    if (flow->left > 0 && nic_post_send(flow->qp[0], &flow->wr) == SIM_OK) {
        flow->left--;
    }
}

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    flow_t *const flow = SIM_CONTAINER_OF(timer, flow_t, timer);
    for (int i = 0; i < 24; i++) {
        post(flow);
    }
}

static void completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        post(ctx);
    }
}

static void post_receives(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    world_t *const world = SIM_CONTAINER_OF(timer, world_t, receives);
    nic_mr_t *region = NULL;
    nic_qp_t *const qp = world->flows[4].qp[1];
    SIM_CHECK(nic_mr_register(qp->pd, MEMORY, MEMORY_BYTES, NIC_ACCESS_LOCAL_WRITE, &region) ==
              SIM_OK);
    for (uint64_t i = 0; i < 64; i++) {
        const nic_recv_wr_t wr = {.sge = {MEMORY, 9000, nic_mr_lkey(region)}};
        SIM_CHECK(nic_qp_state(qp) != NIC_QPS_RTS || nic_post_recv(qp, &wr) == SIM_OK);
    }
}

static void die(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    world_t *const world = SIM_CONTAINER_OF(timer, world_t, death);
    net_port_t *const port = &world->hosts[1]->ports[0];
    net_port_own_config(port)->loss_rate = (sim_ratio_t){1, 1};
    port->special = NET_SPECIAL_OTHERWISE;
}

// The flows: two writers beside each other, one from the other host, a reader, a sender, a writer
// of
// another class, and a writer in the opposite direction.
static const struct {
    uint32_t from;
    uint32_t to;
    nic_wr_opcode_t opcode;
    uint64_t bytes;
    uint8_t other_class;
} kinds[FLOWS] = {
    {0, 2, NIC_WR_RDMA_WRITE, 60000, 0}, {0, 2, NIC_WR_RDMA_WRITE, 30000, 0},
    {1, 2, NIC_WR_RDMA_WRITE, 60000, 0}, {1, 2, NIC_WR_RDMA_READ, 3000, 0},
    {1, 2, NIC_WR_SEND, 9000, 0},        {0, 2, NIC_WR_RDMA_WRITE, 20000, 4},
    {2, 0, NIC_WR_RDMA_WRITE, 5000, 0},
};

static void connect(world_t *world, uint32_t index)
{
    flow_t *const flow = &world->flows[index];
    nic_t *const nics[2] = {nic_at(world->hosts[kinds[index].from], 0),
                            nic_at(world->hosts[kinds[index].to], 0)};
    nic_mr_t *regions[2];
    flow->node = &world->hosts[kinds[index].from]->sim;
    for (int i = 0; i < 2; i++) {
        nic_pd_t *const pd = nic_pd_alloc(nics[i]);
        const nic_qp_init_attr_t attr = {
            .send_cq = nic_cq_create(nics[i], 256, i == 0 ? completed : NULL, flow),
            .recv_cq = nic_cq_create(nics[i], 256, NULL, NULL),
            .max_send_wr = 64,
            .max_recv_wr = 64,
            .sq_sig_all = true,
        };
        ck_assert_int_eq(nic_qp_create(pd, &attr, &flow->qp[i]), SIM_OK);
        ck_assert_int_eq(nic_mr_register(pd, MEMORY, MEMORY_BYTES, 7, &regions[i]), SIM_OK);
    }
    for (int i = 0; i < 2; i++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nics[i], &attr);
        attr.dest_interface = nic_interface(nics[1 - i]);
        attr.dest_qp_num = nic_qp_num(flow->qp[1 - i]);
        attr.access = 7;
        if (kinds[index].other_class != 0) {
            attr.priority = kinds[index].other_class;
            attr.dscp = (uint8_t)(kinds[index].other_class * 8);
        }
        sim_message_t message;
        ck_assert_msg(nic_qp_connect(flow->qp[i], &attr, &message) == SIM_OK, "%s", message.text);
    }
    flow->left = 1000;
    flow->wr = (nic_send_wr_t){
        .opcode = kinds[index].opcode,
        .sge = {MEMORY, kinds[index].bytes, nic_mr_lkey(regions[0])},
        .rdma = {MEMORY, nic_mr_rkey(regions[1])},
    };
    sim_timer_init(&flow->timer, begin);
    sim_timer_arm(flow->node, &flow->timer, 1 + index * US);
}

static void build(world_t *world)
{
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = 1300 * US};
    world->sim = sim_create(&options);
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_config.tagged = world->context->tagged;
    world->net = net_create(world->sim, &net_config);
    compat_hpcc_config_t hpcc;
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    compat_hpcc_register(world->net, &hpcc);
    sim_attrs_fini(&net_config_attrs, &net_config);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    net_node_t *const left = net_switch_create(world->net, "left", &world->sw);
    net_node_t *const right = net_switch_create(world->net, "right", &world->sw);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        world->hosts[i] = nic_host_create(world->net, names[i], &world->nic);
        link.rate_bps = i == 2 ? 10000000000 : 25000000000;
        link.loss_rate = (sim_ratio_t){i == 2 && world->context->lossy, 100};
        (void)net_link_add(world->net, world->hosts[i], i == 2 ? right : left, &link);
    }
    link.loss_rate = (sim_ratio_t){0, 1};
    link.rate_bps = 25000000000;
    (void)net_link_add(world->net, left, right, &link);
    (void)net_link_add(world->net, left, right, &link);
    sim_attrs_fini(&net_link_config_attrs, &link);
    sim_message_t message;
    ck_assert_msg(net_build(world->net, &message) == SIM_OK, "%s", message.text);
    for (uint32_t i = 0; i < FLOWS; i++) {
        connect(world, i);
    }
    sim_timer_init(&world->receives, post_receives);
    sim_timer_init(&world->death, die);
    if (!world->context->no_receive) {
        sim_timer_arm(&world->hosts[2]->sim, &world->receives, 300 * US);
    }
    if (world->context->dead) {
        sim_timer_arm(&world->hosts[1]->sim, &world->death, 400 * US);
    }
}

static const nic_cc_ops_t *algorithm_named(const char *name)
{
    size_t i = 0;
    while (strcmp(algorithm_at(i)->name, name) != 0) {
        i++;
    }
    return algorithm_at(i);
}

// One value to be set in a table; table NULL: none.
typedef struct change {
    const sim_attr_table_t *table;
    const sim_attr_t *attr;
    const char *value;
} change_t;

static const char *quickening_of(const char *algorithm)
{
    for (size_t i = 0; i < SIM_COUNT_OF(quickened); i++) {
        if (strcmp(quickened[i].algorithm, algorithm) == 0) {
            return quickened[i].settings;
        }
    }
    return "";
}

static void configure(world_t *world, const char *algorithm, bool quick)
{
    const context_t *const context = world->context;
    nic_config_init_with(&world->nic, compat_hpcc_nic_rows, compat_hpcc_nic_row_count);
    sim_attrs_default(&net_switch_config_attrs, &world->sw);
    sim_free(world->nic.congestion_control);
    world->nic.congestion_control = sim_strdup(algorithm);
    world->nic.mtu_bytes = 1024;
    set_all(&net_switch_config_attrs, &world->sw, "ecn.kmin=50KB; ecn.kmax=2000KB");
    set_all(&nic_config_attrs, &world->nic, context->nic);
    set_all(&net_switch_config_attrs, &world->sw, context->sw);
    const sim_attr_table_t *const table = algorithm_named(algorithm)->attrs;
    if (quick) {
        set_all(table, nic_config_part(&world->nic, table), quickening_of(algorithm));
    }
    if (strcmp(world->nic.scheduler, "scan") == 0) {
        sim_free(world->nic.frames); // each has parameters that want the other's runs
        world->nic.frames = sim_strdup("bare");
    }
}

// A way to run: context, algorithm, whether quickened.
typedef struct way {
    const context_t *context;
    const char *algorithm;
    bool quick;
} way_t;

static void *config_of(world_t *world, const sim_attr_table_t *table)
{
    return table == &nic_config_attrs          ? (void *)&world->nic
           : table == &net_switch_config_attrs ? (void *)&world->sw
                                               : nic_config_part(&world->nic, table);
}

// Computes the digest of a run. Returns false if the configuration is not allowed.
static bool digest_of(const way_t *way, const change_t *change, uint64_t *digest)
{
    world_t *const world = sim_alloc(sizeof(*world));
    world->context = way->context;
    configure(world, way->algorithm, way->quick);
    bool allowed = true;
    sim_message_t message = {.text = ""};
    if (change->table != NULL) {
        void *const config = config_of(world, change->table);
        allowed = sim_attr_set(change->attr, config, change->value, &message) == SIM_OK;
    }
    allowed = allowed && nic_config_check(&world->nic, &message) == SIM_OK &&
              net_switch_config_check(&world->sw, &message) == SIM_OK;
    if (allowed) {
        build(world);
        (void)sim_run(world->sim);
        ck_assert_msg(net_conservation_ok(world->net, &message), "%s", message.text);
        *digest = sim_digest(world->sim);
        sim_destroy(world->sim);
        net_destroy(world->net);
    }
    nic_config_fini(&world->nic);
    sim_attrs_fini(&net_switch_config_attrs, &world->sw);
    sim_free(world);
    return allowed;
}

// -- other values

typedef struct values {
    char text[TRIES][96];
    size_t count;
    bool each; // every one of them must change something
} values_t;

static void add(values_t *values, const char *unit, uint64_t number)
{
    ck_assert_uint_lt(values->count, TRIES);
    snprintf(values->text[values->count++], sizeof(values->text[0]), "%" PRIu64 "%s", number, unit);
}

static void add_numbers(values_t *values, uint64_t value, const char *unit, uint64_t one)
{
    if (value == SIM_AUTO || value == 0) {
        add(values, unit, one);
        add(values, unit, 5);
        add(values, unit, 20 * one);
        add(values, unit, 2000 * one);
        return;
    }
    add(values, unit, value / 2);
    add(values, unit, value * 2);
    add(values, unit, value / 20);
    add(values, unit, value * 20);
    add(values, unit, value - 1);
    add(values, unit, value * 1000);
}

static void add_choices(values_t *values, const sim_attr_t *attr, uint32_t now)
{
    char text[256];
    snprintf(text, sizeof(text), "%s", attr->choices);
    char *state = NULL;
    uint32_t index = 0;
    for (char *one = strtok_r(text, "|", &state); one != NULL; one = strtok_r(NULL, "|", &state)) {
        if (index++ != now) {
            snprintf(values->text[values->count++], sizeof(values->text[0]), "%s", one);
        }
    }
    values->each = true;
}

// Adds the other rows of the kind that the attribute chooses from.
static void add_rows(values_t *values, const sim_attr_t *attr)
{
    for (nic_extra_kind_t kind = 0; kind < NIC_EXTRA_KIND_COUNT; kind++) {
        if (strcmp(nic_extra_kind_attribute(kind), attr->path) != 0) {
            continue;
        }
        for (const void *const *row = nic_extra_library(kind); *row != NULL; row++) {
            const char *const name = *(const char *const *)*row;
            if (strcmp(name, attr->default_text) != 0) {
                snprintf(values->text[values->count++], sizeof(values->text[0]), "%s", name);
            }
        }
        for (size_t i = 0; i < compat_hpcc_nic_row_count; i++) {
            const nic_extra_t *const row = &compat_hpcc_nic_rows[i];
            if (row->kind == kind) {
                snprintf(values->text[values->count++], sizeof(values->text[0]), "%s", row->name);
            }
        }
    }
    ck_assert_msg(values->count != 0, "%s chooses none of the kinds of rows", attr->path);
}

static values_t other_values(const sim_attr_t *attr, const char *config)
{
    values_t values = {.count = 0};
    uint64_t number = 0;
    sim_ratio_t ratio = {0, 1};
    switch (attr->type) {
    case SIM_ATTR_BOOL:
        snprintf(values.text[values.count++], sizeof(values.text[0]), "%s",
                 *(const bool *)(config + attr->offset) ? "false" : "true");
        break;
    case SIM_ATTR_ENUM:
        add_choices(&values, attr, *(const uint32_t *)(const void *)(config + attr->offset));
        break;
    case SIM_ATTR_RATIO:
        memcpy(&ratio, config + attr->offset, sizeof(ratio));
        snprintf(values.text[0], sizeof(values.text[0]), "%" PRIu64 "/%" PRIu64,
                 (uint64_t)ratio.num, (uint64_t)ratio.den * 2);
        snprintf(values.text[1], sizeof(values.text[0]), "%" PRIu64 "/%" PRIu64,
                 (uint64_t)ratio.num * 5, (uint64_t)ratio.den * 4);
        snprintf(values.text[2], sizeof(values.text[0]), "%" PRIu64 "/%" PRIu64,
                 (uint64_t)ratio.num, (uint64_t)ratio.den * 50);
        values.count = 3;
        break;
    case SIM_ATTR_PRIORITIES:
        snprintf(values.text[values.count++], sizeof(values.text[0]), "[4]");
        snprintf(values.text[values.count++], sizeof(values.text[0]), "[]");
        break;
    case SIM_ATTR_WEIGHTS:
        snprintf(values.text[values.count++], sizeof(values.text[0]), "[1, 1, 1, 1, 9, 1, 1, 1]");
        break;
    case SIM_ATTR_PROFILES:
        snprintf(values.text[values.count++], sizeof(values.text[0]), "[10Gbps 100KB 150KB 0.5]");
        break;
    case SIM_ATTR_STRING:
        add_rows(&values, attr);
        values.each = true;
        break;
    case SIM_ATTR_NAME: // "marking" has one row
        if (strcmp(attr->path, "nic.model") == 0) {
            add_rows(&values, attr);
            break;
        }
        snprintf(values.text[values.count++], sizeof(values.text[0]), "%s",
                 strcmp(attr->path, "switch.load-balancing") == 0 ? "random" : "hpcc");
        break;
    case SIM_ATTR_COUNT:
    case SIM_ATTR_BYTES:
    case SIM_ATTR_TIME:
    case SIM_ATTR_RATE:
        memcpy(&number, config + attr->offset, sizeof(number));
        add_numbers(&values, number,
                    attr->type == SIM_ATTR_TIME   ? "ps"
                    : attr->type == SIM_ATTR_RATE ? "bps"
                                                  : "",
                    attr->type == SIM_ATTR_TIME   ? US
                    : attr->type == SIM_ATTR_RATE ? 1000000000
                                                  : 1);
        break;
    }
    return values;
}

// -- the test

// Beginnings of paths of attributes that change no run by themselves, or none of these runs.
static const char *const exceptions[] = {
    "nic.profile",             // these three: tests/test_knobs_detailed.c
    "nic.posting",             //
    "nic.cache.",              // tests/test_knobs_cache.c
    "nic.detailed.",           //
    "nic.host.",               // tests/test_knobs_host.c
    "nic.hpcc.check-path",     // paths here stay; tests/hpcc/moved
    "switch.virtual-channels", // tests/topologies/test_virtual_channels.sh
    "nic.planes",              // tests/apps/flows/test_app_planes.c
    "switch.marking",          // a single one so far
    "nic.swift.host-target",   // tests/nic/cc/test_cc_swift.c
    "switch.conga.ageing",     // these three: tests/net/test_balance.c
    "switch.conweave.held",    //
    "switch.conweave.wait-default",
    "switch.pfc.watchdog", // and its times: tests/cli/run/test_cli_faults.sh
};

static bool is_exception(const char *path)
{
    for (size_t i = 0; i < SIM_COUNT_OF(exceptions); i++) {
        if (strncmp(exceptions[i], path, strlen(exceptions[i])) == 0) {
            return true;
        }
    }
    return false;
}

#define WAYS_MAX (2 * SIM_COUNT_OF(contexts))
typedef struct ways {
    way_t way[WAYS_MAX];
    uint64_t unchanged[WAYS_MAX]; // the digest without a change
    size_t count;
} ways_t;

// Measures the unchanged runs; algorithm NULL: that of each context.
static void measure_unchanged(ways_t *ways, const char *algorithm)
{
    const change_t nothing = {0};
    ways->count = 0;
    for (size_t i = 0; i < WAYS_MAX; i++) {
        const context_t *const context = &contexts[i % SIM_COUNT_OF(contexts)];
        const bool quick = i >= SIM_COUNT_OF(contexts);
        if (algorithm != NULL && (strstr(context->nic, "transport=uec") != NULL ||
                                  strstr(context->nic, "transport=mrc") != NULL)) {
            continue; // they have their own
        }
        const char *const own = context->algorithm == NULL ? "dcqcn" : context->algorithm;
        const way_t way = {context, algorithm == NULL ? own : algorithm, quick};
        if (quick && *quickening_of(way.algorithm) == '\0') {
            continue;
        }
        ways->way[ways->count] = way;
        ck_assert(digest_of(&way, &nothing, &ways->unchanged[ways->count]));
        ways->count++;
    }
}

static bool changes_something(const ways_t *ways, const change_t *change)
{
    for (size_t i = 0; i < ways->count; i++) {
        uint64_t digest = 0;
        if (digest_of(&ways->way[i], change, &digest) && digest != ways->unchanged[i]) {
            return true;
        }
    }
    return false;
}

// Returns whether some value of the attribute, and each one if they are few, changes some run.
static bool matters(const ways_t *ways, const sim_attr_table_t *table, const void *config, size_t i)
{
    const sim_attr_t *const attr = &table->attrs[i];
    const values_t values = other_values(attr, config);
    bool any = false;
    for (size_t v = 0; v < values.count && (values.each || !any); v++) {
        const change_t change = {table, attr, values.text[v]};
        const bool changed = changes_something(ways, &change);
        any |= changed;
        if (values.each && !changed) {
            fprintf(stderr, "%s = %s changes nothing\n", attr->path, values.text[v]);
            return false;
        }
    }
    if (!any) {
        fprintf(stderr, "no value of %s changes anything\n", attr->path);
    }
    return any;
}

static void check_table(const sim_attr_table_t *table, const char *algorithm)
{
    ways_t ways;
    measure_unchanged(&ways, algorithm);
    void *const config = sim_alloc(table->config_bytes);
    sim_attrs_default(table, config);
    size_t without = 0;
    for (size_t i = 0; i < table->count; i += check_few(1, 8)) {
        without += !is_exception(table->attrs[i].path) && !matters(&ways, table, config, i);
    }
    ck_assert_uint_eq(without, 0);
    sim_attrs_fini(table, config);
    sim_free(config);
}

START_TEST(knobs_of_a_nic)
{
    check_table(&nic_config_attrs, NULL);
}
END_TEST

START_TEST(knobs_of_an_algorithm)
{
    if (algorithm_at((size_t)_i)->attrs != NULL) {
        check_table(algorithm_at((size_t)_i)->attrs, algorithm_at((size_t)_i)->name);
    }
}
END_TEST

START_TEST(knobs_of_scheduler_and_frames)
{
    check_table(&compat_hpcc_scan_config_attrs, NULL);
    check_table(&compat_hpcc_bare_config_attrs, NULL);
}
END_TEST

START_TEST(knobs_of_a_switch)
{
    check_table(&net_switch_config_attrs, NULL);
}
END_TEST

CHECK_MAIN(CHECK_TEST(knobs_of_a_nic), CHECK_LOOP(knobs_of_an_algorithm, 0, algorithm_count()),
           CHECK_TEST(knobs_of_scheduler_and_frames), CHECK_TEST(knobs_of_a_switch))
