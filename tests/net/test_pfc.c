// SPDX-License-Identifier: Apache-2.0
// labels: threads
// threads: threads_do_not_change_the_digest
// tests/net/test_pfc.c - priority flow control between switches and their peers: nothing is lost.
//
// Goal: with the computed headroom a lossless class never drops, whatever the rate, the cable and
// the frames, and the bound is no larger than it must be; XOFF and XON come where the thresholds
// say; pauses are refreshed, counted, obeyed at the next frame; congestion spreads hop by hop.
// Method: the worst case is made on purpose (a blocked egress, the pause frame behind the largest
// frame, the peer as slow as the standard allows and at the start of a frame) and its use of
// headroom compared with the bound; incasts of 64; less headroom must drop.
// Not pinned: the number of pause frames, deadlocks in cyclic topologies, real NICs.
#include <math.h>

#include "net/frame_opcodes.h"
#include "net/link_state.h"
#include "net/nodes.h"
#include "net/port_pause.h"
#include "net/switch_model.h"

#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define DELAY_PS SIM_PS_PER_US
#define RATE_BPS (100 * FIXTURE_GBPS)

// Returns the time to obey a pause by IEEE 802.3 31B.3.7, in quanta of 64 bytes.
static uint64_t response_quanta(uint64_t gbps)
{
    return gbps <= 1     ? 2
           : gbps <= 10  ? 67
           : gbps <= 25  ? 80
           : gbps <= 40  ? 118
           : gbps <= 50  ? 147
           : gbps <= 100 ? 394
           : gbps <= 200 ? 453
                         : 905;
}

static const net_port_t *switch_port(const fixture_t *fixture, uint32_t host)
{
    return fixture_port(net_node_find(fixture->net, "switch"), &fixture->hosts[host]->node);
}

static uint64_t sum_drops(const net_node_t *node)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < node->port_count; p++) {
        for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
            sum += node->ports[p].rare->drops[r];
        }
    }
    return sum;
}

// -- headroom: the worst case

typedef struct most {
    const net_node_t *sw;
    uint64_t bytes;
} most_t;

static void note_most(const net_trace_t *trace, void *ctx)
{
    most_t *const most = ctx;
    (void)trace;
    const uint64_t bytes = fixture_ingress_bytes(most->sw, 0, FIXTURE_CLASS);
    most->bytes = bytes > most->bytes ? bytes : most->bytes;
}

// Returns the headroom used when host 0 sends to host 1, which has stopped the class for good,
// while the largest frames go the other way. Threshold and reserve are 0: all bytes held are
// headroom.
static uint64_t headroom_used(uint64_t gbps, sim_time_t delay_ps, uint32_t frame_bytes,
                              sim_time_t offset_ps)
{
    const uint64_t rate_bps = gbps * FIXTURE_GBPS;
    const fixture_options_t options = {
        .seed = 1,
        .until_ps = 4 * delay_ps + 50 * SIM_PS_PER_US,
        .net = fixture_net_config(),
    };
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = UINT64_C(4000000000);
    config.pfc_threshold_bytes = 0;
    config.pfc_reserved_bytes = 0;
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(rate_bps, delay_ps);
    net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
    fixture_host_t *const sender = fixture.hosts[0];
    sender->response_ps = fixture_bytes_ps(response_quanta(gbps) * 64, rate_bps);
    const sim_time_t blocked_ps = delay_ps + SIM_PS_PER_US;
    for (uint64_t i = 0; i < 20; i++) {
        fixture_pause(fixture.hosts[1], 1 + i * (delay_ps / 2 + SIM_PS_PER_US), 8, 65535);
    }
    fixture_flow(fixture.hosts[2],
                 &(fixture_flow_t){.to = 0, .frame_bytes = NET_FRAME_BYTES_QUANTUM});
    fixture_flow(sender, &(fixture_flow_t){.to = 1,
                                           .frame_bytes = frame_bytes,
                                           .priority = FIXTURE_CLASS,
                                           .start_ps = blocked_ps + offset_ps});
    fixture_build(&fixture);
    ck_assert(sw->ports[0].lossless_guaranteed);
    most_t most = {.sw = sw};
    net_port_listen(&sw->ports[1], NET_TRACE_ENQUEUE, note_most, &most);
    fixture_run(&fixture);
    ck_assert_uint_eq(sum_drops(sw), 0);
    fixture_destroy(&fixture);
    return most.bytes;
}

