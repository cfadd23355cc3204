// SPDX-License-Identifier: Apache-2.0
// nic/host/core.c - cores: when a step may begin, and how a program that polls costs no events.
//
// An idle core polls at idle_ps, idle_ps + poll_ps, ... A completion that is seen from time t on is
// found by the first poll that starts at t or later, so the timer is armed for that one alone.
#include "nic/core.h"

#include "nic/config/parts.h"
#include "nic/host/cores.h"
#include "nic/host/steps.h"
#include "nic/objects/calls.h"
#include "nic/objects/objects.h"
#include "nic/objects/queues.h"

// The least time of a turn of a core's loop, even if nothing in it has a cost.
#define LEAST_STEP_PS SIM_PS_PER_NS

static void fired(sim_node_t *node, sim_timer_t *timer);

// -- its next turn

static void forget_turn(nic_core_t *core)
{
    if (core->in_lane) {
        nic__step_remove(core->host, NIC_LANE_CORE, &core->step_at);
        core->in_lane = false;
    } else {
        sim_timer_cancel(&core->host->node.sim, &core->timer);
    }
    core->due_ps = SIM_TIME_NEVER;
}

static SIM_ALWAYS_INLINE void begin_at(nic_core_t *core, sim_time_t time_ps)
{
    if (core->due_ps != SIM_TIME_NEVER) {
        forget_turn(core);
    }
    core->due_ps = time_ps;
    core->in_lane = nic__step_at(core->host, NIC_LANE_CORE, &core->step_at, time_ps);
    if (!core->in_lane) {
        sim_timer_arm(&core->host->node.sim, &core->timer, time_ps);
    }
}

// -- life

static nic_core_t *create(net_node_t *node, nic_core_fn step, void *ctx)
{
    nic_host_t *const host = nic__host_of(node);
    nic_core_t *const core = sim_alloc_lines(sizeof(*core));
    core->host = host;
    core->step = step;
    core->ctx = ctx;
    core->next = host->cores;
    core->due_ps = SIM_TIME_NEVER;
    host->cores = core;
    sim_timer_init(&core->timer, fired);
    if (core->next != NULL) {
        sim_expect_timers(&node->sim); // each step of a core is a timer
    }
    return core;
}

nic_core_t *nic_core_create(net_node_t *node, nic_core_fn step, void *ctx)
{
    SIM_CHECK(step != NULL);
    return create(node, step, ctx);
}

nic_core_t *nic_core_create_worker(net_node_t *node)
{
    return create(node, NULL, NULL);
}

void nic__cores_free(nic_host_t *host)
{
    while (host->cores != NULL) {
        nic_core_t *const core = host->cores;
        host->cores = core->next;
        sim_free(core);
    }
}

// -- the clock

#define CORES_AT_FULL_CLOCK 2u

void nic__cores_set_clock(nic_host_t *host)
{
    const nic_detail_t *const set = &host->config->detail;
    const void *part;
    if (nic__config_device(host->config, &part) != &nic_device_rnic &&
        set->cpu_clock_mhz == SIM_AUTO && set->cpu_clock_all_mhz == SIM_AUTO) {
        return; // no machine is meant: cores keep their rate
    }
    nic_detail_t detail;
    nic_detail_resolve(host->config, &detail);
    host->clock = (nic_clock_t){
        .mhz = (uint32_t)detail.cpu_clock_mhz,
        .all_mhz = (uint32_t)detail.cpu_clock_all_mhz,
        .all_from = (uint32_t)detail.cpu_clock_all_from,
    };
}

// Sets the clock rate, which falls linearly from the rate of two active cores to that of all_from.
static void set_pace(nic_host_t *host)
{
    const nic_clock_t *const clock = &host->clock;
    const uint64_t working = SIM_MIN(host->cores_started, clock->all_from);
    host->core_slow_permille = 1000;
    if (working > CORES_AT_FULL_CLOCK) {
        const uint64_t fall_mhz = (clock->mhz - clock->all_mhz) * (working - CORES_AT_FULL_CLOCK) /
                                  (clock->all_from - CORES_AT_FULL_CLOCK);
        host->core_slow_permille =
            (uint32_t)(UINT64_C(1000) * clock->mhz / (clock->mhz - fall_mhz));
    }
}

void nic_core_start(nic_core_t *core, sim_time_t time_ps)
{
    SIM_CHECK(core->step != NULL && !core->started && time_ps >= core->host->node.sim.now_ps);
    core->host->cores_started++;
    set_pace(core->host);
    core->started = true;
    core->idle = false;
    begin_at(core, SIM_MAX(time_ps, core->free_ps));
}

