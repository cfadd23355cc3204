// SPDX-License-Identifier: Apache-2.0
// tests/nic_pair.h - two hosts on one link, everything they send and complete written down.
//
//     pair_config_t config;  pair_config_init(&config);        // then change what matters
//     pair_t *pair = pair_create(&config);
//     pair_qp_t qps;         pair_connect(pair, &qps, NIC_QPT_RC, NULL);
//     pair_post_at(pair, 1000, qps.qp[0], &wr);                // posts by host 0 at 1 ns
//     pair_run(pair);        // pair->wire[], pair->done[host][]
//     pair_destroy(pair);    pair_config_fini(&config);
//
// Each host registers PAIR_MEMORY..PAIR_MEMORY + PAIR_MEMORY_BYTES with all rights. The link runs
// at 100 Gbps (80 ps a byte) with 1 us of delay. Frames: 58 bytes of headers and ICRC around
// extension headers and payload; on the link 24 more, of which the gap of 12 delays no arrival.
#ifndef TESTS_NIC_PAIR_H
#define TESTS_NIC_PAIR_H

#include <string.h>

#include "compat/hpcc/rules.h"
#include "net/frame_opcodes.h"
#include "net/switch.h"
#include "net/telemetry.h"
#include "net/wire/mrc.h"
#include "net/wire/uet.h"
#include "nic/extra.h"
#include "nic/host.h"
#include "nic/transport.h"
#include "nic/transport_metrics.h"
#include "tests/check_main.h"

#define PAIR_MEMORY UINT64_C(0x10000)
#define PAIR_MEMORY_BYTES (UINT64_C(1) << 32)
#define PAIR_BYTE_PS UINT64_C(80)
#define PAIR_DELAY_PS UINT64_C(1000000)
#define PAIR_HEADERS 58u
#define PAIR_ACK_BYTES 62u

typedef struct pair_config {
    nic_config_t nic; // of both hosts
    net_link_config_t link;
    // Two switches between the hosts, joined by a link of this rate; 0: none. They mark each packet
    // that leaves another behind.
    uint64_t middle_bps;
    bool tagged;
    bool ipv6;
    void (*change_net)(net_config_t *config); // NULL: as by default
    const nic_config_t *nic_b; // of the second host, where it is not as the first's; else NULL
    sim_time_t until_ps;
} pair_config_t;

// A packet as it left a host, or as it was lost.
typedef struct pair_packet {
    sim_time_t time_ps;
    uint32_t host;
    bool dropped;
    net_packet_t packet;
    net_packet_aside_t aside;
} pair_packet_t;

typedef struct pair_done {
    sim_time_t time_ps;
    nic_wc_t wc;
} pair_done_t;

typedef struct pair pair_t;
typedef void (*pair_fn)(pair_t *pair, void *ctx);

typedef struct pair_action {
    sim_timer_t timer;
    pair_t *pair;
    pair_fn fn;
    void *ctx;
    nic_qp_t *qp;
    nic_send_wr_t send;
    struct pair_action *next;
} pair_action_t;

typedef struct pair_end {
    pair_t *pair;
    uint32_t host;
} pair_end_t;

struct pair {
    sim_t *sim;
    net_t *net;
    net_node_t *node[2];
    nic_t *nic[2];
    net_port_t *port[2];
    nic_pd_t *pd[2];
    nic_mr_t *mr[2];
    nic_cq_t *cq[2];
    pair_end_t ends[2];
    pair_packet_t *wire;
    size_t wire_count;
    size_t wire_capacity;
    pair_done_t *done[2];
    size_t done_count[2];
    size_t done_capacity[2];
    pair_action_t *actions;
    pair_fn on_done; // called after each completion was noted
    void *on_done_ctx;
    sim_ended_t ended;
};

typedef struct pair_qp {
    nic_qp_t *qp[2];
} pair_qp_t;

static inline void pair_config_init(pair_config_t *config)
{
    memset(config, 0, sizeof(*config));
    nic_config_init_with(&config->nic, compat_hpcc_nic_rows, compat_hpcc_nic_row_count);
    sim_free(config->nic.congestion_control);
    config->nic.congestion_control = sim_strdup("none");
    // Tests of all transports use all operations.
    const sim_attr_table_t *const mrc = nic_transport_mrc.attrs;
    const sim_attr_t *const operations = sim_attr_find(mrc, "nic.mrc.operations");
    SIM_CHECK(sim_attr_set(operations, nic_config_part(&config->nic, mrc), "all", NULL) == SIM_OK);
    sim_attrs_default(&net_link_config_attrs, &config->link);
    config->link.rate_bps = UINT64_C(100000000000);
    config->link.delay_ps = PAIR_DELAY_PS;
    config->until_ps = SIM_TIME_NEVER;
}