static const struct {
    uint64_t gbps;
    sim_time_t delay_ps;
} cables[] = {
    {10, 5000},      {25, 1000000},  {40, 1000000},  {100, 5000},    {100, 1000000},
    {100, 50000000}, {200, 2000000}, {400, 1000000}, {800, 1000000},
};

START_TEST(headroom_is_enough_and_not_too_much)
{
    static const uint32_t sizes[] = {60, 314, 570, 1082, 2106, 4154, 4400};
    const uint64_t gbps = cables[_i].gbps;
    const uint64_t rate_bps = gbps * FIXTURE_GBPS;
    const uint64_t computed = net_switch_headroom_bytes(
        rate_bps, cables[_i].delay_ps, fixture_bytes_ps(response_quanta(gbps) * 64, rate_bps),
        NET_FRAME_BYTES_QUANTUM);
    for (size_t s = 0; s < SIM_COUNT_OF(sizes); s++) {
        uint64_t worst = 0;
        // Offsets cover every phase between the two directions.
        const sim_time_t cycle_ps = fixture_bytes_ps(4424, rate_bps);
        for (uint64_t step = 0; step < 24; step++) {
            const uint64_t used =
                headroom_used(gbps, cables[_i].delay_ps, sizes[s], cycle_ps * step / 24);
            worst = used > worst ? used : worst;
        }
        printf("headroom at %3lu Gbps, %5.2f us, frames of %4u: used %8lu of %8lu, %.1f %%\n",
               (unsigned long)gbps, (double)cables[_i].delay_ps / 1e6, sizes[s],
               (unsigned long)worst, (unsigned long)computed,
               100.0 * (double)worst / (double)computed);
        ck_assert_uint_le(worst, computed);
        // The use reaches the bound, except for the standard's largest frame and the phase: one
        // frame of that size, a twelfth of a cycle each way, and the preamble, FCS and gap that
        // take time but no buffer.
        const double share = sizes[s] / (double)(sizes[s] + 24);
        const double slack = 2.0 * (4424 - sizes[s]) + 4424.0 / 6 + 2 * 24 + 84 + sizes[s];
        ck_assert_double_ge((double)worst, share * ((double)computed - slack) - sizes[s]);
    }
}
END_TEST

// -- headroom: incast

// Sends from 64 hosts, 10 km away, to one port. Returns how many packets the switch dropped.
static uint64_t run_incast(uint32_t mtu, uint64_t headroom_bytes, uint64_t *pauses)
{
    enum { SENDERS = 64 };
    const uint32_t frame_bytes = net_frame_bytes(ROCE_UC | ROCE_SEND_ONLY, mtu, false, false);
    const net_link_config_t link = fixture_link_config(RATE_BPS, 50 * SIM_PS_PER_US);
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 100000000;
    config.pfc_headroom_bytes = headroom_bytes;
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const sw = fixture_star(&fixture, &config, SENDERS, &link);
    for (uint32_t i = 0; i < SENDERS; i++) {
        fixture.hosts[i]->response_ps = fixture_bytes_ps(394 * 64, RATE_BPS);
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = SENDERS,
                                                         .count = 2500000 / frame_bytes,
                                                         .frame_bytes = frame_bytes,
                                                         .priority = FIXTURE_CLASS});
    }
    fixture_build(&fixture);
    sim_message_t message = {.text = ""};
    ck_assert_msg(net_switch_check(sw, &message) == SIM_OK, "%s", message.text);
    fixture_run(&fixture);
    ck_assert_int_eq(fixture.ended, SIM_ENDED_DONE);
    const uint64_t drops = sum_drops(sw);
    ck_assert_uint_eq(fixture.hosts[SENDERS]->received + drops,
                      (uint64_t)SENDERS * (2500000 / frame_bytes));
    ck_assert_uint_eq(net_switch_buffer_bytes(sw), 0);
    *pauses = 0;
    for (uint32_t i = 0; i < SENDERS; i++) {
        *pauses += sw->ports[i].rare->pauses[FIXTURE_CLASS].tx_pause;
        ck_assert_uint_eq(sw->ports[i].rare->drops[NET_DROP_EGRESS_FULL], 0);
    }
    fixture_destroy(&fixture);
    return drops;
}

