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
typedef struct app_programs_config {
    sim_time_t socket_latency_ps; // from a write to a socket to its arrival at the other end
    sim_time_t clock_ps;          // cost of looking at a clock
    sim_time_t call_ps;           // cost of any other call that is no post and no poll
    sim_time_t post_ps;           // of a post, and of a poll, where the NIC is the ideal one
    sim_time_t poll_ps;
    char *compute;             // "none", or "measured x FACTOR"
    uint64_t tsc_hz;           // rate of the time stamp counter
    sim_time_t epoch_ps;       // Unix time at which the simulation begins
    sim_time_t patience_ps;    // real time without a call after which a program is ended
    uint64_t memory_max_bytes; // address space of one program; 0: no limit
    uint64_t output_max_bytes; // of each file that a program writes
    char *environment;         // "NAME=VALUE ..." that programs get besides PATH, HOME and USER
} app_programs_config_t;

extern const sim_attr_table_t app_programs_attrs; // "programs."

// Returns the factor in thousandths that app_programs_config_t.compute names; UINT64_MAX: its text
// is none that is known.
uint64_t app_programs_compute_permille(const char *text);

// The permission to start processes, given by the caller of a run.
typedef struct app_programs {
    bool start;               // false: programs are looked at, and none is started
    bool keeps_output;        // app_programs_save will be called; else it is shown at the end
    const char *verbs_folder; // of the library of programs/; NULL: none was built
    const char *path;         // folders of commands, as in the variable PATH
    const char *home;         // variable HOME of programs
} app_programs_t;

struct app;
// Ends the process of an application that is a program, if it still runs. To be called after the
// run and before its results are written.
void app_programs_stop(struct app *app);
// Writes what a program has printed into "HOST-N.out" and "HOST-N.err" in the folder.
SIM_MUST_CHECK sim_err_t app_programs_save(const struct app *app, const char *folder,
                                           sim_message_t *message);

SIM_C_END

#endif // APPS_PROCESSES_H
