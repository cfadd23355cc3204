// SPDX-License-Identifier: Apache-2.0
// examples/custom_cache_policy.c - your own replacement policy for the NIC's tiered cache.
//
// CLOCK: entries lie on a ring. A use sets an entry's bit; a hand goes round and clears bits until
// it finds an entry without one, which is evicted. The policy is given to a host as
// nic_config_t.cache.custom_policy. The program compares its hits with those of LRU and FIFO for
// operations that favour some queue pairs: it is better than FIFO and about as good as LRU.
#include <inttypes.h>
#include <stdio.h>

#include "nic/cache.h"
#include "nic/host.h"
#include "nic/reports.h"

#define QPS 400u
#define ENTRIES 100u
#define OPERATIONS 40000u

// -- the policy

typedef struct ring {
    uint32_t capacity;
    uint32_t hand;
    bool *held;
    bool *used;
} ring_t;

static void *clock_create(const nic_policy_place_t *place)
{
    ring_t *const ring = sim_alloc(sizeof(*ring));
    ring->capacity = place->capacity;
    ring->held = sim_alloc_array(place->capacity, sizeof(*ring->held));
    ring->used = sim_alloc_array(place->capacity, sizeof(*ring->used));
    return ring;
}

static void clock_destroy(void *policy)
{
    ring_t *const ring = policy;
    sim_free(ring->held);
    sim_free(ring->used);
    sim_free(ring);
}

static void clock_insert(void *policy, uint32_t slot, uint32_t handle, uint64_t uses)
{
    (void)handle;
    (void)uses;
    ring_t *const ring = policy;
    ring->held[slot] = true;
    ring->used[slot] = false;
}

static void clock_use(void *policy, uint32_t slot, uint64_t uses)
{
    (void)uses;
    ((ring_t *)policy)->used[slot] = true;
}

static uint32_t clock_victim(void *policy)
{
    ring_t *const ring = policy;
    for (uint32_t step = 0; step < 2 * ring->capacity; step++) {
        const uint32_t slot = ring->hand;
        ring->hand = (slot + 1) % ring->capacity;
        if (ring->held[slot] && !ring->used[slot]) {
            return slot;
        }
        ring->used[slot] = false;
    }
    return NIC_POLICY_NONE;
}

static void clock_remove(void *policy, uint32_t slot)
{
    ((ring_t *)policy)->held[slot] = false;
}

static const nic_policy_ops_t clock_policy = {
    .name = "clock",
    .help = "CLOCK: a hand goes round a ring and evicts unused entries",
    .installs_on_miss = true,
    .create = clock_create,
    .destroy = clock_destroy,
    .insert = clock_insert,
    .use = clock_use,
    .victim = clock_victim,
    .remove = clock_remove,
};

// -- two hosts, and operations one after another on queue pairs of different popularity

typedef struct program {
    nic_qp_t *qps[QPS];
    nic_mr_t *mr;
    uint32_t rkey;
    sim_random_t random;
    uint32_t posted;
} program_t;

static void post(program_t *program)
{
    if (program->posted == OPERATIONS) {
        return;
    }
    program->posted++;
    // Half of the draws lie in the first half of the previous draws, and so on.
    uint64_t rank = sim_random_below(&program->random, QPS);
    rank = sim_random_below(&program->random, rank + 1);
    nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .send_flags = NIC_SEND_SIGNALED | NIC_SEND_INLINE,
        .sge = {4096, 8, nic_mr_lkey(program->mr)},
    };
    wr.rdma.remote_addr = 4096;
    wr.rdma.rkey = program->rkey;
    const sim_err_t error = nic_post_send(program->qps[rank], &wr);
    SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
}

static void completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        SIM_CHECK(wc.status == NIC_WC_SUCCESS);
        post(ctx);
    }
}

typedef struct start {
    sim_timer_t timer;
    program_t *program;
} start_t;

static void begin(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    post(SIM_CONTAINER_OF(timer, start_t, timer)->program);
}