START_TEST(incast_over_long_cables_drops_nothing)
{
    uint64_t pauses = 0;
    ck_assert_uint_eq(run_incast(256u << _i, SIM_AUTO, &pauses), 0);
    ck_assert_uint_ge(pauses, 64);
}
END_TEST

START_TEST(too_little_headroom_drops)
{
    uint64_t pauses = 0;
    const uint64_t needed =
        net_switch_headroom_bytes(RATE_BPS, 50 * SIM_PS_PER_US,
                                  fixture_bytes_ps(394 * 64, RATE_BPS), NET_FRAME_BYTES_QUANTUM);
    ck_assert_uint_gt(run_incast(1024, needed * 9 / 10, &pauses), 0);
    ck_assert_uint_gt(run_incast(1024, needed / 2, &pauses), 1000);
}
END_TEST

// A switch without headroom still pauses its peers and drops packets, and the run ends.
START_TEST(no_headroom_still_pauses)
{
    uint64_t pauses = 0;
    ck_assert_uint_gt(run_incast(1024, 0, &pauses), 1000);
    ck_assert_uint_ge(pauses, 64);
}
END_TEST

// If no byte may be held, no departure would ever release a paused peer, so none is paused.
START_TEST(no_buffer_at_all_is_no_deadlock)
{
    net_switch_config_t config = fixture_switch_config();
    config.pfc_threshold_bytes = 0;
    config.pfc_reserved_bytes = 0;
    config.pfc_headroom_bytes = 0;
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
    for (uint32_t i = 0; i < 2; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = 2, .count = 1000, .priority = FIXTURE_CLASS});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_int_eq(fixture.ended, SIM_ENDED_DONE);
    ck_assert_uint_eq(fixture.hosts[2]->received + sum_drops(sw), 2000);
    ck_assert_uint_ge(fixture.hosts[2]->received, 1000);
    fixture_destroy(&fixture);
}
END_TEST

// -- headroom that ports share

