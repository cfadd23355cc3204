// SPDX-License-Identifier: Apache-2.0
// nic/transport/adamap/core.c - the fifo from the NIC to a core of its host, which owns the free
// list: it takes blocks, writes and links maps, and returns blocks, each when it has the time.
//
// The steps are those of nic/transport/adamap/handover.h. Without a core (nic.adamap.insert-time is
// 0) the NIC does them itself, at once. The NIC writes each entry into the fifo by DMA; the core
// sees it from then on.
#include "nic/transport/adamap/adamap_internal.h"

#include "nic/objects/objects.h"

#define FIRST_TASKS 16u
#define RETURN_BYTES 8u
// The fifo lies behind the blocks, as far as addresses matter.
#define FIFO_OFFSET (UINT64_C(1) << 39)

static inline nic_adamap_task_t *task_at(const nic_adamap_shared_t *shared, uint64_t number)
{
    return &shared->tasks[number & (shared->task_capacity - 1)];
}

// -- the core's steps

static void put_piece(nic_adamap_state_t *state, uint32_t index)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    nic_adamap_entry_t *const entry = nic__adamap_entry(state, index);
    entry->block = nic__knitting_take(&shared->knitting, NIC_KNITTING_NONE);
    nic__knitting_write(&shared->knitting, entry->block, &entry->map);
    entry->dirty = false;
}

static void do_task(nic_adamap_shared_t *shared, const nic_adamap_task_t *task)
{
    nic_adamap_state_t *const state = task->state;
    if (task->kind == NIC_ADAMAP_RETURN) {
        if (state != NULL) {
            nic__chain_returned(&state->chain, task->number);
        }
        nic__knitting_give(&shared->knitting, task->number);
    } else if (state == NULL) {
        nic__knitting_unclaim(&shared->knitting);
    } else if (task->kind == NIC_ADAMAP_PIECE) {
        put_piece(state, task->number);
    } else {
        nic__knitting_append(&shared->knitting, &state->chain, &task->map);
        if (nic__adamap_config(state)->chain == NIC_ADAMAP_LINKED) {
            nic__adamap_note_linked(state);
        }
    }
}

static void task_fired(sim_node_t *node, sim_timer_t *timer)
{
    nic_adamap_shared_t *const shared = SIM_CONTAINER_OF(timer, nic_adamap_shared_t, task_timer);
    while (shared->task_first != shared->task_end &&
           task_at(shared, shared->task_first)->done_ps <= node->now_ps) {
        const nic_adamap_task_t task = *task_at(shared, shared->task_first++);
        do_task(shared, &task);
    }
    if (shared->task_first != shared->task_end) {
        sim_timer_arm(node, timer, task_at(shared, shared->task_first)->done_ps);
    }
}

// -- the NIC's steps

static uint64_t push(nic_adamap_shared_t *shared, const nic_adamap_task_t *task)
{
    if (shared->task_end - shared->task_first == shared->task_capacity) {
        const uint64_t capacity =
            shared->task_capacity == 0 ? FIRST_TASKS : shared->task_capacity * 2;
        nic_adamap_task_t *const ring = sim_alloc_array(capacity, sizeof(*ring));
        for (uint64_t i = shared->task_first; i != shared->task_end; i++) {
            ring[i & (capacity - 1)] = *task_at(shared, i);
        }
        sim_free(shared->tasks);
        shared->tasks = ring;
        shared->task_capacity = capacity;
    }
    *task_at(shared, shared->task_end) = *task;
    if (shared->task_first == shared->task_end) {
        sim_timer_arm(nic__node(shared->nic), &shared->task_timer, task->done_ps);
    }
    return shared->task_end++;
}

// Hands a task over that the NIC has written at written_ps, and returns its number.
static uint64_t hand_over(nic_adamap_shared_t *shared, nic_adamap_task_t *task,
                          sim_time_t written_ps, sim_time_t cost_ps)
{
    if (shared->core == NULL) {
        shared->core = nic_core_create_worker(&shared->nic->host->node);
    }
    task->done_ps = nic_core_work(shared->core, written_ps, cost_ps);
    return push(shared, task);
}

