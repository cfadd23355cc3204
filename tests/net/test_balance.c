// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/net/test_balance.c - the load balancers of switches: who takes which path.
//
// Goal: sprays load all paths evenly; DRILL's and two choices' queues are those of queueing theory;
// adaptive routing joins the shortest queue; flowlets move only after a gap; weights follow the
// capacity behind a port; hashes have the fields that are asked for; no balancer uses a dead link.
// Method: two leaves and a number of spines with scripted hosts (tests/net_fixture.h), against
// closed forms with a stated tolerance.
// Not pinned: which port a random draw takes. ECMP itself: test_routing.c.
#include <math.h>
#include <string.h>

#include "net/balance_gauges.h"
#include "net/link_state.h"
#include "net/switch_model.h"
#include "tests/check_main.h"
#include "tests/net_fixture.h"

#define RATE_BPS (100 * FIXTURE_GBPS)
#define PS_PER_BYTE 80u
#define DELAY_PS SIM_PS_PER_US
#define SPINES_MAX 64u

typedef struct bed {
    fixture_t fixture;
    net_node_t *from; // leaf of the senders
    net_node_t *to;   // leaf of the receiver, which is the last host
    net_node_t *spines[SPINES_MAX];
    uint32_t spine_count;
} bed_t;

static net_switch_config_t config_of(const char *balance)
{
    net_switch_config_t config = fixture_switch_config();
    (void)snprintf(config.balance.name.text, sizeof(config.balance.name.text), "%s", balance);
    config.buffer_bytes = 4000000000;
    config.ecn_enabled = false;
    return config;
}

// Uplink s of the senders' leaf has the rate up_bps; all other links are 100 times as fast.
static void make(bed_t *bed, const net_switch_config_t *config, uint32_t senders, uint32_t spines,
                 const uint64_t *up_bps)
{
    char name[16];
    fixture_create(&bed->fixture, NULL);
    bed->spine_count = spines;
    bed->from = fixture_switch(&bed->fixture, "from", config);
    bed->to = fixture_switch(&bed->fixture, "to", config);
    for (uint32_t h = 0; h <= senders; h++) {
        (void)snprintf(name, sizeof(name), "h%u", h);
        fixture_link(&bed->fixture, &fixture_host(&bed->fixture, name)->node,
                     h < senders ? bed->from : bed->to, 100 * RATE_BPS, DELAY_PS);
    }
    for (uint32_t s = 0; s < spines; s++) {
        (void)snprintf(name, sizeof(name), "s%u", s);
        bed->spines[s] = fixture_switch(&bed->fixture, name, config);
        fixture_link(&bed->fixture, bed->from, bed->spines[s],
                     up_bps != NULL ? up_bps[s] : RATE_BPS, DELAY_PS);
        fixture_link(&bed->fixture, bed->spines[s], bed->to, 100 * RATE_BPS, DELAY_PS);
    }
}

static net_port_t *uplink(const bed_t *bed, uint32_t spine)
{
    return fixture_port(bed->from, bed->spines[spine]);
}

static uint64_t sent(const bed_t *bed, uint32_t spine)
{
    const net_port_t *const port = uplink(bed, spine);
    return port->classes[0]->tx_packets + port->classes[FIXTURE_CLASS]->tx_packets;
}

static void counts_of(const bed_t *bed, uint64_t *least, uint64_t *most, uint32_t *used)
{
    *least = UINT64_MAX;
    *most = 0;
    *used = 0;
    for (uint32_t s = 0; s < bed->spine_count; s++) {
        const uint64_t packets = sent(bed, s);
        *least = packets < *least ? packets : *least;
        *most = packets > *most ? packets : *most;
        *used += packets > 0;
    }
}

// -- spraying

START_TEST(random_spray_is_uniform)
{
    enum { FRAMES = 64000, SPINES = 16 };
    const net_switch_config_t config = config_of("random");
    bed_t bed;
    make(&bed, &config, 1, SPINES, NULL);
    fixture_flow(bed.fixture.hosts[0], &(fixture_flow_t){.to = 1, .count = FRAMES});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    double sum = 0;
    const double mean = (double)FRAMES / SPINES;
    for (uint32_t s = 0; s < SPINES; s++) {
        sum += ((double)sent(&bed, s) - mean) * ((double)sent(&bed, s) - mean) / mean;
    }
    const double excess = (sum - (SPINES - 1)) / sqrt(2.0 * (SPINES - 1));
    ck_assert_double_le(fabs(excess), 5);
    ck_assert_double_gt(sum, 0.5); // equal counts would not be random
    fixture_destroy(&bed.fixture);
}
END_TEST

