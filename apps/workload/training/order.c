// SPDX-License-Identifier: Apache-2.0
// apps/workload/training/order.c - the order of the forward and backward passes of a pipeline
// stage.
//
// 1F1B: a stage runs as many forward passes as there are stages behind it, then forward and
// backward passes in turn (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU
// Clusters Using Megatron-LM", SC 2021, section 2.2). With several chunks of layers a stage,
// microbatches pass in groups of pp through one chunk after the other.
#include "apps/workload/training/iteration.h"

// Returns forward pass number k of a stage.
static app__pass_t forward_pass(const app__iteration_t *plan, uint32_t k)
{
    const uint32_t group = plan->pp * plan->vpp;
    return (app__pass_t){
        .microbatch = k / group * plan->pp + k % plan->pp,
        .chunk = k % group / plan->pp,
    };
}

static app__pass_t backward_pass(const app__iteration_t *plan, uint32_t k)
{
    app__pass_t pass = forward_pass(plan, k);
    pass.chunk = plan->vpp - 1 - pass.chunk;
    pass.backward = true;
    return pass;
}

// Returns the forward passes before the first backward pass.
static uint32_t warm_up(const app__iteration_t *plan, uint32_t stage, uint32_t total)
{
    const uint32_t behind = plan->pp - stage - 1;
    const uint32_t count = plan->vpp == 1 ? behind : 2 * behind + (plan->vpp - 1) * plan->pp;
    return SIM_MIN(count, total);
}

app__pass_t *app__passes(const app__iteration_t *plan, uint32_t stage, size_t *count)
{
    const uint32_t total = plan->microbatches * plan->vpp;
    const uint32_t ahead = warm_up(plan, stage, total);
    app__pass_t *const passes = sim_alloc_array(2 * (size_t)total, sizeof(*passes));
    size_t n = 0;
    for (uint32_t f = 0, b = 0; b < total;) {
        passes[n++] =
            f < total && f < ahead + b + 1 ? forward_pass(plan, f++) : backward_pass(plan, b++);
    }
    SIM_CHECK(n == 2 * (size_t)total);
    *count = n;
    return passes;
}
