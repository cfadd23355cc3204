// SPDX-License-Identifier: Apache-2.0
// Goal: the schedule of a training iteration has the computations and the communication of the
// closed forms: parameters of models, order of passes, bytes of each kind of parallelism.
// Method: tables of models and plans; sums over all operations and calls against formulas in b, s,
// h, L and the degrees of parallelism. No schedule has an operation that cannot start.
// Does not pin: times on a network (test_training_runs.sh).
#include "apps/workload/results/exposed.h"
#include "apps/workload/training/iteration.h"
#include "apps/workload/training/routing.h"

#include "tests/check_main.h"

#include <math.h>
#include <string.h>

static const app__model_t *model_of(const char *name)
{
    for (size_t i = 0; i < APP__MODEL_COUNT; i++) {
        if (strcmp(app__models[i].name, name) == 0) {
            return &app__models[i];
        }
    }
    ck_abort_msg("no model %s", name);
    return NULL;
}

START_TEST(models_have_their_parameters)
{
    static const struct {
        const char *name;
        double billions; // as published
        double error;
    } rows[] = {
        {"gpt-7b", 6.738, 0.002},       {"gpt-13b", 12.994, 0.0001},
        {"llama-13b", 13.016, 0.002},   {"gpt-22b", 22.06, 0.01},
        {"llama-65b", 65.286, 0.002},   {"llama-70b", 68.977, 0.002},
        {"llama3-70b", 70.554, 0.002},  {"gpt-175b", 174.6, 0.002},
        {"nemotron-340b", 340, 0.01},   {"llama3-405b", 405.85, 0.002},
        {"mixtral-8x7b", 46.70, 0.002}, {"mixtral-8x22b", 140.6, 0.002},
        {"deepseek-v3", 671, 0.002},
    };
    char names[sizeof(APP__MODEL_NAMES) + 1] = "";
    for (size_t i = 0; i < APP__MODEL_COUNT; i++) {
        strcat(names, app__models[i].name);
        strcat(names, i + 1 < APP__MODEL_COUNT ? "|" : "");
    }
    ck_assert_str_eq(names, APP__MODEL_NAMES);
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        const double billions = (double)app__model_parameters(model_of(rows[i].name)) / 1e9;
        ck_assert_msg(fabs(billions / rows[i].billions - 1) <= rows[i].error,
                      "%s has %.4f billion parameters, expected %.4f", rows[i].name, billions,
                      rows[i].billions);
    }
    ck_assert_uint_eq(4 * app__model_parameters(model_of("gpt-13b")) / 8, UINT64_C(6497239040));
}
END_TEST

// -- the order of passes

static app__iteration_t pipeline(uint32_t pp, uint32_t vpp, uint32_t microbatches)
{
    return (app__iteration_t){.pp = pp, .vpp = vpp, .microbatches = microbatches};
}

static char *order_text(const app__iteration_t *plan, uint32_t stage)
{
    size_t count;
    app__pass_t *const passes = app__passes(plan, stage, &count);
    char *text = sim_strdup("");
    for (size_t i = 0; i < count; i++) {
        char *const longer = sim_format("%s%s%u.%u", text, passes[i].backward ? " b" : " f",
                                        passes[i].microbatch, passes[i].chunk);
        sim_free(text);
        text = longer;
    }
    sim_free(passes);
    return text;
}

