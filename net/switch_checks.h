// SPDX-License-Identifier: Apache-2.0
// net/switch_checks.h - the invariants of a switch.
#ifndef NET_SWITCH_CHECKS_H
#define NET_SWITCH_CHECKS_H

#include "net/switch_model.h"

SIM_C_BEGIN

// SIM_CHECKs that every packet held is accounted where it came in, if its class is one of
// `charged`, and where it waits to leave. For net_buffer_ops_t.check of buffers that account in
// net_received_t. lossy_is_shared: other packets also take shared buffer.
void net_switch_check_sums(const net_switch_t *sw, uint8_t charged, bool lossy_is_shared);

// Checks the switch after an event at `port`, in builds with dear checks; check_buffer: what its
// buffer holds.
void net__switch_check(const net_switch_t *sw, uint32_t port);
void net__switch_check_buffer(const net_switch_t *sw);
static inline void net_switch_event_over(const net_switch_t *sw, uint32_t port)
{
#ifdef SIM_DEAR_CHECKS
    net__switch_check(sw, port);
#else
    (void)sw;
    (void)port;
#endif
}

SIM_C_END

#endif // NET_SWITCH_CHECKS_H