START_TEST(round_robin_is_even)
{
    const net_switch_config_t config = config_of("round-robin");
    bed_t bed;
    make(&bed, &config, 3, 5, NULL);
    for (uint32_t h = 0; h < 3; h++) {
        fixture_flow(bed.fixture.hosts[h], &(fixture_flow_t){.to = 3, .count = 1001});
    }
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    uint64_t least, most;
    uint32_t used;
    counts_of(&bed, &least, &most, &used);
    ck_assert_uint_eq(bed.fixture.hosts[3]->received, 3003);
    ck_assert_uint_le(most - least, 1); // 3003 frames towards one leaf, over 5 ports
    fixture_destroy(&bed.fixture);
}
END_TEST

// -- queues

typedef struct waits {
    double sum_ps;
    uint64_t count;
} waits_t;

static void measure_wait(const net_trace_t *trace, void *ctx)
{
    waits_t *const waits = ctx;
    const net_packet_t *const packet = trace->packet;
    const uint64_t bytes = packet->frame_bytes + NET_LINK_OVERHEAD_BYTES - NET_GAP_BYTES;
    const sim_time_t at_switch_ps =
        packet->sent_ps + fixture_bytes_ps(bytes, 100 * RATE_BPS) + DELAY_PS;
    waits->sum_ps += (double)(trace->time_ps - at_switch_ps);
    waits->count++;
}

// Returns the mean wait for an uplink in mean service times. 128 sources send Poisson streams of
// frames; their sizes are quantiles of an exponential distribution. *second: E[S^2] / E[S]^2.
static double wait_of(const net_switch_config_t *config, uint32_t spines, double load,
                      double *second)
{
    enum { SOURCES = 128 };
    const double mean_bytes = 6000;
    bed_t bed;
    double sum = 0, squares = 0;
    make(&bed, config, SOURCES, spines, NULL);
    for (uint32_t h = 0; h < SOURCES; h++) {
        const uint32_t bytes = (uint32_t)(-mean_bytes * log(1 - (h + 0.5) / SOURCES)) + 1;
        sum += bytes;
        squares += (double)bytes * bytes;
        const double mean_ps = SOURCES * mean_bytes * PS_PER_BYTE / (load * spines);
        fixture_flow(bed.fixture.hosts[h],
                     &(fixture_flow_t){.to = SOURCES,
                                       .count = 2500,
                                       .frame_bytes = bytes > 24 ? bytes - 24 : 1,
                                       .mean_ps = (sim_time_t)mean_ps});
    }
    *second = squares * SOURCES / (sum * sum);
    fixture_build(&bed.fixture);
    waits_t waits = {.count = 0};
    for (uint32_t s = 0; s < spines; s++) {
        net_port_listen(uplink(&bed, s), NET_TRACE_TX, measure_wait, &waits);
    }
    fixture_run(&bed.fixture);
    fixture_destroy(&bed.fixture);
    return waits.sum_ps / (double)waits.count / (sum / SOURCES * PS_PER_BYTE);
}

// A random split of a Poisson stream is Poisson, so each of n uplinks is a queue M/G/1: its wait is
// load E[S^2] / (2 E[S]^2 (1 - load)), whatever n is.
START_TEST(spray_waits_as_mg1)
{
    const double load = 0.6;
    const net_switch_config_t config = config_of("random");
    double second = 0;
    const double wait = wait_of(&config, 16, load, &second);
    const double expected = load * second / (2 * (1 - load));
    printf("spray: wait %.3f, M/G/1 %.3f\n", wait, expected);
    ck_assert_double_le(fabs(wait - expected), 0.05 * expected);
}
END_TEST

