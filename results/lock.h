// SPDX-License-Identifier: Apache-2.0
// results/lock.h - the lock of a folder into which one process at a time writes results.
//
// The lock is flock's on a file in the folder that holds the process's number and its machine. It
// dies with the process, so a killed run leaves no lock behind, only an unlocked file.
#ifndef RESULTS_LOCK_H
#define RESULTS_LOCK_H

#include "results/stage.h"
#include "world/error.h"

SIM_C_BEGIN

#define RESULTS_LOCK_OF_RUN RESULTS_STAGE_NAME "/.lock"
#define RESULTS_LOCK_OF_SWEEP ".lock"

typedef struct results_lock results_lock_t;

// Takes the lock FOLDER/file, where file is one of the names above, of a folder that exists.
// SIM_ERR_STATE: another process has it; the message says which. SIM_ERR_IO: the file cannot be
// made. The caller releases *lock with results_lock_release. A file system without locks gives a
// lock that keeps nobody out.
SIM_MUST_CHECK sim_err_t results_lock_take(const char *folder, const char *file,
                                           results_lock_t **lock, world_error_t *error);

// Removes the lock's file, and the stage if nothing is left in it, and gives the lock back. lock
// may be NULL.
void results_lock_release(results_lock_t *lock);

// Waits until nobody has the lock, at most wait_ms: a process that was killed a moment ago still
// holds it. Returns at once where there is no lock.
void results_lock_await(const char *folder, const char *file, unsigned wait_ms);

SIM_C_END

#endif // RESULTS_LOCK_H