void nic_core_stop(nic_core_t *core)
{
    if (core->started) {
        core->host->cores_started--;
        set_pace(core->host);
    }
    core->started = false;
    core->idle = false;
    forget_turn(core);
}

sim_time_t nic_core_work(nic_core_t *core, sim_time_t from_ps, sim_time_t cost_ps)
{
    SIM_CHECK(core->step == NULL && from_ps >= core->host->node.sim.now_ps);
    if (!core->started) {
        core->started = true;
        core->host->cores_started++;
        set_pace(core->host);
    }
    const sim_time_t took_ps = cost_ps * core->host->core_slow_permille / 1000;
    core->free_ps = SIM_MAX(core->free_ps, from_ps) + took_ps;
    core->busy_ps += took_ps;
    core->steps++;
    return core->free_ps;
}

// -- time

void nic_core_spend(nic_core_t *core, sim_time_t cost_ps)
{
    nic__core_spend(core, cost_ps);
}

void nic_core_wait(nic_core_t *core, sim_time_t wait_ps)
{
    nic__core_wait(core, wait_ps);
}

sim_time_t nic_core_now_ps(const nic_core_t *core)
{
    return core->host->node.sim.now_ps + (core->host->core == core ? core->spent_ps : 0);
}

sim_time_t nic_core_busy_ps(const nic_core_t *core)
{
    return core->busy_ps;
}

void nic_core_carry(nic_core_t *core, sim_carry_t *carry)
{
    SIM_CARRY(carry, core->busy_ps);
    SIM_CARRY(carry, core->steps);
}

uint64_t nic_core_steps(const nic_core_t *core)
{
    return core->steps;
}

// -- waiting

// Returns the time of an idle core's first poll at or after seen_ps.
static sim_time_t poll_at(const nic_core_t *core, sim_time_t seen_ps)
{
    if (seen_ps <= core->idle_ps) {
        return core->idle_ps;
    }
    const uint64_t polls = (seen_ps - core->idle_ps + core->poll_ps - 1) / core->poll_ps;
    return core->idle_ps + polls * core->poll_ps;
}

void nic__core_notice(nic_core_t *core, sim_time_t seen_ps)
{
    if (!core->idle) {
        return; // it looks again before it rests
    }
    const sim_time_t at_ps = poll_at(core, SIM_MAX(seen_ps, core->taken_ps));
    if (at_ps < core->due_ps) {
        begin_at(core, at_ps);
    }
}

void nic_core_wake(nic_core_t *core)
{
    core->woken = true;
    nic__core_notice(core, core->host->node.sim.now_ps);
}

// -- drivers that share a core with a program

static nic_core_t *first_core(const nic_host_t *host)
{
    nic_core_t *core = host->cores; // the one made last
    while (core != NULL && core->next != NULL) {
        core = core->next;
    }
    return core;
}

bool nic_cores_interrupt(nic_t *nic, sim_time_t from_ps, sim_time_t cost_ps)
{
    nic_host_t *const host = nic->host;
    nic_core_t *const core = first_core(host);
    if (core == NULL) {
        return false;
    }
    from_ps = SIM_MAX(from_ps, host->node.sim.now_ps);
    const sim_time_t took_ps = cost_ps * host->core_slow_permille / 1000;
    core->interrupted_ps += took_ps;
    if (core->step == NULL) {
        core->free_ps = SIM_MAX(core->free_ps, from_ps) + took_ps;
    } else if (host->core == core) {
        core->spent_ps += took_ps;
    } else if (core->due_ps != SIM_TIME_NEVER && !core->idle) {
        begin_at(core, core->due_ps + took_ps);
    } else {
        core->taken_ps = SIM_MAX(core->taken_ps, from_ps) + took_ps;
        if (core->due_ps < core->taken_ps) {
            begin_at(core, poll_at(core, core->taken_ps));
        }
    }
    return true;
}

uint32_t nic_cores_busy(const nic_t *nic, sim_time_t *busy_ps)
{
    uint32_t count = 0;
    *busy_ps = 0;
    for (const nic_core_t *core = nic->host->cores; core != NULL; core = core->next) {
        count++;
        *busy_ps += core->busy_ps + core->interrupted_ps;
    }
    return count;
}

