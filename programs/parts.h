// SPDX-License-Identifier: Apache-2.0
// programs/parts.h - what the turn asks of the other parts of the library.
#ifndef PROGRAMS_PARTS_H
#define PROGRAMS_PARTS_H

#include "programs/protocol.h"

// Prepares the parts before the first call: handlers of signals, the time stamp counter.
void parts_begin(void);

// Ends a program whose runtime cannot be simulated, and says why.
void parts_refuse_runtime(void);

// Says that io_uring is not simulated. Returns -1 with ENOSYS.
int parts_refuse_uring(void);

// Notes the number of the process among the threads of its program, and that of its parent, or -1.
void parts_begin_process(uint32_t number, int32_t of);

// Does what must be done before the program ends for the simulator.
void parts_before_end(void);

// Puts an event into the pipe of its channel or device.
void parts_deliver_event(const program_event_t *event);

// Puts an event of an identifier of librdmacm into its channel.
void parts_deliver_cm_event(uint32_t handle);

// Makes the descriptors of timers readable that are due.
void parts_deliver_timers(void);

// Sends a signal that is due to the calling thread.
void parts_deliver_signal(int signal);

// Sends the signals that came while the thread was in a call.
void parts_deliver_deferred(void);

#endif // PROGRAMS_PARTS_H
