// SPDX-License-Identifier: Apache-2.0
// Goal: a transfer on an idle network takes exactly the time of its frames, to the picosecond, and
// the ideal time reported next to it is that time.
// Method: completion times of single transfers against a closed form written out here from the
// header sizes of the standards, over verbs, sizes, MTUs, hops and rates; then against the reported
// ideal where no short closed form exists (unequal rates, inexact rates, many messages). Lost
// packets and lost acknowledgements: the transfer still ends once, and QPs do not pile up.
// Does not pin: QP numbers, first PSNs, UDP source ports.
#include <string.h>

#include "apps/endpoints.h"
#include "net/link_state.h"
#include "tests/app_fixture.h"
#include "tests/check_main.h"
#include "tests/drop_next.h"

enum { ETHERNET_IP_UDP_BTH_ICRC = 14 + 20 + 8 + 12 + 4, ON_LINK = 8 + 4 + 12, GAP = 12, ACK = 62 };

typedef enum verb { WRITE, SEND, READ } verb_t;
static const char *const verb_names[] = {"write", "send", "read"};

// Bytes on the link of each frame of a message, and their sum.
typedef struct message_frames {
    uint64_t first;
    uint64_t sum;
} message_frames_t;

static uint64_t on_link(uint64_t frame_bytes)
{
    return (frame_bytes < 60 ? 60 : frame_bytes) + ON_LINK;
}

static message_frames_t frames_of(verb_t verb, uint64_t bytes, uint64_t mtu)
{
    const uint64_t extra_first = verb == WRITE ? 16 : verb == READ ? 4 : 0;
    const uint64_t extra_last = verb == READ ? 4 : 0;
    const uint64_t count = bytes == 0 ? 1 : (bytes + mtu - 1) / mtu;
    const uint64_t rest = bytes - (count - 1) * mtu;
    const uint64_t rest_padded = (rest + 3) / 4 * 4;
    if (count == 1) {
        const uint64_t only = on_link(ETHERNET_IP_UDP_BTH_ICRC + extra_first + rest_padded);
        return (message_frames_t){only, only};
    }
    const uint64_t first = on_link(ETHERNET_IP_UDP_BTH_ICRC + extra_first + mtu);
    const uint64_t middle = on_link(ETHERNET_IP_UDP_BTH_ICRC + mtu);
    const uint64_t last = on_link(ETHERNET_IP_UDP_BTH_ICRC + extra_last + rest_padded);
    return (message_frames_t){first, first + (count - 2) * middle + last};
}

// Returns the time one way over `hops` hops of one rate. The first frame is the largest and is
// stored and forwarded; the others follow without a gap. A frame has arrived with the last bit of
// its FCS, one gap before the transmitter is free again.
static sim_time_t one_way_ps(message_frames_t frames, uint64_t hops, uint64_t byte_ps,
                             sim_time_t delay_ps)
{
    return ((hops - 1) * frames.first + frames.sum) * byte_ps + hops * (delay_ps - GAP * byte_ps);
}

static sim_time_t transfer_ps(verb_t verb, uint64_t bytes, uint64_t mtu, uint64_t hops,
                              uint64_t byte_ps)
{
    const sim_time_t delay_ps = SIM_PS_PER_US;
    const uint64_t answer = verb == READ ? ETHERNET_IP_UDP_BTH_ICRC + 16 : ACK;
    const message_frames_t small = {on_link(answer), on_link(answer)};
    return one_way_ps(frames_of(verb, bytes, mtu), hops, byte_ps, delay_ps) +
           one_way_ps(small, hops, byte_ps, delay_ps);
}

typedef struct network {
    const char *topology;
    const char *settings;
    const char *from;
    const char *to;
    uint64_t hops;
    uint64_t byte_ps;
} network_t;

static const network_t networks[] = {
    {"pair", "rate=100Gbps", "host0", "host1", 1, 80},
    {"pair", "rate=25Gbps", "host1", "host0", 1, 320},
    {"star", "hosts=3; rate=400Gbps", "host2", "host0", 2, 20},
    {"dumbbell", "left=1; right=1", "host0", "host1", 3, 80},
    {"leaf-spine", "leaves=3; hosts-per-leaf=2", "host1", "host5", 4, 80},
    {"fat-tree", "k=4; rate=200Gbps", "host0", "host15", 6, 40},
    {"parking-lot", "switches=12; hosts-per-switch=1", "host0", "host11", 13, 80},
};
static const uint64_t mtus[] = {256, 1024, 4096};
static const uint64_t sizes[] = {1,    2,    4,    63,   255,  256,   257,    1023,
                                 1024, 1025, 4095, 4096, 4097, 65536, 1000003};

