// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/generate.c - makes the schedule of a training job, rank by rank.
#include "apps/workload/training/gradients.h"
#include "apps/workload/training/layers.h"

uint32_t app__iteration_ranks(const app__iteration_t *plan)
{
    return plan->tp * plan->cp * plan->dp * plan->pp;
}

uint64_t app__iteration_tokens(const app__iteration_t *plan)
{
    return plan->microbatch * plan->sequence / plan->cp;
}

uint64_t app__iteration_first_layer(const app__iteration_t *plan, uint64_t chunk)
{
    return chunk * plan->model.layers / ((uint64_t)plan->pp * plan->vpp);
}

// -- messages between stages

// Returns the number of a pass's message: one for each direction, microbatch and receiving chunk.
static uint32_t tag_of(const app__maker_t *maker, const app__pass_t *pass, uint64_t chunk)
{
    const app__iteration_t *const plan = maker->plan;
    const uint64_t chunks = (uint64_t)plan->pp * plan->vpp;
    const uint64_t direction = 2 * (uint64_t)maker->iteration + pass->backward;
    return (uint32_t)((direction * plan->microbatches + pass->microbatch) * chunks + chunk);
}

// Returns the bytes of a rank's message: with sequence parallelism the ranks of a tensor-parallel
// group share the activations.
static uint64_t message_bytes(const app__iteration_t *plan)
{
    const uint64_t bytes =
        app__iteration_tokens(plan) * plan->model.hidden * plan->activation_bytes;
    return plan->sequence_parallel ? bytes / plan->tp : bytes;
}

// Returns the rank that has a chunk of the same replica of the model.
static uint32_t rank_of(const app__maker_t *maker, uint64_t chunk)
{
    const uint32_t ranks = app__iteration_ranks(maker->plan) / maker->plan->pp; // of a stage
    return (uint32_t)(chunk % maker->plan->pp) * ranks + maker->rank % ranks;
}

// Receives what a pass begins with, from the stage before it. The receive is posted while the pass
// before runs.
static void receive(app__maker_t *maker, const app__pass_t *pass, uint64_t chunk)
{
    const app__iteration_t *const plan = maker->plan;
    const uint64_t last = (uint64_t)plan->pp * plan->vpp - 1;
    if (plan->pp == 1 || chunk == (pass->backward ? last : 0)) {
        return;
    }
    const app__op_t op = {
        .type = APP__OP_RECV,
        .size = message_bytes(plan),
        .peer = rank_of(maker, pass->backward ? chunk + 1 : chunk - 1),
        .tag = tag_of(maker, pass, chunk),
        .cpu = APP__STREAM_PIPELINE,
        .dimension = APP__DIM_PP,
    };
    const uint32_t added = app__maker_add(maker, &op);
    app__maker_after(maker, added, maker->pass_ends[1]);
    app__maker_need(maker, added);
}

static void send(app__maker_t *maker, const app__pass_t *pass, uint64_t chunk)
{
    const app__iteration_t *const plan = maker->plan;
    const uint64_t last = (uint64_t)plan->pp * plan->vpp - 1;
    if (plan->pp == 1 || chunk == (pass->backward ? 0 : last)) {
        return;
    }
    const uint64_t next = pass->backward ? chunk - 1 : chunk + 1;
    const app__op_t op = {
        .type = APP__OP_SEND,
        .size = message_bytes(plan),
        .peer = rank_of(maker, next),
        .tag = tag_of(maker, pass, next),
        .cpu = APP__STREAM_PIPELINE,
        .dimension = APP__DIM_PP,
    };
    app__maker_after(maker, app__maker_add(maker, &op), maker->last);
}

// -- passes

static void forward(app__maker_t *maker, const app__pass_t *pass, uint64_t chunk)
{
    const uint64_t end = app__iteration_first_layer(maker->plan, chunk + 1);
    for (uint64_t layer = app__iteration_first_layer(maker->plan, chunk); layer < end; layer++) {
        if (pass->microbatch == 0) {
            app__maker_gathered(maker, layer);
        }
        app__maker_forward(maker, layer, false);
    }
    if (end == maker->plan->model.layers) {
        app__maker_head(maker, false);
    }
}

static void backward(app__maker_t *maker, const app__pass_t *pass, uint64_t chunk)
{
    const app__iteration_t *const plan = maker->plan;
    const uint64_t begin = app__iteration_first_layer(plan, chunk);
    const uint64_t end = app__iteration_first_layer(plan, chunk + 1);
    const bool reduces = plan->zero >= 2 || pass->microbatch == plan->microbatches - 1;
    if (end == plan->model.layers) {
        app__maker_head(maker, true);
    }
    for (uint64_t layer = end; layer-- > begin;) {
        app__maker_backward(maker, layer);
        if (reduces) {
            app__maker_gradients(maker, layer);
        }
    }
    if (plan->zero >= 2) {
        app__maker_flush(maker);
        if (plan->overlap == APP__OVERLAP_NONE) {
            app__maker_need(maker, maker->data);
        }
    }
}

static void make_iteration(app__maker_t *maker, const app__pass_t *passes, size_t count)
{
    if (maker->plan->overlap == APP__OVERLAP_ALL) {
        app__maker_gather(maker);
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t chunk = (uint64_t)passes[i].chunk * maker->plan->pp + maker->stage;
        receive(maker, &passes[i], chunk);
        if (passes[i].backward) {
            backward(maker, &passes[i], chunk);
        } else {
            forward(maker, &passes[i], chunk);
        }
        send(maker, &passes[i], chunk);
        maker->pass_ends[1] = maker->pass_ends[0];
        maker->pass_ends[0] = maker->last;
    }
    app__maker_update(maker);
}

static void make_rank(app__maker_t *maker, uint32_t rank)
{
    const app__iteration_t *const plan = maker->plan;
    maker->rank = rank;
    maker->stage = rank / (app__iteration_ranks(plan) / plan->pp);
    maker->dependency_count = 0;
    maker->pending_count = 0;
    maker->last = APP__NO_CHAIN;
    maker->pass_ends[0] = APP__NO_CHAIN;
    maker->pass_ends[1] = APP__NO_CHAIN;
    maker->data = APP__NO_CHAIN;
    maker->fetch_after = APP__NO_CHAIN;
    for (size_t i = 0; i < APP__TEAM_COUNT; i++) {
        maker->cursor[i] = 0;
    }
    for (uint64_t i = 0; i < plan->model.layers; i++) {
        maker->gathered[i] = APP__NO_CHAIN;
    }
    sim_random_init(&maker->random, plan->seed, rank, "training-jitter");
    size_t count;
    app__pass_t *const passes = app__passes(plan, maker->stage, &count);
    for (maker->iteration = 0; maker->iteration < plan->iterations; maker->iteration++) {
        make_iteration(maker, passes, count);
    }
    sim_free(passes);
    app__schedule_order(maker->schedule, rank, maker->dependencies, maker->dependency_count);
}

app__schedule_t *app__iteration_schedule(const app__iteration_t *plan)
{
    const uint32_t ranks = app__iteration_ranks(plan);
    app__maker_t maker = {.plan = plan, .schedule = app__schedule_create(ranks)};
    maker.gathered = sim_alloc_array(plan->model.layers, sizeof(*maker.gathered));
    app__maker_teams(&maker);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        make_rank(&maker, rank);
    }
    app__maker_teams_fini(&maker);
    sim_free(maker.gathered);
    sim_free(maker.dependencies);
    app__schedule_finish(maker.schedule);
    return maker.schedule;
}
