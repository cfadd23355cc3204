// SPDX-License-Identifier: Apache-2.0
// programs/spin/loops.h - programs that wait for a change of memory without a call.
#ifndef PROGRAMS_SPIN_LOOPS_H
#define PROGRAMS_SPIN_LOOPS_H

// Begins to watch the calling thread.
void spin_begin(void);

#endif // PROGRAMS_SPIN_LOOPS_H
