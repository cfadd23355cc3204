// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_switch_hpcc.c - the switch with the buffer of the HPCC project's simulator.
//
// Goal: charges, pauses, resumes and drops come at the packet that the rules of
// docs/models/hpcc-compat.md name, classes take turns packet by packet, and thresholds and headroom
// follow the ports' rates.
// Method: one sender towards a receiver that has stopped the class; a walk over the rules, written
// here anew with plain integers, says which arrival pauses the sender, which departure releases it
// and how many packets are dropped, and the times follow from whole-nanosecond links.
// Not pinned: agreement with that simulator itself (tests/test_hpcc_agreement.sh).
#include "compat/hpcc/hpcc_internal.h"
#include "net/switch_model.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define RATE_BPS (100 * FIXTURE_GBPS)
#define DELAY_PS (1000 * SIM_PS_PER_NS)
#define FRAME_BYTES 1048
#define FRAME_PS (83 * SIM_PS_PER_NS) // 83.84 cut
#define PAUSE_PS (3 * SIM_PS_PER_NS)  // 43 bytes: 3.44 cut
#define START_PS (7 * SIM_PS_PER_NS)

// -- the rules, for one (port, class) and a shift by 3

typedef struct walk {
    uint64_t free_limit; // buffer less headroom and reserve of all ports
    uint64_t headroom;
    uint64_t ingress;
    uint64_t in_headroom;
    uint64_t shared;
} walk_t;

static uint64_t walk_threshold(const walk_t *walk)
{
    return (walk->free_limit - walk->shared) >> 3;
}

static uint64_t over(uint64_t bytes, uint64_t limit)
{
    return bytes > limit ? bytes - limit : 0;
}

static bool walk_in(walk_t *walk, uint64_t bytes)
{
    const uint64_t threshold = walk_threshold(walk);
    if (bytes + walk->in_headroom > walk->headroom &&
        bytes + over(walk->ingress, 4096) > threshold) {
        return false;
    }
    const uint64_t after = over(walk->ingress + bytes, 4096);
    if (after > threshold) {
        walk->in_headroom += bytes;
    } else {
        walk->ingress += bytes;
        walk->shared += after < bytes ? after : bytes;
    }
    return true;
}

static bool walk_pauses(const walk_t *walk)
{
    return walk->in_headroom > 0 || over(walk->ingress, 4096) >= walk_threshold(walk);
}

static void walk_out(walk_t *walk, uint64_t bytes)
{
    const uint64_t first = walk->in_headroom < bytes ? walk->in_headroom : bytes;
    const uint64_t rest = bytes - first;
    const uint64_t above = over(walk->ingress, 4096);
    walk->in_headroom -= first;
    walk->shared -= rest < above ? rest : above;
    walk->ingress -= rest;
}

static bool walk_resumes(const walk_t *walk)
{
    const uint64_t above = over(walk->ingress, 4096);
    return walk->in_headroom == 0 && (above == 0 || above + 3072 <= walk_threshold(walk));
}

// -- the switch

static fixture_options_t peer_options(sim_time_t until_ps)
{
    static compat_hpcc_config_t hpcc;
    sim_attrs_default(&compat_hpcc_config_attrs, &hpcc);
    hpcc.pause_expires = false;
    hpcc.down_first = true;
    fixture_options_t options = {.seed = 1,
                                 .until_ps = until_ps,
                                 .net = fixture_net_config(),
                                 .hpcc = &hpcc};
    options.net.framing = (sim_name_t){"hpcc"};
    options.net.timing = (sim_name_t){"hpcc"};
    return options;
}

static net_switch_config_t peer_config(uint64_t buffer_bytes, uint64_t headroom_bytes)
{
    net_switch_config_t config = fixture_switch_config();
    config.mmu = (sim_name_t){"hpcc"};
    config.buffer_bytes = buffer_bytes;
    config.pfc_headroom_bytes = headroom_bytes;
    config.ecn_enabled = false;
    return config;
}

typedef struct moments {
    sim_time_t stop_ps; // 0: not yet
    sim_time_t go_ps;
    uint64_t stops;
    uint64_t goes;
    uint64_t queued;
} moments_t;

static void note_moment(const net_trace_t *trace, void *ctx)
{
    moments_t *const moments = ctx;
    switch ((uint32_t)trace->point) {
    case NET_TRACE_XOFF:
        moments->stop_ps = moments->stops++ == 0 ? trace->time_ps : moments->stop_ps;
        break;
    case NET_TRACE_XON:
        moments->go_ps = moments->goes++ == 0 ? trace->time_ps : moments->go_ps;
        break;
    default:
        moments->queued++;
    }
}

