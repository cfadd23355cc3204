// SPDX-License-Identifier: Apache-2.0
// test_cc_dcqcn_clocks.c - DCQCN's reaction point against one whose clocks tick in the
// open.
//
// Goal: deadlines behind one timer, alpha settled late and clocks caught up after a rest give the
// very bits that ticking every clock gives.
// Method: random parameters and random scripts of CNPs, packets, stops and starts, many at instants
// where clocks tick; after each step the state is compared with a second implementation that ticks
// alpha, monitor periods and increases one by one and never rests.
// Not pinned: whether the rules are the published ones (test_cc_dcqcn.c).
#include "tests/dcqcn_rig.h"

typedef struct reference {
    const nic_dcqcn_config_t *config;
    uint64_t rate_bps;
    uint64_t target_bps;
    uint64_t sent_bytes;
    double alpha;
    bool limited;
    bool cnp_for_alpha;
    bool cnp_for_cut;
    uint64_t time_stage;
    uint64_t byte_stage;
    sim_time_t alpha_tick_ps;
    sim_time_t monitor_tick_ps;
    sim_time_t increase_tick_ps;
} reference_t;

static void reference_cut(reference_t *r, sim_time_t now_ps)
{
    const double g = 1.0 - (double)r->config->dce_tcp_g / 1024.0;
    if (r->config->clamp_tgt_rate || r->byte_stage != 0 ||
        (r->time_stage != 0 && r->config->clamp_tgt_rate_after_time_inc)) {
        r->target_bps = r->rate_bps;
    }
    const uint64_t cut_bps = cut_by(r->rate_bps, r->alpha);
    const uint64_t min_bps = r->config->rpg_min_rate_bps;
    r->rate_bps = cut_bps < min_bps ? min_bps : cut_bps;
    if (r->config->variant == NIC_DCQCN_PAPER) {
        r->alpha = (1.0 - g) * r->alpha + g;
        r->alpha_tick_ps = now_ps + r->config->dce_tcp_rtt_ps;
    }
    r->cnp_for_cut = false;
    r->time_stage = r->byte_stage = r->sent_bytes = 0;
    r->increase_tick_ps = now_ps + r->config->rpg_time_reset_ps;
}

static void reference_increase(reference_t *r, uint64_t *stage)
{
    const uint64_t f = r->config->rpg_threshold;
    const bool fast = r->time_stage < f && r->byte_stage < f;
    const bool hyper = r->time_stage > f && r->byte_stage > f;
    if (hyper) {
        const uint64_t least = r->time_stage < r->byte_stage ? r->time_stage : r->byte_stage;
        const uint64_t steps = r->config->variant == NIC_DCQCN_PAPER ? least - f : 1;
        r->target_bps += r->config->rpg_hai_rate_bps * steps;
    } else if (!fast) {
        r->target_bps += r->config->rpg_ai_rate_bps;
    }
    if (r->target_bps > LINE_BPS) {
        r->target_bps = LINE_BPS;
    }
    r->rate_bps = half_way(r->rate_bps, r->target_bps);
    *stage += 1;
    if (r->rate_bps == LINE_BPS && r->config->variant == NIC_DCQCN_VENDOR && !r->cnp_for_cut) {
        r->limited = false;
        r->alpha_tick_ps = r->monitor_tick_ps = r->increase_tick_ps = SIM_TIME_NEVER;
    }
}

static void reference_cnp(reference_t *r, sim_time_t now_ps)
{
    if (!r->limited) {
        r->limited = true;
        r->alpha = (double)r->config->initial_alpha_value / 1024.0;
        r->alpha_tick_ps = now_ps + r->config->dce_tcp_rtt_ps;
        r->cnp_for_alpha = false;
        r->time_stage = r->byte_stage = r->sent_bytes = 0;
        if (r->config->rate_reduce_monitor_period_ps != 0) {
            r->monitor_tick_ps = now_ps + r->config->rate_reduce_monitor_period_ps;
        }
    }
    r->cnp_for_alpha = r->config->variant == NIC_DCQCN_VENDOR;
    r->cnp_for_cut = true;
    if (r->config->rate_reduce_monitor_period_ps == 0) {
        reference_cut(r, now_ps);
    }
}

// Ticks all clocks due before end_ps, one by one.
static void reference_tick(reference_t *r, sim_time_t end_ps)
{
    const double kept = (double)r->config->dce_tcp_g / 1024.0;
    for (;;) {
        sim_time_t now_ps = r->alpha_tick_ps;
        now_ps = r->monitor_tick_ps < now_ps ? r->monitor_tick_ps : now_ps;
        now_ps = r->increase_tick_ps < now_ps ? r->increase_tick_ps : now_ps;
        if (now_ps >= end_ps) {
            return;
        }
        if (r->alpha_tick_ps == now_ps) {
            r->alpha = kept * r->alpha + (r->cnp_for_alpha ? 1.0 - kept : 0.0);
            r->cnp_for_alpha = false;
            r->alpha_tick_ps += r->config->dce_tcp_rtt_ps;
        } else if (r->monitor_tick_ps == now_ps) {
            r->monitor_tick_ps += r->config->rate_reduce_monitor_period_ps;
            if (r->cnp_for_cut) {
                reference_cut(r, now_ps);
            }
        } else {
            r->increase_tick_ps += r->config->rpg_time_reset_ps;
            reference_increase(r, &r->time_stage);
        }
    }
}

