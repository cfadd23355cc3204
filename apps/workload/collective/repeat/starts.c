// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/starts.c - whether a rank may send within its host before a call
// is over.
//
// What is under way may end at any time, and what starts then may end at once. So all that can
// start without the end of the call is found by following the order of the rank's operations.
#include "apps/workload/collective/repeat/starts.h"

typedef struct fallen {
    uint32_t question; // for which the number is valid
    uint32_t count;    // operations that the operation no longer waits for
} fallen_t;

struct app__starts {
    uint32_t question;
    fallen_t *fallen; // by operation
    uint32_t *stack;  // operations that have ended, whose followers are to be looked at
    size_t stack_count;
    size_t stack_capacity;
    const app__rank_t *rank;
    const app__started_t *call;
    bool safe;
};

// -- creation

// Returns whether two members of a group are on one host.
static bool has_neighbours(const app__collectives_t *all, size_t group)
{
    const app__layout_t *const layout = &all->groups[group].layout;
    return layout->nodes < layout->ranks;
}

static bool has_spread(const app__collectives_t *all)
{
    for (size_t i = 0; i < all->plan_count; i++) {
        const app__algorithm_t *const algorithm = all->plans[i].program.algorithm;
        if (algorithm == &app__nvls || algorithm == &app__nvls_tree ||
            algorithm == &app__from_file) {
            return true;
        }
    }
    return false;
}

// Returns whether some rank has two groups with neighbours: then what an NVSwitch spreads may use
// the link of a rank that has not called.
static bool has_several(const app__collectives_t *all)
{
    const app__schedule_t *const schedule = all->workload->schedule;
    bool *const seen = sim_alloc_array((size_t)schedule->rank_count + 1, sizeof(*seen));
    bool several = false;
    for (size_t g = 0; g < schedule->group_count; g++) {
        const app__group_t *const group = &schedule->groups[g];
        for (uint32_t i = 0; has_neighbours(all, g) && i < group->count; i++) {
            several = several || seen[group->ranks[i]];
            seen[group->ranks[i]] = true;
        }
    }
    sim_free(seen);
    return several;
}

bool app__starts_knows(const app__workload_t *workload)
{
    const app__schedule_t *const schedule = workload->schedule;
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        const app__rank_ops_t *const ops = &schedule->ranks[r];
        for (uint32_t op = 0; op < ops->count; op++) {
            if (ops->ops[op].type == APP__OP_SEND &&
                ops->ops[op].size > workload->options.loggp.eager_max_bytes) {
                return false; // it waits for its receive
            }
        }
    }
    return !has_spread(workload->collectives) || !has_several(workload->collectives);
}

app__starts_t *app__starts_create(const app__workload_t *workload)
{
    app__starts_t *const starts = sim_alloc(sizeof(*starts));
    uint32_t most = 0;
    for (uint32_t r = 0; r < workload->schedule->rank_count; r++) {
        const uint32_t count = workload->schedule->ranks[r].count;
        most = count > most ? count : most;
    }
    starts->fallen = sim_alloc_array((size_t)most + 1, sizeof(*starts->fallen));
    return starts;
}

void app__starts_destroy(app__starts_t *starts)
{
    if (starts != NULL) {
        sim_free(starts->fallen);
        sim_free(starts->stack);
        sim_free(starts);
    }
}

// -- questions

static void push(app__starts_t *starts, uint32_t op)
{
    SIM_GROW(starts->stack, starts->stack_count, &starts->stack_capacity);
    starts->stack[starts->stack_count++] = op;
}

// Returns whether an operation sends within the host, or fills rows of flows.csv that the call has.
static bool disturbs(const app__starts_t *starts, const app__op_t *op)
{
    const app__rank_t *const rank = starts->rank;
    const app__workload_t *const workload = rank->workload;
    const uint32_t peer = app__peer_of(rank->ops, op);
    if (op->type == APP__OP_COLL) {
        return starts->call->records ||
               has_neighbours(workload->collectives, workload->schedule->calls[peer].group);
    }
    return op->type == APP__OP_SEND && workload->ranks[peer].node == rank->node;
}

