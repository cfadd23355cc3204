// SPDX-License-Identifier: Apache-2.0
// net/link/fault_timers.h - the timers of faults.
#ifndef NET_LINK_FAULT_TIMERS_H
#define NET_LINK_FAULT_TIMERS_H

#include "net/node.h"

// net/link/faults.c: arms the timers of faults.
void net__faults_schedule(net_t *net);
void net__faults_free(net_t *net);

#endif // NET_LINK_FAULT_TIMERS_H