// Joining the port with the least work of d random ones waits, with many ports and exponential
// sizes, the integral of F(w)^d over w,
// F(w) = (load + (load^(1-d) - load) e^((d-1)w))^(1/(1-d))
// (Hellemans, Van Houdt: On the Power-of-d-choices with Least Loaded Server Selection, 2018). With
// d = 2 that is -ln(1 - load^2) / load^2 - 1. DRILL(2,1) remembers a short queue, so it waits less.
START_TEST(drill_waits_as_two_choices)
{
    const double load = 0.8;
    net_switch_config_t config = config_of("drill");
    config.balance.drill_memory = 0;
    double second = 0;
    const double two = wait_of(&config, SPINES_MAX, load, &second);
    const double expected = -log(1 - load * load) / (load * load) - 1;
    config.balance.drill_memory = 1;
    const double drill = wait_of(&config, SPINES_MAX, load, &second);
    const net_switch_config_t exact = config_of("adaptive");
    const double least = wait_of(&exact, SPINES_MAX, load, &second);
    printf("two choices: wait %.3f, mean field %.3f; DRILL(2,1) %.3f; all ports %.3f\n", two,
           expected, drill, least);
    ck_assert_double_le(fabs(two - expected), 0.08 * expected);
    ck_assert_double_lt(drill, 0.75 * two);
    ck_assert_double_lt(least, 0.2 * drill);
}
END_TEST

// With equal frames the shortest of all queues keeps queues equal up to a frame.
START_TEST(adaptive_joins_the_shortest_queue)
{
    net_switch_config_t config = config_of("adaptive");
    config.balance.adaptive_by = _i == 0 ? NET_ADAPTIVE_EXACT : NET_ADAPTIVE_GRADES;
    config.balance.adaptive_full_bytes = 200000;
    bed_t bed;
    make(&bed, &config, 4, 8, NULL);
    for (uint32_t h = 0; h < 4; h++) {
        fixture_flow(bed.fixture.hosts[h], &(fixture_flow_t){.to = 4, .count = 1000});
    }
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    uint64_t least, most;
    uint32_t used;
    counts_of(&bed, &least, &most, &used);
    ck_assert_uint_eq(used, 8);
    // A grade is a quarter of full at most, and ties are drawn: 500 frames each, far from exact.
    ck_assert_uint_le(most - least, _i == 0 ? 1 : 100);
    ck_assert(_i == 0 || most - least > 1);
    fixture_destroy(&bed.fixture);
}
END_TEST

// Two uplinks at a tenth of the rate get a tenth of a greedy stream's frames, as queues decide.
START_TEST(adaptive_avoids_slow_links)
{
    const net_switch_config_t config = config_of("adaptive");
    const uint64_t rates[] = {RATE_BPS, RATE_BPS, RATE_BPS / 10, RATE_BPS / 10};
    bed_t bed;
    make(&bed, &config, 1, 4, rates);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = 22000, .period_ps = 1024 * 80 / 2});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    ck_assert_double_le(fabs((double)sent(&bed, 2) - 1000), 60);
    ck_assert_double_le(fabs((double)sent(&bed, 0) - 10000), 200);
    fixture_destroy(&bed.fixture);
}
END_TEST

// Flow mode moves only after a gap, by the toss of a coin, to a strictly better port.
START_TEST(adaptive_flows_stay_without_a_gap)
{
    net_switch_config_t config = config_of("adaptive");
    config.balance.adaptive_gap_ps = 10 * SIM_PS_PER_US;
    bed_t bed;
    make(&bed, &config, 1, 8, NULL);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = 500, .period_ps = 9 * SIM_PS_PER_US});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    uint64_t least, most;
    uint32_t used;
    counts_of(&bed, &least, &most, &used);
    ck_assert_uint_eq(used, 1);
    fixture_destroy(&bed.fixture);
}
END_TEST

// -- flowlets

static uint32_t flowlet_paths(sim_time_t period_ps, uint64_t frames)
{
    net_switch_config_t config = config_of("letflow");
    config.balance.letflow_gap_ps = 50 * SIM_PS_PER_US;
    bed_t bed;
    make(&bed, &config, 1, 8, NULL);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = frames, .period_ps = period_ps});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    ck_assert_uint_eq(bed.fixture.hosts[1]->received, frames);
    uint64_t least, most;
    uint32_t used;
    counts_of(&bed, &least, &most, &used);
    // Draws are uniform: 800 frames over 8 ports are within 5 standard deviations of 100.
    ck_assert(used == 1 || (least > 53 && most < 147));
    fixture_destroy(&bed.fixture);
    return used;
}

START_TEST(letflow_moves_after_a_gap)
{
    ck_assert_uint_eq(flowlet_paths(50 * SIM_PS_PER_US, 800), 1);
    ck_assert_uint_eq(flowlet_paths(50 * SIM_PS_PER_US + 1, 800), 8);
}
END_TEST

// -- hashes

