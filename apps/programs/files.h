// SPDX-License-Identifier: Apache-2.0
// apps/programs/files.h - the files by which a kernel shows a host's devices, such as those below
// /sys/class/infiniband.
//
// They are real files of this machine, in a folder that is removed at the end of the run. The
// library of programs/ opens them in the place of this machine's. The folder also has what programs
// keep below $TMPDIR and /dev/shm.
#ifndef APPS_PROGRAMS_FILES_H
#define APPS_PROGRAMS_FILES_H

#include "apps/programs/objects.h"

typedef struct app__files app__files_t; // of a network

app__files_t *app__files_create(const net_t *net);
// Removes the folders, too.
void app__files_destroy(app__files_t *files);
// Returns the folder of temporary files of the program's host, which ends with the run; NULL: it
// cannot be made.
const char *app__files_temporary(app__program_t *program);
// Returns the folder of the programs' traces, likewise.
const char *app__files_traces(app__program_t *program);
// Works on PROGRAM_FILES. Returns an errno value.
int app__files_call(app__program_t *program);

#endif // APPS_PROGRAMS_FILES_H