static void run_one(const network_t *network, verb_t verb, uint64_t mtu, uint64_t bytes)
{
    world_t world;
    world_init(&world);
    world.nic.mtu_bytes = mtu;
    world_build(&world, network->topology, network->settings);
    char list[256];
    snprintf(list, sizeof(list), "verb=%s; list=%s %s %" PRIu64 " 123456789ps", verb_names[verb],
             network->from, network->to, bytes);
    app_t *const app = world_app(&world, "flows", list);
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flow_count, 1);
    const app_flow_result_t *const flow = &world.flows[0];
    ck_assert_uint_eq(flow->start_ps, 123456789);
    ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
    ck_assert_uint_eq(flow->bytes, bytes);
    ck_assert_uint_eq(flow->retransmitted_packets, 0);
    const sim_time_t expected_ps = transfer_ps(verb, bytes, mtu, network->hops, network->byte_ps);
    ck_assert_msg(flow->end_ps - flow->start_ps == expected_ps,
                  "%s %s %s %" PRIu64 " bytes, MTU %" PRIu64 ": %" PRIu64 " ps, expected %" PRIu64,
                  network->topology, network->settings, verb_names[verb], bytes, mtu,
                  flow->end_ps - flow->start_ps, expected_ps);
    ck_assert_uint_eq(flow->ideal_ps, expected_ps);
    world_fini(&world);
}

START_TEST(idle_network_takes_the_closed_form)
{
    for (size_t m = 0; m < SIM_COUNT_OF(mtus); m++) {
        for (size_t s = 0; s < SIM_COUNT_OF(sizes); s++) {
            for (int verb = WRITE; verb <= READ; verb++) {
                run_one(&networks[_i], (verb_t)verb, mtus[m], sizes[s]);
            }
        }
    }
}
END_TEST

// -- against the reported ideal

static uint64_t odd_rate_bps;
static void tweak_rates(const char *a, const char *b, net_link_config_t *config)
{
    // Each link has a different rate: some have whole picoseconds per byte, others do not.
    static const uint64_t rates[] = {100, 40, 400, 25, 50, 10, 200};
    uint64_t hash = odd_rate_bps;
    for (const char *at = a; *at != '\0'; at++) {
        hash = hash * 31 + (unsigned char)*at;
    }
    for (const char *at = b; *at != '\0'; at++) {
        hash = hash * 31 + (unsigned char)*at;
    }
    config->rate_bps = rates[hash % SIM_COUNT_OF(rates)] * 1000000000 +
                       (odd_rate_bps != 0 && hash % 3 == 0 ? odd_rate_bps : 0);
    config->delay_ps = 1 + hash % 3000000;
}

START_TEST(unequal_rates_take_the_ideal_time)
{
    odd_rate_bps = (uint64_t)_i * 7777777;
    for (size_t s = 0; s < SIM_COUNT_OF(sizes); s++) {
        world_t world;
        world_init(&world);
        world.nic.mtu_bytes = mtus[s % SIM_COUNT_OF(mtus)];
        world.tweak_link = tweak_rates;
        world.options.seed = (uint64_t)_i * 100 + s;
        // Acknowledgements return over other links. An earlier one must not delay the last one.
        world.nic.ack_interval = 256;
        // Pauses and marks are not what is asked about.
        world.switch_config.pfc_enabled = false;
        world.switch_config.ecn_enabled = false;
        world_build(&world, "fat-tree", "k=4");
        char settings[128];
        snprintf(settings, sizeof(settings), "verb=%s; list=host0 host9 %" PRIu64 " 5us",
                 verb_names[s % 3], sizes[s]);
        app_t *const app = world_app(&world, "flows", settings);
        world_run(&world);
        world_flows(&world, app);
        const app_flow_result_t *const flow = &world.flows[0];
        ck_assert_msg(flow->end_ps - flow->start_ps == flow->ideal_ps,
                      "%s: took %" PRIu64 " ps, ideal %" PRIu64, settings,
                      flow->end_ps - flow->start_ps, flow->ideal_ps);
        world_fini(&world);
    }
}
END_TEST