// Uplinks of 3, 1, 1 and 1 parts: flows divide by these, within 5 standard deviations.
START_TEST(weights_follow_capacity)
{
    enum { FLOWS = 12000 };
    const net_switch_config_t config = config_of("wecmp");
    const uint64_t rates[] = {3 * RATE_BPS, RATE_BPS, RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 4, rates);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = FLOWS, .vary_source_port = true});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    const double share = FLOWS / 6.0;
    for (uint32_t s = 0; s < 4; s++) {
        const double parts = s == 0 ? 3 : 1;
        const double sigma = sqrt(FLOWS * parts / 6 * (1 - parts / 6));
        ck_assert_double_le(fabs((double)sent(&bed, s) - parts * share), 5 * sigma);
    }
    fixture_destroy(&bed.fixture);
}
END_TEST

// The capacity behind an equal uplink counts, too: the way back goes by links that are unequal only
// at the far leaf.
START_TEST(weights_see_links_further_on)
{
    enum { FLOWS = 12000 };
    const net_switch_config_t config = config_of("wecmp");
    const uint64_t rates[] = {3 * RATE_BPS, RATE_BPS, RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 4, rates);
    fixture_flow(bed.fixture.hosts[1],
                 &(fixture_flow_t){.to = 0, .count = FLOWS, .vary_source_port = true});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    const uint64_t first = fixture_port(bed.to, bed.spines[0])->classes[0]->tx_packets;
    ck_assert_double_le(fabs((double)first - FLOWS / 2.0), 5 * sqrt(FLOWS / 4.0));
    fixture_destroy(&bed.fixture);
}
END_TEST

// Returns the uplinks that frames of one host use which differ only in their source port.
// Runs the bed and returns how many paths its frames took. Destroys the bed.
static uint32_t run_for_paths(bed_t *bed)
{
    uint64_t least, most;
    uint32_t used;
    fixture_build(&bed->fixture);
    fixture_run(&bed->fixture);
    counts_of(bed, &least, &most, &used);
    fixture_destroy(&bed->fixture);
    return used;
}

static uint32_t hashed_paths(const net_switch_config_t *config)
{
    bed_t bed;
    make(&bed, config, 1, 8, NULL);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = 400, .vary_source_port = true});
    return run_for_paths(&bed);
}

static uint32_t spread(const bed_t *bed, net_packet_t packet)
{
    net_switch_t *const sw = net_switch_of(bed->from);
    return net_switch_route(sw, &packet);
}

START_TEST(hash_has_the_fields_asked_for)
{
    net_switch_config_t config = config_of("ecmp");
    config.balance.ecmp_fields = NET_HASH_ADDRESSES;
    ck_assert_uint_eq(hashed_paths(&config), 1);
    config.balance.ecmp_fields = NET_HASH_ENTROPY;
    ck_assert_uint_eq(hashed_paths(&config), 8);
    // 64 values of a field that the hash has use more than one port, of one that it has not, one.
    for (uint32_t field = 0; field < 3; field++) {
        for (uint32_t on = 0; on < 2; on++) {
            config = config_of("ecmp");
            config.balance.ecmp_symmetric = true; // so that the packet is hashed here
            config.balance.ecmp_dscp = field == 0 && on != 0;
            config.balance.ecmp_destination_qp = field == 1 && on != 0;
            config.balance.ecmp_fields =
                field == 2 && on == 0 ? NET_HASH_ADDRESSES : NET_HASH_FIVE_TUPLE;
            bed_t bed;
            make(&bed, &config, 1, 8, NULL);
            fixture_build(&bed.fixture);
            uint32_t ports = 0;
            for (uint32_t value = 0; value < 64; value++) {
                net_packet_t packet = {.source = 0, .destination = 1};
                packet.dscp = field == 0 ? value & 63u : 0;
                packet.destination_qp = field == 1 ? value : 0;
                packet.udp_source_port = field == 2 ? (uint16_t)value : 0;
                ports |= 1u << spread(&bed, packet);
            }
            ck_assert_int_eq(__builtin_popcount(ports) > 1, on != 0);
            fixture_destroy(&bed.fixture);
        }
    }
}
END_TEST

