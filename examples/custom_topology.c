// SPDX-License-Identifier: Apache-2.0
// examples/custom_topology.c - your own topology: a dragonfly, with verbs traffic over it.
//
// Shows topo_graph_t (nodes and links by name), topo_plan_t (configurations of nodes), topo_lint,
// paths and closed-form times, and RDMA WRITEs between the hosts.
//
// Four groups have three switches each, all connected to each other. Each switch has two hosts and
// one link to another group, so every two groups share one link (Kim, Dally, Scott, Abts:
// Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008). Traffic that uses all links
// between groups equally finishes as fast as in an idle network; if each group sends to the next
// one, all of its traffic shares one link.
#include <stdio.h>
#include <stdlib.h>

#include "topologies/inspect.h"
#include "topologies/topology.h"

#define GROUPS 4u
#define SWITCHES 3u // per group, and also its links to other groups
#define HOSTS 2u    // per switch
#define HOST_COUNT (GROUPS * SWITCHES * HOSTS)
#define BYTES UINT64_C(1000000)
#define MEMORY 0x10000

static void check(sim_err_t error, const sim_message_t *message)
{
    if (error != SIM_OK) {
        fprintf(stderr, "custom_topology: %s\n", message->text);
        exit(1);
    }
}

// -- the graph

static void link_up(topo_graph_t *graph, const char *a, const char *b, uint64_t gbps)
{
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = gbps * UINT64_C(1000000000);
    link.delay_ps = SIM_PS_PER_US;
    sim_message_t message;
    check(topo_graph_link(graph, a, b, &link, &message), &message);
}

static const char *switch_name(char name[32], uint32_t group, uint32_t number)
{
    (void)snprintf(name, 32, "group%u/switch%u", group, number);
    return name;
}

static void add_nodes(topo_graph_t *graph)
{
    char name[32];
    char host[32];
    sim_message_t message;
    for (uint32_t i = 0; i < GROUPS * SWITCHES; i++) {
        switch_name(name, i / SWITCHES, i % SWITCHES);
        check(topo_graph_node(graph, name, NET_NODE_SWITCH, &message), &message);
        for (uint32_t h = 0; h < HOSTS; h++) {
            (void)snprintf(host, sizeof(host), "host%u", i * HOSTS + h);
            check(topo_graph_node(graph, host, NET_NODE_HOST, &message), &message);
            link_up(graph, host, name, 100);
        }
    }
}

// Builds the graph. Switch n of a group has the link to the group n + 1 further on, which ends at
// that group's switch 2 - n.
static topo_graph_t *dragonfly(void)
{
    topo_graph_t *const graph = topo_graph_create();
    add_nodes(graph);
    char a[32];
    char b[32];
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t n = 0; n < SWITCHES; n++) {
            for (uint32_t m = n + 1; m < SWITCHES; m++) {
                link_up(graph, switch_name(a, group, n), switch_name(b, group, m), 200);
            }
            const uint32_t other = (group + n + 1) % GROUPS;
            if (group < other) {
                link_up(graph, switch_name(a, group, n), switch_name(b, other, SWITCHES - 1 - n),
                        200);
            }
        }
    }
    return graph;
}

// -- the network: all nodes of a kind have the same configuration

typedef struct defaults {
    net_switch_config_t sw;
    nic_config_t nic;
} defaults_t;

static const net_switch_config_t *switch_config(const char *name, void *ctx)
{
    (void)name;
    return &((const defaults_t *)ctx)->sw;
}

static const nic_config_t *nic_config(const char *name, void *ctx)
{
    (void)name;
    return &((const defaults_t *)ctx)->nic;
}

static void print_finding(topo_severity_t severity, const char *text, void *ctx)
{
    (void)ctx;
    printf("%s: %s\n", severity == TOPO_NOTE ? "note" : "warning", text);
}

static net_t *build(sim_t *sim, bool lint)
{
    defaults_t defaults;
    sim_attrs_default(&net_switch_config_attrs, &defaults.sw);
    nic_config_init(&defaults.nic);
    net_config_t config;
    sim_attrs_default(&net_config_attrs, &config);
    const topo_plan_t plan = {
        .net = net_create(sim, &config),
        .switch_config = switch_config,
        .nic_config = nic_config,
        .ctx = &defaults,
    };
    topo_graph_t *const graph = dragonfly();
    sim_message_t message;
    check(topo_graph_build(graph, &plan, &message), &message);
    check(net_build(plan.net, &message), &message);
    topo_graph_destroy(graph);
    nic_config_fini(&defaults.nic);
    if (lint) {
        topo_lint(plan.net, print_finding, NULL);
    }
    return plan.net;
}

