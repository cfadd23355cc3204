// SPDX-License-Identifier: Apache-2.0
// tests/compat/test_cc_dcqcn_hpcc.c - DCQCN as the HPCC project's simulator computes it.
//
// Goal: rate, target, alpha and stage follow the rules of docs/models/dcqcn-hpcc.md through cuts,
// recovery and increases, with every option; a stop ends the timers, a start begins anew.
// Method: one algorithm on a node that runs only its timers, fed marked ACKs by a script, against a
// loop over nanoseconds written here. Marks are never at the instant of a timer.
// Not pinned: what is first of a mark and a timer at one instant (tests/test_hpcc_agreement.sh).
#include "compat/hpcc/cc_dcqcn.h"

#include "kernel/random.h"
#include "tests/check_main.h"

#define LINE_BPS UINT64_C(100000000000)
#define NS SIM_PS_PER_NS
#define MARKS_MAX 4000
#define END_NS 3000000

typedef struct rig {
    sim_node_t node; // first
    compat_dcqcn_hpcc_t dcqcn;
    compat_dcqcn_hpcc_config_t config;
    uint64_t marks_ns[MARKS_MAX];
    uint32_t mark_count;
    uint64_t rates_bps[MARKS_MAX]; // at each mark
    uint64_t targets_bps[MARKS_MAX];
    uint64_t announced;
} rig_t;

// Replaces the NIC's function: the algorithm calls it at each change of the rate.
void nic_cc_rate_changed(nic_cc_t *cc)
{
    ((rig_t *)(void *)cc->node)->announced++;
}

static void rig_run(sim_node_t *node)
{
    rig_t *const rig = (rig_t *)(void *)node;
    sim_event_t event;
    while (sim_node_next(node, &event)) {
        if (event.kind == SIM_EVENT_TIMER) {
            event.timer->fn(node, event.timer);
            continue;
        }
        const uint32_t mark = event.port;
        rig->rates_bps[mark] = rig->dcqcn.cc.rate_bps;
        rig->targets_bps[mark] = rig->dcqcn.target_bps;
        const nic_cc_ack_t ack = {.ecn_echo = true};
        compat_cc_dcqcn_hpcc.ack(&rig->dcqcn.cc, &ack);
    }
}

static void rig_destroy(sim_node_t *node)
{
    (void)node; // read after the run
}

static const sim_node_ops_t rig_ops = {.kind = "rig", .run = rig_run, .destroy = rig_destroy};

// -- the rules, nanosecond by nanosecond

typedef struct model {
    uint64_t rate_bps;
    uint64_t target_bps;
    double alpha;
    bool marked;
    bool alpha_mark;
    bool cut_mark;
    uint64_t stage;
    uint64_t alpha_at; // ns; 0: never
    uint64_t cut_at;
    uint64_t increase_at;
} model_t;

static void model_tick(model_t *model, const compat_dcqcn_hpcc_config_t *config, uint64_t now)
{
    const double gain = (double)config->gain.num / (double)config->gain.den;
    if (now == model->alpha_at) {
        model->alpha = (1.0 - gain) * model->alpha + (model->alpha_mark ? gain : 0.0);
        model->alpha_mark = false;
        model->alpha_at += config->alpha_period_ps / NS;
    }
    // The timer of the longer period was scheduled first.
    if (now == model->increase_at) {
        model->increase_at += config->increase_period_ps / NS;
        if (model->stage >= config->fast_recovery_stages) {
            model->target_bps += model->stage == config->fast_recovery_stages ? config->additive_bps
                                                                              : config->hyper_bps;
            model->target_bps = model->target_bps > LINE_BPS ? LINE_BPS : model->target_bps;
        }
        model->rate_bps = model->rate_bps / 2 + model->target_bps / 2;
        model->stage++;
    }
    if (now == model->cut_at) {
        model->cut_at += config->cut_period_ps / NS;
        if (model->cut_mark) {
            if (model->stage > 0 || config->clamp_target) {
                model->target_bps = model->rate_bps;
            }
            const double cut = (double)model->rate_bps * (1.0 - model->alpha / 2.0);
            model->rate_bps =
                (uint64_t)cut < config->min_rate_bps ? config->min_rate_bps : (uint64_t)cut;
            model->stage = 0;
            model->cut_mark = false;
            model->increase_at = now + config->increase_period_ps / NS;
        }
    }
}

static void model_mark(model_t *model, const compat_dcqcn_hpcc_config_t *config, uint64_t now)
{
    model->cut_mark = true;
    model->alpha_mark = model->marked;
    if (!model->marked) {
        model->marked = true;
        model->alpha = 1.0;
        model->target_bps = model->rate_bps;
        model->alpha_at = now + config->alpha_period_ps / NS;
        model->cut_at = now + config->cut_period_ps / NS + 1;
    }
}

