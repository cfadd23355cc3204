// SPDX-License-Identifier: Apache-2.0
// labels: threads
// threads: threads_do_not_change_it
// Goal: the planes of a NIC share its queue pairs as nic.planes says, and a plane that is down is
// left out.
// Method: one transfer over idle planes takes the time of its closed form, and its packets are
// counted by plane; links go down in the middle, and the packets lost are counted exactly where the
// model says which they are.
// Does not pin: which plane a hash chooses; how much of a transfer is sent again.
#include <string.h>

#include "net/link_state.h"
#include "nic/fabric.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"

#define PLANES 4
#define MTU 4096

static const char *const shape = "planes=4; leaves=2; spines=2; hosts-per-leaf=2; delay=500ns";

typedef struct run {
    world_t world;
    const nic_cc_ops_t *cc;     // NULL: none
    const net_port_t *sender;   // plane 0 of host0
    const net_port_t *receiver; // plane 0 of host3
    uint64_t memory_bps;        // of a host's socket; 0: no limit
} run_t;

// Builds a world in which host0 will send to host3; link NULL: all links stay up.
static void begin(run_t *run, nic_plane_choice_t choice, const char *a, const char *b,
                  sim_time_t down_ps, sim_time_t convergence_ps)
{
    world_t *const world = &run->world;
    world_init(world);
    world->nic.custom_cc = run->cc;
    sim_message_t message;
    ck_assert_int_eq(world_set(&nic_config_attrs, &world->nic,
                               choice == NIC_PLANES_HASH
                                   ? "congestion-control=none; timeout=4"
                                   : "congestion-control=none; timeout=4; transport=irn",
                               &message),
                     SIM_OK);
    world->nic.planes = choice;
    world->nic.host.memory_bps = run->memory_bps != 0 ? run->memory_bps : SIM_AUTO;
    world->net_config.convergence_ps = convergence_ps;
    topo_multi_plane_config_t config;
    sim_attrs_default(topo_multi_plane.attrs, &config);
    ck_assert_int_eq(world_set(topo_multi_plane.attrs, &config, shape, &message), SIM_OK);
    world_begin(world);
    const topo_plan_t plan = world_plan(world);
    ck_assert_int_eq(topo_multi_plane.build(&plan, &config, &message), SIM_OK);
    for (uint32_t i = 0; a != NULL && i < net_link_count(world->net); i++) {
        const net_link_t link = net_link_at(world->net, i);
        if (strcmp(link.a->sim.name, a) == 0 && strcmp(link.b->sim.name, b) == 0) {
            net_link_change_at(world->net, i, down_ps, false);
        }
    }
    world_complete(world);
    run->sender = net_node_find(world->net, "host0")->ports;
    run->receiver = net_node_find(world->net, "host3")->ports;
}

static const app_flow_result_t *transfer(run_t *run, uint64_t bytes)
{
    char *const settings = sim_format("from=host0; to=host3; bytes=%" PRIu64 "B", bytes);
    const app_t *const app = world_app(&run->world, "incast", settings);
    sim_free(settings);
    world_run(&run->world);
    world_flows(&run->world, app);
    ck_assert_uint_eq(run->world.flow_count, 1);
    return &run->world.flows[0];
}

static uint64_t sent(const net_port_t *port)
{
    uint64_t packets = 0;
    for (uint32_t p = 0; p < NET_PRIORITIES; p++) {
        packets += port->classes[p]->tx_packets;
    }
    return packets;
}

static void finish(run_t *run)
{
    world_fini(&run->world);
}

static const uint64_t sizes[] = {1, MTU, MTU + 1, 3 * MTU, 4 * MTU, 9 * MTU + 5, 1000000};