// Notes that an operation waits for one operation less. Returns whether it starts.
static bool falls(app__starts_t *starts, uint32_t op)
{
    fallen_t *const fallen = &starts->fallen[op];
    if (op == starts->call->op) {
        return false; // the call, which is known
    }
    if (fallen->question != starts->question) {
        *fallen = (fallen_t){.question = starts->question};
    }
    fallen->count++;
    return starts->rank->states[op].left == fallen->count;
}

static void ends(app__starts_t *starts, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t op = starts->rank->ops->next[first + i];
        if (falls(starts, op)) {
            starts->safe = starts->safe && !disturbs(starts, &starts->rank->ops->ops[op]);
            push(starts, op);
        }
    }
}

// Follows what starts when all on the stack has ended.
static void follow(app__starts_t *starts)
{
    while (starts->stack_count > 0 && starts->safe) {
        const uint32_t op = starts->stack[--starts->stack_count];
        const app__op_t *const at = &starts->rank->ops->ops[op];
        if (starts->rank->states[op].start_ps == SIM_TIME_NEVER) {
            ends(starts, at->irequired_first, at->irequired_count);
        }
        ends(starts, at->required_first, at->required_count);
    }
}

// Puts an operation that has started on the stack.
static void under_way(app__starts_t *starts, uint32_t op)
{
    if (op != starts->call->op && op != APP__NO_OP) {
        starts->safe = starts->safe && !disturbs(starts, &starts->rank->ops->ops[op]);
        push(starts, op);
    }
}

// Puts all that is under way at the rank on the stack.
static void list_under_way(app__starts_t *starts)
{
    const app__rank_t *const rank = starts->rank;
    const app__coll_rank_t *const at = &rank->workload->collectives->ranks[rank->number];
    starts->safe = true;
    for (uint32_t op = rank->ready.head; op != APP__NO_OP; op = rank->states[op].next) {
        under_way(starts, op);
    }
    for (uint32_t op = rank->posted.head; op != APP__NO_OP; op = rank->states[op].next) {
        under_way(starts, op);
    }
    for (uint32_t i = 0; i < rank->cpu_count; i++) {
        const app__fifo_t *const queue = &rank->cpus[i].queue;
        for (uint32_t n = 0; n < queue->count; n++) {
            const app__item_t item = queue->items[(queue->first + n) & (queue->capacity - 1)];
            starts->safe = starts->safe && item.about == APP__NO_OP;
            under_way(starts, item.word);
        }
        starts->safe = starts->safe && (!rank->cpus[i].busy || rank->cpus[i].running != APP__NO_OP);
        under_way(starts, rank->cpus[i].busy ? rank->cpus[i].running : APP__NO_OP);
    }
    for (uint32_t i = 0; i < at->member_count; i++) {
        const app__member_t *const member = at->members[i];
        under_way(starts, member->run != NULL ? member->run->op : member->repeats);
        if (member->ending != APP__NO_OP && member->ending != member->repeats) {
            push(starts, member->ending); // at this instant: it has sent all
        }
        for (uint32_t op = member->calls.head; op != APP__NO_OP; op = rank->states[op].next) {
            under_way(starts, op);
        }
    }
}

// Looks at what starts when the call ends: computations may, if they last longer.
static void end_call(app__starts_t *starts)
{
    const app__rank_t *const rank = starts->rank;
    const app__op_t *const at = &rank->ops->ops[starts->call->op];
    for (uint32_t i = 0; i < at->required_count; i++) {
        const uint32_t next = rank->ops->next[at->required_first + i];
        const app__op_t *const op = &rank->ops->ops[next];
        if (falls(starts, next)) {
            const sim_time_t took_ps =
                app__calc_ps(op->size, &rank->workload->options.loggp.calc_scale);
            starts->safe = starts->safe && op->type == APP__OP_CALC && op->irequired_count == 0 &&
                           took_ps > starts->call->rest_ps;
        }
    }
}

bool app__starts_nothing(app__starts_t *starts, const app__rank_t *rank, const app__started_t *call)
{
    const app__op_t *const at = &rank->ops->ops[call->op];
    starts->question++;
    starts->rank = rank;
    starts->call = call;
    starts->stack_count = 0;
    list_under_way(starts);
    if (starts->safe && rank->states[call->op].start_ps == SIM_TIME_NEVER) {
        ends(starts, at->irequired_first, at->irequired_count);
    }
    follow(starts);
    if (starts->safe && call->rest_ps > 0) {
        end_call(starts);
    }
    return starts->safe;
}