// With one seed in all switches, a symmetric hash takes both directions over one spine.
START_TEST(symmetric_hash_ignores_direction)
{
    net_switch_config_t config = config_of("ecmp");
    config.ecmp_seed = 7;
    config.balance.ecmp_symmetric = true;
    bed_t bed;
    make(&bed, &config, 1, 8, NULL);
    fixture_build(&bed.fixture);
    for (uint16_t port = 0; port < 64; port++) {
        const net_packet_t there = {.source = 0, .destination = 1, .udp_source_port = port};
        const net_packet_t back = {.source = 1, .destination = 0, .udp_source_port = port};
        const net_port_t *const up =
            &bed.from->ports[net_switch_route(net_switch_of(bed.from), &there)];
        const net_port_t *const down =
            &bed.to->ports[net_switch_route(net_switch_of(bed.to), &back)];
        ck_assert_ptr_eq(up->peer->node, down->peer->node);
    }
    fixture_destroy(&bed.fixture);
}
END_TEST

// -- CONGA

static net_switch_config_t conga_config(void)
{
    net_switch_config_t config = config_of("conga");
    config.balance.conga_gap_ps = 0; // each packet is a flowlet
    config.balance.conga_dre_ps = 10 * SIM_PS_PER_US;
    config.balance.conga_bits = 6;
    return config;
}

// CONGA equalises utilisations: uplinks of 2 and 1 parts get 2/3 and 1/3 of the frames.
START_TEST(conga_fills_unequal_uplinks)
{
    enum { FRAMES = 24000 };
    const net_switch_config_t config = conga_config();
    const uint64_t rates[] = {2 * RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 2, rates);
    fixture_flow(bed.fixture.hosts[0],
                 &(fixture_flow_t){.to = 1, .count = FRAMES, .mean_ps = 1074 * 80 / 2});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    const net_balance_gauges_t gauges = net_switch_balance_gauges(bed.from);
    ck_assert_uint_eq(gauges.flows, 1);
    ck_assert_uint_eq(gauges.flowlets, FRAMES); // each packet is one
    const double share = (double)sent(&bed, 0) / FRAMES;
    printf("CONGA: share %.4f of the faster uplink, equal utilisation %.4f\n", share, 2.0 / 3);
    ck_assert_double_le(fabs(share - 2.0 / 3), 0.02);
    fixture_destroy(&bed.fixture);
}
END_TEST

// The slow link is the spine's, at the far end of equal uplinks, so only feedback tells of it. What
// it told of a path that is not used ages, and the path is tried again.
START_TEST(conga_hears_of_links_further_on)
{
    enum { FRAMES = 24000 };
    net_switch_config_t config = conga_config();
    config.balance.conga_ageing_ps = 20 * SIM_PS_PER_US;
    const uint64_t rates[] = {2 * RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 2, rates);
    fixture_flow(bed.fixture.hosts[1],
                 &(fixture_flow_t){.to = 0, .count = FRAMES, .mean_ps = 1074 * 80});
    fixture_flow(
        bed.fixture.hosts[0],
        &(fixture_flow_t){.to = 1, .count = FRAMES, .mean_ps = 1074 * 80, .frame_bytes = 64});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    ck_assert_uint_ge(net_switch_balance_gauges(bed.to).known_paths,
                      1); // the other one may have aged
    const net_port_t *const up = fixture_port(bed.to, bed.spines[0]);
    const double share = (double)up->classes[0]->tx_packets / FRAMES;
    printf("CONGA: share %.4f towards the faster link of a spine\n", share);
    fflush(stdout);
    ck_assert_double_le(fabs(share - 2.0 / 3), 0.04);
    fixture_destroy(&bed.fixture);
}
END_TEST

// Returns how many of eight idle uplinks a flow of one-packet flowlets takes.
static uint32_t conga_idle_paths(net_conga_rules_t rules, uint16_t payload_bytes)
{
    net_switch_config_t config = conga_config();
    config.balance.conga_rules = rules;
    bed_t bed;
    make(&bed, &config, 1, 8, NULL);
    fixture_flow(bed.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                         .count = 100,
                                                         .period_ps = SIM_PS_PER_MS,
                                                         .payload_bytes = payload_bytes});
    return run_for_paths(&bed);
}

// Returns the share of the frames that take the faster of two uplinks of 2 : 1, which the slower
// one's far end tells of. The frames towards the sender, which carry the feedback, have `back`
// bytes of payload.
static double conga_share_by_feedback(net_conga_rules_t rules, uint16_t back, uint64_t *known)
{
    enum { FRAMES = 24000 };
    net_switch_config_t config = conga_config();
    config.balance.conga_rules = rules;
    config.balance.conga_ageing_ps = 20 * SIM_PS_PER_US;
    const uint64_t rates[] = {2 * RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 2, rates);
    fixture_flow(
        bed.fixture.hosts[1],
        &(fixture_flow_t){.to = 0, .count = FRAMES, .mean_ps = 1074 * 80, .payload_bytes = 900});
    fixture_flow(bed.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                         .count = FRAMES,
                                                         .mean_ps = 1074 * 80,
                                                         .frame_bytes = 64,
                                                         .payload_bytes = back});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    *known = net_switch_balance_gauges(bed.to).known_paths;
    const net_port_t *const up = fixture_port(bed.to, bed.spines[0]);
    const double share = (double)up->classes[0]->tx_packets / FRAMES;
    fixture_destroy(&bed.fixture);
    return share;
}