static void reference_step(reference_t *r, const step_t *step)
{
    reference_tick(r, step->time_ps);
    if (step->action == DO_CNP) {
        reference_cnp(r, step->time_ps);
    } else if (step->action == DO_SEND && r->increase_tick_ps != SIM_TIME_NEVER) {
        r->sent_bytes += step->bytes;
        while (r->sent_bytes >= r->config->rpg_byte_reset_bytes &&
               r->increase_tick_ps != SIM_TIME_NEVER) {
            r->sent_bytes -= r->config->rpg_byte_reset_bytes;
            reference_increase(r, &r->byte_stage);
        }
    }
}

static uint64_t draw(uint64_t *counter, uint64_t limit)
{
    return sim_mix64(++*counter * UINT64_C(0x9e3779b97f4a7c15)) % limit;
}

// Stops and starts anywhere; CNPs may come at rest, packets are sent while running only.
static void random_script(rig_t *rig, uint64_t seed, uint64_t gap_us)
{
    uint64_t counter = seed << 32;
    bool running = true;
    sim_time_t time_ps = 0;
    rig_step(rig, time_ps, DO_START, 0);
    for (int i = 0; i < 400; i++) {
        // One instant in three is on a microsecond, so that clocks and arrivals tie.
        time_ps += draw(&counter, gap_us * US) + 1;
        if (draw(&counter, 3) == 0) {
            time_ps += US - time_ps % US;
        }
        const uint64_t kind = draw(&counter, 8);
        if (kind < 3) {
            rig_cnp(rig, time_ps);
        } else if (kind < 6 && running) {
            rig_step(rig, time_ps, DO_SEND, 1 + (uint32_t)draw(&counter, 30000));
        } else if (kind >= 6) {
            rig_step(rig, time_ps, running ? DO_STOP : DO_START, 0);
            running = !running;
        }
    }
    time_ps += US;
    if (!running) {
        rig_step(rig, time_ps, DO_START, 0);
    }
}

static nic_dcqcn_config_t random_config(uint64_t seed)
{
    uint64_t counter = (seed << 32) + 1000000;
    nic_dcqcn_config_t config = draw(&counter, 2) == 0 ? vendor_config : paper_config;
    config.rpg_time_reset_ps = (1 + draw(&counter, 20)) * US;
    config.rpg_byte_reset_bytes = 1000 + draw(&counter, 40000);
    config.rpg_threshold = 1 + draw(&counter, 5);
    config.dce_tcp_rtt_ps = (1 + draw(&counter, 10)) * US;
    config.rate_reduce_monitor_period_ps = draw(&counter, 4) * US;
    config.clamp_tgt_rate = draw(&counter, 2) == 0;
    config.clamp_tgt_rate_after_time_inc = draw(&counter, 2) == 0;
    config.rpg_ai_rate_bps = (1 + draw(&counter, 300)) * MBPS;
    return config;
}

static void compare(uint64_t seed)
{
    const nic_dcqcn_config_t config = random_config(seed);
    rig_t *const rig = rig_create(&config, LINE_BPS);
    random_script(rig, seed, seed % 2 == 0 ? 5 : 60);
    rig_run(rig, rig->steps[rig->step_count - 1].time_ps + US);
    reference_t reference = {
        .config = &config,
        .rate_bps = LINE_BPS,
        .target_bps = LINE_BPS,
        .alpha_tick_ps = SIM_TIME_NEVER,
        .monitor_tick_ps = SIM_TIME_NEVER,
        .increase_tick_ps = SIM_TIME_NEVER,
    };
    size_t compared = 0;
    for (size_t i = 0; i < rig->step_count; i++) {
        const state_t *const model = &rig->after[i];
        reference_step(&reference, &rig->steps[i]);
        // While the algorithm rests, its state is up to date only after CNPs and starts.
        if (!model->running && rig->steps[i].action != DO_CNP) {
            continue;
        }
        compared++;
        ck_assert_uint_eq(model->rate_bps, reference.rate_bps);
        ck_assert_uint_eq(model->target_bps, reference.target_bps);
        if (reference.limited) {
            ck_assert_uint_eq(model->alpha_millionths,
                              (uint64_t)(reference.alpha * 1000000.0 + 0.5));
        }
        if (reference.limited && reference.rate_bps < LINE_BPS) {
            ck_assert_uint_eq(model->time_stage, reference.time_stage);
            ck_assert_uint_eq(model->byte_stage, reference.byte_stage);
        }
    }
    ck_assert_uint_gt(compared, 100);
    rig_destroy(rig);
}

START_TEST(equals_clocks_that_tick)
{
    for (uint64_t k = 0; k < 25; k++) {
        compare((uint64_t)_i * 25 + k);
    }
}
END_TEST

CHECK_MAIN(CHECK_LOOP(equals_clocks_that_tick, 0, 8))
