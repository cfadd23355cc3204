// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_whole_ns.c - links and paths as in the HPCC project's simulator.
//
// Goal: times are cut to whole nanoseconds as ns-3 cuts them; frames take only their own bytes;
// pauses last until a resume; the hash of paths is murmur3 of the simulator's addresses and ports,
// other for answers; equal paths come in the order of its search.
// Method: numbers worked out by hand, or by an independent implementation of the hash that was
// checked against its published vectors.
// Not pinned: which of two flows is better off.
#include "compat/hpcc/hpcc_internal.h"
#include "net/switch_model.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

START_TEST(times_are_cut)
{
    static const struct {
        uint64_t bytes;
        uint64_t gbps;
        uint64_t ns;
    } times[] = {
        {1048, 100, 83},                 // 83.84
        {60, 100, 4},                    // 4.8
        {43, 100, 3},                    // 3.44
        {1090, 100, 87},                 // 87.2
        {1048, 25, 335},                 // 335.36
        {1048, 400, 20},                 // 20.96
        {1250, 100, 99},                 // 100: but 1e-7 as a double is less
        {2500, 100, 199}, {125, 1, 999}, // 1 us likewise
        {1500, 1, 11999},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(times); i++) {
        const sim_time_t time_ps =
            compat_hpcc_time_ps(times[i].bytes, times[i].gbps * FIXTURE_GBPS);
        ck_assert_msg(time_ps == times[i].ns * SIM_PS_PER_NS, "%lu bytes at %lu Gbps: %lu ps",
                      (unsigned long)times[i].bytes, (unsigned long)times[i].gbps,
                      (unsigned long)time_ps);
    }
    ck_assert_uint_eq(compat_hpcc_time_ps(250000000, FIXTURE_GBPS), 2 * SIM_PS_PER_S);
}
END_TEST

static fixture_options_t peer_options(void)
{
    static compat_hpcc_config_t hpcc;
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    hpcc.pause_expires = false;
    hpcc.ecmp_port = 100;
    fixture_options_t options = {.seed = 1,
                                 .until_ps = 10 * SIM_PS_PER_MS,
                                 .net = fixture_net_config(),
                                 .hpcc = &hpcc};
    options.net.framing = (sim_name_t){"hpcc"};
    options.net.timing = (sim_name_t){"hpcc"};
    options.net.balance = (sim_name_t){"hpcc"};
    options.net.routes = (sim_name_t){"hpcc"};
    return options;
}

// Hosts a and b on one link.
static void cable(fixture_t *fixture, uint64_t rate_bps)
{
    const fixture_options_t options = peer_options();
    fixture_create(fixture, &options);
    fixture_host_t *const a = fixture_host(fixture, "a");
    fixture_host_t *const b = fixture_host(fixture, "b");
    fixture_link(fixture, &a->node, &b->node, rate_bps, SIM_PS_PER_US);
}

// Ports may take a shorter way to the same times.
START_TEST(ports_agree)
{
    const uint64_t gbps[] = {1, 3, 10, 25, 40, 50, 100, 200, 400, 800};
    for (size_t r = 0; r < SIM_COUNT_OF(gbps); r++) {
        fixture_t fixture;
        cable(&fixture, gbps[r] * FIXTURE_GBPS);
        fixture_build(&fixture);
        uint32_t differing = 0;
        for (uint32_t bytes = 1; bytes <= 10000; bytes++) {
            differing += net_port_frame_time_ps(&fixture.hosts[0]->node.ports[0], bytes) !=
                         compat_hpcc_time_ps(bytes, gbps[r] * FIXTURE_GBPS);
        }
        ck_assert_uint_eq(differing, 0);
        fixture_destroy(&fixture);
    }
}
END_TEST

START_TEST(frames_follow_each_other_without_gaps)
{
    fixture_t fixture;
    cable(&fixture, 100 * FIXTURE_GBPS);
    fixture_host_t *const a = fixture.hosts[0];
    fixture_host_t *const b = fixture.hosts[1];
    b->keep = true;
    fixture_flow(
        a, &(fixture_flow_t){.to = 1, .count = 5, .frame_bytes = 1048, .start_ps = SIM_PS_PER_NS});
    fixture_build(&fixture);
    ck_assert_uint_eq(net_port_frame_time_ps(&a->node.ports[0], 1048), 83 * SIM_PS_PER_NS);
    fixture_run(&fixture);
    ck_assert_uint_eq(b->arrival_count, 5);
    for (uint64_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(b->arrivals[i].time_ps, (1001 + 83 * (i + 1)) * SIM_PS_PER_NS);
    }
    fixture_destroy(&fixture);
}
END_TEST

// 65535 quanta are 336 us at this rate; the pause ends only with the resume 2 ms later.
START_TEST(pauses_last)
{
    fixture_t fixture;
    cable(&fixture, 100 * FIXTURE_GBPS);
    fixture_host_t *const a = fixture.hosts[0];
    fixture_host_t *const b = fixture.hosts[1];
    fixture_pause(b, SIM_PS_PER_US, 1u << FIXTURE_CLASS, 65535);
    fixture_pause(b, 2 * SIM_PS_PER_MS, 1u << FIXTURE_CLASS, 0);
    b->keep = true;
    fixture_flow(a, &(fixture_flow_t){.to = 1,
                                      .count = 1,
                                      .priority = FIXTURE_CLASS,
                                      .start_ps = 10 * SIM_PS_PER_US});
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_uint_eq(b->arrival_count, 1);
    ck_assert_uint_gt(b->arrivals[0].time_ps, 2 * SIM_PS_PER_MS);
    ck_assert_uint_lt(b->arrivals[0].time_ps, 2 * SIM_PS_PER_MS + 5 * SIM_PS_PER_US);
    fixture_destroy(&fixture);
}
END_TEST