static inline void pair_config_fini(pair_config_t *config)
{
    sim_attrs_fini(&net_link_config_attrs, &config->link);
    nic_config_fini(&config->nic);
}

static inline void pair_note_packet(const net_trace_t *trace, void *ctx)
{
    const pair_end_t *const end = ctx;
    pair_t *const pair = end->pair;
    if (trace->packet->kind != NET_PACKET_ROCE) {
        return;
    }
    if (trace->point == NET_TRACE_DROP) {
        SIM_CHECK(pair->wire_count > 0);
        pair->wire[pair->wire_count - 1].dropped = true; // a loss follows its sending at once
        return;
    }
    SIM_GROW(pair->wire, pair->wire_count, &pair->wire_capacity);
    pair->wire[pair->wire_count++] = (pair_packet_t){
        .time_ps = trace->time_ps,
        .host = end->host,
        .packet = *trace->packet,
        .aside = *net_packet_aside(trace->packet),
    };
    const net_packet_t *const packet = trace->packet;
    const net_config_t *const config = net_get_config(pair->net);
    // Tests look at operations, whatever protocol carries them.
    if (packet->opcode >= ROCE_MRC) {
        const bool mrc = (packet->opcode & ROCE_TRANSPORT_MASK) == ROCE_MRC;
        SIM_CHECK(packet->frame_bytes == (mrc ? net_mrc_frame_bytes : net_uet_frame_bytes)(
                                             packet, config->tagged, config->ipv6));
        pair->wire[pair->wire_count - 1].packet.opcode &= ROCE_OPERATION_MASK;
        return;
    }
    const bool as_headers = strcmp(nic_get_config(pair->nic[end->host])->frames, "standard") == 0;
    SIM_CHECK(!as_headers || packet->addressed ||
              packet->frame_bytes == net_frame_bytes(packet->opcode, packet->payload_bytes,
                                                     config->tagged, config->ipv6) +
                                         net_packet_telemetry_bytes(pair->net, packet));
}

static inline void pair_note_done(nic_cq_t *cq, void *ctx)
{
    const pair_end_t *const end = ctx;
    pair_t *const pair = end->pair;
    nic_wc_t wc;
    while (nic_poll_cq(cq, 1, &wc) == 1) {
        pair_done_t **const done = &pair->done[end->host];
        SIM_GROW(*done, pair->done_count[end->host], &pair->done_capacity[end->host]);
        (*done)[pair->done_count[end->host]++] =
            (pair_done_t){pair->node[end->host]->sim.now_ps, wc};
        if (pair->on_done != NULL) {
            pair->on_done(pair, pair->on_done_ctx);
        }
    }
}

static inline void pair_join(pair_t *pair, const pair_config_t *config)
{
    if (config->middle_bps == 0) {
        (void)net_link_add(pair->net, pair->node[0], pair->node[1], &config->link);
        return;
    }
    net_switch_config_t sw;
    sim_attrs_default(&net_switch_config_attrs, &sw);
    sw.ecn_scale = false;
    sw.ecn_kmin_bytes = 1;
    sw.ecn_kmax_bytes = 1;
    net_node_t *const left = net_switch_create(pair->net, "left", &sw);
    net_node_t *const right = net_switch_create(pair->net, "right", &sw);
    sim_attrs_fini(&net_switch_config_attrs, &sw);
    net_link_config_t middle = config->link;
    middle.rate_bps = config->middle_bps;
    (void)net_link_add(pair->net, pair->node[0], left, &config->link);
    (void)net_link_add(pair->net, left, right, &middle);
    (void)net_link_add(pair->net, right, pair->node[1], &config->link);
}