static walk_t walk_of(const net_switch_config_t *config)
{
    return (walk_t){
        .free_limit = config->buffer_bytes - 2 * (config->pfc_headroom_bytes + 4096),
        .headroom = config->pfc_headroom_bytes,
    };
}

START_TEST(pauses_and_resumes_at_the_packets_of_the_rules)
{
    static const uint64_t buffers[] = {200000, 400000, 1048576};
    const net_switch_config_t config = peer_config(buffers[_i], 30000);
    const sim_time_t release_ps = 400 * SIM_PS_PER_US;
    fixture_options_t options = peer_options(release_ps + 50 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    net_node_t *const sw = fixture_star(&fixture, &config, 1, &link);
    fixture_pause(fixture.hosts[1], 1, 1u << FIXTURE_CLASS, 65535);
    fixture_pause(fixture.hosts[1], release_ps, 1u << FIXTURE_CLASS, 0);
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                     .frame_bytes = FRAME_BYTES,
                                                     .priority = FIXTURE_CLASS,
                                                     .start_ps = START_PS});
    fixture_build(&fixture);
    moments_t moments = {0};
    net_port_listen(&sw->ports[0], NET_TRACE_XOFF | NET_TRACE_XON, note_moment, &moments);
    fixture_run(&fixture);

    walk_t walk = walk_of(&config);
    uint64_t arrived = 0;
    do {
        ck_assert(walk_in(&walk, FRAME_BYTES));
        arrived++;
    } while (!walk_pauses(&walk));
    const sim_time_t stop_ps = START_PS + arrived * FRAME_PS + DELAY_PS;
    ck_assert_uint_eq(moments.stop_ps, stop_ps);
    // The packet that the sender had begun when the pause reached it arrives too.
    const sim_time_t stopped_ps = stop_ps + PAUSE_PS + DELAY_PS;
    for (; START_PS + arrived * FRAME_PS < stopped_ps; arrived++) {
        ck_assert(walk_in(&walk, FRAME_BYTES));
    }
    uint64_t left = 0;
    do {
        walk_out(&walk, FRAME_BYTES);
        left++;
    } while (!walk_resumes(&walk));
    ck_assert_uint_eq(moments.go_ps, release_ps + PAUSE_PS + DELAY_PS + (left - 1) * FRAME_PS);
    ck_assert_uint_eq(sw->ports[0].rare->drops[NET_DROP_HEADROOM_FULL], 0);
    printf("buffer %lu: paused by packet %lu, released by departure %lu of %lu\n",
           (unsigned long)buffers[_i], (unsigned long)((stop_ps - START_PS - DELAY_PS) / FRAME_PS),
           (unsigned long)left, (unsigned long)arrived);
    fixture_destroy(&fixture);
}
END_TEST

START_TEST(drops_what_fits_neither_headroom_nor_threshold)
{
    const net_switch_config_t config = peer_config(100000, 5000);
    fixture_options_t options = peer_options(100 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    net_node_t *const sw = fixture_star(&fixture, &config, 1, &link);
    fixture_pause(fixture.hosts[1], 1, 1u << FIXTURE_CLASS, 65535);
    fixture.hosts[0]->response_ps = SIM_PS_PER_S; // it does not hear
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                     .count = 60,
                                                     .frame_bytes = FRAME_BYTES,
                                                     .priority = FIXTURE_CLASS,
                                                     .start_ps = START_PS});
    fixture_build(&fixture);
    fixture_run(&fixture);
    walk_t walk = walk_of(&config);
    uint64_t drops = 0;
    for (int i = 0; i < 60; i++) {
        drops += walk_in(&walk, FRAME_BYTES) ? 0 : 1;
    }
    ck_assert_uint_gt(drops, 10);
    ck_assert_uint_eq(sw->ports[0].rare->drops[NET_DROP_HEADROOM_FULL], drops);
    ck_assert_uint_eq(fixture_ingress_bytes(sw, 0, FIXTURE_CLASS), walk.ingress + walk.in_headroom);
    fixture_destroy(&fixture);
}
END_TEST