START_TEST(passes_have_the_order_of_megatron)
{
    static const struct {
        uint32_t pp, vpp, microbatches, stage;
        const char *order;
    } rows[] = {
        {1, 1, 2, 0, " f0.0 b0.0 f1.0 b1.0"},
        {3, 1, 4, 0, " f0.0 f1.0 f2.0 b0.0 f3.0 b1.0 b2.0 b3.0"},
        {3, 1, 4, 1, " f0.0 f1.0 b0.0 f2.0 b1.0 f3.0 b2.0 b3.0"},
        {3, 1, 4, 2, " f0.0 b0.0 f1.0 b1.0 f2.0 b2.0 f3.0 b3.0"},
        {3, 1, 2, 0, " f0.0 f1.0 b0.0 b1.0"},
        {2, 2, 4, 1,
         " f0.0 f1.0 f0.1 b0.1 f1.1 b1.1 f2.0 b0.0 f3.0 b1.0 f2.1 b2.1 f3.1 b3.1 b2.0 b3.0"},
        {2, 2, 2, 0, " f0.0 f1.0 f0.1 f1.1 b0.1 b1.1 b0.0 b1.0"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        const app__iteration_t plan = pipeline(rows[i].pp, rows[i].vpp, rows[i].microbatches);
        char *const text = order_text(&plan, rows[i].stage);
        ck_assert_str_eq(text, rows[i].order);
        sim_free(text);
    }
}
END_TEST

// -- bytes

typedef struct row {
    const char *model;
    uint32_t tp, cp, dp, pp, vpp, ep;
    uint32_t microbatches;
    uint32_t zero;
    bool sequence_parallel;
    app__overlap_t overlap;
    app__recompute_t recompute;
    uint64_t bucket_bytes;
    uint64_t layers;
} row_t;

static const row_t plans[] = {
    {"gpt-13b", 8, 1, 4, 1, 1, 1, 1, 1, false, APP__OVERLAP_NONE, APP__RECOMPUTE_NONE, 0, 40},
    {"gpt-22b", 2, 1, 2, 4, 1, 1, 6, 1, false, APP__OVERLAP_GRADIENTS, APP__RECOMPUTE_NONE, 1 << 26,
     8},
    {"gpt-22b", 2, 1, 2, 4, 2, 1, 8, 1, true, APP__OVERLAP_ALL, APP__RECOMPUTE_NONE, 1 << 26, 8},
    {"llama-70b", 2, 1, 4, 2, 1, 1, 3, 0, true, APP__OVERLAP_NONE, APP__RECOMPUTE_FULL, 1 << 28, 4},
    {"llama-70b", 1, 1, 4, 1, 1, 1, 3, 2, false, APP__OVERLAP_GRADIENTS, APP__RECOMPUTE_NONE,
     1 << 28, 4},
    {"llama-70b", 1, 1, 4, 2, 1, 1, 3, 2, false, APP__OVERLAP_NONE, APP__RECOMPUTE_NONE, 0, 4},
    {"llama-70b", 2, 1, 4, 1, 1, 1, 2, 3, false, APP__OVERLAP_GRADIENTS, APP__RECOMPUTE_NONE,
     1 << 28, 4},
    {"llama-70b", 2, 1, 4, 1, 1, 1, 2, 3, false, APP__OVERLAP_NONE, APP__RECOMPUTE_SELECTIVE, 0, 4},
    {"llama3-405b", 2, 4, 2, 2, 1, 1, 2, 1, true, APP__OVERLAP_GRADIENTS, APP__RECOMPUTE_NONE,
     1 << 28, 4},
    {"mixtral-8x7b", 1, 1, 8, 2, 1, 8, 2, 1, false, APP__OVERLAP_GRADIENTS, APP__RECOMPUTE_NONE,
     1 << 28, 4},
    {"mixtral-8x22b", 2, 2, 4, 1, 1, 4, 2, 1, true, APP__OVERLAP_ALL, APP__RECOMPUTE_NONE, 1 << 28,
     4},
    {"deepseek-v3", 1, 1, 16, 2, 1, 16, 2, 1, false, APP__OVERLAP_NONE, APP__RECOMPUTE_NONE, 0, 6},
};

static app__iteration_t plan_of(const row_t *row)
{
    app__iteration_t plan = {
        .model = *model_of(row->model),
        .tp = row->tp,
        .cp = row->cp,
        .dp = row->dp,
        .pp = row->pp,
        .vpp = row->vpp,
        .ep = row->ep,
        .iterations = 1,
        .microbatches = row->microbatches,
        .microbatch = 2,
        .sequence = 512,
        .sequence_parallel = row->sequence_parallel,
        .recompute = row->recompute,
        .overlap = row->overlap,
        .zero = row->zero,
        .bucket_bytes = row->bucket_bytes,
        .activation_bytes = 2,
        .gradient_bytes = 4,
        .parameter_bytes = 2,
        .flops = 4e14,
    };
    plan.model.layers = row->layers;
    return plan;
}

static void count_bytes(const app__schedule_t *schedule, double *bytes)
{
    for (size_t i = 0; i < schedule->call_count; i++) {
        bytes[schedule->calls[i].dimension] += app__call_bytes(schedule, &schedule->calls[i]);
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            const app__op_t *const op = &schedule->ranks[r].ops[i];
            bytes[op->dimension] += op->type == APP__OP_SEND ? (double)op->size : 0;
        }
    }
}

