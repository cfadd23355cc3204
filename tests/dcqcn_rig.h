// SPDX-License-Identifier: Apache-2.0
// tests/dcqcn_rig.h - one QP's DCQCN on a node that runs only its timers, driven by a script.
//
// Fill the script (rig_step, rig_cnp), rig_run it once, then read what was in force when (rig_at)
// and what each step left behind (rig->after). Include in one file of a test program.
#ifndef TESTS_DCQCN_RIG_H
#define TESTS_DCQCN_RIG_H

#include "nic/cc/dcqcn.h"

#include "tests/check_main.h"

#define US SIM_PS_PER_US
#define MBPS UINT64_C(1000000)
#define LINE_BPS UINT64_C(40000000000)
#define STEPS_MAX 4096

typedef enum action { DO_START, DO_STOP, DO_CNP, DO_SEND } action_t;

typedef struct step {
    sim_time_t time_ps;
    action_t action;
    uint32_t bytes;
} step_t;

typedef struct state {
    sim_time_t time_ps;
    uint64_t rate_bps;
    uint64_t target_bps;
    uint64_t alpha_millionths;
    uint64_t time_stage;
    uint64_t byte_stage;
    bool running;
} state_t;

typedef struct rig {
    sim_node_t node; // first
    nic_dcqcn_config_t config;
    nic_dcqcn_t dcqcn;
    sim_t *sim;
    step_t steps[STEPS_MAX];
    size_t step_count;
    state_t changes[STEPS_MAX]; // after each change of a rate
    size_t change_count;
    state_t after[STEPS_MAX]; // after each step
    size_t announced;         // calls of nic_cc_rate_changed
    size_t timers_run;
} rig_t;

// Replaces the NIC's function and only counts its calls.
void nic_cc_rate_changed(nic_cc_t *cc)
{
    rig_t *const rig = (rig_t *)(void *)cc->node;
    rig->announced++;
}

static state_t rig_state(const rig_t *rig)
{
    const nic_cc_t *const cc = &rig->dcqcn.cc;
    return (state_t){
        .time_ps = rig->node.now_ps,
        .rate_bps = cc->rate_bps,
        .target_bps = nic_cc_dcqcn.metric(cc, 1),
        .alpha_millionths = nic_cc_dcqcn.metric(cc, 0),
        .time_stage = nic_cc_dcqcn.metric(cc, 2),
        .byte_stage = nic_cc_dcqcn.metric(cc, 3),
        .running = rig->dcqcn.running,
    };
}

static void rig_log(rig_t *rig)
{
    const state_t now = rig_state(rig);
    const state_t *const last = &rig->changes[rig->change_count - 1];
    if (now.rate_bps != last->rate_bps || now.target_bps != last->target_bps) {
        ck_assert_uint_lt(rig->change_count, STEPS_MAX);
        rig->changes[rig->change_count++] = now;
    }
}

static void rig_act(rig_t *rig, const step_t *step)
{
    nic_cc_t *const cc = &rig->dcqcn.cc;
    switch (step->action) {
    case DO_START:
        nic_cc_dcqcn.start(cc);
        break;
    case DO_STOP:
        nic_cc_dcqcn.stop(cc);
        break;
    case DO_CNP:
        nic_cc_dcqcn.cnp(cc);
        break;
    case DO_SEND:
        nic_cc_dcqcn.sent(cc, step->bytes);
        break;
    }
}

static void rig_run_node(sim_node_t *node)
{
    rig_t *const rig = (rig_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            rig->timers_run++;
            event.timer->fn(node, event.timer);
        } else {
            rig_act(rig, &rig->steps[event.port]);
            rig->after[event.port] = rig_state(rig);
        }
        rig_log(rig);
    }
}

static void rig_destroy_node(sim_node_t *node)
{
    (void)node; // the rig is read after the run
}

static const sim_node_ops_t rig_ops = {
    .kind = "rig",
    .run = rig_run_node,
    .destroy = rig_destroy_node,
};

// The vendor's published defaults, written out independently of the attribute table.
static const nic_dcqcn_config_t vendor_config = {
    .variant = NIC_DCQCN_VENDOR,
    .rpg_time_reset_ps = 300 * US,
    .rpg_byte_reset_bytes = 32767000,
    .rpg_threshold = 1,
    .rpg_ai_rate_bps = 5 * MBPS,
    .rpg_hai_rate_bps = 50 * MBPS,
    .rpg_max_rate_bps = 0,
    .rpg_min_rate_bps = 1 * MBPS,
    .rpg_gd = 11,
    .rpg_min_dec_fac = {50, 100},
    .rate_to_set_on_first_cnp_bps = 0,
    .initial_alpha_value = 1023,
    .dce_tcp_g = 1019,
    .dce_tcp_rtt_ps = 1 * US,
    .rate_reduce_monitor_period_ps = 4 * US,
    .clamp_tgt_rate = false,
    .clamp_tgt_rate_after_time_inc = true,
};

