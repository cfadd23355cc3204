// SPDX-License-Identifier: Apache-2.0
// kernel/scratch.h - folders for files that nobody keeps.
#ifndef KERNEL_SCRATCH_H
#define KERNEL_SCRATCH_H

#include "kernel/base.h"

SIM_C_BEGIN

// Makes a folder in `place`; NULL: in $TMPDIR or /tmp. Returns its path, freed with sim_free; NULL,
// with a reason in errno, if there can be none.
char *sim_scratch_make(const char *place);

// Removes a folder with all that is in it.
void sim_scratch_remove(char *folder);

SIM_C_END

#endif // KERNEL_SCRATCH_H
