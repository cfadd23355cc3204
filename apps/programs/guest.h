// SPDX-License-Identifier: Apache-2.0
// apps/programs/guest.h - a program on a host: its process, its turn, and what it has made.
//
// Each thread of a program has a core of its host (nic/core.h). A step of the core answers the call
// that the thread waits in, if it can, and then runs the thread until it waits again. So all that a
// process does happens in events of its host, and calls cost the time of their thread's core.
#ifndef APPS_PROGRAMS_GUEST_H
#define APPS_PROGRAMS_GUEST_H

#include "apps/app_internal.h"
#include "apps/endpoints.h"
#include "apps/processes.h"
#include "apps/programs/cm.h"
#include "apps/programs/management/sockets.h"
#include "apps/programs/objects.h"
#include "apps/programs/process.h"
#include "apps/programs/segments.h"
#include "apps/programs/threads/cores.h"
#include "apps/programs/verbs/flows.h"
#include "kernel/map.h"
#include "nic/core.h"
#include "nic/memory.h"

#include <stdio.h>

// A timer of a signal.
typedef struct app__pr_timer {
    sim_timer_t timer;
    app__program_t *program;
    app__process_t *process;
    uint64_t id;
    sim_time_t every_ps;
    int32_t signal;
} app__pr_timer_t;

typedef struct app__pr_event {
    program_event_t event;
    app__process_t *process; // that gets it
} app__pr_event_t;

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
    bool serves;     // it is a server of ssh, which the run does not wait for
    bool called;     // a connection for it has come
    bool detailed;   // its NICs are: only they know what posts and polls cost
    const app_programs_t *permission;
    const app_programs_config_t *config;
    app__sockets_t *sockets;   // of the network
    app__cma_t *manager;       // of connections, of the host
    struct app__files *files;  // of the network
    app__segments_t *segments; // of the host
    bool shares;               // memory with other programs of the host
    app__program_t *next_sharer;
    app_runtime_t *runtime;
    net_node_t *node;
    app__pr_thread_t **threads; // by number
    size_t thread_count;
    size_t thread_capacity;
    app__pr_thread_t *thread; // has the turn, or had the last one
    nic_core_t *core;         // of that thread
    uint64_t waits;           // of its threads, so far
    sim_message_t *awaited;   // place for what they wait for, in words
    app__pr_thread_t *stuck;  // one of those that wait for each other; NULL: none is known
    sim_timer_t stuck_timer;  // ends the program if they still do

    // the process
    uint8_t allowed[APP__PROCESSORS]; // of this machine, for the simulator
    app__process_t *first_process;    // NULL: not begun
    app__process_t *process;          // of the thread that has the turn; else the first one
    app__pr_state_t state;
    app__pr_event_t *events; // not yet given to their processes
    size_t event_count;
    size_t event_capacity;
    bool ends_badly;          // for another reason than its exit status
    sim_message_t end;        // how it ended
    bool killed;              // at the time that the scenario says
    sim_timer_t kill_timer;   // of that
    sim_timer_t signal_timer; // of app_programs_signal
    int sent_signal;
    int trace;           // file of its calls; -1: none
    char *trace_path;    // of the file
    const char *stopped; // why app_programs_t.ends ends it

    app__pr_pd_t *pds;
    size_t pd_count;
    size_t pd_capacity;
    app__pr_mr_t *mrs;
    size_t mr_count;
    size_t mr_capacity;
    uint32_t free_mr;    // handle of a region that was deregistered, for the next one; 0: none
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
    sim_map_t qp_of_number;  // to index
    app__pr_qp_t *latest_qp; // that was found by its number, latest_qpn; NULL: none
    uint32_t latest_qpn;
    app__pr_numbers_t *numbers;
    size_t number_count;
    size_t number_capacity;
    app__pr_timer_t **timers;
    size_t timer_count;
    size_t timer_capacity;
    app__socket_list_t own_sockets;
    app__pr_flows_t flows;
    struct checked *chain;            // posts.c: posts that belong together
    uint32_t posts_done_bytes;        // of the ring of posts, since the process got an answer
    struct app__foresight *foresight; // verbs/foresight.c; NULL: nothing was foreseen yet
    bool mistaken;                    // an answer was not the one that was foreseen
    uint32_t vain;                    // answers in a row without news

    // results
    uint64_t calls;
    uint64_t posts;
    uint64_t polls;
    uint64_t socket_bytes;
    sim_time_t begun_ps;
    sim_time_t ended_ps; // SIM_TIME_NEVER: it has not ended
    int status;          // as waitpid gives it
};

// Starts the process. A message says why it cannot.
SIM_MUST_CHECK sim_err_t app__program_start(app__program_t *program, sim_message_t *message);
// Returns whether the program has not ended by itself with status 0.
bool app__program_failed(const app__program_t *program);
// Returns how a program has ended, as a sentence that lives as long as the program.
const char *app__program_describe_end(const app__program_t *program);
// Prepares the timers of app_programs_signal and of the kill, which comes at kill_ps.
void app__program_init_control(app__program_t *program, sim_time_t kill_ps);

#endif // APPS_PROGRAMS_GUEST_H
