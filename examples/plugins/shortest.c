// SPDX-License-Identifier: Apache-2.0
// examples/plugins/shortest.c - your own scheduler of queue pairs: of those of a class that may
// send, the one with the fewest bytes left in its message goes first.
//
// In shortest.yaml, a host sends transfers of very different sizes to another one. With the
// library's ring, which serves queue pairs in turn, small transfers wait for packets of large ones:
//     rocesim run shortest.yaml
//     rocesim run shortest.yaml --set nic.scheduler=ring
#include "nic/scheduler.h"
#include "world/plugin.h"

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

WORLD_PLUGIN
{
    const nic_extra_t row = {NIC_EXTRA_SCHEDULER, shortest.name, NULL, &shortest};
    return world_registry_add_nic_part(registry, &row, error);
}
