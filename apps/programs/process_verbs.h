// SPDX-License-Identifier: Apache-2.0
// apps/programs/process_verbs.h - the verbs that a process calls.
#ifndef APPS_PROGRAMS_PROCESS_VERBS_H
#define APPS_PROGRAMS_PROCESS_VERBS_H

#include "apps/programs/guest.h"

// Works on a call of a verb. Returns an errno value.
int app__program_verb(app__program_t *program, program_call_t *call);
// Takes the completions that the NIC has for an armed or a waiting process.
void app__program_look_at_cqs(app__program_t *program);
// Raises the events of queues that were armed while completions were there, if these still are: the
// thread waits for events now. Adapters raise such events when they see the consumer index, and
// perftest relies on it: it polls at most 16 completions for each event.
void app__program_ring_unpolled(app__program_t *program);
// Polls a queue for a process that knows that it is empty.
void app__program_poll_nothing(app__program_t *program, uint32_t handle);
// Returns true if no queue has completions or is armed.
bool app__program_is_quiet(const app__program_t *program);
// Returns true if a queue that the thread polled last has completions.
bool app__program_has_unpolled(const app__pr_thread_t *thread);
// Notes when the NIC wrote the next completion of the queue.
void app__program_note_time(app__pr_cq_t *cq, sim_time_t time_ps);
// Destroys what the process has made.
void app__program_free_verbs(app__program_t *program);
// Each returns the object that a handle names, or NULL.
app__pr_pd_t *app__program_pd(const app__program_t *program, uint32_t handle);
app__pr_cq_t *app__program_cq(const app__program_t *program, uint32_t handle);
app__pr_srq_t *app__program_srq(app__program_t *program, uint32_t handle);
// Writes into `to` what the process gets for a completion, but for its time.
void app__program_completion_of(app__program_t *program, const nic_wc_t *wc,
                                program_completion_t *to);
// Returns where the process's address 0 lies in host memory.
uint64_t app__program_base(const app__program_t *program);
// Returns the address in host memory of what the process names by an address and a local key.
uint64_t app__program_address(const app__program_t *program, uint32_t lkey, uint64_t address);
// Returns the address in host memory of 64 pages at which payloads of inline posts wait for being
// taken.
uint64_t app__program_scratch(const app__program_t *program);
// Returns the interface of the host's NIC that has this GID, or that an address names; UINT32_MAX:
// none has it.
uint32_t app__interface_of_gid(const net_t *net, const uint8_t gid[16]);
void app__gid_of_interface(const net_t *net, uint32_t interface, uint8_t gid[16]);

#endif // APPS_PROGRAMS_PROCESS_VERBS_H
