// SPDX-License-Identifier: Apache-2.0
// tests/world/plugin_kinds/kinds.c - a plug-in with the smallest buffer, topology and application.
#include "net/switch_model.h"
#include "nic/host.h"
#include "nic/verbs.h"
#include "topologies/topology.h"
#include "world/plugin.h"

#include <string.h>

// -- a buffer: a switch keeps up to `limit` bytes, whoever sent them

typedef struct plain_config {
    uint64_t limit_bytes;
} plain_config_t;
static const sim_attr_t plain_rows[] = {
    SIM_ATTR("network.plain.limit", BYTES, plain_config_t, limit_bytes, .default_text = "1MB",
             .help = "bytes that the buffer of a switch holds"),
};
static const sim_attr_table_t plain_attrs = {"network.plain", "simulation", sizeof(plain_config_t),
                                             plain_rows, 1};

static void plain_built(net_switch_t *sw)
{
    (void)sw;
}

static bool plain_admit(net_switch_t *sw, const net_port_t *egress, const net_packet_t *packet,
                        net_drop_reason_t *reason)
{
    (void)egress;
    const plain_config_t *const config = net_registered_config(sw->node.net, NET_BUFFER, "plain");
    uint64_t *const used = sw->buffer_state;
    *reason = NET_DROP_BUFFER_FULL;
    if (*used + packet->frame_bytes > config->limit_bytes) {
        return false;
    }
    *used += packet->frame_bytes;
    return true;
}

static void plain_release(net_switch_t *sw, uint32_t ingress, uint32_t priority, uint32_t bytes)
{
    (void)ingress;
    (void)priority;
    *(uint64_t *)sw->buffer_state -= bytes;
}

static void plain_dedicated(const net_switch_t *sw, uint64_t *headroom, uint64_t *reserved)
{
    (void)sw;
    *headroom = 0;
    *reserved = 0;
}

static const net_buffer_ops_t plain = {.name = "plain",
                                       .state_bytes = sizeof(uint64_t),
                                       .built = plain_built,
                                       .admit = plain_admit,
                                       .release = plain_release,
                                       .dedicated = plain_dedicated};

// -- a topology: a chain of switches, with a host at each

typedef struct chain_config {
    uint64_t hosts;
} chain_config_t;
static const sim_attr_t chain_rows[] = {
    SIM_ATTR("topology.chain.hosts", COUNT, chain_config_t, hosts, .default_text = "3",
             .min_text = "2", .max_text = "100", .help = "number of hosts of the chain"),
};
static const sim_attr_table_t chain_attrs = {"topology.chain", "simulation", sizeof(chain_config_t),
                                             chain_rows, 1};

static sim_err_t chain_check(const void *config, sim_message_t *message)
{
    (void)config;
    (void)message;
    return SIM_OK;
}

static sim_err_t chain_build(const topo_plan_t *plan, const void *config, sim_message_t *message)
{
    topo_graph_t *const graph = topo_graph_create();
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    sim_err_t result = SIM_OK;
    for (uint64_t i = 0; i < ((const chain_config_t *)config)->hosts && result == SIM_OK; i++) {
        char *const host = sim_format("host%d", (int)i);
        char *const sw = sim_format("switch%d", (int)i);
        char *const before = sim_format("switch%d", (int)i - 1);
        result = topo_graph_node(graph, host, NET_NODE_HOST, message);
        result = result == SIM_OK ? topo_graph_node(graph, sw, NET_NODE_SWITCH, message) : result;
        result = result == SIM_OK ? topo_graph_link(graph, host, sw, &link, message) : result;
        if (i > 0 && result == SIM_OK) {
            result = topo_graph_link(graph, before, sw, &link, message);
        }
        sim_free(host);
        sim_free(sw);
        sim_free(before);
    }
    result = result == SIM_OK ? topo_graph_build(graph, plan, message) : result;
    topo_graph_destroy(graph);
    return result;
}

static const topo_ops_t chain = {
    "chain", "switches in a row, each with a host", &chain_attrs, chain_check, chain_build, NULL};

// -- an application: the first host writes `bytes` to the last one

#define MEMORY (UINT64_C(1) << 32)

