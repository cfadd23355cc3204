// SPDX-License-Identifier: Apache-2.0
// programs/process/sanitizers.h - programs that were compiled with a sanitizer, and their memory.
#ifndef PROGRAMS_PROCESS_SANITIZERS_H
#define PROGRAMS_PROCESS_SANITIZERS_H

#include <stdbool.h>

#include "programs/protocol.h"

// Lets the runtime begin, whose functions this library calls in the place of libc's, or ends the
// process if it has a sanitizer that is not supported.
void sanitizers_prepare(program_shared_t *shared);

// Limits the address space of the process, unless it has a sanitizer's runtime; starts it again if
// that runtime is a library and not the first one. It is called before the process is known.
void sanitizers_begin(char **words, char **environment);

// Sets the limit of the address space, or takes it away before the process becomes another program.
void sanitizers_limit(bool before_exec);

// Returns true while the runtime looks for leaks: it waits for a process of its own then.
bool sanitizers_look(void);

#endif // PROGRAMS_PROCESS_SANITIZERS_H