void nic_cq_set_core(nic_cq_t *cq, nic_core_t *core)
{
    SIM_CHECK(cq->core == NULL && cq->count == 0 && core->host == cq->nic->host);
    if (cq->ring_capacity != 0) {
        cq->seen_ps = sim_alloc_array(cq->ring_capacity, sizeof(*cq->seen_ps));
    }
    cq->core = core;
    cq->next_of_core = core->cqs;
    core->cqs = cq;
    NIC_DEVICE(cq->nic, cq_changed, cq);
}

void nic_cq_change_core(nic_cq_t *cq, nic_core_t *core)
{
    SIM_CHECK(cq->core != NULL && core->host == cq->nic->host);
    nic_cq_t **at = &cq->core->cqs;
    while (*at != cq) {
        at = &(*at)->next_of_core;
    }
    *at = cq->next_of_core;
    cq->core = core;
    cq->next_of_core = core->cqs;
    core->cqs = cq;
    NIC_DEVICE(cq->nic, cq_changed, cq);
    if (cq->count != 0 && !cq->unread) {
        nic__core_notice(core, SIM_MAX(cq->seen_ps[cq->first], core->host->node.sim.now_ps));
    }
}

void nic_cq_set_unread(nic_cq_t *cq, bool unread)
{
    SIM_CHECK(cq->core != NULL && cq->core == cq->core->host->core);
    cq->unread = unread;
}

uint32_t nic__core_number(const nic_core_t *core)
{
    uint32_t number = 0;
    for (const nic_core_t *older = core->next; older != NULL; older = older->next) {
        number++;
    }
    return number;
}

void nic_core_only_polls(nic_core_t *core)
{
    core->only_polls = true;
}

// Lets a core poll from free_ps on. Work already in flight decides which poll is simulated.
static void rest(nic_core_t *core)
{
    core->idle = true;
    core->idle_ps = core->free_ps;
    sim_time_t seen_ps = core->woken ? core->idle_ps : SIM_TIME_NEVER;
    for (const nic_cq_t *cq = core->cqs; cq != NULL; cq = cq->next_of_core) {
        if (cq->count != 0 && !cq->unread && cq->seen_ps[cq->first] < seen_ps) {
            seen_ps = cq->seen_ps[cq->first];
        }
    }
    if (seen_ps != SIM_TIME_NEVER) {
        nic__core_notice(core, seen_ps);
    }
}

static void take_turn(nic_core_t *core)
{
    const sim_time_t now_ps = core->host->node.sim.now_ps;
    core->in_lane = false;
    core->due_ps = SIM_TIME_NEVER;
    core->idle = false;
    core->woken = false;
    core->only_polls = false;
    core->spent_ps = 0;
    core->host->core = core;
    const bool did = core->step(core, core->ctx);
    core->host->core = NULL;
    const sim_time_t cost_ps = SIM_MAX(core->spent_ps, LEAST_STEP_PS);
    core->spent_ps = 0;
    core->free_ps = now_ps + cost_ps;
    if (did) {
        core->steps++;
        core->busy_ps += cost_ps;
    } else {
        core->poll_ps = cost_ps;
    }
    if (!core->started || core->due_ps != SIM_TIME_NEVER) {
        return; // stopped by its own step, or stopped and started again
    }
    if (did && (!core->only_polls || core->poll_ps == 0)) {
        begin_at(core, core->free_ps);
    } else {
        rest(core);
    }
}

// Prefetches what the cores that have their turns next will need: the core, then its program's
// own and the queue that it polls.
static SIM_ALWAYS_INLINE void expect_turns(const nic_host_t *host)
{
    nic_step_t *const next = host->steps->lanes[NIC_LANE_CORE].first;
    if (next == NULL) {
        return;
    }
    const nic_core_t *const first = SIM_CONTAINER_OF(next, nic_core_t, step_at);
    if (first->ctx != NULL) {
        for (size_t line = 0; line < 4; line++) {
            __builtin_prefetch((const char *)first->ctx + line * SIM_CACHE_LINE);
        }
    }
    __builtin_prefetch(first->cqs); // NULL does no harm
    if (next->next != NULL) {
        const char *const second = (const char *)SIM_CONTAINER_OF(next->next, nic_core_t, step_at);
        __builtin_prefetch(second + SIM_CACHE_LINE);
        __builtin_prefetch(second + 2 * SIM_CACHE_LINE);
    }
}

void nic__core_step(nic_step_t *step)
{
    expect_turns(SIM_CONTAINER_OF(step, nic_core_t, step_at)->host);
    take_turn(SIM_CONTAINER_OF(step, nic_core_t, step_at));
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    (void)node;
    take_turn(SIM_CONTAINER_OF(timer, nic_core_t, timer));
}
