// SPDX-License-Identifier: Apache-2.0
// apps/programs/files.h - the files by which a kernel shows a host's devices, such as those below
// /sys/class/infiniband.
//
// They are real files of this machine, in a folder that is removed at the end of the run. The
// library of programs/ opens them in the place of this machine's.
#ifndef APPS_PROGRAMS_FILES_H
#define APPS_PROGRAMS_FILES_H

#include "apps/programs/objects.h"

typedef struct app__files app__files_t; // of a network

app__files_t *app__files_create(const net_t *net);
// Removes the folders, too.
void app__files_destroy(app__files_t *files);
// Works on PROGRAM_FILES. Returns an errno value.
int app__files_call(app__program_t *program);

#endif // APPS_PROGRAMS_FILES_H
