// SPDX-License-Identifier: Apache-2.0
// kernel/steps.h - a simulation that goes by steps, so that the caller may add to it between two.
#ifndef KERNEL_STEPS_H
#define KERNEL_STEPS_H

#include "kernel/sim.h"

SIM_C_BEGIN

// Instead of sim_run, where the options say `steps`: runs everything before stop_ps and returns
// SIM_ENDED_UNTIL, or SIM_ENDED_DONE if nothing is left to happen before it or later. Between steps
// the caller may arm timers of any node for times from the last stop_ps on, and must name the node
// to sim_touch. stop_ps may not fall. Neither the number of steps nor their times change a result.
sim_ended_t sim_step(sim_t *sim, sim_time_t stop_ps);
void sim_touch(sim_node_t *node);
// Steps as sim_step does, but ends 1 ps after the first event that calls sim_cut_step, if one does,
// and 1 ps after the last event if it ends in another way than SIM_ENDED_UNTIL. The engine runs
// watched nodes in the order of their times, and all others after them.
sim_ended_t sim_step_watched(sim_t *sim, sim_time_t stop_ps);
// Lets events of the node call sim_cut_step. Call it before the first step.
void sim_watch(sim_node_t *node);
// Ends the present step after this event of a watched node, if it is one of sim_step_watched.
void sim_cut_step(sim_node_t *node);
// Ends the present step early: called by an observer of windows (sim_on_window) with the end of the
// window that it was given.
void sim_end_step(sim_t *sim, sim_time_t window_end_ps);
// Returns the time up to which everything has happened after a step.
sim_time_t sim_stepped_ps(const sim_t *sim);
// Ends a run that goes by steps: what sim_run does when it ends. Returns how it ended.
sim_ended_t sim_last_step(sim_t *sim);

SIM_C_END

#endif // KERNEL_STEPS_H
