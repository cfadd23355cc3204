// SPDX-License-Identifier: Apache-2.0
// labels: plain clang
// tests/net/test_maxmin.c - how long flows share links: with PFC alone, and with DCQCN.
//
// Goal: where theory says that flows get max-min fair shares they do; where PFC is known not to be
// fair (shares by port, head-of-line blocking) it is unfair by the amount theory says.
// Method: each flow is one WRITE of 2 GB from a host of its own, so it always has more to send.
// Its rate is the payload its NIC sent in a window long after the start, against the closed form:
// a link of C bit/s carries C x MTU / (MTU + 58 bytes of headers + 24 of preamble, FCS and gap) of
// payload. Nothing is lost or sent again (checked), so what was sent is what is used.
// Does not pin: how fast DCQCN converges (test_cc_dcqcn_fluid), and queues.
#include <math.h>

#include "net/switch.h"
#include "nic/host.h"
#include "tests/check_main.h"

#define GBPS UINT64_C(1000000000)
#define LINE_BPS (100 * GBPS)
#define MTU 4096u
#define OVERHEAD_BYTES (58u + 24u)
#define MESSAGE_BYTES ((UINT64_C(1) << 31) - MTU)
#define MEMORY 0x10000
#define FLOWS_MAX 32u

typedef struct flow {
    net_node_t *host;
    uint64_t sent_bytes; // within the window
} flow_t;

typedef struct world {
    sim_t *sim;
    net_t *net;
    net_switch_config_t sw;
    nic_config_t nic;
    sim_time_t from_ps;
    sim_time_t to_ps;
    flow_t flows[FLOWS_MAX];
    uint32_t flow_count;
} world_t;

static void world_init(world_t *world, const char *control, uint64_t tie_seed, sim_time_t to_ps)
{
    *world = (world_t){.from_ps = to_ps / 4, .to_ps = to_ps};
    world->sim = sim_create(&(sim_options_t){
        .seed = 1,
        .tie_seed = tie_seed,
        .threads = 1,
        .until_ps = to_ps + 1,
    });
    net_config_t config;
    sim_attrs_default(&net_config_attrs, &config);
    world->net = net_create(world->sim, &config);
    sim_attrs_default(&net_switch_config_attrs, &world->sw);
    nic_config_init(&world->nic);
    world->nic.mtu_bytes = MTU;
    sim_free(world->nic.congestion_control);
    world->nic.congestion_control = sim_strdup(control);
}

static net_node_t *add_switch(world_t *world, const char *name)
{
    return net_switch_create(world->net, name, &world->sw);
}

static void add_link(world_t *world, net_node_t *a, net_node_t *b, uint64_t rate_bps)
{
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = rate_bps;
    link.delay_ps = SIM_PS_PER_US;
    net_link_add(world->net, a, b, &link);
}

static net_node_t *add_host(world_t *world, const char *name, net_node_t *leaf)
{
    net_node_t *const host = nic_host_create(world->net, name, &world->nic);
    add_link(world, host, leaf, LINE_BPS);
    return host;
}

static void build(world_t *world)
{
    sim_message_t message;
    ck_assert_msg(net_build(world->net, &message) == SIM_OK, "%s", message.text);
}

// -- flows

static nic_qp_t *open_qp(nic_t *nic, nic_mr_t **memory)
{
    nic_pd_t *const pd = nic_pd_alloc(nic);
    nic_cq_t *const cq = nic_cq_create(nic, 1024, NULL, NULL);
    nic_qp_t *qp = NULL;
    const nic_qp_init_attr_t attr = {.send_cq = cq, .recv_cq = cq, .max_send_wr = 512};
    ck_assert_int_eq(nic_qp_create(pd, &attr, &qp), SIM_OK);
    const uint32_t rights = NIC_ACCESS_LOCAL_WRITE | NIC_ACCESS_REMOTE_WRITE;
    ck_assert_int_eq(nic_mr_register(pd, MEMORY, MESSAGE_BYTES, rights, memory), SIM_OK);
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
    ck_assert_msg(nic_qp_connect(qp, &attr, &message) == SIM_OK, "%s", message.text);
}

// Connects a QP of `from` to one of `to`, and fills `wr` with a WRITE of it. Returns the QP.
static nic_qp_t *open_pair(const net_node_t *from, const net_node_t *to, nic_send_wr_t *wr)
{
    nic_mr_t *local = NULL;
    nic_mr_t *remote = NULL;
    nic_qp_t *const qp = open_qp(nic_at(from, 0), &local);
    nic_qp_t *const peer = open_qp(nic_at(to, 0), &remote);
    connect_qp(qp, peer);
    connect_qp(peer, qp);
    *wr = (nic_send_wr_t){
        .opcode = NIC_WR_RDMA_WRITE,
        .sge = {MEMORY, MESSAGE_BYTES, nic_mr_lkey(local)},
        .rdma = {MEMORY, nic_mr_rkey(remote)},
    };
    return qp;
}

