// SPDX-License-Identifier: Apache-2.0
// labels: plain
// test_cc_dctcp_fluid.c - DCTCP on rates in a network, against the same loop written
// apart.
//
// Goal: rate and queue of one flow at a marking port swing as the law makes them swing in a loop of
// nothing but a delay, a server and a delay.
// Method: the loop is calculated here packet by packet, in doubles and without anything of the
// simulator: a sender of rate R, a queue that marks above K what leaves it, ACKs. Mean and highest
// queue, cuts per second and the range of the rate over 0.2 s must agree, and the swings be there.
// On rates the queue is the integral of rate less capacity, so the published amplitudes, which are
// of windows, do not apply. Not pinned: several flows.
#include "nic/cc/dctcp.h"
#include "tests/cc_star.h"

#define US SIM_PS_PER_US
#define MS SIM_PS_PER_MS
#define CAPACITY_BPS 25e9
#define LINE_BPS 100e9
#define FRAME_BYTES 1082.0
#define LINK_BITS ((FRAME_BYTES + NET_LINK_OVERHEAD_BYTES) * 8.0)
#define ACK_BITS ((62.0 + NET_LINK_OVERHEAD_BYTES) * 8.0)
#define RING 65536u
#define FROM_S 0.1
#define TO_S 0.3

typedef struct swing {
    double queue_mean;
    double queue_max;
    double cuts;
    double rate_min;
    double rate_max;
} swing_t;

typedef struct loop {
    double to_queue_s;  // from the start of a packet to its arrival
    double to_sender_s; // from its departure to its ACK
    double threshold;   // bytes
    double gain_bps;    // per round trip
    double rate_bps;
    double alpha;
    double acked;
    double marked;
    uint64_t sent;
    uint64_t left; // began to leave the queue
    uint64_t answered;
    uint64_t round_end;
    uint64_t cut_end;
    bool begun;
    bool reduced;
    double next_send_s;
    double free_s; // the server
    double arrival_s[RING];
    double answer_s[RING];
    bool mark[RING];
    swing_t seen;
    double queue_since_s;
    double queue_area;
} loop_t;

static double queue_of(const loop_t *loop, double now_s)
{
    uint64_t count = 0;
    for (uint64_t k = loop->left; k < loop->sent && loop->arrival_s[k % RING] <= now_s; k++) {
        count++;
    }
    return (double)count * FRAME_BYTES;
}

static void leave(loop_t *loop, double now_s)
{
    const uint64_t k = loop->left++;
    const double queue = queue_of(loop, now_s);
    loop->mark[k % RING] = queue > loop->threshold;
    loop->free_s = now_s + LINK_BITS / CAPACITY_BPS;
    loop->answer_s[k % RING] = loop->free_s + loop->to_sender_s;
    if (now_s >= FROM_S && now_s < TO_S) {
        loop->queue_area += queue * (now_s - loop->queue_since_s);
        loop->seen.queue_max = queue > loop->seen.queue_max ? queue : loop->seen.queue_max;
    }
    loop->queue_since_s = now_s;
}

static void answer(loop_t *loop, double now_s)
{
    const bool mark = loop->mark[loop->answered % RING];
    loop->answered++;
    loop->acked += 1.0;
    loop->marked += mark;
    const bool round_over = loop->answered > loop->round_end;
    if (round_over) {
        if (loop->begun) {
            loop->alpha += (loop->marked / loop->acked - loop->alpha) / 16.0;
        }
        loop->begun = true;
        loop->acked = loop->marked = 0.0;
        loop->round_end = loop->sent;
    }
    loop->reduced = loop->reduced && loop->answered <= loop->cut_end;
    if (loop->reduced) {
        return;
    }
    const double before_bps = loop->rate_bps;
    if (mark) {
        loop->rate_bps *= 1.0 - loop->alpha / 2.0;
        loop->reduced = true;
        loop->cut_end = loop->sent;
    } else if (round_over) {
        loop->rate_bps += loop->gain_bps;
    }
    // The rest of the wait is scaled to the new rate.
    loop->next_send_s = now_s + (loop->next_send_s - now_s) * before_bps / loop->rate_bps;
    if (now_s >= FROM_S && now_s < TO_S) {
        swing_t *const seen = &loop->seen;
        seen->cuts += mark;
        seen->rate_min = loop->rate_bps < seen->rate_min ? loop->rate_bps : seen->rate_min;
        seen->rate_max = before_bps > seen->rate_max ? before_bps : seen->rate_max;
    }
}

