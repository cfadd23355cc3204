// SPDX-License-Identifier: Apache-2.0
// apps/programs/program.h - a program on a host: its process, its turn, and what it has made.
//
// Each program has a core of its host (nic/core.h). A step of the core answers the call that the
// process waits for, if it can, and then runs the process until it waits again. So everything that
// a process does happens in events of its host, and its calls cost the time of its core.
#ifndef APPS_PROGRAMS_PROGRAM_H
#define APPS_PROGRAMS_PROGRAM_H

#include "apps/app_internal.h"
#include "apps/endpoints.h"
#include "apps/programs.h"
#include "apps/programs/process.h"
#include "apps/programs/sockets.h"
#include "kernel/map.h"
#include "nic/core.h"
#include "nic/memory.h"

#include <stdio.h>

// -- what a process has made; handles of all but queue pairs are index + 1

typedef struct app__pr_pd {
    nic_pd_t *pd; // NULL: deallocated
    uint32_t users;
} app__pr_pd_t;

typedef struct app__pr_mr {
    nic_mr_t *mr; // NULL: deregistered
    uint32_t pd;
    uint64_t shift; // address in host memory less the address that the process uses
} app__pr_mr_t;

typedef struct app__pr_cq {
    nic_cq_t *cq;
    app__program_t *program;
    nic_wc_t *taken; // out of cq, and not yet by the process: a ring
    uint32_t taken_first;
    uint32_t taken_count;
    uint32_t capacity;
    uint32_t users;
    bool armed;
    bool solicited;
    bool failed; // overflowed, and the process knows
    bool gone;
} app__pr_cq_t;

typedef struct app__pr_srq {
    nic_srq_t *srq;
    app__program_t *program;
    uint32_t pd;
    uint32_t users;
    bool gone;
} app__pr_srq_t;

typedef struct app__pr_qp {
    nic_qp_t *qp; // NULL: destroyed
    app__program_t *program;
    nic_qp_type_t type;
    uint32_t pd;
    uint32_t send_cq;
    uint32_t recv_cq;
    uint32_t srq; // 0: none
    uint32_t ending; // the state ERR is the process's own wish
    program_qp_t attr; // as the process set it
    uint64_t *headers; // UD: where the GRH of each posted receive goes, a ring
    uint32_t headers_first;
    uint32_t headers_count;
    uint32_t headers_capacity;
} app__pr_qp_t;

// QP numbers of one NIC that are reserved for a program.
typedef struct app__pr_numbers {
    uint32_t interface;
    uint32_t left;
    uint64_t position; // of the next one
} app__pr_numbers_t;

// A timer of a signal.
typedef struct app__pr_timer {
    sim_timer_t timer;
    app__program_t *program;
    uint64_t id;
    sim_time_t every_ps;
    int32_t signal;
} app__pr_timer_t;

typedef enum app__pr_state {
    APP__PR_WAITS_FOR_START,
    APP__PR_RUNS,
    APP__PR_ENDED, // the process is gone
} app__pr_state_t;

struct app__program {
    app_t app; // first
    // what the scenario says
    char *host_name;
    char *command;
    char **words; // of the command; ends with NULL
    sim_time_t start_ps;
    uint32_t number; // among the programs of its host, from 0
    const app_programs_t *permission;
    const app_programs_config_t *config;
    app__sockets_t *sockets; // of the network
    app_runtime_t *runtime;
    net_node_t *node;
    nic_core_t *core;

    // the process
    app__process_t *process; // NULL: not begun
    app__pr_state_t state;
    bool parked;         // its call waits for something
    uint32_t reasons;    // PROGRAM_ON_ bits of what has happened since the last answer
    sim_timer_t wait_timer;
    bool wait_over;
    program_event_t *events; // not yet given to the process
    size_t event_count;
    size_t event_capacity;
    uint64_t signals;
    bool ends_badly; // another fault than its exit status: text says so
    sim_message_t fault;

    app__pr_pd_t *pds;
    size_t pd_count;
    size_t pd_capacity;
    app__pr_mr_t *mrs;
    size_t mr_count;
    size_t mr_capacity;
    sim_map_t mr_of_key; // of local keys, to index
    app__pr_cq_t **cqs;
    size_t cq_count;
    size_t cq_capacity;
    app__pr_srq_t **srqs;
    size_t srq_count;
    size_t srq_capacity;
    app__pr_qp_t **qps;
    size_t qp_count;
    size_t qp_capacity;
    sim_map_t qp_of_number; // to index
    app__pr_numbers_t *numbers;
    size_t number_count;
    size_t number_capacity;
    app__pr_timer_t **timers;
    size_t timer_count;
    size_t timer_capacity;
    app__socket_list_t own_sockets;
    struct checked *chain; // posts.c: posts that belong together

    // results
    uint64_t calls;
    uint64_t posts;
    uint64_t polls;
    uint64_t sent_bytes;     // of completed sends and WRITEs, and READs
    uint64_t socket_bytes;
    sim_time_t begun_ps;
    sim_time_t ended_ps; // SIM_TIME_NEVER: it has not ended
    int status;          // as waitpid gives it
};

// -- program.c

// Starts the process. A message says why it cannot.
SIM_MUST_CHECK sim_err_t app__program_start(app__program_t *program, sim_message_t *message);

// -- turns.c

// Lets the program look again at what it waits for: `reason` (a PROGRAM_ON_ bit) has happened.
void app__program_notice(app__program_t *program, uint32_t reason);
// Adds an event for the process (programs/protocol.h) and notices it.
void app__program_event(app__program_t *program, uint32_t kind, uint32_t handle);
void app__program_init_timers(app__program_t *program);
// The step of its core.
bool app__program_take_turn(nic_core_t *core, void *ctx);
// Ends the process, if there is one, and all that it has made, now. `fault` (may be NULL) says why.
void app__program_end(app__program_t *program, const char *fault);

// -- verbs.c: each works on program->process->shared->call and returns an errno value

int app__program_verb(app__program_t *program, program_call_t *call);
// Takes the completions that the NIC has for an armed or a waiting process.
void app__program_look_at_cqs(app__program_t *program);
// Returns whether a queue holds a completion for the process.
bool app__program_has_completion(app__program_t *program, uint32_t handle);
// Destroys what the process has made.
void app__program_free_verbs(app__program_t *program);
app__pr_qp_t *app__program_qp(app__program_t *program, uint32_t number);
app__pr_srq_t *app__program_srq(app__program_t *program, uint32_t handle);
// Returns the address in host memory of what the process names by an address and a local key.
uint64_t app__program_address(const app__program_t *program, uint32_t lkey, uint64_t address);
// Returns the address in host memory of 64 pages at which payloads of inline posts wait for being
// taken.
uint64_t app__program_scratch(const app__program_t *program);
// Returns the interface of the host's NIC that has this GID, or that an address names; UINT32_MAX:
// none has it.
uint32_t app__interface_of_gid(const net_t *net, const uint8_t gid[16]);
void app__gid_of_interface(const net_t *net, uint32_t interface, uint8_t gid[16]);

// -- posts.c

// Works on all posts that lie in shared memory, each at the time at which it was made.
void app__program_post_all(app__program_t *program);
// Makes the room that it needs for posts; the caller frees it.
struct checked *app__program_chain(void);

#endif // APPS_PROGRAMS_PROGRAM_H