static void read_sent(const sim_node_t *node, sim_time_t time_ps, void *ctx)
{
    (void)node;
    (void)time_ps;
    flow_t *const flow = ctx;
    // The function runs at the start of the window and at its end; the difference remains.
    flow->sent_bytes = nic_get_counters(nic_at(flow->host, 0))->tx_data_bytes - flow->sent_bytes;
}

// Adds a flow. One message of two GB takes 170 ms at line rate; more of them wait behind the first.
static void add_flow(world_t *world, net_node_t *from, const net_node_t *to)
{
    ck_assert_uint_lt(world->flow_count, FLOWS_MAX);
    flow_t *const flow = &world->flows[world->flow_count++];
    flow->host = from;
    nic_send_wr_t wr;
    nic_qp_t *const qp = open_pair(from, to, &wr);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(nic_post_send(qp, &wr), SIM_OK);
    }
    sim_sample(world->sim, &from->sim, world->from_ps, world->to_ps - world->from_ps, read_sent,
               flow);
}

static void run(world_t *world)
{
    ck_assert_int_eq(sim_run(world->sim), SIM_ENDED_UNTIL);
    sim_message_t message;
    ck_assert_msg(net_conservation_ok(world->net, &message), "%s", message.text);
    net_tally_t sums;
    uint64_t in_flight = 0;
    net_conservation(world->net, &sums, &in_flight);
    ck_assert_uint_eq(sums.dropped, 0);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        const nic_t *const nic = nic_at(world->flows[i].host, 0);
        ck_assert_uint_eq(nic_get_counters(nic)->retransmitted_packets, 0);
    }
}

static void world_fini(world_t *world)
{
    nic_config_fini(&world->nic);
    sim_destroy(world->sim);
    net_destroy(world->net);
}

static double goodput_bps(const world_t *world, uint32_t flow)
{
    const double window_s = (double)(world->to_ps - world->from_ps) / (double)SIM_PS_PER_S;
    return (double)world->flows[flow].sent_bytes * 8.0 / window_s;
}

// Returns the payload that a link carries per second in full packets.
static double capacity_bps(uint64_t rate_bps)
{
    return (double)rate_bps * MTU / (MTU + OVERHEAD_BYTES);
}

static void assert_share(const world_t *world, uint32_t flow, double expected_bps, double tolerance)
{
    const double measured_bps = goodput_bps(world, flow);
    ck_assert_msg(measured_bps > expected_bps * (1.0 - tolerance) &&
                      measured_bps < expected_bps * (1.0 + tolerance),
                  "flow %u of %u got %.3f Gbps, expected %.3f", flow, world->flow_count,
                  measured_bps / 1e9, expected_bps / 1e9);
}

static double total_bps(const world_t *world)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < world->flow_count; i++) {
        sum += goodput_bps(world, i);
    }
    return sum;
}

static void add_senders(world_t *world, uint32_t count)
{
    net_node_t *const sw = add_switch(world, "switch");
    const net_node_t *const receiver = add_host(world, "receiver", sw);
    net_node_t *senders[FLOWS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "sender%u", i);
        senders[i] = add_host(world, name, sw);
    }
    build(world);
    for (uint32_t i = 0; i < count; i++) {
        add_flow(world, senders[i], receiver);
    }
}

// -- PFC alone

// All senders' packets have the same size and all begin at once, so they always tie. Whatever the
// tie seed, no sender may win more than its share.
static const uint32_t sender_counts[] = {1, 2, 3, 7, 16};

START_TEST(equal_senders_get_equal_shares)
{
    const uint32_t count = sender_counts[_i % 5];
    world_t world;
    world_init(&world, "none", (uint64_t)_i / 5, 20 * SIM_PS_PER_MS);
    add_senders(&world, count);
    run(&world);
    for (uint32_t i = 0; i < count; i++) {
        assert_share(&world, i, capacity_bps(LINE_BPS) / count, 0.01);
    }
    ck_assert_double_gt(total_bps(&world), 0.999 * capacity_bps(LINE_BPS));
    world_fini(&world);
}
END_TEST

#define ROUNDS 4000u
#define ROUND_PS (10 * SIM_PS_PER_US)
#define TYING 5u