// Packets take the planes in turn, and their time is that of the plane with the most of them.
START_TEST(planes_share_one_transfer)
{
    const nic_plane_choice_t choice = _i % 2 == 0 ? NIC_PLANES_ROUND_ROBIN : NIC_PLANES_LEAST_QUEUE;
    const uint64_t bytes = sizes[_i / 2];
    run_t run = {0};
    begin(&run, choice, NULL, NULL, 0, 0);
    const app_flow_result_t *const flow = transfer(&run, bytes);
    const uint64_t packets = (bytes - 1) / MTU + 1;
    uint64_t most = 0;
    uint64_t all = 0;
    for (uint32_t plane = 0; plane < PLANES; plane++) {
        const uint64_t here = sent(&run.sender[plane]);
        ck_assert_uint_ge(here, packets / PLANES);
        ck_assert_uint_eq(sent(&run.receiver[plane]), here); // answers take the plane of requests
        most = here > most ? here : most;
        all += here;
    }
    // A last packet that is shorter overtakes others on their way. IRN then sends one again.
    ck_assert_uint_le(all, packets + 1);
    if (bytes % MTU == 0) {
        ck_assert_uint_eq(most, (packets - 1) / PLANES + 1);
        ck_assert_uint_eq(flow->end_ps - flow->start_ps, flow->ideal_ps);
    }
    ck_assert_uint_le(flow->end_ps - flow->start_ps, flow->ideal_ps + flow->ideal_ps / 100);
    finish(&run);
}
END_TEST

START_TEST(hash_keeps_a_queue_pair_in_one_plane)
{
    run_t run = {0};
    begin(&run, NIC_PLANES_HASH, NULL, NULL, 0, 0);
    const app_flow_result_t *const flow = transfer(&run, 10 * MTU);
    uint32_t used = 0;
    for (uint32_t plane = 0; plane < PLANES; plane++) {
        const uint64_t here = sent(&run.sender[plane]);
        used += here != 0;
        ck_assert(here == 0 || here == 10);
        ck_assert_uint_eq(sent(&run.receiver[plane]), here);
    }
    ck_assert_uint_eq(used, 1);
    ck_assert_uint_eq(flow->end_ps - flow->start_ps, flow->ideal_ps);
    finish(&run);
}
END_TEST

// With each port a NIC of its own, a program sees as many NICs as planes.
START_TEST(off_makes_a_nic_of_each_port)
{
    run_t run = {0};
    begin(&run, NIC_PLANES_OFF, NULL, NULL, 0, 0);
    ck_assert_uint_eq(nic_count(run.sender->node), PLANES);
    ck_assert_uint_eq(run.sender[1].interface, 1);
    finish(&run);
    begin(&run, NIC_PLANES_HASH, NULL, NULL, 0, 0);
    ck_assert_uint_eq(nic_count(run.sender->node), 1);
    ck_assert_ptr_eq(nic_of_interface(run.world.net, run.sender[3].interface),
                     nic_at(run.sender->node, 0));
    // Interfaces of plane 0 come first, in the order of hosts.
    ck_assert_uint_eq(run.sender[0].interface, 0);
    ck_assert_uint_eq(run.receiver[0].interface, 3);
    ck_assert_uint_eq(run.sender[1].interface, 4);
    ck_assert_uint_eq(net_interface_in_plane(run.world.net, 3, 2), run.receiver[2].interface);
    ck_assert_uint_eq(net_interface_of_nic(run.world.net, run.receiver[2].interface), 3);
    ck_assert_uint_eq(nic_rate_bps(nic_at(run.sender->node, 0)),
                      PLANES * run.sender[0].line->rate_bps);
    finish(&run);
}
END_TEST

static void set_rate(nic_cc_t *cc)
{
    cc->rate_bps = UINT64_C(50000000000);
}

static const nic_cc_ops_t fixed_rate = {
    .name = "fixed-rate",
    .state_bytes = sizeof(nic_cc_t),
    .init = set_rate,
};

// A queue pair that is paced below the rate of its NIC keeps to its rate, whatever is free.
START_TEST(paced_queue_pairs_keep_their_rate)
{
    run_t run = {0};
    run.cc = &fixed_rate;
    begin(&run, _i == 0 ? NIC_PLANES_ROUND_ROBIN : NIC_PLANES_LEAST_QUEUE, NULL, NULL, 0, 0);
    const app_flow_result_t *const flow = transfer(&run, 1000000);
    const double ps = (double)(flow->end_ps - flow->start_ps);
    const double bits = 8 * (1000000.0 + 245 * 82);
    ck_assert_double_eq_tol(bits / ps * 1000, 50, 2);
    finish(&run);
}
END_TEST

