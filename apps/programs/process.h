// SPDX-License-Identifier: Apache-2.0
// apps/programs/process.h - a process of this machine: how it starts, gets its turn and ends.
#ifndef APPS_PROGRAMS_PROCESS_H
#define APPS_PROGRAMS_PROCESS_H

#include "kernel/base.h"
#include "programs/protocol.h"

#include <sys/types.h>

typedef struct app__program app__program_t;
typedef struct app__process app__process_t;

// Whether it pays that who waits looks at its bell before it sleeps. While it does, the two sides
// run on different processors. While it does not, they run on one: there, changes of processes
// are cheapest.
typedef struct app__spins {
    int32_t credit;     // nobody looks without
    uint32_t rest;      // exchanges until the next try; 0: both look
    uint32_t next_rest; // after that try
} app__spins_t;

#define APP__SPINS_CREDIT 8  // at the beginning, and after a rest
#define APP__PROCESSORS 128u // bytes of a mask of this machine's processors

enum { APP__NOT_PLACED = -2, APP__APART = -1 };

struct app__process {
    pid_t pid;
    int32_t parent; // number of the first thread of the process that forked this one; -1: none
    bool is_child;  // of this process; else of a process of the program
    uint8_t allowed[APP__PROCESSORS]; // on which the simulator may run
    bool may_spin;                    // they are several
    int32_t beside;                   // processor on which both sides run, or APP__...
    app__spins_t spins;
    bool slept;  // in this exchange somebody did
    int control; // of the first thread, until that has it; -1: none
    int memory;  // file of the process's pages
    program_shared_t *shared;
    size_t shared_bytes;
    struct app__mapping *mappings; // of pages of `memory`
    size_t mapping_count;
    size_t mapping_capacity;
    int out; // files without a name
    int err;
    bool hello;           // the library has reported
    bool ended;           // a process that was forked
    uint32_t number;      // of its addresses, among the processes of the host
    uint64_t signals;     // that are due
    app__process_t *next; // that was forked
};

typedef struct app__mapping {
    void *bytes;
    uint64_t address; // in host memory
    uint64_t length_bytes;
    uint64_t offset;  // in the file
    uint32_t segment; // number of the segment, or 0: the process's own file
} app__mapping_t;

typedef struct app__process_plan {
    char **words;             // of the command, ends with NULL
    const char *verbs_folder; // of libibverbs.so.1
    const char *path;         // folders of commands, as in the variable PATH
    const char *home;
    const char *temporary;   // folder of the host's temporary files; NULL: that of this machine
    const char *environment; // "NAME=VALUE ..."; may be NULL
    uint64_t output_max_bytes;
    uint64_t host_count;    // entries behind program_shared_t
    const uint8_t *allowed; // processors on which the simulator may run
} app__process_plan_t;

// Makes the shared memory of a process; the caller fills it in and starts the process then.
SIM_MUST_CHECK sim_err_t app__process_create(const app__process_plan_t *plan,
                                             app__process_t **process, sim_message_t *message);
SIM_MUST_CHECK sim_err_t app__process_start(app__process_t *process,
                                            const app__process_plan_t *plan,
                                            sim_message_t *message);

typedef enum app__turn {
    APP__TURN_CALL, // a call lies in shared memory
    APP__TURN_GONE, // the process has closed its end, or is dead
    APP__TURN_LATE, // no call came in time
    APP__TURN_STOPPED,
} app__turn_t;
// Waits until the thread that has the turn makes a call, or for so much real time. Calls `stops`
// several times a second, and returns APP__TURN_STOPPED if it returns true.
app__turn_t app__process_wait(app__process_t *process, uint64_t patience_ms,
                              bool (*stops)(void *ctx), void *ctx);
// Gives the turn to the thread with this bell and control socket. `descriptor` goes with the
// answer; -1: none. It stays the caller's.
void app__process_answer(app__process_t *process, uint32_t bell, int control, int descriptor);
// Sets the processors on which the calling thread may run.
void app__processors_allowed(uint8_t allowed[APP__PROCESSORS]);
// Lets the calling thread run on all processors again.
void app__process_leave(app__process_t *process);
// Returns true if the process has ended.
bool app__process_is_dead(const app__process_t *process);
// Returns true if a signal ends the process: it neither handles, blocks nor ignores it.
bool app__process_dies_by(const app__process_t *process, int signal);
// Returns the name of the system call in which the thread that has the turn waits; NULL: none.
const char *app__process_awaits(const app__process_t *process);
// Returns the memory that the process holds now, in bytes; 0: it has ended.
uint64_t app__process_used_bytes(const app__process_t *process);
// Ends the process if it lives, and waits for its end. Returns its status as waitpid gives it; 127,
// as shells say, if it could not be started.
int app__process_end(app__process_t *process, bool kill_at_once);
// Maps pages of a file that the process shares. Returns an errno value.
int app__process_map(int file, uint64_t offset, uint64_t length_bytes, void **bytes);
// Frees everything but what app__process_end has ended. Files of its output stay open until then.
void app__process_destroy(app__process_t *process);

#endif // APPS_PROGRAMS_PROCESS_H