// Pauses the receiver of four senders for good and returns the drops. The threshold and the reserve
// are 0: all bytes held are headroom. *frames is the maximum number of frames held.
static uint64_t run_pool(uint64_t pool_bytes, uint64_t *frames)
{
    enum { SENDERS = 4, FRAME_BYTES = 1000 };
    const fixture_options_t options = {
        .seed = 1,
        .until_ps = 200 * SIM_PS_PER_US,
        .net = fixture_net_config(),
    };
    net_switch_config_t config = fixture_switch_config();
    config.pfc_threshold_bytes = 0;
    config.pfc_reserved_bytes = 0;
    config.headroom_pool_bytes = pool_bytes;
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *const sw = fixture_star(&fixture, &config, SENDERS, &link);
    fixture_pause(fixture.hosts[SENDERS], 1, 1u << FIXTURE_CLASS, 65535);
    for (uint32_t i = 0; i < SENDERS; i++) {
        fixture_flow(fixture.hosts[i], &(fixture_flow_t){.to = SENDERS,
                                                         .frame_bytes = FRAME_BYTES,
                                                         .priority = FIXTURE_CLASS,
                                                         .start_ps = 5 * SIM_PS_PER_US});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    *frames = net_switch_headroom_used_bytes(sw) / FRAME_BYTES;
    ck_assert_uint_eq(*frames * FRAME_BYTES, net_switch_buffer_bytes(sw));
    const uint64_t drops = sum_drops(sw);
    fixture_destroy(&fixture);
    return drops;
}

// Without a pool nothing is lost, and 4 n frames arrive after the pauses. A pool for m frames holds
// m of them, whichever ports they come from, and 4 n - m are lost. One byte too little costs one
// frame.
START_TEST(a_pool_holds_the_headroom_of_all_ports)
{
    uint64_t all = 0;
    uint64_t held = 0;
    ck_assert_uint_eq(run_pool(SIM_AUTO, &all), 0);
    ck_assert_uint_gt(all, 4 * 12); // two delays of 1 us are worth 25000 bytes of 100 Gbit/s
    ck_assert_uint_eq(all % 4, 0);
    for (uint64_t less = 0; less < all - 4; less += 7) {
        ck_assert_uint_eq(run_pool((all - less) * 1000, &held), less);
        ck_assert_uint_eq(held, all - less);
        ck_assert_uint_eq(run_pool((all - less) * 1000 - 1, &held), less + 1);
        ck_assert_uint_eq(held, all - less - 1);
    }
}
END_TEST

// The buffer loses the pool, or all headroom if that is less; and PFC guarantees nothing where the
// pool is smaller than all headroom together.
START_TEST(a_pool_is_a_part_of_the_buffer)
{
    const uint64_t each = net_switch_headroom_bytes(
        RATE_BPS, DELAY_PS, fixture_bytes_ps(394 * 64, RATE_BPS), NET_FRAME_BYTES_QUANTUM);
    const uint64_t pools[] = {SIM_AUTO, 4 * each, 3 * each, 3 * each - 1, 0};
    for (size_t i = 0; i < SIM_COUNT_OF(pools); i++) {
        net_switch_config_t config = fixture_switch_config();
        config.headroom_pool_bytes = pools[i];
        const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
        fixture_t fixture;
        fixture_create(&fixture, NULL);
        net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
        fixture_build(&fixture);
        const uint64_t taken = pools[i] < 3 * each ? pools[i] : 3 * each;
        ck_assert_uint_eq(net_switch_of(sw)->shared_limit,
                          config.buffer_bytes - taken - 3 * config.pfc_reserved_bytes);
        ck_assert_int_eq(sw->ports[0].lossless_guaranteed, pools[i] >= 3 * each);
        fixture_destroy(&fixture);
    }
}
END_TEST

START_TEST(guarantee_is_given_where_it_holds)
{
    static const struct {
        uint64_t headroom_bytes;
        uint64_t quanta;
        sim_ratio_t loss_rate;
        bool changes;
        bool guaranteed;
    } cases[] = {
        {SIM_AUTO, 65535, {0, 1}, false, true},     {SIM_AUTO, 200, {0, 1}, false, true},
        {SIM_AUTO, 100, {0, 1}, false, false},      {2000000, 65535, {0, 1}, false, false},
        {SIM_AUTO, 65535, {1, 1000}, false, false}, {SIM_AUTO, 65535, {0, 1}, true, false},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cases); i++) {
        net_switch_config_t config = fixture_switch_config();
        config.pfc_headroom_bytes = cases[i].headroom_bytes;
        config.pfc_quanta = cases[i].quanta;
        net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
        link.loss_rate = cases[i].loss_rate;
        fixture_t fixture;
        fixture_create(&fixture, NULL);
        net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
        if (cases[i].changes) {
            net_link_change_at(fixture.net, 0, SIM_PS_PER_MS, false);
        }
        fixture_build(&fixture);
        ck_assert_int_eq(sw->ports[0].lossless_guaranteed, cases[i].guaranteed);
        // The conservation check of a run reports the drop where the port is guaranteed to be
        // lossless.
        sim_message_t message = {.text = ""};
        sw->ports[0].rare->drops[NET_DROP_HEADROOM_FULL] = 1;
        sw->ports[0].counted = 1;
        ck_assert_int_eq(net_conservation_ok(fixture.net, &message), !cases[i].guaranteed);
        sw->ports[0].rare->drops[NET_DROP_HEADROOM_FULL] = 0;
        fixture_destroy(&fixture);
    }
}
END_TEST

// -- thresholds

typedef struct thresholds {
    const net_node_t *sw;
    uint64_t xoff_least, xoff_most;
    uint64_t xon_least, xon_most;
    uint64_t xoffs, xons;
    uint64_t first_xoff;
} thresholds_t;