// Gives links 128 or 125 ps per byte: the backlog behind the longer first frame is gone two frames
// later.
static void tweak_nearly_equal(const char *a, const char *b, net_link_config_t *config)
{
    (void)a;
    config->rate_bps = strcmp(b, "host0") == 0 ? UINT64_C(62500000000) : UINT64_C(64000000000);
}

START_TEST(a_backlog_that_drains_is_followed)
{
    world_t world;
    world_init(&world);
    world.nic.mtu_bytes = 256;
    world.tweak_link = tweak_nearly_equal;
    world_build(&world, "star", "hosts=2");
    app_t *const app = world_app(&world, "flows", "list=host0 host1 100KB 5us");
    world_run(&world);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flows[0].end_ps - world.flows[0].start_ps, world.flows[0].ideal_ps);
    world_fini(&world);
}
END_TEST

START_TEST(messages_back_to_back_take_the_ideal_time)
{
    static const char *const shapes[] = {
        "verb=write; messages=5; list=host0 host3 100KB 0us",
        "verb=write; messages=1000; depth=1000; list=host0 host3 64 1us",
        "verb=send; messages=300; depth=300; list=host0 host3 4097 1us",
        "verb=send; messages=7; depth=7; list=host0 host3 1MB 1us",
        "verb=read; messages=4; list=host0 host3 300KB 1us",
        "verb=write; messages=2; list=host0 host3 16MB 0us",
    };
    world_t world;
    world_init(&world);
    world_build(&world, "leaf-spine", "leaves=2; hosts-per-leaf=2");
    app_t *const app = world_app(&world, "flows", shapes[_i]);
    world_run(&world);
    world_flows(&world, app);
    ck_assert_msg(world.flows[0].end_ps - world.flows[0].start_ps == world.flows[0].ideal_ps,
                  "%s: took %" PRIu64 " ps, ideal %" PRIu64, shapes[_i],
                  world.flows[0].end_ps - world.flows[0].start_ps, world.flows[0].ideal_ps);
    world_fini(&world);
}
END_TEST

// Addresses of IPv6 make every frame 20 bytes longer, tags of 802.1Q 4 bytes.
START_TEST(longer_headers_take_longer)
{
    sim_time_t took_ps[4];
    for (int i = 0; i < 4; i++) {
        world_t world;
        world_init(&world);
        world.net_config.ipv6 = (i & 1) != 0;
        world.net_config.tagged = (i & 2) != 0;
        world.nic.mtu_bytes = 1024;
        world_build(&world, "pair", "");
        app_t *const app = world_app(&world, "flows", "list=host0 host1 10240 1us");
        world_run(&world);
        world_flows(&world, app);
        took_ps[i] = world.flows[0].end_ps - world.flows[0].start_ps;
        ck_assert_uint_eq(took_ps[i], world.flows[0].ideal_ps);
        world_fini(&world);
    }
    // Ten data frames and one ACK are 20 bytes longer each, at 80 ps per byte.
    ck_assert_uint_eq(took_ps[1] - took_ps[0], 11 * 20 * 80);
    ck_assert_uint_eq(took_ps[2] - took_ps[0], 11 * 4 * 80);
    ck_assert_uint_eq(took_ps[3] - took_ps[0], 11 * 24 * 80);
}
END_TEST

START_TEST(ends_of_different_mtu_use_the_smaller)
{
    world_t world;
    world_init(&world);
    world.nic.mtu_bytes = 4096;
    world_begin(&world);
    topo_plan_t plan = world_plan(&world);
    nic_config_t small;
    nic_config_copy(&small, &world.nic);
    small.mtu_bytes = 512;
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    link.rate_bps = UINT64_C(100000000000);
    link.delay_ps = SIM_PS_PER_US;
    net_node_t *const a = nic_host_create(plan.net, "a", &world.nic);
    net_node_t *const b = nic_host_create(plan.net, "b", &small);
    net_link_add(plan.net, a, b, &link);
    world_complete(&world);
    app_t *const app = world_app(&world, "flows", "list=[a b 10KB 1us, b a 10KB 1ms]");
    world_run(&world);
    world_flows(&world, app);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(world.flows[i].end_ps - world.flows[i].start_ps,
                          transfer_ps(WRITE, 10000, 512, 1, 80));
    }
    sim_attrs_fini(&net_link_config_attrs, &link);
    nic_config_fini(&small);
    world_fini(&world);
}
END_TEST

