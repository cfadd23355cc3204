// SPDX-License-Identifier: Apache-2.0
// programs/time/timerfd.h - timers that make descriptors readable.
#ifndef PROGRAMS_TIME_TIMERFD_H
#define PROGRAMS_TIME_TIMERFD_H

#include <stddef.h>
#include <sys/types.h>

#include "programs/sockets/endpoint.h"

// Reads the number of expirations, as read() of a timer does.
ssize_t timerfd_read(endpoint_t *timer, int descriptor, void *bytes, size_t count);

// Ends a timer whose last descriptor is closed.
void timerfd_forget(endpoint_t *timer);

#endif // PROGRAMS_TIME_TIMERFD_H