static uint64_t expert_layers(const app__iteration_t *plan)
{
    const uint64_t layers = plan->model.layers;
    return plan->model.experts == 0 ? 0 : layers - plan->model.dense_layers;
}

// Returns the parameters of all stages of one replica, those of experts or all others.
static double parameters(const app__iteration_t *plan, bool experts)
{
    const app__model_t *const model = &plan->model;
    const double routed = (double)(expert_layers(plan) * model->experts * app__model_expert(model));
    const bool copy = !model->untied && plan->pp > 1;
    return experts ? routed
                   : (double)app__model_parameters(model) - routed +
                         (copy ? (double)app__model_embedding(model) : 0);
}

// Returns how often gradients are reduced and parameters gathered, as bytes of a parameter.
static double data_bytes(const app__iteration_t *plan)
{
    const double microbatches = plan->microbatches;
    return plan->zero == 0   ? 2 * 4
           : plan->zero == 1 ? 4 + 2
           : plan->zero == 2 ? 4 * microbatches + 2
                             : 4 * microbatches + 2 * 2 * microbatches;
}

static void same(const row_t *row, const char *what, double ours, double expected)
{
    ck_assert_msg(fabs(ours - expected) <= 1e-6 * expected,
                  "row %zu (%s): %.0f bytes of %s, expected %.0f", (size_t)(row - plans),
                  row->model, ours, what, expected);
}

START_TEST(bytes_are_those_of_the_closed_forms)
{
    const row_t *const row = &plans[_i];
    app__iteration_t plan = plan_of(row);
    const app__model_t *const model = &plan.model;
    const double ranks = app__iteration_ranks(&plan);
    const double m = plan.microbatches;
    const double layers = (double)model->layers / plan.pp; // of a stage
    const double bsh = 2.0 * 512 * (double)model->hidden / plan.cp;
    const double passes = plan.recompute == APP__RECOMPUTE_FULL ? 6 : 4; // all-reduces of a layer
    const double replicas = plan.cp * plan.dp;
    app__schedule_t *const schedule = app__iteration_schedule(&plan);
    double bytes[APP__DIM_COUNT] = {0};
    count_bytes(schedule, bytes);
    same(row, "tp", bytes[APP__DIM_TP],
         ranks / plan.tp * layers * m * passes * 2 * (plan.tp - 1) * 2 * bsh);
    same(row, "pp", bytes[APP__DIM_PP],
         2.0 * (plan.pp * plan.vpp - 1) * (plan.pp > 1) * replicas * m * 2 * bsh *
             (plan.sequence_parallel ? 1 : plan.tp));
    same(row, "dp", bytes[APP__DIM_DP],
         (replicas - 1) * data_bytes(&plan) * parameters(&plan, false));
    same(row, "dp of experts", bytes[APP__DIM_DP_EP],
         (replicas / plan.ep - 1) * data_bytes(&plan) * parameters(&plan, true));
    same(row, "ep", bytes[APP__DIM_EP],
         ranks / plan.ep * (double)expert_layers(&plan) / plan.pp * m * 4 * (plan.ep - 1) * 2 *
             bsh * (double)model->top_k / plan.tp);
    const uint64_t head_width = model->hidden / model->heads;
    const double width = (double)model->kv_heads * (double)head_width;
    same(row, "cp", bytes[APP__DIM_CP],
         ranks / plan.cp * layers * m * 3 * (plan.cp - 1) * 2 * 2 * 2 * 512 * width / plan.tp);
    ck_assert_uint_eq(schedule->counts.stuck, 0);
    ck_assert_uint_eq(schedule->counts.unmatched_sends, 0);
    ck_assert_uint_eq(schedule->counts.unmatched_recvs, 0);
    app__schedule_destroy(schedule);
}
END_TEST