// A threshold that is many times the free bytes does not make the buffer larger than it is.
START_TEST(alpha_above_one_stays_within_the_buffer)
{
    enum { SENDERS = 6 };
    static const uint64_t alphas[] = {2, 8, 64};
    net_switch_config_t config = peer_config(100000, 5000);
    config.pfc_alpha = (sim_ratio_t){alphas[_i], 1};
    fixture_options_t options = peer_options(100 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    net_node_t *const sw = fixture_star(&fixture, &config, SENDERS, &link);
    fixture_pause(fixture.hosts[SENDERS], 1, 1u << FIXTURE_CLASS, 65535);
    for (uint32_t h = 0; h < SENDERS; h++) {
        fixture.hosts[h]->response_ps = SIM_PS_PER_S; // they do not hear
        fixture_flow(fixture.hosts[h],
                     &(fixture_flow_t){.to = SENDERS,
                                       .count = 300,
                                       // so that they never fill it exactly
                                       .frame_bytes = FRAME_BYTES - 37 * (1 + h) % 256,
                                       .priority = FIXTURE_CLASS,
                                       .start_ps = START_PS + h});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_uint_le(net_switch_buffer_bytes(sw), config.buffer_bytes);
    ck_assert_uint_gt(net_switch_buffer_bytes(sw), config.buffer_bytes / 2);
    ck_assert_uint_gt(sw->ports[0].rare->drops[NET_DROP_HEADROOM_FULL], 100);
    fixture_destroy(&fixture);
}
END_TEST

// -- admission: PFC on and off, classes, ingress, egress and the whole buffer

#define ADMIT_SENDERS 8u
#define ADMIT_FRAMES 200u

typedef struct admission {
    const char *name;
    bool pfc;
    uint8_t class;
    uint32_t senders;
    uint32_t others; // frames of class 0 that the switch holds before
    uint64_t buffer_bytes;
    uint64_t headroom_bytes;
    uint64_t alpha; // of the egress queue
    bool ingress;   // which rules are to drop packets
    bool egress;
    bool buffer;
} admission_t;

static const admission_t admissions[] = {
    // clang-format off
    {"lossless, one port",          true,  3, 1, 0,    100000, 5000, 1,  true,  false, false},
    {"lossless, eight ports",       true,  3, 8, 0,    400000, 5000, 1,  true,  false, false},
    {"lossy beside PFC",            true,  5, 8, 0,    400000, 5000, 1,  true,  false, false},
    {"lossy beside PFC, one port",  true,  5, 1, 0,    100000, 5000, 64, true,  false, false},
    {"no PFC, one port",            false, 3, 1, 0,    400000, 5000, 1,  true,  false, false},
    {"no PFC, eight ports",         false, 3, 8, 0,    400000, 5000, 1,  false, true,  false},
    {"no PFC, a larger buffer",     false, 3, 8, 0,    900000, 5000, 1,  false, true,  false},
    {"no PFC, long egress queues",  false, 3, 8, 0,    400000, 5000, 64, true,  false, false},
    {"no PFC, another class",       false, 5, 8, 0,    400000, 5000, 1,  false, true,  false},
    {"no PFC, filled by class 0",   false, 3, 8, 330,  400000, 5000, 64, false, false, true},
    {"no PFC, class 0",             false, 0, 8, 0,    100000, 5000, 1,  false, false, false},
    {"PFC, class 0",                true,  0, 8, 0,    100000, 5000, 1,  false, false, false},
    // clang-format on
};

typedef struct held_walk {
    uint64_t ingress[ADMIT_SENDERS];
    uint64_t in_headroom[ADMIT_SENDERS];
    uint64_t shared;
    uint64_t queue; // of the one class that is charged
    uint64_t total;
    uint64_t drops[NET_DROP_REASON_COUNT];
} held_walk_t;

// One packet arrives from a sender: the rules of docs/models/hpcc-compat.md.
static void admit_one(held_walk_t *walk, const admission_t *row, uint32_t h)
{
    const uint64_t ports = row->senders + 1 + (row->others > 0);
    const uint64_t reserves = ports * 4096;
    if (row->class == 0) {
        walk->total += FRAME_BYTES;
        return;
    }
    if (!row->pfc) {
        const uint64_t used = over(walk->queue, 4096);
        const uint64_t left = row->buffer_bytes - reserves - used;
        if (over(walk->queue + FRAME_BYTES, 4096) > left * row->alpha) {
            walk->drops[NET_DROP_EGRESS_FULL]++;
            return;
        }
        if (walk->total + FRAME_BYTES > row->buffer_bytes) {
            walk->drops[NET_DROP_BUFFER_FULL]++;
            return;
        }
    }
    const uint64_t limit = row->buffer_bytes - reserves - ports * row->headroom_bytes;
    const uint64_t threshold = (limit - walk->shared) >> 3;
    const uint64_t above = over(walk->ingress[h], 4096);
    if (FRAME_BYTES + walk->in_headroom[h] > row->headroom_bytes &&
        FRAME_BYTES + above > threshold) {
        walk->drops[row->pfc && row->class == 3 ? NET_DROP_HEADROOM_FULL : NET_DROP_BUFFER_FULL]++;
        return;
    }
    const uint64_t after = over(walk->ingress[h] + FRAME_BYTES, 4096);
    if (after > threshold) {
        walk->in_headroom[h] += FRAME_BYTES;
    } else {
        walk->ingress[h] += FRAME_BYTES;
        walk->shared += after - above;
    }
    walk->queue += FRAME_BYTES;
    walk->total += FRAME_BYTES;
}

static void add_senders(fixture_t *fixture, const admission_t *row)
{
    for (uint32_t h = 0; h < row->senders; h++) {
        fixture->hosts[h]->response_ps = SIM_PS_PER_S; // they do not hear
        fixture_flow(fixture->hosts[h],
                     &(fixture_flow_t){.to = row->senders + (row->others > 0),
                                       .count = ADMIT_FRAMES,
                                       .frame_bytes = FRAME_BYTES,
                                       .priority = row->class,
                                       // one after the other, and after class 0
                                       .start_ps = 40 * SIM_PS_PER_US + h * SIM_PS_PER_NS});
    }
    if (row->others > 0) {
        fixture_flow(fixture->hosts[row->senders], &(fixture_flow_t){.to = row->senders + 1,
                                                                     .count = row->others,
                                                                     .frame_bytes = FRAME_BYTES,
                                                                     .priority = 0,
                                                                     .start_ps = START_PS});
    }
}

START_TEST(admits_by_ingress_egress_and_buffer)
{
    const admission_t *const row = &admissions[_i];
    net_switch_config_t config = peer_config(row->buffer_bytes, row->headroom_bytes);
    config.pfc_enabled = row->pfc;
    config.lossy_alpha = (sim_ratio_t){row->alpha, 1};
    fixture_options_t options = peer_options(100 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    const uint32_t receiver = row->senders + (row->others > 0);
    net_node_t *const sw = fixture_star(&fixture, &config, receiver, &link);
    fixture_pause(fixture.hosts[receiver], 1, (uint8_t)(1u << row->class | 1u), 65535);
    add_senders(&fixture, row);
    fixture_build(&fixture);
    moments_t moments = {0};
    net_port_listen(&sw->ports[0], NET_TRACE_XOFF, note_moment, &moments);
    fixture_run(&fixture);

    held_walk_t walk = {.total = (uint64_t)row->others * FRAME_BYTES};
    for (uint32_t f = 0; f < ADMIT_FRAMES; f++) {
        for (uint32_t h = 0; h < row->senders; h++) {
            admit_one(&walk, row, h);
        }
    }
    uint64_t drops[NET_DROP_REASON_COUNT] = {0};
    for (uint32_t p = 0; p <= receiver; p++) {
        for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
            drops[r] += sw->ports[p].rare->drops[r];
        }
    }
    for (uint32_t r = 0; r < NET_DROP_REASON_COUNT; r++) {
        ck_assert_msg(drops[r] == walk.drops[r], "%s: %lu drops of reason %u, expected %lu",
                      row->name, (unsigned long)drops[r], r, (unsigned long)walk.drops[r]);
    }
    const uint64_t at_ingress = drops[NET_DROP_HEADROOM_FULL] + drops[NET_DROP_BUFFER_FULL];
    ck_assert_msg((at_ingress > 0) == (row->ingress || row->buffer), "%s: ingress", row->name);
    ck_assert_msg((drops[NET_DROP_EGRESS_FULL] > 0) == row->egress, "%s: egress", row->name);
    ck_assert_uint_eq(net_switch_buffer_bytes(sw), walk.total);
    ck_assert(walk.total <= row->buffer_bytes || row->class == 0);
    ck_assert_msg((moments.stops > 0) == (row->pfc && row->class == 3), "%s: pauses", row->name);
    fixture_destroy(&fixture);
}
END_TEST

// Even if nothing waits, each packet is queued and charged, and leaves at once.
START_TEST(every_packet_is_charged)
{
    const net_switch_config_t config = peer_config(1048576, 30000);
    fixture_options_t options = peer_options(50 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    net_node_t *const sw = fixture_star(&fixture, &config, 1, &link);
    fixture_flow(fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                     .count = 20,
                                                     .frame_bytes = FRAME_BYTES,
                                                     .priority = FIXTURE_CLASS,
                                                     .start_ps = START_PS});
    fixture_build(&fixture);
    moments_t moments = {0};
    net_port_listen(&sw->ports[1], NET_TRACE_ENQUEUE, note_moment, &moments);
    fixture_run(&fixture);
    ck_assert_uint_eq(moments.queued, 20);
    ck_assert_uint_eq(fixture.hosts[1]->received, 20);
    ck_assert_uint_eq(fixture.hosts[1]->last_ps, START_PS + 21 * FRAME_PS + 2 * DELAY_PS);
    ck_assert_uint_eq(net_switch_buffer_bytes(sw), 0);
    fixture_destroy(&fixture);
}
END_TEST

// Frames of 1000 and of 200 bytes in two classes leave one by one, whatever the weights.
START_TEST(classes_take_turns_packet_by_packet)
{
    net_switch_config_t config = peer_config(1048576, 30000);
    config.pfc_priorities = 1u << 3 | 1u << 5;
    config.strict_priorities = 1u << 5;
    config.weights[3] = 9;
    fixture_options_t options = peer_options(200 * SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    const net_link_config_t link = fixture_link_config(RATE_BPS, DELAY_PS);
    fixture_star(&fixture, &config, 2, &link);
    fixture_host_t *const receiver = fixture.hosts[2];
    receiver->keep = true;
    fixture_pause(receiver, 1, 1u << 3 | 1u << 5, 65535);
    fixture_pause(receiver, 100 * SIM_PS_PER_US, 1u << 3 | 1u << 5, 0);
    const uint32_t bytes[] = {1000, 200};
    for (uint32_t h = 0; h < 2; h++) {
        fixture_flow(fixture.hosts[h], &(fixture_flow_t){.to = 2,
                                                         .count = 15,
                                                         .frame_bytes = bytes[h],
                                                         .priority = (uint8_t)(3 + 2 * h),
                                                         .start_ps = START_PS});
    }
    fixture_build(&fixture);
    fixture_run(&fixture);
    ck_assert_uint_eq(receiver->arrival_count, 30);
    for (size_t i = 1; i < receiver->arrival_count; i++) {
        ck_assert_uint_ne(receiver->arrivals[i].priority, receiver->arrivals[i - 1].priority);
    }
    fixture_destroy(&fixture);
}
END_TEST

// Hosts at 25 Gbps: a port of 100 has four times the threshold and, with its delay, its headroom;
// one of 400 the most there is.
START_TEST(thresholds_follow_rates)
{
    const net_switch_config_t config = peer_config(64 << 20, SIM_AUTO);
    fixture_options_t options = peer_options(SIM_PS_PER_US);
    fixture_t fixture;
    fixture_create(&fixture, &options);
    net_node_t *const a = fixture_switch(&fixture, "a", &config);
    net_node_t *const b = fixture_switch(&fixture, "b", &config);
    fixture_link(&fixture, &fixture_host(&fixture, "x")->node, a, 25 * FIXTURE_GBPS, DELAY_PS);
    fixture_link(&fixture, &fixture_host(&fixture, "y")->node, b, 25 * FIXTURE_GBPS, DELAY_PS);
    fixture_link(&fixture, a, b, 100 * FIXTURE_GBPS, 2 * DELAY_PS);
    fixture_link(&fixture, a, b, 400 * FIXTURE_GBPS, DELAY_PS / 4);
    fixture_build(&fixture);
    static const uint64_t headrooms[] = {9375, 75000, 37500}; // 3 x rate x delay
    static const uint64_t eighths[] = {1, 4, 8};
    const net_switch_t *const sw = (const net_switch_t *)(const void *)a;
    uint64_t dedicated = 0;
    for (uint32_t p = 0; p < 3; p++) {
        ck_assert_uint_eq(net_switch_headroom_limit_bytes(a, p), headrooms[p]);
        ck_assert_uint_eq(compat__switch_state(sw)->rows[p].alpha, NET_ALPHA_ONE / 8 * eighths[p]);
        dedicated += headrooms[p] + 4096;
    }
    ck_assert_uint_eq(sw->shared_limit, (64 << 20) - dedicated);
    fixture_run(&fixture);
    fixture_destroy(&fixture);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(pauses_and_resumes_at_the_packets_of_the_rules, 0, 3),
           CHECK_TEST(drops_what_fits_neither_headroom_nor_threshold),
           CHECK_LOOP(alpha_above_one_stays_within_the_buffer, 0, 3),
           CHECK_LOOP(admits_by_ingress_egress_and_buffer, 0, 12),
           CHECK_TEST(every_packet_is_charged), CHECK_TEST(classes_take_turns_packet_by_packet),
           CHECK_TEST(thresholds_follow_rates))
