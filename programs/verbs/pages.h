// SPDX-License-Identifier: Apache-2.0
// programs/verbs/pages.h - pages of the process that the simulated NIC can reach.
#ifndef PROGRAMS_VERBS_PAGES_H
#define PROGRAMS_VERBS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Moves the pages of a range into the memory file, with their contents, unless they lie there
// already, and says to the simulator where they lie. Returns 0; EFAULT if a page is missing or
// must not be read (or written, if `write` is true); EOPNOTSUPP for memory that other processes
// share; ENOMEM.
int pages_share(uintptr_t address, size_t length, bool write);

// Notes before a fork which pages were moved.
void pages_before_fork(void);

// Gives the calling process, which was just forked, pages of its own in place of those that its
// parent has moved. The parent waits until then.
void pages_forked(void);

#endif // PROGRAMS_VERBS_PAGES_H
