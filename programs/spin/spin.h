// SPDX-License-Identifier: Apache-2.0
// programs/spin/spin.h - programs that wait for a change of memory without a call.
#ifndef PROGRAMS_SPIN_SPIN_H
#define PROGRAMS_SPIN_SPIN_H

// Begins to watch the calling thread.
void spin_begin(void);

#endif // PROGRAMS_SPIN_SPIN_H