// -- the traffic

typedef struct flow {
    nic_t *from;
    nic_qp_t *qp;
    sim_time_t done_ps;
    sim_time_t ideal_ps;
    uint32_t hop_count;
} flow_t;

static void on_completion(nic_cq_t *cq, void *ctx)
{
    flow_t *const flow = ctx;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        SIM_CHECKF(wc.status == NIC_WC_SUCCESS, "%s", nic_wc_status_text(wc.status));
        flow->done_ps = nic_node(flow->from)->sim.now_ps;
    }
}

static nic_qp_t *open_qp(nic_t *nic, nic_cq_fn fn, void *ctx, nic_mr_t **memory)
{
    nic_pd_t *const pd = nic_pd_alloc(nic);
    nic_cq_t *const cq = nic_cq_create(nic, 4, fn, ctx);
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
    check(nic_qp_connect(qp, &attr, &message), &message);
}

// Posts a WRITE of BYTES from one host to another. Its ideal time is that of its payload alone on
// the slowest link of its path, and the way there and back.
static void start(const net_t *net, flow_t *flow, uint32_t from, uint32_t to)
{
    nic_mr_t *local = NULL;
    nic_mr_t *remote = NULL;
    flow->from = nic_of_interface(net, from);
    flow->qp = open_qp(flow->from, on_completion, flow, &local);
    nic_qp_t *const peer = open_qp(nic_of_interface(net, to), NULL, NULL, &remote);
    connect_qp(flow->qp, peer);
    connect_qp(peer, flow->qp);
    net_path_t path;
    SIM_CHECK(net_path_of(net, from, to, nic_qp_flow_hash(flow->qp), &path));
    flow->hop_count = path.hop_count;
    flow->ideal_ps = BYTES * 8 * SIM_PS_PER_S / path.bottleneck_bps + 2 * path.delay_ps;
    const nic_send_wr_t wr = {
        .opcode = NIC_WR_RDMA_WRITE,
        .sge = {MEMORY, BYTES, nic_mr_lkey(local)},
        .rdma = {MEMORY, nic_mr_rkey(remote)},
    };
    SIM_CHECK(nic_post_send(flow->qp, &wr) == SIM_OK);
}

// Lets every host write to a host of another group. Returns the mean slowdown relative to the ideal
// time.
static double run(const char *name, bool own_link, bool lint)
{
    sim_t *const sim = sim_create(&(sim_options_t){
        .seed = 1,
        .threads = 1,
        .until_ps = SIM_TIME_NEVER,
        .stall_ps = SIM_PS_PER_S,
    });
    net_t *const net = build(sim, lint);
    flow_t flows[HOST_COUNT] = {0};
    for (uint32_t host = 0; host < HOST_COUNT; host++) {
        const uint32_t group = host / (SWITCHES * HOSTS);
        const uint32_t n = host / HOSTS % SWITCHES;
        const uint32_t to_group = (group + (own_link ? n + 1 : 1)) % GROUPS;
        const uint32_t to_switch = to_group * SWITCHES + (own_link ? SWITCHES - 1 - n : n);
        start(net, &flows[host], host, to_switch * HOSTS + host % HOSTS);
    }
    SIM_CHECK(sim_run(sim) == SIM_ENDED_DONE);
    sim_message_t message;
    SIM_CHECKF(net_conservation_ok(net, &message), "%s", message.text);
    double slowdown = 0.0;
    uint32_t hops = 0;
    for (uint32_t host = 0; host < HOST_COUNT; host++) {
        slowdown += (double)flows[host].done_ps / (double)flows[host].ideal_ps / HOST_COUNT;
        hops += flows[host].hop_count;
    }
    printf("%-24s %6.2f %10.2f\n", name, (double)hops / HOST_COUNT, slowdown);
    sim_destroy(sim);
    net_destroy(net);
    return slowdown;
}

int main(void)
{
    printf("dragonfly: %u groups, %u switches, %u hosts, 1 MB each\n", GROUPS, GROUPS * SWITCHES,
           HOST_COUNT);
    printf("%-24s %6s %10s\n", "traffic", "links", "slowdown");
    const double own = run("over its own link", true, true);
    const double next = run("to the next group", false, false);
    return own < 1.1 && next > own ? 0 : 1;
}