START_TEST(buckets_decide_the_number_of_collectives)
{
    // Two layers of a stage have gradients of 906 MB each; eight groups of data parallelism.
    static const struct {
        app__overlap_t overlap;
        uint64_t bucket_bytes;
        size_t calls;
    } rows[] = {
        {APP__OVERLAP_GRADIENTS, 1, 8 * (2 + 2)},
        {APP__OVERLAP_ALL, 900000000, 8 * (2 + 2)},
        {APP__OVERLAP_GRADIENTS, UINT64_C(3000000000), 8 * (1 + 1)},
        {APP__OVERLAP_NONE, 0, 8 * (1 + 1)},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        app__iteration_t plan = plan_of(&plans[1]);
        plan.overlap = rows[i].overlap;
        plan.bucket_bytes = rows[i].bucket_bytes;
        app__schedule_t *const schedule = app__iteration_schedule(&plan);
        size_t calls = 0;
        for (size_t c = 0; c < schedule->call_count; c++) {
            calls += schedule->calls[c].dimension == APP__DIM_DP;
        }
        ck_assert_msg(calls == rows[i].calls, "row %zu: %zu calls", i, calls);
        app__schedule_destroy(schedule);
    }
}
END_TEST

START_TEST(computation_is_that_of_six_floating_point_operations)
{
    static const double operations[] = {6, 6, 8}; // of a parameter and token
    for (app__recompute_t r = APP__RECOMPUTE_NONE; r <= APP__RECOMPUTE_FULL; r++) {
        app__iteration_t plan = plan_of(&plans[1]);
        plan.recompute = r;
        app__schedule_t *const schedule = app__iteration_schedule(&plan);
        const app__model_t *const model = &plan.model;
        const double layers = 12.0 * (double)(model->layers * model->hidden * model->hidden);
        const double head = (double)app__model_embedding(model);
        const double tokens = 2.0 * 512 * plan.microbatches * plan.dp;
        const double seconds = (operations[r] * layers + 6 * head) * tokens / plan.flops;
        ck_assert_double_eq_tol((double)schedule->counts.calc_ns / (seconds * 1e9), 1, 1e-5);
        app__schedule_destroy(schedule);
    }
    // Scores and their use: 4 b s^2 h FLOPs forward, twice that backward.
    app__iteration_t plan = plan_of(&plans[1]);
    app__schedule_t *schedule = app__iteration_schedule(&plan);
    const double without = (double)schedule->counts.calc_ns;
    app__schedule_destroy(schedule);
    plan.count_attention = true;
    for (uint32_t again = 0; again < 2; again++) {
        plan.recompute = again ? APP__RECOMPUTE_SELECTIVE : APP__RECOMPUTE_NONE;
        schedule = app__iteration_schedule(&plan);
        const double each = 4.0 * 2 * 512 * 512 * (double)plan.model.hidden * 8 / plan.flops * 1e9;
        const double more = (double)schedule->counts.calc_ns - without;
        ck_assert_double_eq_tol(more / (each * plan.microbatches * plan.dp), 3 + again, 1e-3);
        app__schedule_destroy(schedule);
    }
}
END_TEST

