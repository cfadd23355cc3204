// SPDX-License-Identifier: Apache-2.0
// compat/hpcc/pint.h - PINT as the HPCC simulator computes it: docs/models/hpcc-compat.md.
#ifndef COMPAT_HPCC_PINT_H
#define COMPAT_HPCC_PINT_H

#include "compat/hpcc/draws.h"
#include "net/telemetry.h"

typedef struct compat_pint_hpcc compat_pint_hpcc_t;

// Replaces the digests made by net_pint_init by that simulator's. The caller destroys the result.
compat_pint_hpcc_t *compat__pint_init(net_pint_t *pint, sim_ratio_t base, sim_time_t rtt_ps);
void compat__pint_destroy(compat_pint_hpcc_t *pint); // NULL is allowed

// Returns net_meter_t.per_byte for these rules: 2^15 log2 of the rate in bytes per second.
double compat__pint_log_rate(uint64_t rate_bps);

// Updates the port's utilization when a frame starts. asks: it is a data packet with a digest.
void compat__pint_frame(const compat_pint_hpcc_t *pint, compat_draws_t *draws, net_meter_t *meter,
                        sim_time_t now_ps, net_packet_t *packet, uint64_t queue_bytes, bool asks);

#endif // COMPAT_HPCC_PINT_H
