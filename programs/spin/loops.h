// SPDX-License-Identifier: Apache-2.0
// programs/spin/loops.h - programs that wait for a change of memory without a call.
#ifndef PROGRAMS_SPIN_LOOPS_H
#define PROGRAMS_SPIN_LOOPS_H

// Begins to watch the program's first thread, which calls.
void spin_begin(void);

// Looks at libraries that the program has loaded or closed.
void spin_load(void);

// Begins to watch another thread, which calls.
void spin_begin_thread(void);

// Watches the calling thread of a process that was forked.
void spin_forked(void);

// Ends to watch the calling thread.
void spin_end_thread(void);

#endif // PROGRAMS_SPIN_LOOPS_H