static inline pair_t *pair_create(const pair_config_t *config)
{
    sim_message_t message;
    ck_assert_msg(nic_config_check(&config->nic, &message) == SIM_OK, "%s", message.text);
    pair_t *const pair = sim_alloc(sizeof(*pair));
    pair->sim = sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = config->until_ps});
    net_config_t net_config;
    sim_attrs_default(&net_config_attrs, &net_config);
    net_config.tagged = config->tagged;
    net_config.ipv6 = config->ipv6;
    if (config->change_net != NULL) {
        config->change_net(&net_config);
    }
    pair->net = net_create(pair->sim, &net_config);
    sim_attrs_fini(&net_config_attrs, &net_config);
    compat_hpcc_config_t hpcc;
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    compat_hpcc_register(pair->net, &hpcc);
    pair->node[0] = nic_host_create(pair->net, "a", &config->nic);
    pair->node[1] =
        nic_host_create(pair->net, "b", config->nic_b != NULL ? config->nic_b : &config->nic);
    pair_join(pair, config);
    ck_assert_msg(net_build(pair->net, &message) == SIM_OK, "%s", message.text);
    for (uint32_t h = 0; h < 2; h++) {
        pair->ends[h] = (pair_end_t){pair, h};
        pair->nic[h] = nic_at(pair->node[h], 0);
        pair->port[h] = net_interface_port(pair->net, h);
        pair->pd[h] = nic_pd_alloc(pair->nic[h]);
        const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE |
                                NIC_ACCESS_REMOTE_READ | NIC_ACCESS_REMOTE_ATOMIC;
        ck_assert_int_eq(
            nic_mr_register(pair->pd[h], PAIR_MEMORY, PAIR_MEMORY_BYTES, rights, &pair->mr[h]),
            SIM_OK);
        pair->cq[h] = nic_cq_create(pair->nic[h], 1 << 20, pair_note_done, &pair->ends[h]);
        net_port_listen(pair->port[h], NET_TRACE_TX | NET_TRACE_DROP, pair_note_packet,
                        &pair->ends[h]);
    }
    return pair;
}

static inline nic_qp_t *pair_make_qp(pair_t *pair, uint32_t host, nic_qp_type_t type,
                                     uint32_t number)
{
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {.qp_type = type,
                                     .send_cq = pair->cq[host],
                                     .recv_cq = pair->cq[host],
                                     .max_send_wr = 4096,
                                     .max_recv_wr = 4096,
                                     .qp_num = number};
    ck_assert_int_eq(nic_qp_create(pair->pd[host], &attr, &qp), SIM_OK);
    return qp;
}

// Fills the attributes that pair_connect uses, for either end.
static inline void pair_attr(const pair_t *pair, const pair_qp_t *qps, uint32_t host,
                             nic_qp_attr_t *attr)
{
    nic_qp_attr_default(pair->nic[host], attr);
    attr->dest_interface = 1 - host;
    attr->dest_qp_num = nic_qp_num(qps->qp[1 - host]);
}

static inline void pair_connect_end(const pair_qp_t *qps, uint32_t host, const nic_qp_attr_t *attr)
{
    sim_message_t message;
    ck_assert_msg(nic_qp_connect(qps->qp[host], attr, &message) == SIM_OK, "%s", message.text);
}

// Connects two QPs to each other; `change`, if not NULL, is applied to the attributes of both.
typedef void (*pair_attr_fn)(nic_qp_attr_t *attr);
static inline void pair_connect(pair_t *pair, pair_qp_t *qps, nic_qp_type_t type,
                                pair_attr_fn change)
{
    for (uint32_t h = 0; h < 2; h++) {
        qps->qp[h] = pair_make_qp(pair, h, type, 0);
    }
    for (uint32_t h = 0; h < 2; h++) {
        nic_qp_attr_t attr;
        pair_attr(pair, qps, h, &attr);
        if (change != NULL) {
            change(&attr);
        }
        pair_connect_end(qps, h, &attr);
    }
}

// Returns a signaled work request of `bytes` between the two hosts' memories.
static inline nic_send_wr_t pair_wr(const pair_t *pair, nic_wr_opcode_t opcode, uint64_t bytes)
{
    return (nic_send_wr_t){
        .opcode = opcode,
        .send_flags = NIC_SEND_SIGNALED,
        .sge = {PAIR_MEMORY, bytes, nic_mr_lkey(pair->mr[0])},
        .imm_data = 0x12345678,
        .rdma = {PAIR_MEMORY, nic_mr_rkey(pair->mr[1])},
    };
}

static inline void pair_post_recvs(const pair_t *pair, const pair_qp_t *qps, uint32_t count,
                                   uint64_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const nic_recv_wr_t wr = {.wr_id = 1000 + i,
                                  .sge = {PAIR_MEMORY, bytes, nic_mr_lkey(pair->mr[1])}};
        ck_assert_int_eq(nic_post_recv(qps->qp[1], &wr), SIM_OK);
    }
}

static inline void pair_act(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    pair_action_t *const action = SIM_CONTAINER_OF(timer, pair_action_t, timer);
    if (action->fn != NULL) {
        action->fn(action->pair, action->ctx);
    } else {
        ck_assert_int_eq(nic_post_send(action->qp, &action->send), SIM_OK);
    }
}