static void note_threshold(const net_trace_t *trace, void *ctx)
{
    thresholds_t *const t = ctx;
    const uint64_t bytes = fixture_ingress_bytes(t->sw, trace->port->index, trace->detail);
    if (trace->point == NET_TRACE_XOFF) {
        t->first_xoff = t->xoffs++ == 0 ? bytes : t->first_xoff;
        t->xoff_least = bytes < t->xoff_least ? bytes : t->xoff_least;
        t->xoff_most = bytes > t->xoff_most ? bytes : t->xoff_most;
    } else {
        t->xons++;
        t->xon_least = bytes < t->xon_least ? bytes : t->xon_least;
        t->xon_most = bytes > t->xon_most ? bytes : t->xon_most;
    }
}

// A port of 100 Gbps feeds one of 40. XOFF is sent with the frame that exceeds reserve and
// threshold, XON when the bytes have fallen by the offset, not a frame earlier or later; the drain
// never starves.
START_TEST(xoff_and_xon_at_their_thresholds)
{
    enum { BYTES = 1000, COUNT = 20000, THRESHOLD = 200000, RESERVED = 4096, OFFSET = 30000 };
    net_switch_config_t config = fixture_switch_config();
    config.pfc_threshold_bytes = THRESHOLD;
    config.pfc_xon_bytes = OFFSET;
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const sw = fixture_switch(&fixture, "switch", &config);
    fixture_host_t *const a = fixture_host(&fixture, "a");
    fixture_host_t *const b = fixture_host(&fixture, "b");
    fixture_link(&fixture, &a->node, sw, RATE_BPS, DELAY_PS);
    fixture_link(&fixture, &b->node, sw, 40 * FIXTURE_GBPS, DELAY_PS);
    fixture_flow(a, &(fixture_flow_t){.to = 1,
                                      .count = COUNT,
                                      .frame_bytes = BYTES,
                                      .priority = FIXTURE_CLASS});
    fixture_build(&fixture);
    thresholds_t t = {.sw = sw, .xoff_least = UINT64_MAX, .xon_least = UINT64_MAX};
    net_port_listen(&sw->ports[0], NET_TRACE_XOFF | NET_TRACE_XON, note_threshold, &t);
    fixture_run(&fixture);
    ck_assert_uint_ge(t.xoffs, 50);
    ck_assert_uint_eq(t.xoffs, t.xons);
    ck_assert_uint_gt(t.xoff_least, THRESHOLD + RESERVED);
    ck_assert_uint_le(t.xoff_most, THRESHOLD + RESERVED + BYTES);
    ck_assert_uint_le(t.xon_most, THRESHOLD + RESERVED - OFFSET);
    ck_assert_uint_gt(t.xon_least, THRESHOLD + RESERVED - OFFSET - BYTES);
    // The 40 Gbps port never rests: 170 KB last longer than the loop of 2 us.
    const sim_time_t first_ps = 1 + 1012 * 80 + DELAY_PS;
    ck_assert_uint_eq(b->last_ps, first_ps + COUNT * UINT64_C(1024) * 200 - 12 * 200 + DELAY_PS);
    // The counters of both ends agree, and every pause was released.
    const net_pause_counters_t *const sent = &sw->ports[0].rare->pauses[FIXTURE_CLASS];
    const net_pause_counters_t *const got = &a->node.ports[0].rare->pauses[FIXTURE_CLASS];
    ck_assert_uint_eq(sent->tx_pause, t.xoffs);
    ck_assert_uint_eq(sent->tx_resume, t.xons);
    ck_assert_uint_eq(got->rx_pause, t.xoffs);
    ck_assert_uint_eq(got->rx_resume, t.xons);
    ck_assert_uint_eq(a->node.ports[0].paused, 0);
    // The sender is stopped for 60 % of the time, because it has 40 % of its rate.
    const double share = (double)got->paused_ps / (double)b->last_ps;
    ck_assert_double_le(fabs(share - 0.6), 0.01);
    fixture_destroy(&fixture);
}
END_TEST