static uint64_t calc_ns_of(const app__schedule_t *schedule, uint32_t rank)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < schedule->ranks[rank].count; i++) {
        const app__op_t *const op = &schedule->ranks[rank].ops[i];
        ns += op->type == APP__OP_CALC ? op->size : 0;
    }
    return ns;
}

// Goal: a stage waits for what it receives and gathers even if its computations take no time.
START_TEST(computations_without_time_keep_the_order)
{
    static const row_t fast = {"gpt-22b",           1, 1, 2, 3, 1, 1, 5, 1, false, APP__OVERLAP_ALL,
                               APP__RECOMPUTE_NONE, 1, 30};
    for (uint32_t zero = 1; zero <= 3; zero++) {
        app__iteration_t plan = plan_of(&fast);
        plan.zero = zero;
        plan.flops = 1e40;
        app__schedule_t *const schedule = app__iteration_schedule(&plan);
        ck_assert_uint_eq(schedule->counts.calc_ns, 0);
        ck_assert_uint_eq(schedule->counts.stuck, 0);
        ck_assert_uint_eq(schedule->counts.sends, 2 * 2 * 2 * 5);
        for (uint32_t r = 2; r < 4; r++) { // the stage in the middle passes on what it receives
            const app__rank_ops_t *const ops = &schedule->ranks[r];
            for (uint32_t i = 0; i < ops->count; i++) {
                ck_assert(ops->ops[i].type != APP__OP_SEND || ops->ops[i].needs > 0);
            }
        }
        ck_assert_uint_ge(schedule->counts.depth, 2 * (5 + 2));
        app__schedule_destroy(schedule);
    }
}
END_TEST

START_TEST(ranks_differ_by_slowness_and_jitter)
{
    app__iteration_t plan = plan_of(&plans[6]);
    bool slow[8] = {[3] = true};
    plan.slow = slow;
    plan.slow_factor = (sim_ratio_t){3, 2};
    app__schedule_t *schedule = app__iteration_schedule(&plan);
    const double usual = (double)calc_ns_of(schedule, 2);
    ck_assert_double_eq_tol((double)calc_ns_of(schedule, 3) / usual, 1.5, 1e-5);
    app__schedule_destroy(schedule);
    plan.slow = NULL;
    plan.microbatches = 100;
    plan.seed = 7;
    app__schedule_t *const even = app__iteration_schedule(&plan);
    plan.jitter = (sim_ratio_t){1, 10};
    schedule = app__iteration_schedule(&plan);
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (uint32_t i = 0; i < schedule->ranks[0].count; i++) {
        if (schedule->ranks[0].ops[i].type == APP__OP_CALC) {
            const double factor =
                (double)schedule->ranks[0].ops[i].size / (double)even->ranks[0].ops[i].size;
            sum += factor;
            squares += factor * factor;
            count++;
        }
    }
    app__schedule_destroy(even);
    const double mean = sum / count;
    ck_assert_double_eq_tol(mean, 1, 0.01);
    ck_assert_double_eq_tol(sqrt(squares / count - mean * mean), 0.1, 0.006);
    ck_assert_uint_ne(calc_ns_of(schedule, 0), calc_ns_of(schedule, 1));
    app__schedule_destroy(schedule);
}
END_TEST

// -- routing