typedef struct once_config {
    uint64_t bytes;
} once_config_t;
static const sim_attr_t once_rows[] = {
    SIM_ATTR("traffic.once.bytes", BYTES, once_config_t, bytes, .default_text = "64KB",
             .min_text = "1", .max_text = "1GB", .help = "bytes that are written"),
};
static const sim_attr_table_t once_attrs = {"traffic.once", "application", sizeof(once_config_t),
                                            once_rows, 1};

static const app_ops_t once_ops;

typedef struct once {
    app_t app; // first
    uint64_t done;
} once_t;

static void once_completed(nic_cq_t *cq, void *ctx)
{
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        ((once_t *)ctx)->done += wc.status == NIC_WC_SUCCESS;
    }
}

static nic_qp_t *once_open(nic_t *nic, nic_cq_fn fn, void *ctx, uint64_t bytes, nic_mr_t **memory)
{
    nic_pd_t *const pd = nic_pd_alloc(nic);
    nic_cq_t *const cq = nic_cq_create(nic, 16, fn, ctx);
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {.qp_type = NIC_QPT_RC,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .max_send_wr = 1,
                                     .sq_sig_all = true};
    SIM_CHECK(nic_qp_create(pd, &attr, &qp) == SIM_OK);
    SIM_CHECK(nic_mr_register(pd, MEMORY, bytes, NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE,
                              memory) == SIM_OK);
    return qp;
}

static sim_err_t once_create(const app_context_t *context, const void *config, app_t **app,
                             sim_message_t *message)
{
    const uint64_t bytes = ((const once_config_t *)config)->bytes;
    app_hosts_t hosts;
    sim_err_t result = context->hosts("*", &hosts, message, context->ctx);
    if (result != SIM_OK) {
        return result;
    }
    once_t *const once = sim_alloc(sizeof(*once));
    once->app = (app_t){&once_ops, context->net, context->index};
    nic_t *const nics[] = {nic_of_interface(context->net, hosts.interfaces[0]),
                           nic_of_interface(context->net, hosts.interfaces[hosts.count - 1])};
    sim_free(hosts.interfaces);
    nic_mr_t *memory[2];
    nic_qp_t *const qps[] = {once_open(nics[0], once_completed, once, bytes, &memory[0]),
                             once_open(nics[1], NULL, NULL, bytes, &memory[1])};
    for (size_t i = 0; i < 2 && result == SIM_OK; i++) {
        nic_qp_attr_t attr;
        nic_qp_attr_default(nics[i], &attr);
        attr.dest_interface = nic_interface(nics[1 - i]);
        attr.dest_qp_num = nic_qp_num(qps[1 - i]);
        attr.access = NIC_ACCESS_REMOTE_WRITE;
        result = nic_qp_connect(qps[i], &attr, message);
    }
    if (result != SIM_OK) {
        sim_free(once);
        return result;
    }
    const nic_send_wr_t wr = {.opcode = NIC_WR_RDMA_WRITE,
                              .sge = {MEMORY, bytes, nic_mr_lkey(memory[0])},
                              .rdma = {MEMORY, nic_mr_rkey(memory[1])}};
    SIM_CHECK(nic_post_send(qps[0], &wr) == SIM_OK);
    *app = &once->app;
    return SIM_OK;
}

static void once_destroy(app_t *app)
{
    sim_free(app);
}

static void once_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    *done = ((const once_t *)(const void *)app)->done;
    *planned = 1;
}

static const app_ops_t once_ops = {.name = "once",
                                   .help = "the first host writes to the last one",
                                   .attrs = &once_attrs,
                                   .create = once_create,
                                   .destroy = once_destroy,
                                   .progress = once_progress};

WORLD_PLUGIN
{
    const world_network_part_t part = {WORLD_NETWORK_BUFFER, plain.name, &plain_attrs, &plain};
    sim_err_t result = world_registry_add_network_part(registry, &part, error);
    if (result == SIM_OK) {
        result = world_registry_add_topology(registry, &chain, error);
    }
    if (result == SIM_OK) {
        result = world_registry_add_app(registry, &once_ops, error);
    }
    return result;
}
