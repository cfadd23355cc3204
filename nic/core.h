// SPDX-License-Identifier: Apache-2.0
// nic/core.h - a CPU core of a host: it runs a program that polls, and its steps cost time.
//
// A core runs one program, a loop: look at what it polls (completion queues, flags that
// nic_qp_on_write sets), do what there is to do, start over. One turn of the loop is a step, called
// in an event of the host. Posting and polling inside a step cost the core what the host's
// attributes nic.detailed.cpu.* say (with nic.model: ideal nothing), nic_core_spend costs what the
// program says; the step's actions happen one behind the other, at nic_core_now_ps, and the next
// step begins when this one's cost is over. Costs are those at the clock rate of a core that is
// (almost) alone; with more cores at work on its host the clock is slower (nic.host.clock)
// and costs rise, but not what a program waits for in memory, nic_core_wait.
//
// A step that finds nothing returns false: then the core polls on, as long as the step took each
// time, but no events happen until something it polls changes. The first poll that starts
// after a change sees it.
//
//     static bool serve(nic_core_t *core, void *ctx)
//     {
//         nic_wc_t wc[16];
//         const uint32_t count = nic_poll_cq(my->cq, 16, wc);
//         for (...) { nic_core_spend(core, 20 * SIM_PS_PER_NS); ...nic_post_send(...)... }
//         return count != 0;
//     }
//     core = nic_core_create(host, serve, my);
//     nic_cq_set_core(my->cq, core);
//     nic_core_start(core, 0);
#ifndef NIC_CORE_H
#define NIC_CORE_H

#include "kernel/ranks.h"
#include "nic/verbs.h"

SIM_C_BEGIN

typedef struct nic_core nic_core_t;

// Runs one step. Returns true if it did something, false if there was nothing to do. It may post,
// poll, and destroy queue pairs of its host's NICs.
typedef bool (*nic_core_fn)(nic_core_t *core, void *ctx);

// Creates a core after net_build. The host owns it.
nic_core_t *nic_core_create(net_node_t *host, nic_core_fn step, void *ctx);
// Starts the core: its first step begins at time_ps, not before the host's time. To be called once,
// or after a stop.
void nic_core_start(nic_core_t *core, sim_time_t time_ps);
// Stops the core. The running step ends as usual.
void nic_core_stop(nic_core_t *core);

// Makes this core poll the CQ: a completion wakes the core, and the CQ's nic_cq_fn is not called.
void nic_cq_set_core(nic_cq_t *cq, nic_core_t *core);
// Makes another core of the host poll the CQ instead of the one that does.
void nic_cq_change_core(nic_cq_t *cq, nic_core_t *core);
// Says, inside a step, whether the program leaves the CQ unread in its next steps. Completions of
// such a CQ do not wake the core, so polls of other queues that find nothing cost no events.
void nic_cq_set_unread(nic_cq_t *cq, bool unread);
// Wakes the core, because something else that it polls changes now, in an event of its host.
void nic_core_wake(nic_core_t *core);

// Creates a core without a program, for a driver's thread: it does pieces of work one after the
// other. It counts as a working core from its first work on. The host owns it.
nic_core_t *nic_core_create_worker(net_node_t *host);
// Books work that costs cost_ps at the highest clock rate and is there from from_ps on, not before
// the host's time. Returns when it is done.
sim_time_t nic_core_work(nic_core_t *core, sim_time_t from_ps, sim_time_t cost_ps);

// Interrupts the first core of a NIC's host for the work of the NIC's driver, which costs cost_ps
// at the highest clock rate, from from_ps or from now on. The core's program loses the time.
// Returns false if no program of the host has a core.
bool nic_cores_interrupt(nic_t *nic, sim_time_t from_ps, sim_time_t cost_ps);
// Returns the number of cores of the programs of a NIC's host. *busy_ps is the time that all of
// them together have worked, for programs and drivers.
uint32_t nic_cores_busy(const nic_t *nic, sim_time_t *busy_ps);

// Says, inside a step that does something, that the next step will first only poll the core's
// completion queues, as the last step that found nothing did. If they stay empty, that step costs
// no event.
void nic_core_only_polls(nic_core_t *core);

// Spends time inside a step: on work of the program, which takes as many cycles as fit into cost_ps
// at the highest clock rate, or on a wait for memory, which does not depend on the core's clock.
void nic_core_spend(nic_core_t *core, sim_time_t cost_ps);
void nic_core_wait(nic_core_t *core, sim_time_t wait_ps);
// Returns the core's time: within a step, the step's start plus its cost so far.
sim_time_t nic_core_now_ps(const nic_core_t *core);

void nic_core_carry(nic_core_t *core, sim_carry_t *carry); // its busy time and steps, to rank 0
// Returns the time spent in work and in steps that did something.
sim_time_t nic_core_busy_ps(const nic_core_t *core);
// Returns the number of steps that did something, plus the number of pieces of work.
uint64_t nic_core_steps(const nic_core_t *core);

SIM_C_END

#endif // NIC_CORE_H
