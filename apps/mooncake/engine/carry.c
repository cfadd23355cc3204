// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/carry.c - sends results of engines and of the metadata node to rank 0
// (kernel/ranks.h).
#include "apps/mooncake/engine/transfer_engine.h"

static void carry_context(app__mc_context_t *context, sim_carry_t *carry)
{
    SIM_CARRY(carry, context->bytes);
    for (uint32_t w = 0; w < context->worker_count; w++) {
        app__mc_worker_t *const worker = &context->workers[w];
        nic_core_carry(worker->core, carry);
        SIM_CARRY(carry, worker->posted_bytes);
        SIM_CARRY(carry, worker->polled_bytes);
    }
}

bool app__mc_carry_engine(app_mooncake_t *engine, sim_carry_t *carry)
{
    if (!sim_carry_has(carry, engine->station->node)) {
        return false;
    }
    if (sim_carry_leaves(carry)) {
        engine->peer_nics_elsewhere = app__mc_peer_nics_max(engine);
    }
    SIM_CARRY(carry, engine->peer_nics_elsewhere);
    SIM_CARRY(carry, engine->memory_bytes_max);
    SIM_CARRY(carry, engine->counters);
    for (uint32_t i = 0; i < engine->context_count; i++) {
        carry_context(&engine->contexts[i], carry);
    }
    return true;
}

uint64_t app__mc_peer_nics_max(const app_mooncake_t *engine)
{
    uint64_t most = engine->peer_nics_elsewhere;
    for (uint32_t i = 0; i < engine->context_count; i++) {
        const uint64_t peer_nics = engine->contexts[i].peer_nics.count;
        most = SIM_MAX(peer_nics, most);
    }
    return most;
}