// Returns the share of the frames that take the faster of two uplinks of 2 : 1 if ten times as many
// bytes come as both can send. Utilisations have one bit, so all are 1 if they are cut.
static double conga_share_under_overload(net_conga_rules_t rules)
{
    enum { FRAMES = 6000 };
    net_switch_config_t config = conga_config();
    config.balance.conga_rules = rules;
    config.balance.conga_bits = 1;
    const uint64_t rates[] = {2 * RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 2, rates);
    fixture_flow(
        bed.fixture.hosts[0],
        &(fixture_flow_t){.to = 1, .count = FRAMES, .period_ps = 2800, .payload_bytes = 900});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    const double share = (double)sent(&bed, 0) / FRAMES;
    fixture_destroy(&bed.fixture);
    return share;
}

// Returns the share of the frames that take the faster of two uplinks of 2 : 1 if the estimators
// forget between two frames. So only feedback about the uplinks themselves can tell them apart.
static double conga_share_by_memory(void)
{
    enum { FRAMES = 600 };
    net_switch_config_t config = conga_config();
    config.balance.conga_rules = NET_CONGA_SIMULATOR;
    config.balance.conga_alpha = (sim_ratio_t){1, 1};
    const uint64_t rates[] = {2 * RATE_BPS, RATE_BPS};
    bed_t bed;
    make(&bed, &config, 1, 2, rates);
    fixture_flow(bed.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                         .count = FRAMES,
                                                         .period_ps = 10 * SIM_PS_PER_US,
                                                         .frame_bytes = 9000,
                                                         .payload_bytes = 8900});
    fixture_flow(bed.fixture.hosts[1], &(fixture_flow_t){.to = 0,
                                                         .count = 4 * FRAMES,
                                                         .period_ps = 5 * SIM_PS_PER_US / 2,
                                                         .payload_bytes = 900});
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    const double share = (double)sent(&bed, 0) / FRAMES;
    fixture_destroy(&bed.fixture);
    return share;
}

// By the simulator's rules, a flowlet leaves its uplink for an equal one, and frames without
// payload take the port of their hash and carry no feedback.
START_TEST(conga_has_the_rules_of_the_simulator)
{
    ck_assert_uint_eq(conga_idle_paths(NET_CONGA_PAPER, 900), 1);
    ck_assert_uint_eq(conga_idle_paths(NET_CONGA_SIMULATOR, 900), 8);
    ck_assert_uint_eq(conga_idle_paths(NET_CONGA_SIMULATOR, 0), 1);
    uint64_t known;
    double share = conga_share_by_feedback(NET_CONGA_SIMULATOR, 1, &known);
    printf("CONGA by the simulator's rules: share %.4f towards the faster link\n", share);
    fflush(stdout);
    ck_assert_double_le(fabs(share - 2.0 / 3), 0.06);
    ck_assert_uint_ge(known, 1);
    share = conga_share_by_feedback(NET_CONGA_SIMULATOR, 0, &known);
    ck_assert_double_le(fabs(share - 0.5), 0.02);
    ck_assert_uint_eq(known, 0);
    const double remembered = conga_share_by_memory();
    printf("CONGA by the simulator's rules: share %.3f by what the uplinks had\n", remembered);
    ck_assert_double_ge(remembered, 0.9);
    const double cut = conga_share_under_overload(NET_CONGA_PAPER);
    const double uncut = conga_share_under_overload(NET_CONGA_SIMULATOR);
    printf("CONGA, overloaded uplinks of 2 : 1: share %.3f, by the paper's rules %.3f\n", uncut,
           cut);
    fflush(stdout);
    ck_assert_double_le(fabs(uncut - 2.0 / 3), 0.03);
    ck_assert_double_le(cut, 0.6);
}
END_TEST

// -- ConWeave

