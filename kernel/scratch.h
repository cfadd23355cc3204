// SPDX-License-Identifier: Apache-2.0
// kernel/scratch.h - folders for files that nobody keeps.
//
// A process holds its folder by a lock, which ends with the process. So a folder of a process that
// was killed is known, and the next one removes it.
#ifndef KERNEL_SCRATCH_H
#define KERNEL_SCRATCH_H

#include "kernel/base.h"

SIM_C_BEGIN

// All zeros: no folder.
typedef struct sim_scratch {
    char *folder; // its path; NULL: there is none
    int lock;     // descriptor; -1: none
} sim_scratch_t;

// Makes a folder, and removes those of the same `name` that processes of this user left behind a
// minute ago or earlier. The folder lies in `place`; NULL: in $TMPDIR or /tmp. Returns false, with
// a reason in errno, if there can be none.
bool sim_scratch_make(sim_scratch_t *scratch, const char *place, const char *name);
// Removes the folder, if there is one.
void sim_scratch_remove(sim_scratch_t *scratch);

// Removes any folder with all that is in it.
void sim_folder_remove(char *folder);

SIM_C_END

#endif // KERNEL_SCRATCH_H