// -- losses

static uint64_t qps_live(const world_t *world)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < net_interface_count(world->net); i++) {
        live += nic_get_counters(nic_of_interface(world->net, i))->qps_live;
    }
    return live;
}

// Each packet in turn is lost, in either direction: data, then acknowledgements. The transfer ends
// once, later than ideally. It also ends if its last acknowledgement is lost and later flows have
// made the receiver forget the QP.
START_TEST(a_lost_packet_costs_time_only)
{
    const bool of_data = _i % 2 == 0;
    const uint64_t which = (uint64_t)_i / 2 + 1;
    for (int verb = WRITE; verb <= READ; verb++) {
        world_t world;
        world_init(&world);
        world.nic.mtu_bytes = 1024;
        world.nic.ack_interval = 1;
        world_build(&world, "star", "hosts=3");
        char settings[512];
        snprintf(settings, sizeof(settings),
                 "verb=%s; list=[host0 host1 3000 1us, host2 host1 1 10us, host2 host1 1 20us, "
                 "host2 host1 1 30us, host2 host1 1 40us]",
                 verb_names[verb]);
        app_t *const app = world_app(&world, "flows", settings);
        net_port_t *const port =
            net_interface_port(world.net, world_interface(&world, of_data ? "host0" : "host1", 0));
        test_drop_next(port, which);
        world_run(&world);
        ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
        world_flows(&world, app);
        ck_assert_uint_eq(world.flow_count, 5);
        uint64_t late = 0;
        for (size_t i = 0; i < world.flow_count; i++) {
            const app_flow_result_t *const flow = &world.flows[i];
            ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
            ck_assert_uint_ne(flow->end_ps, SIM_TIME_NEVER);
            ck_assert_uint_ge(flow->end_ps - flow->start_ps, flow->ideal_ps);
            late += flow->end_ps - flow->start_ps > flow->ideal_ps;
        }
        // The loss of the first of three ACKs costs nothing: the second acknowledges the same
        // packets.
        ck_assert_uint_le(late, 1);
        if (of_data && which == 1) {
            ck_assert_uint_eq(late, 1);
        }
        world_fini(&world);
    }
}
END_TEST

// QPs exist for the transfers that are under way, not for all that will come.
START_TEST(qps_are_bounded_by_live_transfers)
{
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=3; rate=100Gbps");
    app_t *const app =
        world_app(&world, "incast", "to=host0; bytes=4096; every=50us; stop=50ms; verb=send");
    world_run(&world);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flow_count, 2 * 1000);
    const nic_counters_t *const receiver = nic_get_counters(nic_of_interface(world.net, 0));
    const nic_counters_t *const sender = nic_get_counters(nic_of_interface(world.net, 1));
    ck_assert_uint_eq(receiver->qps_created, 2000);
    ck_assert_uint_le(receiver->qps_peak, 8);
    ck_assert_uint_eq(sender->qps_created, 1000);
    ck_assert_uint_eq(sender->qps_peak, 1);
    ck_assert_uint_le(qps_live(&world), 8);
    world_fini(&world);
}
END_TEST

// -- QP numbers

static sim_time_t never(const void *owner, uint32_t interface, uint64_t offset)
{
    (void)owner;
    (void)interface;
    (void)offset;
    return SIM_TIME_NEVER;
}