static void run_loop(loop_t *loop)
{
    loop->rate_bps = LINE_BPS;
    loop->alpha = 1.0;
    loop->seen.rate_min = LINE_BPS;
    double now_s = 0.0;
    while (now_s < TO_S) {
        const double arrival_s = loop->left < loop->sent ? loop->arrival_s[loop->left % RING] : 1e9;
        const double leave_s = arrival_s > loop->free_s ? arrival_s : loop->free_s;
        const double answer_s =
            loop->answered < loop->left ? loop->answer_s[loop->answered % RING] : 1e9;
        if (loop->next_send_s <= leave_s && loop->next_send_s <= answer_s) {
            now_s = loop->next_send_s;
            loop->arrival_s[loop->sent++ % RING] = now_s + loop->to_queue_s;
            loop->next_send_s = now_s + LINK_BITS / loop->rate_bps;
        } else if (leave_s <= answer_s) {
            now_s = leave_s;
            leave(loop, now_s);
        } else {
            now_s = answer_s;
            answer(loop, now_s);
        }
    }
    loop->seen.queue_mean = loop->queue_area / (TO_S - FROM_S);
    loop->seen.cuts /= TO_S - FROM_S;
}

static swing_t measured(const star_t *star)
{
    swing_t seen = {.queue_mean = star_mean_queue(star, 100 * MS, 300 * MS), .rate_min = LINE_BPS};
    const star_sample_t *const samples = star->flows[0].samples;
    for (size_t k = star_index(star, 100 * MS); k < star_index(star, 300 * MS); k++) {
        const double rate_bps = (double)samples[k].rate_bps;
        const double queue = (double)star->samples[k].queue_bytes;
        seen.cuts += samples[k + 1].rate_bps < samples[k].rate_bps;
        seen.rate_min = rate_bps < seen.rate_min ? rate_bps : seen.rate_min;
        seen.rate_max = rate_bps > seen.rate_max ? rate_bps : seen.rate_max;
        seen.queue_max = queue > seen.queue_max ? queue : seen.queue_max;
    }
    seen.cuts /= TO_S - FROM_S;
    return seen;
}

static const struct {
    sim_time_t delay_ps; // of a link
    uint64_t threshold_bytes;
    uint64_t ai_rate_bps;
    double error; // allowed of the extremes
} loops[] = {
    {10 * US, 200000, 615000000, 0.01},
    {10 * US, 200000, 100000000, 0.01},
    {1 * US, 75000, 615000000, 0.15}, // few packets a round trip: single ones decide
    {5 * US, 100000, 50000000, 0.01},
};

static swing_t simulated(int index)
{
    star_config_t config;
    star_config_init(&config);
    star_use(&config, "dctcp");
    nic_dctcp_config_t *const dctcp = star_cc_config(&config, &nic_cc_dctcp);
    dctcp->ai_rate_bps = loops[index].ai_rate_bps;
    config.sender_count = 1;
    config.link.rate_bps = 100000000000;
    config.link.delay_ps = loops[index].delay_ps;
    config.receiver_bps = 25000000000;
    config.nic.mtu_bytes = 1024;
    config.sw.ecn_scale = false;
    config.sw.ecn_kmin_bytes = loops[index].threshold_bytes;
    config.sw.ecn_kmax_bytes = loops[index].threshold_bytes;
    config.message_bytes = 1 << 20;
    config.sample_ps = 1 * US;
    config.options.until_ps = 301 * MS;
    star_t *const star = star_create(&config);
    star_run(star);
    const swing_t seen = measured(star);
    star_destroy(star);
    star_config_fini(&config);
    return seen;
}

START_TEST(one_flow_swings_as_the_loop)
{
    const double delay_s = (double)loops[_i].delay_ps / (double)SIM_PS_PER_S;
    loop_t *const loop = sim_alloc(sizeof(*loop));
    loop->to_queue_s = delay_s + LINK_BITS / LINE_BPS;
    loop->to_sender_s = 3.0 * delay_s + ACK_BITS / CAPACITY_BPS + ACK_BITS / LINE_BPS;
    loop->threshold = (double)loops[_i].threshold_bytes;
    loop->gain_bps = (double)loops[_i].ai_rate_bps;
    run_loop(loop);
    const swing_t law = loop->seen;
    const swing_t seen = simulated(_i);
    const double error = loops[_i].error;
    ck_assert_double_eq_tol(seen.queue_mean / law.queue_mean, 1.0, 0.06);
    ck_assert_double_eq_tol(seen.cuts / law.cuts, 1.0, 0.03);
    ck_assert_double_eq_tol(seen.rate_max / law.rate_max, 1.0, 0.01);
    ck_assert_double_eq_tol(seen.rate_min / law.rate_min, 1.0, error);
    ck_assert_double_eq_tol(seen.queue_max / law.queue_max, 1.0, error);
    sim_free(loop);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(one_flow_swings_as_the_loop, 0, 4))