typedef struct order {
    uint64_t behind; // frames that came behind later ones of their host
    uint64_t moved;  // uplinks with frames
    uint64_t received;
    uint64_t reroutes;
    uint64_t pauses; // that the last switch sends to spines
} order_t;

// Eight hosts send a frame each `gap` frame times over two uplinks, which have a part of the rate.
static order_t conweave_over(const net_switch_config_t *config, const uint64_t parts[2],
                             uint64_t gap, bool lossy)
{
    enum { HOSTS = 8, FRAMES = 1000 };
    const uint64_t rates[] = {RATE_BPS / parts[0], RATE_BPS / parts[1]};
    bed_t bed;
    make(&bed, config, HOSTS, 2, rates);
    bed.fixture.hosts[HOSTS]->keep = true;
    for (uint32_t h = 0; h < HOSTS; h++) {
        fixture_flow(bed.fixture.hosts[h], &(fixture_flow_t){.to = HOSTS,
                                                             .count = FRAMES,
                                                             .payload_bytes = 900,
                                                             .priority = FIXTURE_CLASS,
                                                             .period_ps = 1024 * 80 * gap});
    }
    if (lossy) { // what is on the slow path is lost, TAILs too
        net_link_change_at(bed.fixture.net, HOSTS + 2, 30 * SIM_PS_PER_US, false);
    }
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    order_t order = {.moved = (uint64_t)(sent(&bed, 0) > 0) + (sent(&bed, 1) > 0)};
    order.reroutes = net_switch_balance_gauges(bed.from).reroutes;
    ck_assert_uint_eq(net_switch_balance_gauges(bed.to).held_flows, 0);
    ck_assert_uint_eq(net_switch_balance_gauges(bed.to).held_bytes, 0);
    for (uint32_t s = 0; s < 2; s++) {
        order.pauses += fixture_port(bed.to, bed.spines[s])->rare->pauses[FIXTURE_CLASS].tx_pause;
    }
    uint32_t next[HOSTS] = {0};
    const fixture_host_t *const to = bed.fixture.hosts[HOSTS];
    for (size_t i = 0; i < to->arrival_count; i++) {
        const fixture_arrival_t *const arrival = &to->arrivals[i];
        uint32_t *const expected = &next[arrival->from];
        order.behind += arrival->psn < *expected;
        *expected = arrival->psn + 1 > *expected ? arrival->psn + 1 : *expected;
    }
    order.received = to->arrival_count;
    ck_assert(lossy || order.received == (uint64_t)HOSTS * FRAMES);
    fixture_destroy(&bed.fixture);
    return order;
}

// Eight hosts send at a sixteenth of the rate over one slow and one fast uplink. Flows that begin
// on the slow one are late there and must move.
static order_t conweave_order(const net_switch_config_t *config, bool lossy)
{
    return conweave_over(config, (const uint64_t[]){8, 1}, 16, lossy);
}

START_TEST(conweave_keeps_order)
{
    net_switch_config_t config = config_of("conweave");
    const order_t order = conweave_order(&config, false);
    ck_assert_uint_eq(order.moved, 2);
    ck_assert_uint_gt(order.reroutes, 0);
    ck_assert_uint_eq(order.behind, 0);
    config.balance.conweave_wait_ps = SIM_PS_PER_US; // it hardly waits
    config.balance.conweave_extra_ps = 0;
    ck_assert_uint_gt(conweave_order(&config, false).behind, 0);
}
END_TEST

// Both uplinks are full, so flows move again and again. In some epochs no packet of the old path
// comes before those of the new one. An older epoch's delay would then let them go too early.
START_TEST(conweave_expects_the_tail_by_this_epoch)
{
    const net_switch_config_t config = config_of("conweave");
    const order_t order = conweave_over(&config, (const uint64_t[]){8, 8}, 32, false);
    ck_assert_uint_gt(order.reroutes, 100);
    ck_assert_uint_eq(order.behind, 0);
}
END_TEST

// A leaf that hardly waits releases packets before their TAIL. The CLEAR still waits for the TAIL,
// so a flow does not move more often than with a leaf that waits.
START_TEST(conweave_clears_with_the_tail)
{
    net_switch_config_t config = config_of("conweave");
    const uint64_t parts[] = {8, 8};
    const uint64_t patient = conweave_over(&config, parts, 24, false).reroutes;
    config.balance.conweave_wait_ps = SIM_PS_PER_US;
    config.balance.conweave_extra_ps = 0;
    const order_t order = conweave_over(&config, parts, 24, false);
    printf("ConWeave: %" PRIu64 " moves with a leaf that waits, %" PRIu64
           " with one that hardly does\n",
           patient, order.reroutes);
    ck_assert_uint_gt(order.behind, 0);
    ck_assert_uint_le(order.reroutes, patient);
}
END_TEST

