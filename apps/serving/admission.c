// SPDX-License-Identifier: Apache-2.0
// apps/serving/admission.c - refuses requests that would miss their goals (docs/models/serving.md).
//
// The router estimates the times of a request from what its nodes still have to do, with the model
// of steps. It leaves the network out, and does not know how long outputs are.
#include "apps/serving/node.h"
#include "apps/serving/router.h"
#include "apps/serving/transfers/cache.h"

// Returns the estimated time to the first token at the prefill node of a request: the tokens that
// wait there, in full steps, then its own prompt.
static double ttft_ps(const app__serving_router_t *router, uint32_t number)
{
    const app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    const app__gpus_t *const gpus = &router->serving->nodes[attempt->prefill].gpus;
    const uint64_t budget = router->serving->config.token_budget;
    const app__step_load_t full = {
        .tokens = budget,
        .sequences = 1,
        .pairs = budget * budget / 2,
        .context = budget,
    };
    const uint64_t prompt = app__serving_request(router->serving, number)->prompt_tokens;
    const uint64_t cached = app__serving_cached(router->serving, attempt->prefill, number);
    const app__step_load_t own = {
        .tokens = prompt - cached,
        .sequences = 1,
        .pairs = (prompt * (prompt + 1) - cached * (cached + 1)) / 2,
        .context = prompt,
    };
    const double full_ps = (double)app__served_step_ps(&router->serving->served, gpus, &full);
    // A full pipeline ends a step in the time of its longest stage.
    return (double)router->load[attempt->prefill] / (double)budget * full_ps * gpus->stage_share +
           (double)app__served_step_ps(&router->serving->served, gpus, &own);
}

// Returns the estimated time of a step of the decode node with the request.
static double tpot_ps(const app__serving_router_t *router, uint32_t number)
{
    const app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    const uint64_t steps = app__serving_steps_max(&router->serving->nodes[attempt->decode]);
    const uint64_t running = (router->placed[attempt->decode] + steps) / steps;
    const uint64_t batch = router->serving->config.batch;
    const app__step_load_t step = {
        .tokens = SIM_MIN(running, batch),
        .sequences = SIM_MIN(running, batch),
        .pairs = router->held[attempt->decode] / steps,
        .context = router->held[attempt->decode] / steps +
                   app__serving_request(router->serving, number)->prompt_tokens,
    };
    return (double)app__served_step_ps(&router->serving->served,
                                       &router->serving->nodes[attempt->decode].gpus, &step);
}

bool app__serving_admits(const app__serving_router_t *router, uint32_t number)
{
    return !router->serving->config.admission ||
           (ttft_ps(router, number) <= (double)router->serving->config.ttft_goal_ps &&
            tpot_ps(router, number) <= (double)router->serving->config.tpot_goal_ps);
}
