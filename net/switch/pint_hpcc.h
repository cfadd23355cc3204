// SPDX-License-Identifier: Apache-2.0
// net/switch/pint_hpcc.h - PINT as in the HPCC project's simulator: docs/models/hpcc-compat.md.
#ifndef NET_SWITCH_PINT_HPCC_H
#define NET_SWITCH_PINT_HPCC_H

#include "net/port.h"
#include "net/switch/draws.h"
#include "net/telemetry.h"

typedef struct net_pint_hpcc net_pint_hpcc_t;

// Makes a set-up by net_pint_init one of that simulator. Destroy what is then pint->hpcc.
void net__pint_hpcc_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps);
void net__pint_hpcc_destroy(net_pint_hpcc_t *pint); // NULL is allowed

// What net_meter_t.per_byte is there: 2^15 log2 of the rate in bytes per second.
double net__pint_hpcc_log_rate(uint64_t rate_bps);

// A frame starts. asks: it is a data packet that wants a digest.
void net__pint_hpcc_frame(net_draws_t *draws,
                          net_meter_t *meter,
                          sim_time_t now_ps,
                          net_packet_t *packet,
                          uint64_t queue_bytes,
                          bool asks);

#endif // NET_SWITCH_PINT_HPCC_H