typedef struct burst {
    sim_timer_t timer;
    nic_qp_t *qp;
    nic_send_wr_t wr;
    uint32_t rounds;
} burst_t;

typedef struct winners {
    uint32_t seen; // packets so far
    uint32_t first[TYING];
    uint32_t last[TYING];
} winners_t;

static void post_round(sim_node_t *node, sim_timer_t *timer)
{
    burst_t *const burst = SIM_CONTAINER_OF(timer, burst_t, timer);
    ck_assert_int_eq(nic_post_send(burst->qp, &burst->wr), SIM_OK);
    if (++burst->rounds < ROUNDS) {
        sim_timer_arm(node, timer, node->now_ps + ROUND_PS);
    }
}

static void note_winner(const net_trace_t *trace, void *ctx)
{
    winners_t *const winners = ctx;
    const uint32_t sender = trace->packet->source - 1; // interface 0 is the receiver
    ck_assert_uint_lt(sender, TYING);
    winners->first[sender] += winners->seen % TYING == 0;
    winners->last[sender] += winners->seen % TYING == TYING - 1;
    winners->seen++;
}

// Each of five hosts sends one packet every 10 us; all arrive at the switch at the same picosecond.
// Each of them is first, and last, in a fifth of the rounds: within five standard deviations.
START_TEST(ties_favour_nobody)
{
    world_t world;
    world_init(&world, "none", (uint64_t)_i, (ROUNDS + 1) * ROUND_PS);
    net_node_t *const sw = add_switch(&world, "switch");
    const net_node_t *const receiver = add_host(&world, "receiver", sw);
    net_node_t *hosts[TYING];
    for (uint32_t i = 0; i < TYING; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "sender%u", i);
        hosts[i] = add_host(&world, name, sw);
    }
    build(&world);
    winners_t winners = {0};
    net_port_listen(&sw->ports[0], NET_TRACE_TX, note_winner, &winners);
    burst_t bursts[TYING] = {0};
    for (uint32_t i = 0; i < TYING; i++) {
        bursts[i].qp = open_pair(hosts[i], receiver, &bursts[i].wr);
        bursts[i].wr.sge.length = 1500;
        sim_timer_init(&bursts[i].timer, post_round);
        sim_timer_arm(&hosts[i]->sim, &bursts[i].timer, 0);
    }
    ck_assert_int_eq(sim_run(world.sim), SIM_ENDED_DONE);
    ck_assert_uint_eq(winners.seen, ROUNDS * TYING);
    const double mean = (double)ROUNDS / TYING;
    const double bound = 5.0 * sqrt(mean * (1.0 - 1.0 / TYING));
    for (uint32_t i = 0; i < TYING; i++) {
        ck_assert_double_eq_tol(winners.first[i], mean, bound);
        ck_assert_double_eq_tol(winners.last[i], mean, bound);
    }
    world_fini(&world);
}
END_TEST

// One flow crosses the whole row of switches, another only its middle link: each gets half of it.
START_TEST(parking_lot_with_one_bottleneck)
{
    world_t world;
    world_init(&world, "none", 0, 20 * SIM_PS_PER_MS);
    net_node_t *row[4];
    for (uint32_t i = 0; i < 4; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "switch%u", i);
        row[i] = add_switch(&world, name);
        if (i > 0) {
            add_link(&world, row[i - 1], row[i], LINE_BPS);
        }
    }
    net_node_t *const a = add_host(&world, "a", row[0]);
    net_node_t *const b = add_host(&world, "b", row[1]);
    const net_node_t *const b_to = add_host(&world, "b-to", row[2]);
    const net_node_t *const a_to = add_host(&world, "a-to", row[3]);
    build(&world);
    add_flow(&world, a, a_to);
    add_flow(&world, b, b_to);
    run(&world);
    assert_share(&world, 0, capacity_bps(LINE_BPS) / 2, 0.01);
    assert_share(&world, 1, capacity_bps(LINE_BPS) / 2, 0.01);
    world_fini(&world);
}
END_TEST

// Senders behind a trunk, and one next to the receiver.
static void add_two_levels(world_t *world, uint64_t trunk_bps)
{
    net_node_t *const near = add_switch(world, "near");
    net_node_t *const far = add_switch(world, "far");
    add_link(world, far, near, trunk_bps);
    const net_node_t *const receiver = add_host(world, "receiver", near);
    net_node_t *const a = add_host(world, "a", far);
    net_node_t *const b = add_host(world, "b", far);
    net_node_t *const c = add_host(world, "c", near);
    build(world);
    add_flow(world, a, receiver);
    add_flow(world, b, receiver);
    add_flow(world, c, receiver);
}

