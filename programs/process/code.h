// SPDX-License-Identifier: Apache-2.0
// programs/process/code.h - changes to the code of the program.
#ifndef PROGRAMS_PROCESS_CODE_H
#define PROGRAMS_PROCESS_CODE_H

#include <stdbool.h>
#include <stddef.h>

// Writes bytes over code, whatever the protection of its page. Returns false if that failed. May be
// called in a handler of a signal once it was called outside of one.
bool code_write(const void *code, const void *bytes, size_t count);

// Prepares code_write() in a process that was forked, whose memory is another one.
void code_forked(void);

// Belongs to a function that only jumps to one of the program's libraries, which is no part of this
// library for searches: loops of the program lead through it.
#define CODE_OF_PROGRAM __attribute__((section("forwarders")))

// Returns true if the address lies in this library, or in what code_add_own() named.
bool code_is_own(const void *code);

// Says that the code between two addresses is not the program's.
void code_add_own(const void *begin, const void *end);

#endif // PROGRAMS_PROCESS_CODE_H
