// SPDX-License-Identifier: Apache-2.0
// nic/host/cores.h - a core of a host, for those whose steps it is made of.
#ifndef NIC_HOST_CORES_H
#define NIC_HOST_CORES_H

#include "nic/core.h"
#include "nic/host/steps.h"

struct nic_core {
    nic_step_t step_at; // its next turn
    sim_timer_t timer;  // where that has no lane
    sim_time_t due_ps;  // when that is; NEVER: nothing is booked
    bool in_lane;
    nic_host_t *host;
    nic_core_fn step;
    void *ctx;
    sim_time_t free_ps;  // end of the last step
    sim_time_t spent_ps; // in the running one
    sim_time_t idle_ps;  // polls from here on...
    sim_time_t poll_ps;  // ...as often as this
    bool started;
    bool idle;
    bool woken;      // since the last step began
    bool only_polls; // nic_core_only_polls in the running step
    nic_cq_t *cqs;
    sim_time_t busy_ps;
    sim_time_t taken_ps;       // a driver has it until then
    sim_time_t interrupted_ps; // time that drivers had it
    uint64_t steps;
    nic_core_t *next;
};

// Informs a core of a completion that it sees from seen_ps on.
void nic__core_notice(nic_core_t *core, sim_time_t seen_ps);
void nic__cores_free(nic_host_t *host);
// Returns the number of a core among those of its host, in the order in which they were created.
uint32_t nic__core_number(const nic_core_t *core);
// Takes the clock rates of the host's cores from its configuration.
void nic__cores_set_clock(nic_host_t *host);

// Runs a core's turn; a step of the lane of cores.
void nic__core_step(nic_step_t *step);

static inline void nic__core_spend(nic_core_t *core, sim_time_t cost_ps)
{
    core->spent_ps += cost_ps * core->host->core_slow_permille / 1000;
}

static inline void nic__core_wait(nic_core_t *core, sim_time_t wait_ps)
{
    core->spent_ps += wait_ps;
}

// Returns the time of the core that is posting, or of the event if no core is posting.
static inline sim_time_t nic__posting_ps(const nic_host_t *host)
{
    return host->node.sim.now_ps + (host->core != NULL ? host->core->spent_ps : 0);
}

#endif // NIC_HOST_CORES_H
