// SPDX-License-Identifier: Apache-2.0
// examples/custom_congestion_control.c - your own congestion control.
//
// Shows a nic_cc_ops_t outside the library: "aimd" halves a queue pair's rate when a CNP arrives
// and adds to it step by step while none arrives. Two hosts send to a third one through a switch,
// once per algorithm, to compare queues and completion times. A listener on the senders' NICs
// (nic/trace.h) counts changes of the rate and its minimum.
#include <stdio.h>

#include "net/switch.h"
#include "nic/host.h"
#include "nic/trace.h"

// -- the algorithm

typedef struct aimd_config {
    uint64_t step_bps; // added every period
    sim_time_t period_ps;
    sim_time_t holdoff_ps; // least time between two halvings
    uint64_t rate_min_bps;
} aimd_config_t;

// State of one queue pair; its first member is shared with the NIC.
typedef struct aimd {
    nic_cc_t cc;
    sim_timer_t timer;
    sim_time_t halved_ps;
    uint64_t halvings;
} aimd_t;

static aimd_t *aimd_of(nic_cc_t *cc)
{
    return SIM_CONTAINER_OF(cc, aimd_t, cc);
}

static void increase(sim_node_t *node, sim_timer_t *timer)
{
    aimd_t *const aimd = SIM_CONTAINER_OF(timer, aimd_t, timer);
    const aimd_config_t *const config = aimd->cc.config;
    const uint64_t rate_bps = aimd->cc.rate_bps + config->step_bps;
    aimd->cc.rate_bps = rate_bps < aimd->cc.line_bps ? rate_bps : aimd->cc.line_bps;
    nic_cc_rate_changed(&aimd->cc);
    if (aimd->cc.rate_bps < aimd->cc.line_bps) {
        sim_timer_arm(node, timer, node->now_ps + config->period_ps);
    }
}

static void aimd_init(nic_cc_t *cc)
{
    sim_timer_init(&aimd_of(cc)->timer, increase);
}

static void aimd_stop(nic_cc_t *cc)
{
    sim_timer_cancel(cc->node, &aimd_of(cc)->timer);
}

static void aimd_cnp(nic_cc_t *cc)
{
    aimd_t *const aimd = aimd_of(cc);
    const aimd_config_t *const config = cc->config;
    const sim_time_t now_ps = cc->node->now_ps;
    if (aimd->halvings > 0 && now_ps - aimd->halved_ps < config->holdoff_ps) {
        return;
    }
    aimd->halvings++;
    aimd->halved_ps = now_ps;
    const uint64_t half_bps = cc->rate_bps / 2;
    cc->rate_bps = half_bps > config->rate_min_bps ? half_bps : config->rate_min_bps;
    nic_cc_rate_changed(cc);
    if (cc->active) {
        sim_timer_arm(cc->node, &aimd->timer, now_ps + config->period_ps);
    }
}

static uint64_t aimd_metric(const nic_cc_t *cc, uint32_t index)
{
    (void)index;
    return ((const aimd_t *)(const void *)cc)->halvings;
}

static const char *const aimd_metric_names[] = {"halvings", NULL};

static const nic_cc_ops_t aimd_ops = {
    .name = "aimd",
    .state_bytes = sizeof(aimd_t),
    .init = aimd_init,
    .stop = aimd_stop,
    .cnp = aimd_cnp,
    .metric_names = aimd_metric_names,
    .metric = aimd_metric,
};

// -- two senders, one receiver

#define SENDERS 2
#define BYTES UINT64_C(50000000)
#define MEMORY 0x10000

typedef struct sender {
    net_node_t *host;
    sim_time_t done_ps;
    uint64_t rate_changes;
    uint64_t rate_min_bps;
} sender_t;

typedef struct world {
    sim_t *sim;
    net_t *net;
    net_node_t *sw;
    sender_t senders[SENDERS];
} world_t;

static void on_completion(nic_cq_t *cq, void *ctx)
{
    sender_t *const sender = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        SIM_CHECKF(wc.status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc.status));
        sender->done_ps = sender->host->sim.now_ps;
    }
}

// Counts a change of a queue pair's rate; the first call is at connection.
static void on_rate(const nic_trace_t *trace, void *ctx)
{
    sender_t *const sender = ctx;
    sender->rate_changes += trace->before != 0;
    if (sender->rate_min_bps == 0 || trace->value < sender->rate_min_bps) {
        sender->rate_min_bps = trace->value;
    }
}

// Creates a queue pair, and registers all of MEMORY for it.
static nic_qp_t *open_qp(nic_t *nic, nic_cq_fn fn, void *ctx, nic_mr_t **memory)
{
    nic_pd_t *const pd = nic_pd_alloc(nic);
    nic_cq_t *const cq = nic_cq_create(nic, 16, fn, ctx);
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {
        .qp_type = NIC_QPT_RC,
        .send_cq = cq,
        .recv_cq = cq,
        .max_send_wr = 1,
        .sq_sig_all = true,
    };
    SIM_CHECK(nic_qp_create(pd, &attr, &qp) == SIM_OK);
    const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE;
    SIM_CHECK(nic_mr_register(pd, MEMORY, BYTES, rights, memory) == SIM_OK);
    return qp;
}

