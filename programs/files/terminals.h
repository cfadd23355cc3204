// SPDX-License-Identifier: Apache-2.0
// programs/files/terminals.h - terminals that programs make for their children.
#ifndef PROGRAMS_FILES_TERMINALS_H
#define PROGRAMS_FILES_TERMINALS_H

#include <stdbool.h>

// Returns true if the descriptor is one end of a terminal that openpty() made.
bool terminals_has(int descriptor);

// Does ioctl() for such an end. Returns false if the request is none of terminals.
bool terminals_control(unsigned long request, void *argument);

#endif // PROGRAMS_FILES_TERMINALS_H
