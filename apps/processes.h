// SPDX-License-Identifier: Apache-2.0
// apps/processes.h - programs: processes of this machine that run on simulated hosts.
//
// docs/programs.md explains them.
//
// The verbs, the clock and the sockets of such a process are simulated (programs/protocol.h); what
// it computes takes no simulated time. The caller decides whether processes may be started at all.
#ifndef APPS_PROCESSES_H
#define APPS_PROCESSES_H

#include "kernel/attribute.h"

SIM_C_BEGIN

// The attributes "programs.": what all programs of a scenario share.
struct app;
struct app_runtime;
struct net;

typedef struct app_programs_config {
    sim_time_t socket_latency_ps; // from a write to a socket to its arrival at the other end
    sim_time_t clock_ps;          // cost of looking at a clock
    sim_time_t call_ps;           // cost of any other call that is no post and no poll
    sim_time_t post_ps;           // of a post, and of a poll, where the NIC is the ideal one
    sim_time_t poll_ps;
    char *compute;             // "none", or "measured x FACTOR"
    uint64_t tsc_hz;           // rate of the time stamp counter
    sim_time_t epoch_ps;       // Unix time at which the simulation begins
    bool infiniband;           // ports have LIDs, as those of InfiniBand
    bool huge_pages;           // hosts have huge pages
    uint64_t cores;            // of each host, and maximum number of threads of a program
    sim_time_t patience_ps;    // real time without a call after which a program is ended
    uint64_t memory_max_bytes; // address space of one program; 0: no limit
    uint64_t output_max_bytes; // of each file that a program writes
    uint64_t flows_max;        // of each program, in flows.csv
    char *environment;         // "NAME=VALUE ..." that programs get besides PATH, HOME and USER
    char *device;              // name of verbs devices, without their number
    bool ssh;                  // hosts run commands of other hosts' programs
} app_programs_config_t;

extern const sim_attr_table_t app_programs_attrs; // "programs."

// Returns the factor in thousandths that app_programs_config_t.compute names; UINT64_MAX: its text
// is none that is known.
uint64_t app_programs_compute_permille(const char *text);

// The permission to start processes, given by the caller of a run.
typedef struct app_programs {
    bool start;        // false: programs are looked at, and none is started
    bool keeps_output; // reports leave out what programs print, which others save or show
    bool traces;       // programs write a line for each call of verbs
    bool anywhere;     // programs may be added to any host during the run (app_programs_open)
    const char *verbs_folder; // of the library of programs/; NULL: none was built
    const char *server;       // file of the server of ssh
    const char *path;         // folders of commands, as in the variable PATH
    const char *home;         // variable HOME of programs
    const char *scratch;      // folder for files that are removed at the end of the run
    const char *files;        // the same for many small ones
    // Called several times a second of real time while a program computes. Returns why the program
    // has to end now; NULL: it may go on. May be NULL. ctx is `ctx`.
    const char *(*ends)(const struct app *app, void *ctx);
    void *ctx;
} app_programs_t;

// Ends the process of an application that is a program, if it still runs. To be called after the
// run and before its results are written.
void app_programs_stop(struct app *app);
// Returns a server of ssh that has run and was not returned before, in order of hosts; NULL: there
// is none. The caller destroys it as the applications that it has created. To be called after the
// run and before app_programs_stop.
struct app *app_programs_next_server(struct app_runtime *runtime);
// Writes what a program has printed into "HOST-N.out" and "HOST-N.err" in the folder,
// and its trace into "HOST-N.trace".
SIM_MUST_CHECK sim_err_t app_programs_save(const struct app *app, const char *folder,
                                           sim_message_t *message);

// -- programs that a person starts during a run by steps (kernel/steps.h)

typedef enum app_programs_state {
    APP_PROGRAMS_WAITS_FOR_START,
    APP_PROGRAMS_RUNS,
    APP_PROGRAMS_ENDED,
} app_programs_state_t;

typedef struct app_programs_view {
    const char *host;
    uint32_t number; // among the programs of its host
    const char *command;
    app_programs_state_t state;
    bool succeeded;   // it has ended by itself with status 0
    const char *text; // how it has ended, or what it waits for
} app_programs_view_t;

// Lets programs be added to any host of the network during the run. Call it before the first step;
// sim_step_watched then ends when a program ends.
void app_programs_open(struct app_runtime *runtime, struct net *net,
                       const app_programs_config_t *config);
// Fills *view, which is valid until the next step. Returns false if the application is no program.
bool app_programs_look(const struct app *app, app_programs_view_t *view);
// Sends a signal to a program at now_ps, between two steps. SIGKILL ends it whatever it does.
void app_programs_signal(struct app *app, int signal, sim_time_t now_ps);
// Copies bytes that a program has printed on its standard output or (error) its standard error,
// from the byte number `from` on. Returns their number.
size_t app_programs_read(const struct app *app, bool error, uint64_t from, char *bytes,
                         size_t size);

SIM_C_END

#endif // APPS_PROCESSES_H
