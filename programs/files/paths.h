// SPDX-License-Identifier: Apache-2.0
// programs/files/paths.h - files that show the simulated host and not this machine.
//
// The simulator keeps them in a folder of this machine, as the kernel keeps /sys: the devices of
// the host below /sys/class and the like. Paths that programs name become paths in that folder.
#ifndef PROGRAMS_FILES_PATHS_H
#define PROGRAMS_FILES_PATHS_H

#include <limits.h>
#include <stdbool.h>

// Returns the path of the file that the program means: in `place` if the file shows the host, else
// `path` itself. `folder` is what a path without a first slash begins at, or AT_FDCWD.
const char *paths_real(int folder, const char *path, char place[PATH_MAX]);

// Does the same for a file that is opened: what it counts is brought up to date.
const char *paths_opened(int folder, const char *path, char place[PATH_MAX]);

// Replaces a real path by the one that the program knows. Writes in place.
void paths_show(char *path);

// Notes that the program changes its working folder.
void paths_moved(void);

#endif // PROGRAMS_FILES_PATHS_H