static inline pair_action_t *pair_action_at(pair_t *pair, uint32_t host, sim_time_t time_ps)
{
    pair_action_t *const action = sim_alloc(sizeof(*action));
    action->pair = pair;
    action->next = pair->actions;
    pair->actions = action;
    sim_timer_init(&action->timer, pair_act);
    sim_timer_arm(&pair->node[host]->sim, &action->timer, time_ps);
    return action;
}

static inline void pair_call_at(pair_t *pair, uint32_t host, sim_time_t time_ps, pair_fn fn,
                                void *ctx)
{
    pair_action_t *const action = pair_action_at(pair, host, time_ps);
    action->fn = fn;
    action->ctx = ctx;
}

static inline void pair_post_at(pair_t *pair, sim_time_t time_ps, nic_qp_t *qp,
                                const nic_send_wr_t *wr)
{
    const uint32_t host = nic_interface(nic_qp_nic(qp));
    pair_action_t *const action = pair_action_at(pair, host, time_ps);
    action->qp = qp;
    action->send = *wr;
}

// Packets that came ahead of what never came, since its sender failed: receivers hold them.
static inline uint64_t pair_ahead(const pair_t *pair)
{
    const nic_transport_metric_t *metric = nic_transport_metrics;
    while (strcmp(metric->name, "transport.ahead_packets") != 0) {
        metric++;
    }
    return nic_transport_metric_read(pair->nic[0], metric) +
           nic_transport_metric_read(pair->nic[1], metric);
}

// Runs the simulation, then checks that packets are conserved.
static inline void pair_run(pair_t *pair)
{
    sim_message_t message = {.text = ""};
    pair->ended = sim_run(pair->sim);
    ck_assert_msg(net_conservation_ok(pair->net, &message), "%s", message.text);
    if (pair->ended == SIM_ENDED_DONE) {
        net_tally_t tally;
        uint64_t in_flight = 0;
        net_conservation(pair->net, &tally, &in_flight);
        ck_assert_uint_eq(in_flight, pair_ahead(pair));
    }
}

static inline void pair_destroy(pair_t *pair)
{
    sim_destroy(pair->sim);
    net_destroy(pair->net);
    while (pair->actions != NULL) {
        pair_action_t *const action = pair->actions;
        pair->actions = action->next;
        sim_free(action);
    }
    sim_free(pair->wire);
    sim_free(pair->done[0]);
    sim_free(pair->done[1]);
    sim_free(pair);
}

// -- closed forms

// Returns the time of a frame on the link, gap included.
static inline sim_time_t pair_frame_ps(uint32_t frame_bytes)
{
    return (frame_bytes + 24u) * PAIR_BYTE_PS;
}

// Returns the time from a frame's first bit to the arrival of its last bit at the other end.
static inline sim_time_t pair_reach_ps(uint32_t frame_bytes)
{
    return (frame_bytes + 12u) * PAIR_BYTE_PS + PAIR_DELAY_PS;
}

// Returns the sum over the frames of a message: extension_bytes once, 58 bytes each, padded
// payload.
static inline sim_time_t pair_message_ps(uint64_t bytes, uint32_t mtu, uint32_t extension_bytes)
{
    const uint64_t packets = bytes == 0 ? 1 : (bytes + mtu - 1) / mtu;
    const uint64_t body = (bytes + 3) / 4 * 4 + extension_bytes;
    const uint64_t shortest =
        packets == 1 && PAIR_HEADERS + body < 60 ? 60 - PAIR_HEADERS - body : 0;
    return (packets * (PAIR_HEADERS + 24u) + body + shortest) * PAIR_BYTE_PS;
}

static inline size_t pair_count(const pair_t *pair, uint32_t host, uint8_t opcode)
{
    size_t count = 0;
    for (size_t i = 0; i < pair->wire_count; i++) {
        count += pair->wire[i].host == host && pair->wire[i].packet.opcode == opcode;
    }
    return count;
}

// Returns the n-th packet of a host, counted from 0.
static inline const pair_packet_t *pair_nth(const pair_t *pair, uint32_t host, size_t n)
{
    for (size_t i = 0; i < pair->wire_count; i++) {
        if (pair->wire[i].host == host && n-- == 0) {
            return &pair->wire[i];
        }
    }
    ck_abort_msg("host %u sent fewer packets", host);
    return NULL;
}

#endif // TESTS_NIC_PAIR_H