// The NIC sees at once that its own port is down: only frames under way are lost.
START_TEST(own_port_that_is_down_is_left_out_at_once)
{
    run_t run = {0};
    begin(&run, NIC_PLANES_ROUND_ROBIN, "plane1-leaf0", "host0", 50 * SIM_PS_PER_US, SIM_PS_PER_S);
    const app_flow_result_t *const flow = transfer(&run, 10000000);
    ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
    // 500 ns of link and 333 ns of frame in each direction.
    ck_assert_uint_le(run.sender[1].rare->drops[NET_DROP_LINK_DOWN], 4);
    const uint64_t packets = (10000000 - 1) / MTU + 1;
    ck_assert_uint_le(sent(&run.sender[1]), packets / 12);
    for (uint32_t plane = 0; plane < PLANES; plane++) {
        ck_assert(plane == 1 || sent(&run.sender[plane]) > packets / 4);
    }
    // 50 us on four planes, the rest on three.
    const double ps = (double)(flow->end_ps - flow->start_ps);
    ck_assert_double_gt(ps, 1.2 * (double)flow->ideal_ps);
    ck_assert_double_lt(ps, 1.4 * (double)flow->ideal_ps);
    finish(&run);
}
END_TEST

// Routing tells of a port that is down at the other side, network.convergence later; then nothing
// more is sent into that plane.
START_TEST(far_port_that_is_down_is_left_out_by_routing)
{
    run_t run = {0};
    begin(&run, _i == 0 ? NIC_PLANES_ROUND_ROBIN : NIC_PLANES_HASH, "plane1-leaf1", "host3",
          50 * SIM_PS_PER_US, 60 * SIM_PS_PER_US);
    const app_flow_result_t *const flow = transfer(&run, 20000000);
    ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(flow->delivered_bytes, 0); // set for unfinished flows only
    if (_i == 0) {
        // A plane carries 12.5 GB/s: 110 us are 340 packets of 4160 bytes.
        ck_assert_uint_gt(sent(&run.sender[1]), 0);
        ck_assert_uint_le(sent(&run.sender[1]), 345);
        ck_assert_uint_gt(sent(&run.sender[2]), 1000);
    }
    finish(&run);
}
END_TEST

// Three senders write to a host with the same memory, which then stops the peers of all its ports.
START_TEST(slow_memory_pauses_every_plane)
{
    run_t run = {.memory_bps = UINT64_C(100000000000)};
    begin(&run, NIC_PLANES_LEAST_QUEUE, NULL, NULL, 0, 0);
    const app_t *const app = world_app(&run.world, "incast", "to=host3; senders=3; bytes=5MB");
    world_run(&run.world);
    world_flows(&run.world, app);
    sim_time_t end_ps = 0;
    for (size_t i = 0; i < run.world.flow_count; i++) {
        const sim_time_t at_ps = run.world.flows[i].end_ps;
        end_ps = at_ps > end_ps ? at_ps : end_ps;
    }
    for (uint32_t plane = 0; plane < PLANES; plane++) {
        ck_assert_uint_gt(run.receiver[plane].rare->pauses[3].tx_pause, 0);
    }
    ck_assert_double_eq_tol(3 * 5e6 * 8 / (double)end_ps * 1000, 100, 1);
    finish(&run);
}
END_TEST

// All parts of a NIC work in planes, on any number of threads.
static const char *const parts[] = {"model=ideal",      "model=detailed", "transport=irn",
                                    "transport=adamap", "transport=sdr",  "repath=reps"};