// The values of the paper.
static const nic_dcqcn_config_t paper_config = {
    .variant = NIC_DCQCN_PAPER,
    .rpg_time_reset_ps = 55 * US,
    .rpg_byte_reset_bytes = 10000000,
    .rpg_threshold = 5,
    .rpg_ai_rate_bps = 40 * MBPS,
    .rpg_hai_rate_bps = 400 * MBPS,
    .rpg_max_rate_bps = 0,
    .rpg_min_rate_bps = 1 * MBPS,
    .rpg_gd = 11,
    .rpg_min_dec_fac = {50, 100},
    .rate_to_set_on_first_cnp_bps = 0,
    .initial_alpha_value = 1024,
    .dce_tcp_g = 1020,
    .dce_tcp_rtt_ps = 55 * US,
    .rate_reduce_monitor_period_ps = 0,
    .clamp_tgt_rate = true,
    .clamp_tgt_rate_after_time_inc = true,
};

static rig_t *rig_create(const nic_dcqcn_config_t *config, uint64_t line_bps)
{
    rig_t *const rig = sim_alloc(sizeof(*rig));
    const sim_options_t options = {.seed = 1, .threads = 1, .until_ps = SIM_TIME_NEVER};
    rig->sim = sim_create(&options);
    sim_node_register(rig->sim, &rig->node, &rig_ops, "rig");
    rig->config = *config;
    rig->dcqcn.cc = (nic_cc_t){
        .ops = &nic_cc_dcqcn,
        .config = &rig->config,
        .node = &rig->node,
        .rate_bps = line_bps,
        .window_bytes = NIC_WINDOW_UNLIMITED,
        .line_bps = line_bps,
        .mtu_bytes = 1024,
    };
    nic_cc_dcqcn.init(&rig->dcqcn.cc);
    rig->changes[rig->change_count++] = rig_state(rig);
    return rig;
}

static void rig_destroy(rig_t *rig)
{
    sim_destroy(rig->sim);
    sim_free(rig);
}

static void rig_step(rig_t *rig, sim_time_t time_ps, action_t action, uint32_t bytes)
{
    ck_assert_uint_lt(rig->step_count, STEPS_MAX);
    rig->steps[rig->step_count] = (step_t){time_ps, action, bytes};
    rig->step_count++;
}

static void rig_cnp(rig_t *rig, sim_time_t time_ps)
{
    rig_step(rig, time_ps, DO_CNP, 0);
}

// Runs the script until the last step or, if later, until_ps; then the QP is stopped.
static void rig_run(rig_t *rig, sim_time_t until_ps)
{
    rig_step(rig, until_ps, DO_STOP, 0);
    for (size_t i = 0; i < rig->step_count; i++) {
        sim_wake(&rig->node, rig->steps[i].time_ps, (uint32_t)i);
    }
    ck_assert_int_eq(sim_run(rig->sim), SIM_ENDED_DONE);
    ck_assert(!sim_timer_armed(&rig->dcqcn.timer));
}

// Returns the state in force right after time_ps.
static inline const state_t *rig_at(const rig_t *rig, sim_time_t time_ps)
{
    const state_t *found = &rig->changes[0];
    for (size_t i = 0; i < rig->change_count && rig->changes[i].time_ps <= time_ps; i++) {
        found = &rig->changes[i];
    }
    return found;
}

static inline uint64_t rate_at(const rig_t *rig, sim_time_t time_ps)
{
    return rig_at(rig, time_ps)->rate_bps;
}

static inline uint64_t target_at(const rig_t *rig, sim_time_t time_ps)
{
    return rig_at(rig, time_ps)->target_bps;
}

static uint64_t cut_by(uint64_t rate_bps, double alpha)
{
    return (uint64_t)((double)rate_bps * (1.0 - alpha / 2.0));
}

static uint64_t half_way(uint64_t rate_bps, uint64_t target_bps)
{
    return (rate_bps + target_bps + 1) / 2;
}

#endif // TESTS_DCQCN_RIG_H