// Returns the path of a flow by the compat balancer. For count UINT32_MAX it is the hash itself,
// except for one value.
static uint32_t path_of_flow(const net_switch_t *sw, uint32_t source, uint32_t destination,
                             uint32_t flow_hash, uint32_t count)
{
    return compat__hpcc_balance.path(sw, source, destination, flow_hash, count);
}

START_TEST(the_hash_is_murmur3)
{
    const fixture_options_t options = peer_options();
    fixture_t fixture;
    fixture_create(&fixture, &options);
    fixture_host_t *hosts[36];
    net_node_t *sw = NULL;
    for (uint32_t i = 0; i < SIM_COUNT_OF(hosts); i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "h%u", i);
        hosts[i] = fixture_host(&fixture, name);
    }
    sw = fixture_switch(&fixture, "sw", NULL);
    for (uint32_t i = 0; i < SIM_COUNT_OF(hosts); i++) {
        fixture_link(&fixture, &hosts[i]->node, sw, 100 * FIXTURE_GBPS, SIM_PS_PER_US);
    }
    fixture_build(&fixture);
    // The flow goes from 11.0.0.1 to 11.0.1.1, ports 10000 and 100, in a switch that is node 2;
    // then back.
    const uint32_t hash = net_flow_hash(fixture.net, 0, 1, 10000);
    net_switch_t *const model = net_switch_of(sw);
    model->ecmp_seed = 2;
    ck_assert_uint_eq(path_of_flow(model, 0, 1, hash, UINT32_MAX), 0x08f94696);
    model->ecmp_seed = 128;
    ck_assert_uint_eq(path_of_flow(model, 0, 35, hash, UINT32_MAX), 0xe345467b);
    model->ecmp_seed = 2;
    const net_packet_t data = {.source = 0,
                               .destination = 1,
                               .flow_hash = hash,
                               .opcode = ROCE_WRITE_MIDDLE};
    const net_packet_t ack = {.source = 1,
                              .destination = 0,
                              .flow_hash = hash,
                              .opcode = ROCE_ACKNOWLEDGE};
    ck_assert_uint_eq(compat__hpcc_hash(model, &data), 0x08f94696);
    ck_assert_uint_eq(compat__hpcc_hash(model, &ack), 0x0fb44c7c);
    fixture_run(&fixture);
    fixture_destroy(&fixture);
}
END_TEST

// With two leaves and four spines, a flow takes the spine number murmur3 mod 4; the last one made
// has number 0.
START_TEST(the_last_made_path_is_first)
{
    const fixture_options_t options = peer_options();
    fixture_t fixture;
    fixture_create(&fixture, &options);
    fixture_host_t *const x = fixture_host(&fixture, "x");
    fixture_host_t *const y = fixture_host(&fixture, "y");
    net_node_t *const leaf_x = fixture_switch(&fixture, "leaf-x", NULL);
    net_node_t *const leaf_y = fixture_switch(&fixture, "leaf-y", NULL);
    net_node_t *spines[4];
    fixture_link(&fixture, &x->node, leaf_x, 100 * FIXTURE_GBPS, SIM_PS_PER_US);
    fixture_link(&fixture, &y->node, leaf_y, 100 * FIXTURE_GBPS, SIM_PS_PER_US);
    for (uint32_t s = 0; s < 4; s++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "spine%u", s);
        spines[s] = fixture_switch(&fixture, name, NULL);
    }
    // The order in which links were made does not matter.
    for (uint32_t s = 0; s < 4; s++) {
        fixture_link(&fixture, leaf_x, spines[(s + 2) % 4], 100 * FIXTURE_GBPS, SIM_PS_PER_US);
        fixture_link(&fixture, leaf_y, spines[s], 100 * FIXTURE_GBPS, SIM_PS_PER_US);
    }
    fixture_build(&fixture);
    uint32_t used = 0;
    for (uint16_t port = 10000; port < 10040; port++) {
        const uint32_t hash = net_flow_hash(fixture.net, 0, 1, port);
        const uint32_t turn = path_of_flow(net_switch_of(leaf_x), 0, 1, hash, 4);
        net_path_t path;
        ck_assert(net_path_of(fixture.net, 0, 1, hash, &path));
        ck_assert_ptr_eq(path.ports[1]->peer->node, spines[3 - turn]);
        used |= 1u << turn;
    }
    ck_assert_uint_eq(used, 15);
    fixture_run(&fixture);
    fixture_destroy(&fixture);
}
END_TEST

CHECK_MAIN(CHECK_TEST(times_are_cut), CHECK_TEST(ports_agree),
           CHECK_TEST(frames_follow_each_other_without_gaps), CHECK_TEST(pauses_last),
           CHECK_TEST(the_hash_is_murmur3), CHECK_TEST(the_last_made_path_is_first))
