// SPDX-License-Identifier: Apache-2.0
// apps/flows/carry.c - brings what became of transfers to rank 0 (kernel/ranks.h).
//
// Every rank has the same plan. A transfer's requester writes its start, status and count, the
// responder of an unreliable one what arrived. Each rank leaves what its own hosts wrote.
#include "apps/flows/blocks.h"
#include "apps/flows/plan_results.h"
#include "apps/flows/transfer.h"

// The values that one end of a transfer wrote.
typedef struct outcome {
    uint64_t index; // of the transfer; UINT64_MAX: the list ends
    sim_time_t start_ps;
    sim_time_t end_ps;
    uint64_t counted; // RC: packets sent again; else bytes that arrived
    uint32_t left_out;
    uint8_t status;
    bool requester;
} outcome_t;

static bool runs_at(const app__plan_t *plan, uint32_t interface)
{
    return sim_node_is_here(&net_interface_port(plan->net, interface)->node->sim);
}

static void leave_transfer(const app__plan_t *plan, const app__transfer_t *transfer, uint64_t index,
                           sim_buffer_t *bytes)
{
    const bool reliable = plan->shape.service == APP__RC;
    outcome_t outcome = {.index = index,
                         .start_ps = transfer->start_ps,
                         .end_ps = transfer->end_ps,
                         .left_out = transfer->left_out,
                         .status = transfer->status};
    if (runs_at(plan, transfer->source)) {
        outcome.requester = true;
        outcome.counted = reliable ? transfer->retransmitted : 0;
        sim_buffer_put(bytes, &outcome, sizeof(outcome));
    }
    if (!reliable && runs_at(plan, transfer->destination)) {
        outcome.requester = false;
        outcome.counted = transfer->arrived_bytes;
        sim_buffer_put(bytes, &outcome, sizeof(outcome));
    }
}

static void leave(const app__plan_t *plan, sim_buffer_t *bytes)
{
    const app__unfinished_t unfinished = app__plan_unfinished(plan);
    sim_buffer_put_u64(bytes, unfinished.count);
    sim_buffer_put(bytes, unfinished.items, unfinished.count * sizeof(*unfinished.items));
    sim_free(unfinished.items);
    for (size_t i = 0; i < plan->source_count; i++) {
        const app__source_t *const source = &plan->sources[i];
        if (sim_node_is_here(source->endpoint->node)) {
            const uint64_t counts[] = {i, source->started, source->completed, source->failed};
            sim_buffer_put(bytes, counts, sizeof(counts));
        }
    }
    sim_buffer_put_u64(bytes, UINT64_MAX);
    // Blocks that were never made hold no outcome. This rank's own may have been packed.
    for (size_t number = 0; plan->count > 0 && number < plan->block_count; number++) {
        const app__block_entry_t *const entry = &plan->entries[number];
        if (atomic_load(&entry->made) == NULL && entry->outcomes == NULL) {
            continue;
        }
        const uint64_t first =
            plan->arrivals_ops == NULL ? 0 : (uint64_t)number << plan->block_shift;
        const app__block_t *const block = app__block_of(plan, first);
        for (size_t i = 0; i < block->count; i++) {
            leave_transfer(plan, &block->transfers[i], first + i, bytes);
        }
    }
    const outcome_t last = {.index = UINT64_MAX};
    sim_buffer_put(bytes, &last, sizeof(last));
}

static void take_transfer(const app__plan_t *plan, const outcome_t *outcome)
{
    app__transfer_t *const transfer = app__transfer(plan, outcome->index);
    if (!outcome->requester) {
        transfer->end_ps = outcome->end_ps;
        transfer->arrived_bytes = outcome->counted;
        return;
    }
    transfer->start_ps = outcome->start_ps;
    transfer->left_out = outcome->left_out;
    transfer->status = outcome->status;
    if (plan->shape.service == APP__RC) {
        transfer->end_ps = outcome->end_ps;
        transfer->retransmitted = (uint32_t)outcome->counted;
    }
}

static void take(app__plan_t *plan, sim_reader_t *bytes)
{
    const uint64_t count = sim_reader_u64(bytes);
    app__unfinished_t *const elsewhere = &plan->elsewhere;
    for (uint64_t i = 0; i < count; i++) {
        SIM_GROW(elsewhere->items, elsewhere->count, &elsewhere->capacity);
        sim_reader_get(bytes, &elsewhere->items[elsewhere->count++], sizeof(*elsewhere->items));
    }
    for (uint64_t i = sim_reader_u64(bytes); i != UINT64_MAX; i = sim_reader_u64(bytes)) {
        SIM_CHECK(i < plan->source_count);
        app__source_t *const source = &plan->sources[i];
        source->started = sim_reader_u64(bytes);
        source->completed = sim_reader_u64(bytes);
        source->failed = sim_reader_u64(bytes);
    }
    outcome_t outcome;
    for (sim_reader_get(bytes, &outcome, sizeof(outcome)); outcome.index != UINT64_MAX;
         sim_reader_get(bytes, &outcome, sizeof(outcome))) {
        take_transfer(plan, &outcome);
    }
}

void app__plan_carry(app__plan_t *plan, sim_carry_t *carry)
{
    if (sim_carry_leaves(carry)) {
        leave(plan, carry->to);
    } else {
        take(plan, carry->from);
    }
}