static sim_time_t write_entry(nic_adamap_state_t *state, uint32_t bytes)
{
    const uint64_t base = nic__adamap_shared(state)->knitting.config.address;
    return nic__adamap_write_ps(state, base + FIFO_OFFSET, bytes);
}

sim_time_t nic__adamap_hand_map(nic_adamap_state_t *state, const nic_adamap_t *map)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const sim_time_t written_ps = write_entry(state, nic__adamap_dma_bytes(state));
    nic_adamap_task_t task = {.state = state, .map = *map, .kind = NIC_ADAMAP_INSERT};
    if (nic__adamap_has_core(config)) {
        (void)hand_over(nic__adamap_shared(state), &task, written_ps, config->insert_ps);
    } else {
        do_task(nic__adamap_shared(state), &task);
    }
    return written_ps;
}

sim_time_t nic__adamap_hand_piece(nic_adamap_state_t *state, uint32_t index)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    const sim_time_t written_ps = write_entry(state, nic__adamap_dma_bytes(state));
    nic_adamap_task_t task = {.state = state, .number = index, .kind = NIC_ADAMAP_PIECE};
    if (nic__adamap_has_core(config)) {
        const uint64_t number =
            hand_over(nic__adamap_shared(state), &task, written_ps, config->insert_ps);
        nic__adamap_entry(state, index)->task = number;
    } else {
        do_task(nic__adamap_shared(state), &task);
    }
    return written_ps;
}

void nic__adamap_hand_back(nic_adamap_state_t *state, uint32_t block)
{
    const nic_adamap_config_t *const config = nic__adamap_config(state);
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    nic_adamap_task_t task = {.state = state, .number = block, .kind = NIC_ADAMAP_RETURN};
    if (nic__adamap_has_core(config) && !shared->nic->host->ending) {
        const sim_time_t written_ps = write_entry(state, RETURN_BYTES);
        (void)hand_over(shared, &task, written_ps, config->return_ps);
    } else {
        do_task(shared, &task);
    }
}

void nic__adamap_recall_piece(nic_adamap_state_t *state, const nic_adamap_entry_t *entry)
{
    nic_adamap_task_t *const task = task_at(nic__adamap_shared(state), entry->task);
    SIM_CHECK(entry->block == NIC_KNITTING_NONE && task->kind == NIC_ADAMAP_PIECE);
    task->state = NULL;
}

void nic__adamap_core_forget(nic_adamap_state_t *state)
{
    nic_adamap_shared_t *const shared = nic__adamap_shared(state);
    for (uint64_t i = shared->task_first; i != shared->task_end; i++) {
        nic_adamap_task_t *const task = task_at(shared, i);
        task->state = task->state == state ? NULL : task->state;
    }
    uint32_t block = state->chain.head;
    while (block != NIC_KNITTING_NONE) {
        const uint32_t next = nic__knitting_next(&shared->knitting, block);
        nic__adamap_hand_back(state, block);
        block = next;
    }
    for (uint64_t i = shared->task_end; i-- != shared->task_first;) {
        nic_adamap_task_t *const task = task_at(shared, i);
        task->state = task->state == state ? NULL : task->state;
    }
    state->chain = (nic_knitting_chain_t){0};
}

// -- life

void nic__adamap_core_init(nic_adamap_shared_t *shared, nic_t *nic)
{
    shared->nic = nic;
    sim_timer_init(&shared->task_timer, task_fired);
}

void nic__adamap_core_fini(nic_adamap_shared_t *shared)
{
    for (; shared->task_first != shared->task_end; shared->task_first++) {
        do_task(shared, task_at(shared, shared->task_first));
    }
    sim_free(shared->tasks);
}