static void connect_qp(nic_qp_t *qp, nic_qp_t *peer)
{
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic_qp_nic(qp), &attr);
    attr.dest_interface = nic_interface(nic_qp_nic(peer));
    attr.dest_qp_num = nic_qp_num(peer);
    attr.access = NIC_ACCESS_REMOTE_WRITE;
    sim_message_t message;
    SIM_CHECKF(nic_qp_connect(qp, &attr, &message) == SIM_OK, "%s", message.text);
}

static void write_all(sender_t *sender, nic_t *receiver)
{
    nic_mr_t *from = NULL;
    nic_mr_t *to = NULL;
    nic_qp_t *const qp = open_qp(nic_at(sender->host, 0), on_completion, sender, &from);
    nic_qp_t *const peer = open_qp(receiver, NULL, NULL, &to);
    connect_qp(qp, peer);
    connect_qp(peer, qp);
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .sge = {MEMORY, BYTES, nic_mr_lkey(from)},
        .rdma = {MEMORY, nic_mr_rkey(to)},
    };
    SIM_CHECK(nic_post_send(qp, &wr) == SIM_OK);
}

static void build(world_t *world, const nic_config_t *nic_config)
{
    net_config_t net_config;
    net_link_config_t link;
    net_switch_config_t switch_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    sim_attrs_default(&net_link_config_attrs, &link);
    sim_attrs_default(&net_switch_config_attrs, &switch_config);
    world->net = net_create(world->sim, &net_config);
    world->sw = net_switch_create(world->net, "switch", &switch_config);
    net_node_t *const receiver = nic_host_create(world->net, "receiver", nic_config);
    net_link_add(world->net, world->sw, receiver, &link);
    for (uint32_t i = 0; i < SENDERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "sender%u", i);
        world->senders[i] = (sender_t){.host = nic_host_create(world->net, name, nic_config)};
        net_link_add(world->net, world->senders[i].host, world->sw, &link);
    }
    sim_message_t message;
    SIM_CHECKF(net_build(world->net, &message) == SIM_OK, "%s", message.text);
    for (uint32_t i = 0; i < SENDERS; i++) {
        nic_listen(nic_at(world->senders[i].host, 0), NIC_TRACE_RATE, on_rate, &world->senders[i]);
        write_all(&world->senders[i], nic_at(receiver, 0));
    }
}

// Runs an algorithm and prints its line of the table. Returns the longest queue at the receiver's
// port, in bytes.
static uint64_t run(const char *name, const nic_config_t *nic_config)
{
    world_t world = {
        .sim = sim_create(&(sim_options_t){.seed = 1,
                                           .threads = 1,
                                           .until_ps = SIM_TIME_NEVER,
                                           .stall_ps = SIM_PS_PER_S}),
    };
    build(&world, nic_config);
    const sim_ended_t ended = sim_run(world.sim);
    sim_message_t message;
    SIM_CHECK(ended == SIM_ENDED_DONE);
    SIM_CHECKF(net_conservation_ok(world.net, &message), "%s", message.text);

    uint64_t pauses = 0;
    uint64_t cnps = 0;
    uint64_t changes = 0;
    uint64_t lowest_bps = UINT64_MAX;
    for (uint32_t i = 0; i < SENDERS; i++) {
        const net_port_t *const port = &world.senders[i].host->ports[0];
        pauses += port->rare->pauses[nic_config->priority].rx_pause;
        cnps += nic_get_counters(nic_at(world.senders[i].host, 0))->rp_cnp_handled;
        const sender_t *const sender = &world.senders[i];
        changes += sender->rate_changes;
        lowest_bps = sender->rate_min_bps < lowest_bps ? sender->rate_min_bps : lowest_bps;
    }
    const uint64_t queue_bytes = world.sw->ports[0].classes[nic_config->priority]->bytes_max;
    printf("%-8s %9.3f ms %9.3f ms %9" PRIu64 " KB %8" PRIu64 " %8" PRIu64 " %8" PRIu64
           " %8.3f Gbps\n",
           name, (double)world.senders[0].done_ps / (double)SIM_PS_PER_MS,
           (double)world.senders[1].done_ps / (double)SIM_PS_PER_MS, queue_bytes / 1000, pauses,
           cnps, changes, (double)lowest_bps / 1e9);
    sim_destroy(world.sim);
    net_destroy(world.net);
    return queue_bytes;
}

int main(void)
{
    static const aimd_config_t aimd_config = {
        .step_bps = UINT64_C(1000000000),
        .period_ps = 50 * SIM_PS_PER_US,
        .holdoff_ps = 50 * SIM_PS_PER_US,
        .rate_min_bps = UINT64_C(100000000),
    };
    printf("2 hosts write %" PRIu64 " MB each to one at 100 Gbps\n", BYTES / 1000000);
    printf("%-8s %12s %12s %12s %8s %8s %8s %13s\n", "control", "first done", "second", "queue max",
           "pauses", "CNPs", "changes", "lowest rate");

    uint64_t queue_bytes[3];
    static const char *const names[] = {"none", "dcqcn"};
    for (uint32_t i = 0; i < 2; i++) {
        nic_config_t config;
        nic_config_init(&config);
        sim_free(config.congestion_control);
        config.congestion_control = sim_strdup(names[i]);
        queue_bytes[i] = run(names[i], &config);
        nic_config_fini(&config);
    }
    nic_config_t config;
    nic_config_init(&config);
    config.custom_cc = &aimd_ops;
    config.custom_cc_config = &aimd_config;
    queue_bytes[2] = run(aimd_ops.name, &config);
    nic_config_fini(&config);
    return queue_bytes[2] < queue_bytes[0] ? 0 : 1;
}