static void make_qps(net_t *net, program_t *program)
{
    nic_t *const nics[2] = {nic_of_interface(net, 0), nic_of_interface(net, 1)};
    nic_pd_t *const pds[2] = {nic_pd_alloc(nics[0]), nic_pd_alloc(nics[1])};
    nic_cq_t *const cqs[2] = {nic_cq_create(nics[0], 64, completed, program),
                              nic_cq_create(nics[1], 64, NULL, NULL)};
    nic_mr_t *mrs[2];
    nic_qp_t *peers[QPS];
    for (uint32_t side = 0; side < 2; side++) {
        sim_err_t error = nic_mr_register(
            pds[side], 0, 1 << 20, NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE, &mrs[side]);
        for (uint32_t i = 0; i < QPS && error == SIM_OK; i++) {
            const nic_qp_init_attr_t init = {.qp_type = NIC_QPT_UC,
                                             .send_cq = cqs[side],
                                             .recv_cq = cqs[side],
                                             .max_send_wr = 4};
            error = nic_qp_create(pds[side], &init, side == 0 ? &program->qps[i] : &peers[i]);
        }
        SIM_CHECKF(error == SIM_OK, "%s", sim_err_text(error));
    }
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < QPS; i++) {
            nic_qp_t *const own = side == 0 ? program->qps[i] : peers[i];
            nic_qp_attr_t attr;
            nic_qp_attr_default(nics[side], &attr);
            attr.dest_interface = 1 - side;
            attr.dest_qp_num = nic_qp_num(side == 0 ? peers[i] : program->qps[i]);
            attr.access = NIC_ACCESS_REMOTE_WRITE | NIC_ACCESS_LOCAL_WRITE;
            sim_message_t message = {.text = ""};
            const sim_err_t error = nic_qp_connect(own, &attr, &message);
            SIM_CHECKF(error == SIM_OK, "%s", message.text);
        }
    }
    program->mr = mrs[0];
    program->rkey = nic_mr_rkey(mrs[1]);
}

// Returns the share of accesses that hit L1.
static double hit_rate(const char *name, const nic_policy_ops_t *policy)
{
    sim_t *const sim = sim_create(&(sim_options_t){.seed = 1,
                                                   .threads = 1,
                                                   .until_ps = SIM_TIME_NEVER,
                                                   .stall_ps = SIM_PS_PER_S});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_t *const net = net_create(sim, &net_config);
    nic_config_t config;
    nic_config_init(&config);
    config.model = NIC_DETAILED;
    sim_free(config.cache.policy);
    config.cache.policy = sim_strdup(name);
    config.cache.custom_policy = policy;
    config.cache.l1_entries = ENTRIES;
    net_node_t *const a = nic_host_create(net, "a", &config);
    net_node_t *const b = nic_host_create(net, "b", &config);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    net_link_add(net, a, b, &link);
    sim_message_t message = {.text = ""};
    sim_err_t error = net_build(net, &message);
    SIM_CHECKF(error == SIM_OK, "%s", message.text);
    program_t program = {.posted = 0};
    sim_random_init(&program.random, 1, 0, "queue pairs");
    make_qps(net, &program);
    start_t start = {.program = &program};
    sim_timer_init(&start.timer, begin);
    sim_timer_arm(&a->sim, &start.timer, 1000);
    SIM_CHECK(sim_run(sim) == SIM_ENDED_DONE && program.posted == OPERATIONS);
    size_t count = 0;
    const nic_report_t *const reports = nic_reports(nic_of_interface(net, 0), &count);
    double rate = 0;
    for (size_t i = 0; i < count; i++) {
        (void)sim_report_number(reports[i].part.table, reports[i].part.object, "l1_hit_rate",
                                &rate);
    }
    sim_destroy(sim);
    net_destroy(net);
    nic_config_fini(&config);
    sim_attrs_fini(&net_link_config_attrs, &link);
    sim_attrs_fini(&net_config_attrs, &net_config);
    return rate;
}

int main(void)
{
    const double fifo = hit_rate("fifo", NULL);
    const double lru = hit_rate("lru", NULL);
    const double own = hit_rate("lru", &clock_policy);
    printf("%u queue pairs, %u entries: L1 hits of fifo %.3f, lru %.3f, clock %.3f\n", QPS, ENTRIES,
           fifo, lru, own);
    return own > fifo + 0.005 && own > 0.97 * lru ? 0 : 1;
}