// Numbers end at 0xfffffe and begin again at 2.
START_TEST(qp_numbers_come_round)
{
    static const app__range_ops_t nobody = {.passive_from_ps = never};
    ck_assert_uint_eq(app__qp_number(0), 2);
    ck_assert_uint_eq(app__qp_number(0xfffffc), 0xfffffe);
    ck_assert_uint_eq(app__qp_number(0xfffffd), 2);
    world_t world;
    world_init(&world);
    world_build(&world, "star", "hosts=3");
    for (uint32_t i = 0; i < 3; i++) {
        app__reserve_qps(app__endpoint_of(world.runtime, i), &nobody, &world, 0xfffffa + i);
    }
    app_t *const first = world_app(&world, "all-to-all", "bytes=5KB; verb=send");
    app_t *const second = world_app(&world, "all-to-all", "bytes=5KB; start=50us; verb=read");
    // The numbers of the first two flows, which have gone or are finished, are used again.
    for (uint32_t i = 0; i < 3; i++) {
        app__reserve_qps(app__endpoint_of(world.runtime, i), &nobody, &world, 0xfffffd - 8);
    }
    app_t *const third = world_app(&world, "all-to-all", "bytes=5KB; start=100us; verb=send");
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
    ck_assert_double_eq(world_value(first, "transfers_completed"), 6.0);
    ck_assert_double_eq(world_value(second, "transfers_completed"), 6.0);
    ck_assert_double_eq(world_value(third, "transfers_completed"), 6.0);
    world_fini(&world);
}
END_TEST

// If a peer is never reached, the transfer fails with the standard's status and the run ends.
START_TEST(a_dead_link_fails_the_transfer)
{
    world_t world;
    world_init(&world);
    world_begin(&world);
    topo_plan_t plan = world_plan(&world);
    net_link_config_t link;
    sim_attrs_default(&net_link_config_attrs, &link);
    net_node_t *const a = nic_host_create(plan.net, "a", &world.nic);
    net_node_t *const b = nic_host_create(plan.net, "b", &world.nic);
    const uint32_t cable = net_link_add(plan.net, a, b, &link);
    net_link_change_at(plan.net, cable, 10 * SIM_PS_PER_US, false);
    world_complete(&world);
    app_t *const app = world_app(&world, "flows", "messages=40; list=a b 1MB 1us");
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
    world_flows(&world, app);
    ck_assert_int_eq(world.flows[0].status, NIC_WC_RETRY_EXC_ERR);
    ck_assert_uint_eq(world.flows[0].end_ps, SIM_TIME_NEVER);
    ck_assert_uint_gt(world.flows[0].retransmitted_packets, 0);
    ck_assert_double_eq(world_value(app, "transfers_failed"), 1.0);
    ck_assert_double_eq(world_value(app, "transfers_completed"), 0.0);
    sim_attrs_fini(&net_link_config_attrs, &link);
    world_fini(&world);
}
END_TEST

// A transfer that has begun and does not end is outstanding work: the time limit ends the run.
START_TEST(an_unfinished_transfer_is_reported)
{
    world_t world;
    world_init(&world);
    world.options.until_ps = 50 * SIM_PS_PER_US;
    world_build(&world, "pair", "");
    app_t *const app = world_app(
        &world, "flows", "list=[host0 host1 10MB 1us, host1 host0 1KB 1us, host0 host1 1 1s]");
    world_run(&world);
    ck_assert_int_eq(world.ended, SIM_ENDED_UNTIL);
    ck_assert_uint_eq(sim_work_outstanding(world.sim), 1);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flows[0].end_ps, SIM_TIME_NEVER);
    ck_assert_uint_ne(world.flows[1].end_ps, SIM_TIME_NEVER);
    ck_assert_uint_eq(world.flows[2].end_ps, SIM_TIME_NEVER);
    uint64_t done = 0;
    uint64_t planned = 0;
    app->ops->progress(app, &done, &planned);
    ck_assert_uint_eq(done, 1);
    ck_assert_uint_eq(planned, 3);
    ck_assert_double_eq(world_value(app, "transfers_started"), 2.0);
    world_fini(&world);
}
END_TEST