// n equal senders reach their dynamic threshold together, at alpha B / (1 + n alpha).
START_TEST(dynamic_xoff_at_fixed_point)
{
    static const struct {
        uint32_t senders;
        sim_ratio_t alpha;
    } cases[] = {{2, {1, 8}}, {4, {1, 8}}, {8, {1, 8}}, {4, {1, 2}}, {3, {1, 1}}};
    const uint32_t n = cases[_i].senders;
    const double alpha = (double)cases[_i].alpha.num / (double)cases[_i].alpha.den;
    net_switch_config_t config = fixture_switch_config();
    config.pfc_alpha = cases[_i].alpha;
    config.pfc_reserved_bytes = 0;
    config.pfc_headroom_bytes = 100000;
    config.buffer_bytes = 2000000 + 100000 * (n + 1);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const sw = fixture_star(&fixture, &config, n, &link);
    for (uint32_t i = 0; i < n; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = n, .count = 5000, .priority = FIXTURE_CLASS});
    }
    fixture_build(&fixture);
    thresholds_t t = {.sw = sw, .xoff_least = UINT64_MAX, .xon_least = UINT64_MAX};
    for (uint32_t i = 0; i < n; i++) {
        net_port_listen(&sw->ports[i], NET_TRACE_XOFF | NET_TRACE_XON, note_threshold, &t);
    }
    fixture_run(&fixture);
    const double expected = alpha * 2000000 / (1 + n * alpha);
    // Frames are whole, and one of n is served at a time.
    ck_assert_double_le(fabs((double)t.first_xoff - expected), 1000 * (2 + n * alpha));
    ck_assert_uint_eq(sum_drops(sw), 0);
    fixture_destroy(&fixture);
}
END_TEST

// -- obeying, refreshing

typedef struct last {
    sim_time_t time_ps;
    uint64_t count;
    uint64_t other_class;
    sim_time_t known_ps;
    sim_time_t until_ps;
} last_t;

static void note_tx(const net_trace_t *trace, void *ctx)
{
    last_t *const last = ctx;
    if (trace->time_ps > last->known_ps && trace->time_ps < last->until_ps) {
        last->count += trace->packet->priority == FIXTURE_CLASS;
        last->other_class += trace->packet->priority == 4;
    }
}

// A switch that is told to stop a class starts no frame of it, and goes on with the other class.
START_TEST(switch_obeys_at_the_next_frame)
{
    const sim_time_t pause_ps = 50 * SIM_PS_PER_US;
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 100000000;
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
    for (uint8_t i = 0; i < 2; i++) {
        fixture_flow(fixture.hosts[i],
                     &(fixture_flow_t){.to = 2, .count = 5000, .priority = (uint8_t)(3 + i)});
    }
    fixture_pause(fixture.hosts[2], pause_ps, 1u << FIXTURE_CLASS, 10000);
    fixture_build(&fixture);
    const sim_time_t known_ps = pause_ps + (84 - 12) * 80 + DELAY_PS;
    last_t last = {.known_ps = known_ps,
                   .until_ps = known_ps + fixture_bytes_ps(10000 * 64, RATE_BPS)};
    net_port_listen(fixture_port(sw, &fixture.hosts[2]->node), NET_TRACE_TX, note_tx, &last);
    fixture_run(&fixture);
    ck_assert_uint_eq(last.count, 0);
    ck_assert_uint_ge(last.other_class, 10000 * 64 / 1024 - 1);
    ck_assert_uint_eq(switch_port(&fixture, 2)->rare->pauses[FIXTURE_CLASS].paused_ps,
                      fixture_bytes_ps(10000 * 64, RATE_BPS));
    ck_assert_uint_eq(fixture.hosts[2]->received, 10000);
    fixture_destroy(&fixture);
}
END_TEST