START_TEST(threads_do_not_change_it)
{
    uint64_t digests[2];
    sim_message_t message = {.text = ""};
    for (int i = 0; i < 2; i++) {
        run_t run = {0};
        world_init(&run.world);
        run.world.options.threads = i == 0 ? 1 : 4;
        run.world.nic.planes = NIC_PLANES_LEAST_QUEUE;
        ck_assert_int_eq(world_set(&nic_config_attrs, &run.world.nic, parts[_i], &message), SIM_OK);
        world_build(&run.world, "multi-plane", shape);
        world_app(&run.world, "permutation", "bytes=200KB");
        world_run(&run.world);
        for (uint32_t plane = 0; plane < 2; plane++) {
            const net_port_t *const port =
                net_interface_port(run.world.net, net_interface_in_plane(run.world.net, 0, plane));
            ck_assert_uint_gt(port->classes[3]->tx_packets, 10); // each plane has its share
        }
        digests[i] = sim_digest(run.world.sim);
        world_fini(&run.world);
    }
    ck_assert_uint_eq(digests[0], digests[1]);
}
END_TEST

START_TEST(unequal_planes_do_not_connect)
{
    world_t world;
    world_init(&world);
    sim_message_t message;
    world_begin(&world);
    const topo_plan_t plan = world_plan(&world);
    net_node_t *const sw = net_switch_create(world.net, "s", plan.switch_config("s", plan.ctx));
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    net_node_t *hosts[2];
    for (uint32_t h = 0; h < 2; h++) {
        hosts[h] = nic_host_create(world.net, h == 0 ? "a" : "b", &world.nic);
        net_link_add(world.net, sw, hosts[h], &link);
        net_link_add(world.net, sw, hosts[h], &link);
    }
    nic_host_set_planes(hosts[0], 2);
    world_complete(&world);
    nic_t *const nic = nic_at(hosts[0], 0);
    nic_cq_t *const cq = nic_cq_create(nic, 16, NULL, NULL);
    const nic_qp_init_attr_t init = {.qp_type = NIC_QPT_RC,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .max_send_wr = 4,
                                     .max_recv_wr = 4};
    nic_qp_t *qp = NULL;
    ck_assert_int_eq(nic_qp_create(nic_pd_alloc(nic), &init, &qp), SIM_OK);
    nic_qp_attr_t attr;
    nic_qp_attr_default(nic, &attr);
    attr.dest_interface = nic_interface(nic_at(hosts[1], 0));
    attr.dest_qp_num = 2;
    ck_assert_int_eq(nic_qp_connect(qp, &attr, &message), SIM_ERR_INVALID);
    ck_assert_msg(strstr(message.text, "is of a NIC in 1 planes, expected 2") != NULL, "%s",
                  message.text);
    world_fini(&world);
}
END_TEST

START_TEST(parts_that_serve_one_port_are_refused)
{
    static const char *const settings[] = {"scheduler=scan"};
    run_t run = {0};
    world_init(&run.world);
    sim_message_t message = {.text = ""};
    ck_assert_int_eq(world_set(&nic_config_attrs, &run.world.nic, settings[_i], &message), SIM_OK);
    world_begin(&run.world);
    net_node_t *const host = nic_host_create(run.world.net, "a", &run.world.nic);
    nic_host_set_planes(host, 2);
    ck_assert_int_eq(nic_host_check(host, &message), SIM_ERR_RANGE);
    ck_assert_msg(strstr(message.text, "on a NIC with ports in 2 planes, expected ") != NULL, "%s",
                  message.text);
    sim_destroy(run.world.sim);
    net_destroy(run.world.net);
    nic_config_fini(&run.world.nic_now);
    nic_config_fini(&run.world.nic);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(planes_share_one_transfer, 0, 2 * (int)SIM_COUNT_OF(sizes)),
           CHECK_TEST(hash_keeps_a_queue_pair_in_one_plane),
           CHECK_TEST(off_makes_a_nic_of_each_port), CHECK_TEST(slow_memory_pauses_every_plane),
           CHECK_LOOP(paced_queue_pairs_keep_their_rate, 0, 2),
           CHECK_TEST(own_port_that_is_down_is_left_out_at_once),
           CHECK_LOOP(far_port_that_is_down_is_left_out_by_routing, 0, 2),
           CHECK_LOOP(threads_do_not_change_it, 0, (int)SIM_COUNT_OF(parts)),
           CHECK_TEST(unequal_planes_do_not_connect),
           CHECK_LOOP(parts_that_serve_one_port_are_refused, 0, 1))