// After `stop` no message is posted. Messages posted before it complete and count for the flow.
START_TEST(stop_ends_a_transfer_with_what_is_posted)
{
    static const char *const kinds[][2] = {
        {"flows", "messages=1000; depth=%d; verb=%s; stop=20us; list=host0 host1 64KB 1us"},
        {"permutation", "messages=1000; depth=%d; verb=%s; stop=20us; bytes=64KB; start=1us"},
        {"all-to-all", "messages=1000; depth=%d; verb=%s; stop=20us; bytes=64KB; start=1us"},
    };
    const int depths[] = {1, 3, 16};
    for (size_t i = 0; i < SIM_COUNT_OF(depths); i++) {
        world_t world;
        world_init(&world);
        world_build(&world, "pair", "rate=100Gbps");
        char settings[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(settings, sizeof(settings), kinds[_i / 3][1], depths[i], verb_names[_i % 3]);
#pragma GCC diagnostic pop
        app_t *const app = world_app(&world, kinds[_i / 3][0], settings);
        world_run(&world);
        ck_assert_int_eq(world.ended, SIM_ENDED_DONE);
        world_flows(&world, app);
        ck_assert_uint_eq(world.flow_count, _i / 3 == 0 ? 1 : 2);
        for (size_t f = 0; f < world.flow_count; f++) {
            const app_flow_result_t *const flow = &world.flows[f];
            ck_assert_int_eq(flow->status, NIC_WC_SUCCESS);
            ck_assert_uint_eq(flow->bytes % 64000, 0);
            ck_assert_uint_gt(flow->bytes, 64000);
            ck_assert_uint_gt(flow->end_ps, 20 * SIM_PS_PER_US);
            ck_assert_uint_ge(flow->end_ps - flow->start_ps, flow->ideal_ps);
            // The last message was posted before 20 us, with `depth` outstanding: 64 KB take 5.3
            // us.
            const sim_time_t left_ps = (sim_time_t)depths[i] * 5300000 + 3 * SIM_PS_PER_US;
            ck_assert_uint_lt(flow->end_ps, 20 * SIM_PS_PER_US + left_ps);
        }
        ck_assert_double_eq(world_value(app, "completed_bytes"),
                            (double)(world.flows[0].bytes * world.flow_count));
        const net_port_t *const port = net_interface_port(world.net, 0);
        if (_i % 3 != READ && _i / 3 == 0) {
            ck_assert_uint_ge(port->classes[3]->tx_bytes, world.flows[0].bytes);
            ck_assert_uint_lt(port->classes[3]->tx_bytes, world.flows[0].bytes + 64000);
        }
        world_fini(&world);
    }
}
END_TEST

// A message of several pieces that has begun is posted to its end.
START_TEST(stop_does_not_cut_a_message)
{
    world_t world;
    world_init(&world);
    world_build(&world, "pair", "rate=100Tbps");
    app_t *const app = world_app(&world, "flows",
                                 "messages=3; depth=1; stop=2us; list=[host0 host1 3GiB 1us, "
                                 "host1 host0 1KB 2us, host1 host0 1KB 1999999ps]");
    world_run(&world);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flow_count, 2); // one would start at the stop
    ck_assert_uint_eq(world.flows[0].bytes, UINT64_C(3) << 30);
    ck_assert_int_eq(world.flows[0].status, NIC_WC_SUCCESS);
    world_fini(&world);
}
END_TEST

// Priority and DSCP reach the wire: the bytes are counted in the class.
START_TEST(priority_reaches_the_wire)
{
    world_t world;
    world_init(&world);
    world_build(&world, "pair", "");
    app_t *const app = world_app(&world, "flows",
                                 "priority=2; list=[host0 host1 1000 1us, host0 host1 1000 9us 6]");
    world_run(&world);
    world_flows(&world, app);
    ck_assert_uint_eq(world.flows[0].priority, 2);
    ck_assert_uint_eq(world.flows[1].priority, 6);
    const net_port_t *const port = net_interface_port(world.net, 0);
    ck_assert_uint_eq(port->classes[2]->tx_packets, 1);
    ck_assert_uint_eq(port->classes[6]->tx_packets, 1);
    world_fini(&world);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(idle_network_takes_the_closed_form, 0, (int)SIM_COUNT_OF(networks)),
           CHECK_LOOP(unequal_rates_take_the_ideal_time, 0, 8),
           CHECK_TEST(a_backlog_that_drains_is_followed),
           CHECK_LOOP(messages_back_to_back_take_the_ideal_time, 0, 6),
           CHECK_TEST(longer_headers_take_longer),
           CHECK_TEST(ends_of_different_mtu_use_the_smaller),
           CHECK_LOOP(a_lost_packet_costs_time_only, 0, 10),
           CHECK_TEST(qps_are_bounded_by_live_transfers), CHECK_TEST(qp_numbers_come_round),
           CHECK_TEST(a_dead_link_fails_the_transfer),
           CHECK_TEST(an_unfinished_transfer_is_reported),
           CHECK_LOOP(stop_ends_a_transfer_with_what_is_posted, 0, 9),
           CHECK_TEST(stop_does_not_cut_a_message), CHECK_TEST(priority_reaches_the_wire))