// While the egress stays blocked, the switch repeats its pause at half the time it lasts: the
// sender is stopped without a break, however short the quanta.
START_TEST(refresh_keeps_a_peer_stopped)
{
    const uint64_t quanta = (uint64_t[]){200, 1000, 20000}[_i];
    const fixture_options_t options = {
        .seed = 1,
        .until_ps = 3 * SIM_PS_PER_MS,
        .net = fixture_net_config(),
    };
    net_switch_config_t config = fixture_switch_config();
    config.pfc_quanta = quanta;
    config.pfc_threshold_bytes = 20000;
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *const sw = fixture_star(&fixture, &config, 2, &link);
    // Large frames in the other direction delay the refresh as much as possible.
    fixture_flow(fixture.hosts[2],
                 &(fixture_flow_t){.to = 0, .frame_bytes = NET_FRAME_BYTES_QUANTUM});
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1, .priority = FIXTURE_CLASS});
    for (uint64_t i = 0; i < 15; i++) {
        fixture_pause(fixture.hosts[1], 1 + i * 200 * SIM_PS_PER_US, 1u << FIXTURE_CLASS, 65535);
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    const net_port_t *const stopped = &fixture.hosts[0]->node.ports[0];
    const sim_time_t quantum_time_ps = net_port_quanta_ps(stopped, (uint16_t)quanta);
    ck_assert(stopped->paused & (1u << FIXTURE_CLASS));
    ck_assert_uint_lt(stopped->rare->pauses[FIXTURE_CLASS].paused_since_ps, 10 * SIM_PS_PER_US);
    ck_assert_uint_eq(stopped->rare->pauses[FIXTURE_CLASS].paused_ps, 0);
    const double expected = 3e9 / ((double)quantum_time_ps / 2);
    ck_assert_double_le(fabs((double)stopped->rare->pauses[FIXTURE_CLASS].rx_pause - expected),
                        0.01 * expected + 3);
    ck_assert_uint_eq(sum_drops(sw), 0);
    fixture_destroy(&fixture);
}
END_TEST

// -- spreading

// Two switches in a row lead to a slow port: each stops its upstream and nothing is lost. A flow
// that shares the first hop but not the slow port is slowed too (head-of-line blocking).
START_TEST(congestion_spreads_upstream)
{
    net_switch_config_t config = fixture_switch_config();
    config.pfc_threshold_bytes = 50000;
    fixture_t fixture;
    fixture_create(&fixture, NULL);
    net_node_t *const s0 = fixture_switch(&fixture, "s0", &config);
    net_node_t *const s1 = fixture_switch(&fixture, "s1", &config);
    for (int i = 0; i < 4; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "h%d", i);
        fixture_link(&fixture, &fixture_host(&fixture, name)->node, i < 2 ? s0 : s1,
                     i == 3 ? 10 * FIXTURE_GBPS : RATE_BPS, DELAY_PS);
    }
    fixture_link(&fixture, s0, s1, RATE_BPS, DELAY_PS);
    const fixture_flow_t slow = {.to = 3, .count = 3000, .priority = FIXTURE_CLASS};
    const fixture_flow_t victim = {.to = 2,
                                   .count = 3000,
                                   .priority = FIXTURE_CLASS,
                                   .start_ps = 1000 * SIM_PS_PER_NS};
    fixture_flow(fixture.hosts[0], &slow);
    fixture_flow(fixture.hosts[1], &victim);
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_uint_gt(fixture_port(s0, s1)->rare->pauses[FIXTURE_CLASS].rx_pause, 10);
    ck_assert_uint_gt(fixture.hosts[0]->node.ports[0].rare->pauses[FIXTURE_CLASS].rx_pause, 10);
    ck_assert_uint_gt(fixture.hosts[1]->node.ports[0].rare->pauses[FIXTURE_CLASS].rx_pause, 10);
    ck_assert_uint_eq(fixture.hosts[3]->received, 3000);
    ck_assert_uint_eq(fixture.hosts[2]->received, 3000);
    ck_assert_uint_eq(sum_drops(s0) + sum_drops(s1), 0);
    // The victim alone would need 246 us.
    ck_assert_uint_gt(fixture.hosts[2]->last_ps, 1000 * SIM_PS_PER_US);
    ck_assert_uint_eq(fixture.hosts[3]->last_ps, 1 + 2 * (1012 * 80 + DELAY_PS) +
                                                     UINT64_C(3000) * 1024 * 800 - 12 * 800 +
                                                     DELAY_PS);
    fixture_destroy(&fixture);
}
END_TEST