static void change_config(compat_dcqcn_hpcc_config_t *config, int option)
{
    switch (option) {
    case 0: // the defaults
        break;
    case 1:
        config->clamp_target = true;
        config->increase_period_ps = 9 * SIM_PS_PER_US;
        break;
    case 2:
        config->fast_recovery_stages = 5;
        config->increase_period_ps = 5 * SIM_PS_PER_US;
        config->gain = (sim_ratio_t){1, 16};
        break;
    default:
        config->alpha_period_ps = 55 * SIM_PS_PER_US;
        config->cut_period_ps = 50 * SIM_PS_PER_US;
        config->increase_period_ps = 55 * SIM_PS_PER_US;
        config->additive_bps = UINT64_C(3000000001);
        config->hyper_bps = UINT64_C(7000000003);
        config->min_rate_bps = UINT64_C(20000000000);
        break;
    }
}

// Marks come in bursts with silences between them, at odd nanoseconds after the first.
static void draw_marks(rig_t *rig, uint64_t seed)
{
    sim_random_t random;
    sim_random_init(&random, seed, 0, "marks");
    uint64_t now = 1000;
    for (uint32_t i = 0; i < MARKS_MAX; i++) {
        rig->marks_ns[i] = now + (i > 0 ? 500 : 0); // timers are at whole us, and 1 ns later
        now += 1000 * (1 + sim_random_below(&random, 3));
        if (sim_random_below(&random, 60) == 0) {
            now += 1000 * sim_random_below(&random, 700);
        }
        if (now >= END_NS - 1000) {
            rig->mark_count = i + 1;
            return;
        }
    }
    rig->mark_count = MARKS_MAX;
}

START_TEST(rates_follow_the_rules)
{
    rig_t *const rig = sim_alloc(sizeof(*rig));
    sim_attrs_default(&compat_dcqcn_hpcc_attrs, &rig->config);
    change_config(&rig->config, _i);
    draw_marks(rig, 1 + (uint64_t)_i);
    sim_t *const sim =
        sim_create(&(sim_options_t){.seed = 1, .threads = 1, .until_ps = END_NS * NS});
    sim_node_register(sim, &rig->node, &rig_ops, "rig");
    nic_cc_t *const cc = &rig->dcqcn.cc;
    *cc = (nic_cc_t){
        .ops = &compat_cc_dcqcn_hpcc,
        .config = &rig->config,
        .node = &rig->node,
        .rate_bps = LINE_BPS,
        .line_bps = LINE_BPS,
        .window_bytes = 52000,
    };
    rig->config.scaled_window = _i == 1;
    compat_cc_dcqcn_hpcc.init(cc);
    cc->active = true;
    compat_cc_dcqcn_hpcc.start(cc);
    for (uint32_t i = 0; i < rig->mark_count; i++) {
        sim_wake(&rig->node, rig->marks_ns[i] * NS, i);
    }
    (void)sim_run(sim);

    model_t model = {.rate_bps = LINE_BPS, .target_bps = LINE_BPS};
    uint32_t mark = 0;
    uint64_t lowest_bps = LINE_BPS;
    uint64_t rises = 0;
    for (uint64_t now = 0; now < END_NS; now++) {
        const uint64_t before_bps = model.rate_bps;
        model_tick(&model, &rig->config, now);
        rises += model.rate_bps > before_bps;
        lowest_bps = model.rate_bps < lowest_bps ? model.rate_bps : lowest_bps;
        if (mark < rig->mark_count && now == rig->marks_ns[mark]) {
            ck_assert_uint_eq(rig->rates_bps[mark], model.rate_bps);
            ck_assert_uint_eq(rig->targets_bps[mark], model.target_bps);
            model_mark(&model, &rig->config, now);
            mark++;
        }
    }
    ck_assert_uint_eq(mark, rig->mark_count);
    ck_assert_uint_eq(cc->rate_bps, model.rate_bps);
    ck_assert(rig->dcqcn.alpha == model.alpha);
    ck_assert_uint_eq(rig->dcqcn.stage, model.stage);
    ck_assert_uint_gt(rig->announced, rises);
    ck_assert_uint_lt(lowest_bps, LINE_BPS / 4 + 1);
    ck_assert_uint_gt(rises, 2);
    ck_assert_uint_eq(cc->window_bytes,
                      _i == 1 ? 52000 * (cc->rate_bps / 1000) / (LINE_BPS / 1000) : 52000);
    printf("option %d: %u marks, %lu increases, lowest rate %.3f Gbps\n", _i, rig->mark_count,
           (unsigned long)rises, (double)lowest_bps / 1e9);

    compat_cc_dcqcn_hpcc.stop(cc);
    ck_assert_uint_eq(rig->node.timer_count, 0);
    compat_cc_dcqcn_hpcc.start(cc);
    ck_assert_uint_eq(cc->rate_bps, LINE_BPS);
    sim_destroy(sim);
    sim_free(rig);
}
END_TEST

CHECK_MAIN(CHECK_LOOP(rates_follow_the_rules, 0, 4))