// A trunk of 40 Gbps is the bottleneck of two flows: each gets 20, and the third the other 60.
START_TEST(two_levels_are_shared_max_min)
{
    world_t world;
    world_init(&world, "none", 0, 20 * SIM_PS_PER_MS);
    add_two_levels(&world, 40 * GBPS);
    run(&world);
    assert_share(&world, 0, capacity_bps(20 * GBPS), 0.01);
    assert_share(&world, 1, capacity_bps(20 * GBPS), 0.01);
    assert_share(&world, 2, capacity_bps(60 * GBPS), 0.01);
    world_fini(&world);
}
END_TEST

// PFC stops ports, not flows: the two flows behind one port together get as much as the flow alone
// behind another port. Max-min would give each a third.
START_TEST(pfc_shares_by_port)
{
    world_t world;
    world_init(&world, "none", 0, 20 * SIM_PS_PER_MS);
    add_two_levels(&world, LINE_BPS);
    run(&world);
    assert_share(&world, 0, capacity_bps(LINE_BPS) / 4, 0.02);
    assert_share(&world, 1, capacity_bps(LINE_BPS) / 4, 0.02);
    assert_share(&world, 2, capacity_bps(LINE_BPS) / 2, 0.02);
    world_fini(&world);
}
END_TEST

// Adds flow 0, which shares a trunk with flow 1, the victim, and a busy receiver with three others,
// so that it gets a quarter. The victim's own receiver is idle.
static void add_victim(world_t *world)
{
    net_node_t *const left = add_switch(world, "left");
    net_node_t *const right = add_switch(world, "right");
    add_link(world, left, right, LINE_BPS);
    net_node_t *const a = add_host(world, "a", left);
    net_node_t *const victim = add_host(world, "victim", left);
    const net_node_t *const busy = add_host(world, "busy", right);
    const net_node_t *const idle = add_host(world, "idle", right);
    net_node_t *others[3];
    for (uint32_t i = 0; i < 3; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "other%u", i);
        others[i] = add_host(world, name, right);
    }
    build(world);
    add_flow(world, a, busy);
    add_flow(world, victim, idle);
    for (uint32_t i = 0; i < 3; i++) {
        add_flow(world, others[i], busy);
    }
}

// The busy receiver's switch stops the trunk, and with it the victim, which is served in turn with
// flow 0: it gets a quarter of the link, where max-min would give it three quarters.
START_TEST(pfc_blocks_a_victim_at_the_head_of_line)
{
    world_t world;
    world_init(&world, "none", 0, 20 * SIM_PS_PER_MS);
    add_victim(&world);
    run(&world);
    for (uint32_t i = 0; i < world.flow_count; i++) {
        assert_share(&world, i, capacity_bps(LINE_BPS) / 4, 0.02);
    }
    world_fini(&world);
}
END_TEST

// -- DCQCN

// The window is long compared with the period of DCQCN's sawtooth of cuts and recovery.
START_TEST(dcqcn_shares_one_bottleneck)
{
    static const uint32_t counts[] = {2, 4, 8};
    const uint32_t count = counts[_i];
    world_t world;
    world_init(&world, "dcqcn", 0, 600 * SIM_PS_PER_MS);
    add_senders(&world, count);
    run(&world);
    const double fair_bps = total_bps(&world) / count;
    for (uint32_t i = 0; i < count; i++) {
        assert_share(&world, i, fair_bps, 0.1);
    }
    ck_assert_double_lt(total_bps(&world), 1.001 * capacity_bps(LINE_BPS));
    ck_assert_double_gt(total_bps(&world), 0.9 * capacity_bps(LINE_BPS));
    world_fini(&world);
}
END_TEST

// ECN marks the flows that cause a queue: the victim gets the rest of the trunk.
START_TEST(dcqcn_spares_the_victim)
{
    world_t world;
    world_init(&world, "dcqcn", 0, 100 * SIM_PS_PER_MS);
    add_victim(&world);
    run(&world);
    assert_share(&world, 1, capacity_bps(LINE_BPS) * 3 / 4, 0.1);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(equal_senders_get_equal_shares, 0, 15), CHECK_LOOP(ties_favour_nobody, 0, 3),
           CHECK_TEST(parking_lot_with_one_bottleneck), CHECK_TEST(two_levels_are_shared_max_min),
           CHECK_TEST(pfc_shares_by_port), CHECK_TEST(pfc_blocks_a_victim_at_the_head_of_line),
           CHECK_LOOP(dcqcn_shares_one_bottleneck, 0, 3), CHECK_TEST(dcqcn_spares_the_victim))