// Runs a leaf-spine with an incast and cross traffic, lossless and with marks.
static uint64_t run_fabric(unsigned threads, uint64_t seed)
{
    enum { LEAVES = 4, SPINES = 2, HOSTS = 4 };
    const fixture_options_t options = {.seed = seed,
                                       .threads = threads,
                                       .net = fixture_net_config()};
    net_switch_config_t config = fixture_switch_config();
    config.buffer_bytes = 3000000;
    config.ecn_kmin_bytes = 20000;
    config.ecn_kmax_bytes = 100000;
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *spines[SPINES];
    for (int s = 0; s < SPINES; s++) {
        spines[s] = fixture_switch(&fixture, s == 0 ? "spine0" : "spine1", &config);
    }
    uint64_t pauses = 0;
    for (int l = 0; l < LEAVES; l++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "leaf%d", l);
        net_node_t *const leaf = fixture_switch(&fixture, name, &config);
        for (int h = 0; h < HOSTS; h++) {
            (void)snprintf(name, sizeof(name), "h%d-%d", l, h);
            fixture_link(&fixture, &fixture_host(&fixture, name)->node, leaf, RATE_BPS, DELAY_PS);
        }
        for (int s = 0; s < SPINES; s++) {
            fixture_link(&fixture, leaf, spines[s], RATE_BPS, DELAY_PS);
        }
    }
    for (uint32_t h = 1; h < LEAVES * HOSTS; h++) {
        fixture_flow(fixture.hosts[h], &(fixture_flow_t){.to = 0,
                                                         .count = 500,
                                                         .priority = FIXTURE_CLASS,
                                                         .ecn = NET_ECN_ECT0,
                                                         .source_port = (uint16_t)(0xc000 + h)});
        fixture_flow(fixture.hosts[h], &(fixture_flow_t){.to = (h + 5) % (LEAVES * HOSTS),
                                                         .count = 500,
                                                         .mean_ps = 200000,
                                                         .vary_source_port = true});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    for (size_t i = 0; i < net_node_count(fixture.net); i++) {
        const net_node_t *const node = net_node_at(fixture.net, i);
        for (uint32_t p = 0; p < node->port_count; p++) {
            pauses += node->ports[p].rare->pauses[FIXTURE_CLASS].tx_pause;
        }
    }
    ck_assert_uint_gt(pauses, 20);
    ck_assert_uint_gt(fixture.hosts[0]->received_marked, 100);
    const uint64_t digest = sim_digest(fixture.sim);
    fixture_destroy(&fixture);
    return digest;
}

START_TEST(threads_do_not_change_the_digest)
{
    const uint64_t one = run_fabric(1, 1);
    ck_assert_uint_eq(run_fabric(1, 1), one);
    ck_assert_uint_eq(run_fabric(2, 1), one);
    ck_assert_uint_eq(run_fabric(4, 1), one);
    ck_assert_uint_ne(run_fabric(1, 2), one);
}
END_TEST

CHECK_MAIN(
    CHECK_LOOP_FEW(headroom_is_enough_and_not_too_much, 0, SIM_COUNT_OF(cables), 2),
    CHECK_LOOP_FEW(incast_over_long_cables_drops_nothing, 0, 5, 2),
    CHECK_TEST(too_little_headroom_drops), CHECK_TEST(no_headroom_still_pauses),
    CHECK_TEST(no_buffer_at_all_is_no_deadlock), CHECK_TEST(a_pool_holds_the_headroom_of_all_ports),
    CHECK_TEST(a_pool_is_a_part_of_the_buffer), CHECK_TEST(guarantee_is_given_where_it_holds),
    CHECK_TEST(xoff_and_xon_at_their_thresholds), CHECK_LOOP(dynamic_xoff_at_fixed_point, 0, 5),
    CHECK_TEST(switch_obeys_at_the_next_frame), CHECK_LOOP(refresh_keeps_a_peer_stopped, 0, 3),
    CHECK_TEST(congestion_spreads_upstream), CHECK_TEST(threads_do_not_change_the_digest))
