// SPDX-License-Identifier: Apache-2.0
// examples/custom_scheduler.c - your own scheduler of queue pairs.
//
// "shortest": of the queue pairs of a class that may send, the one with the fewest bytes left in
// its message goes first. A host sends transfers of very different sizes to another one. With the
// library's ring, which serves queue pairs in turn, small transfers wait for packets of large ones;
// with "shortest" they wait only for smaller ones. The program prints the mean slowdown of both.
#include <stdio.h>
#include <string.h>

#include "nic/scheduler.h"
#include "results/runner.h"

// Queue pairs of a NIC that may send, in the order in which they joined.
typedef struct state {
    nic_qp_t **qps;
    size_t count;
    size_t capacity;
} state_t;

static void join(nic_t *nic, nic_qp_t *qp)
{
    state_t *const state = nic_scheduler_state(nic);
    SIM_GROW(state->qps, state->count, &state->capacity);
    state->qps[state->count++] = qp;
}

static void leave(nic_t *nic, nic_qp_t *qp)
{
    state_t *const state = nic_scheduler_state(nic);
    size_t to = 0;
    for (size_t i = 0; i < state->count; i++) {
        state->qps[to] = state->qps[i];
        to += state->qps[i] != qp;
    }
    state->count = to;
}

static nic_qp_t *next(nic_t *nic, uint32_t class)
{
    const state_t *const state = nic_scheduler_state(nic);
    nic_qp_t *best = NULL;
    for (size_t i = 0; i < state->count; i++) {
        nic_qp_t *const qp = state->qps[i];
        if (nic_scheduler_class(qp) == class &&
            (best == NULL || nic_scheduler_left_bytes(qp) < nic_scheduler_left_bytes(best))) {
            best = qp;
        }
    }
    return best;
}

static void destroy(nic_t *nic)
{
    sim_free(((state_t *)nic_scheduler_state(nic))->qps);
}

static const nic_scheduler_ops_t shortest = {.name = "shortest",
                                             .state_bytes = sizeof(state_t),
                                             .destroy = destroy,
                                             .join = join,
                                             .leave = leave,
                                             .next = next};

// Runs a scheduler and prints its mean slowdown. Returns it, or a negative number after an error.
static double mean_slowdown(const world_registry_t *registry, const char *scheduler)
{
    char *const text = sim_format("topology: {star: {hosts: 2}}\n"
                                  "nic: {congestion-control: none, scheduler: %s}\n"
                                  "traffic: [poisson: {load: 90%%, max-flows: 500,\n"
                                  "                    from: host0, to: host1}]\n",
                                  scheduler);
    world_error_t error;
    world_scenario_t *scenario = NULL;
    results_run_t *run = NULL;
    double slowdown = -1;
    sim_err_t result =
        world_scenario_parse(registry, "text", text, strlen(text), &scenario, &error);
    if (result == SIM_OK) {
        result = results_execute(scenario, &(results_options_t){.folder = NULL}, &run, &error);
    }
    if (result != SIM_OK) {
        printf("%s\n", error.text);
    } else if (results_number(run, "flows.slowdown.mean", &slowdown)) {
        printf("%-8s  mean slowdown %.2f\n", scheduler, slowdown);
    }
    results_run_destroy(run);
    world_scenario_destroy(scenario);
    sim_free(text);
    return slowdown;
}

int main(void)
{
    world_registry_t *const registry = world_registry_create();
    const nic_extra_t row = {NIC_EXTRA_SCHEDULER, shortest.name, shortest.attrs, &shortest};
    world_error_t error;
    if (world_registry_add_nic_part(registry, &row, &error) != SIM_OK) {
        printf("%s\n", error.text);
        return 1;
    }
    const double ring = mean_slowdown(registry, "ring");
    const double own = mean_slowdown(registry, "shortest");
    world_registry_destroy(registry);
    return own > 0 && own < ring ? 0 : 1;
}