START_TEST(skewed_routing_keeps_the_number_of_tokens)
{
    app__iteration_t plan = plan_of(&plans[9]);
    plan.seed = 11;
    app__routing_t routing;
    sim_message_t message;
    app__routing_zipf(8, (sim_ratio_t){1, 1}, &routing);
    ck_assert_int_eq(app__routing_apply(&routing, true, &plan, &message), SIM_OK);
    const double bytes = 2.0 * 512 * 4096 * 2 * 2; // b s h top-k, of two bytes
    double hottest = 0;
    for (uint64_t layer = 0; layer < 4; layer++) {
        double sum = 0;
        for (uint32_t i = 0; i < 8; i++) {
            double row = 0;
            for (uint32_t j = 0; j < 8; j++) {
                row += (double)plan.matrices[2 * layer][i * 8 + j];
                ck_assert_uint_eq(plan.matrices[2 * layer][i * 8 + j],
                                  plan.matrices[2 * layer + 1][j * 8 + i]);
            }
            ck_assert_double_eq_tol(row / bytes, 1, 1e-6);
            sum += plan.load[layer * 8 + i];
            hottest = fmax(hottest, plan.load[layer * 8 + i]);
        }
        ck_assert_double_eq_tol(sum, 8, 1e-9);
    }
    // The sum of 1 + 1/2 + ... + 1/8 is 2.717857; the hottest expert has 8 times its share of it.
    ck_assert_double_eq_tol(hottest, 8 / 2.717857, 1e-5);
    app__schedule_t *const schedule = app__iteration_schedule(&plan);
    app__routing_hand_over(&plan, schedule);
    ck_assert_ptr_null(plan.matrices);
    app__schedule_destroy(schedule);
    app__routing_fini(&routing);
}
END_TEST

START_TEST(matrices_are_read_or_refused)
{
    static const struct {
        const char *text;
        const char *wrong; // NULL: good for 8 experts on 8 ranks
    } rows[] = {
        {"# weights\n1 2 3 4 5 6 7 8\n", NULL},
        {"1,2, 3,4\t5 6 7 8", NULL},
        {"1 0 0 0 0 0 0 0\n0 1 0 0 0 0 0 0\n0 0 1 0 0 0 0 0\n0 0 0 1 0 0 0 0\n"
         "0 0 0 0 1 0 0 0\n0 0 0 0 0 1 0 0\n0 0 0 0 0 0 1 0\n0 0 0 0 0 0 0 1\n",
         NULL},
        {"", "m:1:1: the file is empty"},
        {"# nothing\n", "m:1:1: the file is empty"},
        {"1 2\n3\n", "m:2:1: a row has 1 weights, expected 2"},
        {"1 x 3\n", "m:1:3: \"x\" is no weight"},
        {"1 -1\n", "m:1:3: \"-1\" is no weight"},
        {"1 nan\n", "m:1:3: \"nan\" is no weight"},
        {"0 0\n", "m:1:1: all weights of a row are 0"},
        {"1 2 3\n", "routing: the matrix has 1 rows of 3 weights"},
        {"1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8\n", "routing: the matrix has 2 rows of 8 weights"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(rows); i++) {
        app__iteration_t plan = plan_of(&plans[9]);
        app__routing_t routing;
        sim_message_t message = {.text = ""};
        sim_err_t error =
            app__routing_read("m", rows[i].text, strlen(rows[i].text), &routing, &message);
        if (error == SIM_OK) {
            error = app__routing_apply(&routing, false, &plan, &message);
            app__routing_fini(&routing);
        }
        ck_assert_msg((error == SIM_OK) == (rows[i].wrong == NULL), "%zu: %s", i, message.text);
        ck_assert_msg(error == SIM_OK || strstr(message.text, rows[i].wrong) == message.text,
                      "%zu: %s", i, message.text);
        if (error == SIM_OK) {
            app__schedule_t *const schedule = app__schedule_create(1);
            app__routing_hand_over(&plan, schedule);
            app__schedule_destroy(schedule);
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(models_have_their_parameters), CHECK_TEST(passes_have_the_order_of_megatron),
           CHECK_LOOP(bytes_are_those_of_the_closed_forms, 0, (int)SIM_COUNT_OF(plans)),
           CHECK_TEST(buckets_decide_the_number_of_collectives),
           CHECK_TEST(computation_is_that_of_six_floating_point_operations),
           CHECK_TEST(computations_without_time_keep_the_order),
           CHECK_TEST(ranks_differ_by_slowness_and_jitter),
           CHECK_TEST(skewed_routing_keeps_the_number_of_tokens),
           CHECK_TEST(matrices_are_read_or_refused))