// Held packets beside the buffer stop nobody; those in it use up a small threshold. Both ways the
// order is kept, and nothing is lost.
START_TEST(conweave_holds_beside_the_buffer)
{
    net_switch_config_t config = config_of("conweave");
    config.pfc_threshold_bytes = 1500;
    const order_t counted = conweave_order(&config, false);
    config.balance.conweave_held = NET_CONWEAVE_FREE;
    const order_t beside = conweave_order(&config, false);
    printf("ConWeave: held packets cause %" PRIu64 " pauses in the buffer, %" PRIu64 " beside it\n",
           counted.pauses, beside.pauses);
    ck_assert_uint_eq(beside.behind, 0);
    ck_assert_uint_gt(counted.pauses, 4 * beside.pauses);
}
END_TEST

// A TAIL that is lost holds nothing for ever: all frames of the other path arrive.
START_TEST(conweave_gives_up_on_a_lost_tail)
{
    const net_switch_config_t config = config_of("conweave");
    const order_t order = conweave_order(&config, true);
    ck_assert_uint_eq(order.behind, 0);
    ck_assert_uint_gt(order.received, 7000);
}
END_TEST

// -- links that fail

// Once an uplink is down, no balancer sends into it, and all others stay in use where packets or
// flows are many. All frames after that arrive.
START_TEST(dead_uplink_is_avoided)
{
    static const char *const names[] = {"ecmp",  "wecmp",   "random", "round-robin", "adaptive",
                                        "drill", "letflow", "conga",  "conweave"};
    ck_assert_uint_lt((size_t)_i, SIM_COUNT_OF(names));
    net_switch_config_t config = config_of(names[_i]);
    config.balance.letflow_gap_ps = 0;
    bed_t bed;
    make(&bed, &config, 1, 4, NULL);
    fixture_flow(bed.fixture.hosts[0], &(fixture_flow_t){.to = 1,
                                                         .count = 2000,
                                                         .period_ps = 100000,
                                                         .start_ps = 100 * SIM_PS_PER_US,
                                                         .payload_bytes = 900,
                                                         .vary_source_port = true});
    // Links in the order of make: two hosts, then two links a spine.
    net_link_change_at(bed.fixture.net, 2, 50 * SIM_PS_PER_US, false);
    net_link_change_at(bed.fixture.net, 3, 50 * SIM_PS_PER_US, false);
    fixture_build(&bed.fixture);
    fixture_run(&bed.fixture);
    ck_assert_uint_eq(sent(&bed, 0), 0);
    for (uint32_t s = 1; s < 4; s++) {
        ck_assert_uint_gt(sent(&bed, s), 450);
    }
    ck_assert_uint_eq(bed.fixture.hosts[1]->received, 2000);
    fixture_destroy(&bed.fixture);
}
END_TEST

CHECK_MAIN(CHECK_TEST(random_spray_is_uniform), CHECK_TEST(round_robin_is_even),
           CHECK_MANY(spray_waits_as_mg1), CHECK_MANY(drill_waits_as_two_choices),
           CHECK_LOOP(adaptive_joins_the_shortest_queue, 0, 2),
           CHECK_TEST(adaptive_avoids_slow_links), CHECK_TEST(adaptive_flows_stay_without_a_gap),
           CHECK_TEST(letflow_moves_after_a_gap), CHECK_TEST(weights_follow_capacity),
           CHECK_TEST(weights_see_links_further_on), CHECK_TEST(hash_has_the_fields_asked_for),
           CHECK_TEST(symmetric_hash_ignores_direction), CHECK_TEST(conga_fills_unequal_uplinks),
           CHECK_TEST(conga_hears_of_links_further_on),
           CHECK_TEST(conga_has_the_rules_of_the_simulator), CHECK_TEST(conweave_keeps_order),
           CHECK_TEST(conweave_expects_the_tail_by_this_epoch),
           CHECK_TEST(conweave_clears_with_the_tail), CHECK_TEST(conweave_holds_beside_the_buffer),
           CHECK_TEST(conweave_gives_up_on_a_lost_tail), CHECK_LOOP(dead_uplink_is_avoided, 0, 9))
